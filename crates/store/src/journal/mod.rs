//! The journal: posts become durable in it, batch by batch.
//!
//! A [`Journal`] stores a batch in one commit. The [`Queue`] in front of it gathers batches, answers each post after the commit
//! that holds it, and tells the feed of [`Changes`](crate::Changes). There are two: [`Sqlite`] for clouds, and [`Memory`] for
//! tests and measurements.

mod alerting;
mod append;
mod caches;
mod commit;
mod computing;
mod discarding;
mod idempotency;
mod latest_points;
#[cfg(test)]
mod laws;
mod memory;
mod queue;
mod receipts;
mod rolling;
mod spending;
mod sqlite;
mod sqlite_receipts;
mod stream_rows;

pub use append::{Append, POINTS_PER_POST};
pub use commit::{ClockLook, Commit, Journal, Upkeep};
pub use idempotency::{Idempotency, RETRANSMISSION_WINDOW_MS, Transmission};
pub use memory::{Memory, MemoryPoints};
pub use queue::{Queue, Writer};
pub use sqlite::Sqlite;
pub use stream_rows::STREAMS_PER_RESOURCE;
