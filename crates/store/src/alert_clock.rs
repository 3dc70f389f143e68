//! What time alone decides: silence, and how long a threshold is to be passed.

use crate::error::Error;
use crate::journal::ClockLook;
use crate::store::Store;

/// How old the note may be of when the clock was looked at last, while rules wait for it.
const NOTED_AFTER_MS: i64 = 60_000;

impl Store {
    /// Lets the time in which there was no cloud be no silence: to be called once, when the cloud begins to hear its devices.
    pub async fn begin_clock(&self) -> Result<(), Error> {
        self.queue.look_at_clock(ClockLook::First).await
    }

    /// Opens the alerts that are due at the time `now`, if there are any, and notes that the clock is looked at.
    pub async fn look_at_clock(&self, now: i64) -> Result<(), Error> {
        let due: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM rules WHERE due <= $1) OR
             EXISTS (SELECT 1 FROM rules JOIN alert_clock ON looked <= $2 WHERE due IS NOT NULL)",
        )
        .bind(now)
        .bind(now.saturating_sub(NOTED_AFTER_MS))
        .fetch_one(&self.readers)
        .await?;
        if due { self.queue.look_at_clock(ClockLook::Next).await } else { Ok(()) }
    }
}
