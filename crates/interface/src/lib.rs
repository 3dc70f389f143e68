//! MAC, 6LoWPAN and IPv6 wired into one interface: frames in, UDP datagrams out, forwarding
//! in between. A device and a border router share it.
#![no_std]

mod arrival;
mod buffer;
mod interface;
mod leaving;
mod protection;

pub use arrival::{Arrival, Datagram, Delivered, External};
pub use buffer::WholeOf;
pub use interface::{Config, HEADERS, Interface};
pub use protection::{Protected, Protection};
pub use sixlock_ipsec as ipsec;
pub use sixlock_mac::{Config as MacConfig, Csma, LinkSecurity, RadioCommand};
pub use sixlock_net::{Fragments, Reassembler, SendError, Uplink};
pub use sixlock_sixlowpan::ipsec::Format;
pub use sixlock_sixlowpan::{Ghc, Lithe, PayloadCompression, Payloads};
