//! The messages of DTLS 1.2 and what either side does with them; nothing else knows them.

mod client;
mod context;
pub(crate) mod cookie;
mod epochs;
mod extensions;
mod flights;
pub(crate) mod message;
pub(crate) mod observe;
pub(crate) mod parameters;
pub(crate) mod public_keys;
mod record;
mod role;
mod schedule;
mod server;
mod session;
#[cfg(not(target_os = "none"))]
mod suspended;
pub(crate) mod tickets;
#[cfg(test)]
mod transitions;
mod version;

pub use client::Client;
pub use role::{FeaturesOf, Role};
pub use server::Server;
pub use session::{ClientSession, Handshake, KeyLogEntry, ServerSession};
#[cfg(not(target_os = "none"))]
pub use suspended::{SUSPENDED, Suspended};
pub use version::Version12;
