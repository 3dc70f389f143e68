//! MAC, 6LoWPAN and IPv6 wired into one interface: frames in, UDP datagrams out, forwarding
//! in between. A device and a border router share it.
#![no_std]

mod interface;
mod protection;

pub use interface::{Arrival, Config, Datagram, Delivered, External, HEADERS, Interface};
pub use protection::{Protected, Protection};
pub use sixlock_ipsec as ipsec;
pub use sixlock_mac::{Config as MacConfig, Csma, LinkSecurity, RadioCommand};
pub use sixlock_net::{SendError, Uplink};
pub use sixlock_sixlowpan::ipsec::Format;
