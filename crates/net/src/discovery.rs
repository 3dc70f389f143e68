use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, Instant, MESH_PREFIX, New};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{Context, RegisteredAddress};

use crate::neighbour_discovery::Transmit;

/// How a node comes to its prefix, its router and its neighbours: [neighbour discovery](crate::neighbour_discovery), or `()` where all of
/// that is given.
pub trait Discovery: New {
    /// Whether it has messages of its own.
    const DISCOVERS: bool;

    /// Whether the routing protocol tells the prefix, or may.
    const ASKS_ROUTER: bool = false;

    /// Takes in the prefix that the routing protocol tells, as often as it may have changed.
    fn take_prefix(&mut self, _: Option<[u8; 8]>) {}

    /// The prefix of the mesh, if it is known.
    fn prefix(&self) -> Option<[u8; 8]>;

    /// The same, once the node may use its address with that prefix.
    fn usable_prefix(&self) -> Option<[u8; 8]> {
        self.prefix()
    }

    /// The contexts of header compression that it was told.
    fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        core::iter::empty()
    }

    /// Whether payloads to a neighbour may be compressed by GHC: both ends read them, as the 6LoWPAN capability indication option tells
    /// ([RFC 7400 section 3.3](https://www.rfc-editor.org/rfc/rfc7400#section-3.3)). Where nobody tells, all nodes have the same
    /// compression.
    fn compresses_generically(&self, _: Eui64) -> bool {
        true
    }

    /// Whether `address` has the prefix of the mesh.
    fn is_inside(&self, address: Ipv6Addr) -> bool {
        self.prefix().is_some_and(|prefix| address.octets()[..8] == prefix)
    }

    /// The router to which packets go that no route covers. `None` as long as the node's address is registered nowhere.
    fn default_router(&self) -> Option<Eui64> {
        None
    }

    /// The neighbour that has registered `destination`.
    fn neighbour(&self, _: Ipv6Addr) -> Option<Eui64> {
        None
    }

    /// Whether the addresses of [`Discovery::registered`] have changed since this was last called.
    fn poll_registered(&mut self) -> bool {
        false
    }

    /// The addresses that neighbours have registered here and want to be reached at from elsewhere.
    fn registered(&self, _: Instant) -> impl Iterator<Item = RegisteredAddress> + '_ {
        core::iter::empty()
    }

    /// Takes in the message `message` of neighbour discovery, which came in a packet with the header `header` from the neighbour `from`.
    fn handle<C, E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>, _: Eui64, _: &Header, _: &[u8]) {}

    /// Whether there is something for [`Discovery::poll_transmit`].
    fn has_output(&self) -> bool {
        false
    }

    /// Writes the next packet of this node to `out`. One for which there is no room is lost.
    fn poll_transmit(&mut self, _: Instant, _: &mut [u8]) -> Option<Transmit> {
        None
    }

    /// When to call [`Discovery::handle_timeout`].
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Does what is due.
    fn handle_timeout<C, E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}
}

/// The prefix is [`MESH_PREFIX`], and the uplink is the one that the node was started with.
impl Discovery for () {
    const DISCOVERS: bool = false;

    fn prefix(&self) -> Option<[u8; 8]> {
        Some(MESH_PREFIX)
    }

    fn is_inside(&self, address: Ipv6Addr) -> bool {
        address.octets()[..8] == MESH_PREFIX
    }
}

/// The prefix is the one that the routing protocol tells, as the DIOs of RPL do. At a root it is known from the start. No context of header
/// compression is told with it.
#[derive(Clone, Copy, Debug)]
pub struct RoutingPrefix {
    prefix: Option<[u8; 8]>,
    is_known: bool,
}

impl RoutingPrefix {
    /// That of a root.
    pub const fn known(prefix: [u8; 8]) -> Self {
        Self { prefix: Some(prefix), is_known: true }
    }
}

impl New for RoutingPrefix {
    const NEW: Self = Self { prefix: None, is_known: false };
}

impl Discovery for RoutingPrefix {
    const DISCOVERS: bool = true;
    const ASKS_ROUTER: bool = true;

    fn take_prefix(&mut self, prefix: Option<[u8; 8]>) {
        if !self.is_known {
            self.prefix = prefix;
        }
    }

    fn prefix(&self) -> Option<[u8; 8]> {
        self.prefix
    }
}
