//! Handing posts to the writer.

use tokio::sync::oneshot;

use crate::append::Append;
use crate::error::Error;
use crate::store::Store;
use crate::writer::{POST, Task, Waiting};

impl Store {
    /// Stores the readings of a post. When this returns `Ok`, they have survived any crash and power loss;
    /// the readings of a retransmission are there once.
    pub async fn append(&self, append: Append) -> Result<(), Error> {
        if append.readings.len() > POST {
            return Err(Error::Invalid("a post holds at most 256 readings"));
        }
        let (done, stored) = oneshot::channel();
        self.appends.events.waiting(true);
        if self.appends.tasks.try_send(Task::Append(Waiting { append, done })).is_err() {
            self.appends.events.waiting(false);
            return Err(Error::Busy);
        }
        stored.await.map_err(|_| Error::Busy)?
    }

    /// Lets nothing more be appended. Clones of the store can be read from still.
    pub async fn close(&self) {
        let appends = self.appends.tasks.clone();
        // It waits for its place behind what is there. If the writer has ended, there is nothing to close.
        let _ = tokio::task::spawn_blocking(move || appends.send(Task::Close)).await;
    }
}
