//! A 6LoWPAN border router without sockets: a mesh on one side, UDP flows and, where it is told
//! so, whole IPv6 packets on the other.
//!
//! Each pair of a node's port and a port outside is a flow. Whoever drives the gateway carries
//! a flow's datagrams to where the host outside really is, and back.
#![no_std]

mod flows;
mod gateway;

pub use flows::{Flow, FlowId, IDLE};
pub use gateway::{Datagram, Error, Exit, Gateway, Upstream};
pub use sixlock_interface::{Config, Csma, LinkSecurity, MacConfig, RadioCommand, Uplink};
