//! IPv6 host and static router: addresses, routes, UDP, ICMPv6, fragments, forwarding and [neighbour discovery](neighbour_discovery).
//!
//! Packets are processed where they stand: forwarded ones, echo replies and ICMPv6 errors
//! leave in the buffer that the packet came in.
#![no_std]

mod discovery;
mod fragmentation;
mod limit;
pub mod neighbour_discovery;
mod net;
mod reassembly;
mod router;
mod routes;

pub use discovery::{Discovery, RoutingPrefix};
pub use fragmentation::fragment;
pub use limit::Limit;
pub use net::{BROADCAST, Datagram, Net, SendError, Verdict};
pub use reassembly::{Fragments, REASSEMBLY_TIMEOUT, Reassembler, Whole};
pub use router::{ForwardError, Router};
pub use routes::{NextHop, Route, Routes, RoutesFull, Uplink};
