//! The border router as a security gateway: what protects packets on its two sides.

use std::net::Ipv6Addr;

use sixlock_base::{Instant, NetworkSuite};
use sixlock_gateway::Tunnels;
use sixlock_gateway::ipsec::{Automated, Transform};

use crate::network::ROUTER;
use crate::peerings::{ChangeError, Changed, Peerings};
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

impl SecurityGateway {
    /// What it shares with hosts outside.
    pub fn with_hosts(&self) -> Vec<Peering> {
        self.internet.iter().flat_map(InternetSide::peerings).collect()
    }
}

impl NodesSide {
    /// Whether node `id` has a tunnel.
    pub fn has_tunnel_to(&self, id: u32) -> bool {
        self.tunnels && !self.link_only.contains(&id)
    }
}

impl InternetSide {
    /// Turns the tunnels on at a gateway, or changes those that are there, in `peerings`; `transform` is made of the suite and a key.
    ///
    /// # Errors
    /// Says why it cannot be done; then nothing is changed.
    pub fn apply<C, T: Transform<C>, const HOSTS: usize>(
        &self,
        tunnels: &mut Tunnels<C, T, HOSTS, Automated<HOSTS>>,
        peerings: &mut Peerings,
        now: Instant,
        transform: impl Fn(NetworkSuite, &[u8]) -> Option<T>,
    ) -> Result<Changed, ChangeError> {
        let wanted: Vec<_> = self.peerings().collect();
        let changed = peerings.change(tunnels.ipsec(), ROUTER, &wanted, now, transform)?;
        tunnels.start(self.address);
        Ok(changed)
    }

    /// What the gateway and each host share.
    pub fn peerings(&self) -> impl Iterator<Item = Peering> {
        self.hosts.iter().map(|host| Peering {
            id: ROUTER,
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
