//! IPsec of a node or border router that is a program.

use std::error::Error;

use sixlock_base::{Eui64, MESH_PREFIX, NetworkSuite};
use sixlock_crypto::Soft;
use sixlock_node::ipsec::{
    Action, Addresses, AnyTransform, Association, Lifetime, Mode, Policy, Protection, Resynchronised,
    Selector,
};
use sixlock_node::{Format, Protected};
use sixlock_sim::CLOUD;

use crate::keys::Associations;

/// IPsec with at most `PEERS` others, replay windows of 64 packets, and the soft state of `FLOWS` flows.
pub(crate) type Ipsec<const PEERS: usize, const FLOWS: usize> =
    Protected<Soft, Resynchronised<AnyTransform<Soft>>, PEERS, PEERS, 8, FLOWS>;

/// An end of a node's associations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Node,
    /// The border router, which speaks for the cloud.
    Cloud,
}

/// The policy that lets packets go and come as they are, for networks without IPsec.
pub(crate) fn bypass<const PEERS: usize, const FLOWS: usize>(
    ipsec: &mut Ipsec<PEERS, FLOWS>,
) -> Result<(), Box<dyn Error>> {
    let all = Policy { selector: Selector::ANY, action: Action::Bypass };
    ipsec.ipsec.add_policy(all).map_err(|_| "no room for a policy".into())
}

/// Protects what goes between node `id` and the cloud; what no policy is for is discarded.
pub(crate) fn protect<const PEERS: usize, const FLOWS: usize>(
    ipsec: &mut Ipsec<PEERS, FLOWS>,
    end: End,
    id: u32,
    suite: NetworkSuite,
    keys: &Associations,
) -> Result<(), Box<dyn Error>> {
    let node = Eui64::of_node(id).with_prefix(MESH_PREFIX);
    let (local, remote, ours, theirs) = match end {
        End::Node => (node, CLOUD, &keys.from_node_hex, &keys.to_node_hex),
        End::Cloud => (CLOUD, node, &keys.to_node_hex, &keys.from_node_hex),
    };
    let association = |key: &[u8]| {
        let transform = AnyTransform::new(&mut Soft, suite, key)
            .map_err(|_| format!("ipsec: a key of {suite} has {} bytes", suite.key_len()))?;
        Ok::<_, String>(Association {
            spi: keys.spi,
            mode: Mode::Transport,
            extended: true,
            lifetime: Lifetime::default(),
            address: Some(remote),
            // Either end may be started anew.
            transform: Resynchronised::new(transform),
        })
    };
    let told = |error| format!("ipsec of node {id}: {error:?}");
    let outbound = ipsec.ipsec.add_outbound(association(ours.bytes())?).map_err(told)?;
    let inbound = ipsec.ipsec.add_inbound(association(theirs.bytes())?).map_err(told)?;
    let selector = Selector { local: Addresses::one(local), remote: Addresses::one(remote), ..Selector::ANY };
    let action = Action::Protect(Protection::by(outbound, inbound));
    ipsec.ipsec.add_policy(Policy { selector, action }).map_err(told)?;
    ipsec.contexts.start(Format::default(), keys.spi);
    Ok(())
}
