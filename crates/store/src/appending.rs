//! Storing readings.

use crate::error::Error;
use crate::journal::Append;
use crate::left_out::Stored;
use crate::store::Store;

impl Store {
    /// Stores the readings of a post. When this returns `Ok`, they have survived any crash and power loss, but for those that it tells: what
    /// a stream does not take that is frozen, or keeps no points so old. The readings of a retransmission are there once.
    /// [`Error::LeftOut`] if there are no others, [`Error::Busy`] if too many posts wait.
    pub async fn append(&self, append: Append) -> Result<Stored, Error> {
        self.queue.append(append).await
    }

    /// Lets nothing more be appended. Clones of the store can still be read.
    pub async fn close(&self) {
        self.queue.close().await;
    }
}
