//! The border router as a security gateway: what protects packets on its two sides.

use std::net::Ipv6Addr;
use std::ops::Range;

use sixlock_base::NetworkSuite;
use sixlock_gateway::Tunnels;
use sixlock_gateway::ipsec::{ConfigError, Transform};

use crate::protection::{Host, Keyed, Peering, Prefix, Tunnel};
use crate::scenario::{Destination, Scenario, Traffic, TrafficKind};
use crate::station::Station;
use crate::time::Time;

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

/// What the nodes with these ids share with other hosts, or with the border router if that is `gateway`.
///
/// # Errors
/// What is wrong with the gateway's wishes.
pub(crate) fn peerings(
    scenario: &Scenario,
    ids: Range<u32>,
    host: Option<Host>,
    gateway: Option<&SecurityGateway>,
) -> Result<Vec<Peering>, String> {
    let link_only = gateway.map_or(&[][..], |gateway| &gateway.nodes.link_only);
    if let Some(id) = link_only.iter().find(|id| !ids.contains(id)) {
        return Err(format!("there is no node {id} that could have link security only"));
    }
    let has_tunnel = |id: u32| gateway.is_some_and(|gateway| gateway.nodes.has_tunnel_to(id));
    let on_platform = |id| Some((id, scenario.platform_of(id)?));
    if let Some((id, platform)) = ids.clone().filter(|&id| has_tunnel(id)).find_map(on_platform) {
        return Err(format!("node {id} is a {}, and firmware images have no tunnels", platform.name()));
    }
    let Some(suite) = scenario.security.network else {
        return match ids.clone().any(has_tunnel) {
            true => Err("tunnels to nodes need a security mode with ah or esp, for example llsec+esp".into()),
            false => Ok(Vec::new()),
        };
    };
    let server = match scenario.traffic {
        Traffic { kind: TrafficKind::Report, to: Destination::Node(server), .. } => Some(server),
        _ => None,
    };
    let of_node = |id| match has_tunnel(id) {
        true => vec![Peering::tunnel_of_node(scenario.seed, id, suite)],
        false => Peering::of_node(scenario.seed, id, suite, host, server),
    };
    Ok(ids.filter(|id| !link_only.contains(id)).flat_map(of_node).collect())
}

impl NodesSide {
    /// Whether node `id` has a tunnel.
    pub fn has_tunnel_to(&self, id: u32) -> bool {
        self.tunnels && !self.link_only.contains(&id)
    }
}

impl SecurityGateway {
    /// Makes the border router, which has its peerings already, one.
    ///
    /// # Errors
    /// When there is no room for so many, or an association of the Internet's side cannot be made.
    pub(crate) fn start(&self, router: &mut Station) -> Result<(), ConfigError> {
        let started = router.with_gateway(Time::ZERO, |gateway, _| {
            gateway.interface().protection().protect_others(!self.nodes.enforce)?;
            self.internet.as_ref().map_or(Ok(()), |side| side.start(gateway.internet(), Keyed::of))
        });
        started.unwrap_or(Err(ConfigError::NoAssociation))
    }
}

impl InternetSide {
    /// Turns the tunnels on at a gateway; `transform` is made of the suite and a key.
    ///
    /// # Errors
    /// When there is no room for so many, or no such transform.
    pub fn start<C, T: Transform<C>, const HOSTS: usize>(
        &self,
        tunnels: &mut Tunnels<C, T, HOSTS>,
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
