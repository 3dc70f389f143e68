//! Many devices at once, and the cloud that they load as a process: what crash tests and measurements are made of.
//!
//! The devices are those of our own protocol crates: DTLS sessions over sockets, confirmable posts, the same post
//! again until it is answered, also in the next session when one is lost. What was acknowledged is written down and
//! compared with what the database holds.

mod association;
mod capacity;
mod cloud;
mod database;
mod device;
mod echo;
mod fleet;
mod flood;
mod hook;
mod idle;
mod import;
mod ingest;
mod latency;
mod process;
mod random;
mod recomputation;
mod restart;
mod servers;
mod sessions;
mod siege;
mod tell;
mod watch;
mod with_rules;

pub use association::{Authentication, Credential};
pub use capacity::{Capacity, Servers, capacity};
pub use cloud::{Cloud, Program, enrol};
pub use database::{Post, differences, posts};
pub use device::{Habits, Target};
pub use echo::echo;
pub use fleet::{Finish, Fleet, LoadPattern, Progress};
pub use hook::Hook;
pub use import::{Imported, import};
pub use ingest::{HEADING, Measurement, cloud, libcoap};
pub use latency::Latencies;
pub use random::{Random, variable};
pub use recomputation::differences_from_recomputation;
pub use restart::{Restarted, restart};
pub use sessions::{Held, hold};
pub use siege::{Besieged, Plan, siege};
pub use tell::Tell;
pub use watch::{Watched, await_told, watch};
pub use with_rules::{Scale, WithRules, with_rules};
