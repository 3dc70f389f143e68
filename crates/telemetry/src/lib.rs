//! What happens in a server, told once as a typed [`Event`]: it becomes a line of the log, the metrics, and an entry of the
//! audit record.
//!
//! Time is handed in as a [`Clock`]. Nothing here waits for the network: the log and the record are written by threads of
//! their own, and what comes faster than they write is counted, not waited for.

mod audit;
mod client;
mod clock;
mod error;
mod event;
mod events;
mod fault_lines;
mod figures;
mod log;
mod metrics;
mod record;
mod refusals;
mod resource_log;

pub use audit::{Audit, AuditReader, append};
pub use client::{Client, network};
pub use clock::Clock;
pub use error::FileError;
pub use event::{At, Event};
pub use events::Events;
pub use figures::Figures;
pub use log::{Line, Log, LogLevel};
pub use metrics::CertificateExpiry;
pub use record::{Done, Entry, Refused, Scheme};
pub use refusals::RefusalCount;
pub use resource_log::{LogEntry, LogSubject, ResourceLog};
