//! A cloud's data while no cloud runs with it.

use std::path::Path;

use sixlock_store::{DirectoryLock, Store, Writer, is_new, lock};

use crate::Error;

/// A cloud's data, kept away from clouds until it is closed.
pub struct Offline {
    /// What the cloud keeps.
    pub store: Store,
    writer: Writer,
    _lock: DirectoryLock,
}

impl Offline {
    /// Opens the data in `directory`. [`Error::InUse`] if a cloud runs with it, [`Error::NeverStarted`] if none ever
    /// has.
    pub async fn open(directory: &Path) -> Result<Self, Error> {
        if is_new(directory) {
            return Err(Error::NeverStarted(directory.to_owned()));
        }
        let lock = lock(directory)?;
        let (store, writer) = Store::open(directory).await?;
        Ok(Self { store, writer, _lock: lock })
    }

    /// Returns when everything is stored.
    pub async fn close(self) -> Result<(), Error> {
        self.store.close().await;
        self.writer.ended().await
    }
}
