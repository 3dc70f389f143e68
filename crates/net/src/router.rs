use core::fmt;
use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, New, Nv};
use sixlock_ipv6::nd::RegisteredAddress;

/// Where packets go: [`Routes`](crate::Routes) that were listed, or a routing protocol.
pub trait Router: New {
    /// Whether it reads the packets that pass this node, and has messages of its own.
    const READS: bool = false;

    /// Takes in the prefix of the mesh, as often as it may have changed; `None` while the node has none that it may use.
    fn give_prefix<C, E: Entropy, N: Nv>(&mut self, _: &mut Cx<'_, C, E, N>, _: Option<[u8; 8]>) {}

    /// Whether it tells the ways to hosts that have registered here and do not take part in the routing protocol.
    const TELLS_REGISTERED: bool = false;

    /// Takes in all addresses that such hosts have registered and want to be reached at from elsewhere, as often as they have changed.
    fn take_registered<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: impl Iterator<Item = RegisteredAddress>,
    ) {
    }

    /// The prefix of the mesh, if it is the routing protocol that tells it, and has.
    fn told_prefix(&self) -> Option<[u8; 8]> {
        None
    }

    /// The neighbour to which a packet to `destination`, a unicast address beyond this link, goes. `None` if the router does not
    /// know the destination: then the packet goes by the node's uplink, if it has one.
    fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64>;

    /// The hop limit of packets that are made here; one that header compression leaves out.
    fn hop_limit(&self) -> u8 {
        64
    }

    /// Bytes that are added to a packet of this host at most, for routers to read.
    fn room(&self) -> usize {
        0
    }

    /// Whether a packet to the group `destination` is for this router.
    fn takes(&self, _: Ipv6Addr) -> bool {
        false
    }

    /// Whether `packet`, whose destination is this node, has a source route that leads on.
    fn leads_on(&self, _: &[u8]) -> bool {
        false
    }

    /// Whether a router that has no way for `packet` sends it back, to this host or to where it came into the mesh.
    fn comes_back(&self, _: &[u8]) -> bool {
        false
    }

    /// Takes in the ICMPv6 message `message` from the first to the second address, if it is one of the routing protocol; whether it is.
    fn handle<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: (Ipv6Addr, Ipv6Addr),
        _: &[u8],
    ) -> bool {
        false
    }

    /// Reads, and may change, a packet from the neighbour `from` (none if it comes from outside the mesh) that is for another, or leads
    /// on. The neighbour that it goes to; `None` if that is [`Router::next_hop`]'s to say.
    fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: Eui64,
        _: &mut [u8],
    ) -> Result<Option<Eui64>, ForwardError> {
        Ok(None)
    }
}

/// Why a router does not send a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardError {
    /// It is dropped. The router has counted it.
    Dropped,
    /// No route leads to its destination.
    NoRoute,
    /// Its source route cannot be followed.
    SourceRoute {
        /// Where in the packet the problem is.
        pointer: u16,
    },
}

impl fmt::Display for ForwardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped => f.write_str("the router dropped the packet, and counted it"),
            Self::NoRoute => f.write_str("no route leads to the packet's destination"),
            Self::SourceRoute { pointer } => {
                write!(f, "the source route cannot be followed from byte {pointer} of the packet on")
            }
        }
    }
}

impl core::error::Error for ForwardError {}
