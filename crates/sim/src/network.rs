//! What all simulated networks have in common: addresses, numbers, and how large they may be.

use core::net::Ipv6Addr;

/// The most nodes a network may have: so many take 2 GB of memory.
pub const MAX_NODES: u32 = 65_535;

/// The cloud's address, as the mesh sees it.
pub const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);

/// The border router's number among the stations.
pub(crate) const ROUTER: u32 = 0;

/// The PAN of all networks.
pub const PAN_ID: u16 = 0xabcd;
/// The radio channel, which the simulated medium is, unless the network hops over all of them.
pub(crate) const CHANNEL: u8 = 26;
/// The first channel of 2.4 GHz, and how many there are.
pub(crate) const FIRST_CHANNEL: u8 = 11;
pub(crate) const CHANNELS: u8 = 16;
/// The key index of the mesh's link key.
pub(crate) const LINK_KEY_INDEX: u8 = 1;
