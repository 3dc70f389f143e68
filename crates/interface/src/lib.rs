//! MAC, 6LoWPAN and IPv6 wired into one interface: frames in, UDP datagrams out, forwarding
//! in between. A device and a border router share it.
#![no_std]

mod arrival;
mod buffer;
mod discovered;
mod interface;
mod layers;
mod leaving;
mod radio_machine;
mod routing;
pub mod rpl;
mod security;

pub use arrival::{Arrival, Datagram, Delivered, External};
pub use buffer::WholeOf;
pub use interface::{Config, HEADERS, Interface, MacOf, Occupied};
pub use layers::{Layers, Stack};
pub use radio_machine::RadioMachine;
pub use routing::{FrameOutcome, Routing};
pub use security::{NetworkSecurity, SecurityGateway};
pub use sixlock_ipsec as ipsec;
pub use sixlock_lowpan::{Datagrams, Pool};
pub use sixlock_mac as mac;
pub use sixlock_mac::{
    AlwaysOn, Backoff, Config as MacConfig, ContikiCsma, Csma, DutyCycled, Link, LinkLayer, LinkSecurity,
    Listening, Neighbour, Outcome, RadioCommand, Rules, contikimac, security_level,
};
pub use sixlock_net::{
    Discovery, ForwardError, Fragments, Net, Reassembler, Route, Router, Routes, SendError, Uplink,
};
pub use sixlock_sixlowpan::ipsec::{Context, Format};
pub use sixlock_sixlowpan::{Ghc, Lithe, PayloadCompression, Payloads, Stateless};
