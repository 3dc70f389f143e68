//! IPv6 host and static router: addresses, routes, UDP, ICMPv6 and forwarding.
//!
//! Packets are processed where they stand: forwarded ones, echo replies and ICMPv6 errors
//! leave in the buffer that the packet came in.
#![no_std]

mod limit;
mod net;
mod routes;

pub use net::{BROADCAST, Datagram, Net, SendError, Verdict};
pub use routes::{NextHop, RoutesFull, Uplink};
