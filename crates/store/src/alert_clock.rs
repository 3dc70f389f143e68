//! What time alone decides: silence, and how long a threshold is to be passed.

use crate::error::Error;
use crate::journal::ClockLook;
use crate::store::Store;

impl Store {
    /// Has silence reckoned from now on: to be called once, when the cloud begins to hear its devices.
    pub async fn begin_clock(&self) -> Result<(), Error> {
        self.queue.look_at_clock(ClockLook::First).await
    }

    /// Opens the alerts that are due at the time `now`, if there are any.
    pub async fn look_at_clock(&self, now: i64) -> Result<(), Error> {
        let due: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM rules WHERE due <= $1)")
            .bind(now)
            .fetch_one(&self.readers)
            .await?;
        if due { self.queue.look_at_clock(ClockLook::Next).await } else { Ok(()) }
    }
}
