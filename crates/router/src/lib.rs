//! The sockets of a border router: what leaves the mesh in a flow goes out of a UDP socket of
//! that flow's own, and what comes in there goes back into the flow.
//!
//! So a node behind the router looks to the cloud like any other client, and two nodes never
//! look like one. The services of nodes are published the other way round, each at a loopback port; and where
//! it may, the router makes a network interface, through which whole IPv6 packets go both ways.
//!
//! [`Line`] is a serial line to a device that is the bridge into the mesh.
//! [`Air`] is a radio channel made of UDP, for border routers and nodes that are programs.

mod air;
mod flows;
mod line;
mod messages;
mod services;
mod stations;
mod tun;

pub use air::Air;
pub use flows::{Uplink, run};
pub use line::{Line, LineError, Speed};
pub use messages::{Client, Inbound, LineEvent, Outbound};
pub use services::{Clients, Services};
pub use tun::{GATEWAY, HOST, Tun, TunError};
