//! The border router as a security gateway: what protects packets on its two sides.

use std::net::Ipv6Addr;

use sixlock_base::NetworkSuite;
use sixlock_gateway::Tunnels;
use sixlock_gateway::ipsec::{ConfigError, Keying, Transform};

use crate::protection::{Peering, Prefix, Tunnel};

/// A border router that is a security gateway. It opens what comes by the tunnels of one side, and what goes on into those
/// of the other it protects anew: it sees all of it in the clear.
#[derive(Clone, Default)]
pub struct SecurityGateway {
    /// Its tunnels with hosts outside; without, packets come and go there as they are.
    pub internet: Option<InternetSide>,
    /// What protects packets in the mesh.
    pub nodes: NodesSide,
}

/// What protects packets between a security gateway and the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodesSide {
    /// Whether there is a tunnel with each node but those of [`NodesSide::link_only`], by the suite of the security mode.
    pub tunnels: bool,
    /// Nodes that have link security only.
    pub link_only: Vec<u32>,
    /// Whether packets in the mesh that IPsec does not protect are refused.
    pub enforce: bool,
}

/// A security gateway's tunnels with hosts outside.
#[derive(Clone)]
pub struct InternetSide {
    /// The gateway's end of all of them, where it is reached from outside.
    pub address: Ipv6Addr,
    /// The hosts: what none of them sends is refused.
    pub hosts: Vec<InternetHost>,
}

/// A host outside, at the other end of a tunnel.
#[derive(Clone)]
pub struct InternetHost {
    /// Its end of the tunnel.
    pub address: Ipv6Addr,
    /// The addresses behind it, its own among them if it speaks for itself.
    pub network: Prefix,
    /// What protects packets.
    pub suite: NetworkSuite,
    /// The security parameters index of both directions.
    pub spi: u32,
    /// The key that the gateway sends under, of [`NetworkSuite::key_len`] bytes.
    pub from_gateway: Vec<u8>,
    /// The key that the host sends under.
    pub from_host: Vec<u8>,
}

impl NodesSide {
    /// Whether node `id` has a tunnel.
    pub fn has_tunnel_to(&self, id: u32) -> bool {
        self.tunnels && !self.link_only.contains(&id)
    }
}

impl InternetSide {
    /// Turns the tunnels on at a gateway; `transform` is made of the suite and a key.
    ///
    /// # Errors
    /// When there is no room for so many, or no such transform.
    pub fn start<C, T: Transform<C>, const HOSTS: usize, K: Keying<Lifetime: Default>>(
        &self,
        tunnels: &mut Tunnels<C, T, HOSTS, K>,
        transform: impl Fn(NetworkSuite, &[u8]) -> Option<T>,
    ) -> Result<(), ConfigError> {
        let ipsec = tunnels.start(self.address);
        self.peerings().try_for_each(|peering| peering.share(ipsec, peering.id, false, &transform))
    }

    /// What the gateway and each host share.
    pub fn peerings(&self) -> impl Iterator<Item = Peering> {
        self.hosts.iter().map(|host| Peering {
            id: 0,
            node: self.address,
            host: host.address,
            tunnel: Some(Tunnel { node: Prefix::mesh(), host: host.network }),
            suite: host.suite,
            spi: host.spi,
            from_node: host.from_gateway.clone(),
            from_host: host.from_host.clone(),
        })
    }
}
