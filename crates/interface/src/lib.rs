//! MAC, 6LoWPAN and IPv6 wired into one interface: frames in, UDP datagrams out, forwarding
//! in between. A device and a border router share it.
#![no_std]

mod interface;

pub use interface::{Arrival, Config, Datagram, Delivered, External, FRONT, Interface};
pub use sixlock_mac::{Config as MacConfig, Csma, LinkSecurity, RadioCommand};
pub use sixlock_net::{SendError, Uplink};
