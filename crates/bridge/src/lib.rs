//! A border router that is a device: IPv6 packets in SLIP on a serial line at one side, 6LoWPAN at the other.
//!
//! A driver owns radio, clock and serial port. It hands [`Bridge`] every received frame, the outcome of every radio
//! command and the bytes on the line, and puts on the line what it is given for there.
#![no_std]

mod bridge;

pub use bridge::Bridge;
pub use sixlock_interface::{
    Config, Csma, Datagrams, Layers, Link, LinkSecurity, MacConfig, Pool, RadioCommand, RadioMachine, Route,
    Routes, Stack, Uplink,
};
