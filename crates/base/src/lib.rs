//! What every floor shares: time, addresses, packet buffers, entropy, durable
//! counter ranges, event counters and the security choices.
//!
//! Nothing in here reads a clock, draws randomness or touches a device: all of it is
//! handed in from outside through a [`Cx`].
#![no_std]

mod address;
mod context;
mod counters;
mod entropy;
mod environment;
pub mod lollipop;
mod new;
mod nv;
mod packet;
mod rate_limit;
mod reason;
mod security;
mod slot;
mod time;

pub use address::{Eui64, LINK_LOCAL_PREFIX, MESH_PREFIX, on_mesh};
pub use context::Cx;
pub use counters::{Counter, Counters};
pub use entropy::{Entropy, EntropyFrom, entropy_from};
pub use environment::Environment;
pub use new::{Array, New};
pub use nv::{Nv, NvError, NvSlot, VolatileCounters};
pub use packet::{BufferFull, Packet};
pub use rate_limit::RateLimit;
pub use reason::write_reason;
pub use security::ASKED_IDENTITY;
pub use security::{
    AhSuite, Engines, EspSuite, LinkSuite, NetworkSuite, ParseSecurityError, Security, TransportSuite,
    Unauthenticated,
};
pub use slot::Slot;
pub use time::{Duration, Instant, Symbols};
