//! Whom a border router shares keys of IPsec with, by its files.

use std::error::Error;

use sixlock_base::Security;
use sixlock_sim::{Peering, SecurityGateway};

use crate::keys::NetworkFile;
use crate::protection::peering;

/// What the border router, or the cloud that it speaks for, shares with the nodes.
pub(super) fn peerings(
    network: &NetworkFile,
    gateway: Option<&SecurityGateway>,
) -> Result<Vec<Peering>, Box<dyn Error>> {
    let link_only = gateway.map_or(&[][..], |gateway| &gateway.nodes.link_only);
    if let Some(id) = link_only.iter().find(|&&id| network.nodes.iter().all(|node| node.id != id)) {
        return Err(format!("there is no node {id} that could have link security only").into());
    }
    if gateway.is_some_and(|gateway| gateway.nodes.tunnels) && !network.has_ipsec() {
        return Err(
            "tunnels to nodes need keys that have ah or esp in their mode, for example llsec+esp+dtls-psk"
                .into(),
        );
    }
    let mut peerings = Vec::new();
    for node in network.nodes.iter().filter(|node| !link_only.contains(&node.id)) {
        let told = |why: &dyn std::fmt::Display| format!("node {}: {why}", node.id);
        let mode: Security = node.mode.parse().map_err(|error| told(&error))?;
        let Some(suite) = mode.network else { continue };
        let keys = node.ipsec.as_ref().ok_or_else(|| told(&format_args!("there are no keys for {suite}")))?;
        let is_tunnel = gateway.is_some_and(|gateway| gateway.nodes.has_tunnel_to(node.id));
        peerings.push(peering(node.id, suite, keys, is_tunnel).map_err(|error| told(&error))?);
    }
    Ok(peerings)
}
