//! A 6LoWPAN border router without sockets: a mesh on one side, UDP flows and, where it is told
//! so, whole IPv6 packets on the other.
//!
//! Each pair of a node's port and a port outside is a flow. Whoever drives the gateway carries
//! a flow's datagrams to where the host outside really is, and back.
//!
//! The mesh may be at the other end of a serial line, where a device is the bridge into it: [`SerialGateway`]. A [`Firewall`] says
//! which flows pass.
//!
//! A security gateway ([`Tunnels`]) stands between two sides, each with a policy of its own: that of the hosts outside, with
//! which it has tunnels, and that of the nodes, that of its [`SecurityGateway`]. It sees in the clear what passes
//! between them.
//!
//! With IPsec the gateway is the far end for those hosts: what nodes protect, it opens, and it protects what it carries
//! back. Whole packets for other hosts leave as they came, but for the compression of their headers, which takes no keys.
#![no_std]

mod firewall;
mod flows;
mod gateway;
mod internet;
mod outside;
mod presence;
mod serial;

pub use firewall::{Decision, Defaults, Direction, Filter, Firewall, Rule, TooManyRules, Traffic, Verdict};
pub use flows::{Flow, FlowId, IDLE};
pub use gateway::Gateway;
pub use internet::{Internet, Tunnels};
pub use outside::{Datagram, Error, Exit, Upstream};
pub use presence::Presence;
pub use serial::{Serial, SerialGateway};
pub use sixlock_interface::{
    Config, Context, Csma, Datagrams, Format, Layers, Link, LinkSecurity, MacConfig, NetworkSecurity, Pool,
    RadioCommand, RadioMachine, Reassembler, Route, Routes, Routing, SecurityGateway, Stack, Uplink, ipsec,
};
