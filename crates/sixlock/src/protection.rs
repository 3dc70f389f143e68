//! IPsec of a node or border router that is a program.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use sixlock_base::NetworkSuite;
use sixlock_crypto::Soft;
use sixlock_node::ipsec::{
    Action, AnyTransform, Automated, Contexts, Event, Ipsec as Tables, Policy, Refusal, Resynchronised,
    Selector,
};
use sixlock_node::{Format, PayloadCompression, Reassembler};
use sixlock_sim::{CLOUD, Peering};

use crate::keys::Associations;

/// What protects packets; either end may be started anew.
pub(crate) type Transform = Resynchronised<AnyTransform<Soft>>;

/// Puts two packets together at a time, each of what hosts take at least, 1,500 bytes, and what a tunnel adds.
pub(crate) type Reassembly = Reassembler<1792, 2>;

/// Keys are not replaced; events tell why packets are refused.
pub(crate) type Watched = Automated<0>;

/// IPsec with at most `PEERS` others, and replay windows of 64 packets.
pub(crate) type Ipsec<const POLICIES: usize, const PEERS: usize> =
    Tables<Soft, Transform, POLICIES, PEERS, 8, Watched>;

/// The soft state of `FLOWS` flows, and how payloads are compressed.
pub(crate) type Compression<const FLOWS: usize> = Contexts<FLOWS, true, Option<PayloadCompression>>;

/// That of `suite` with this key.
pub(crate) fn transform(suite: NetworkSuite, key: &[u8]) -> Option<Transform> {
    AnyTransform::new(&mut Soft, suite, key).ok().map(Resynchronised::new)
}

/// What node `id` shares with the border router under these keys: a tunnel to it for everything, or what protects packets
/// between the node and the cloud, for which it speaks.
pub(crate) fn peering(
    id: u32,
    suite: NetworkSuite,
    keys: &Associations,
    is_tunnel: bool,
) -> Result<Peering, String> {
    let [from_node, from_host] = [&keys.from_node_hex, &keys.to_node_hex].map(|key| key.bytes().to_vec());
    if [&from_node, &from_host].iter().any(|key| key.len() != suite.key_len()) {
        return Err(format!("ipsec: a key of {suite} has {} bytes", suite.key_len()));
    }
    let tunnel = Peering::with_router(id, suite, keys.spi, [from_node, from_host]);
    Ok(if is_tunnel { tunnel } else { Peering { host: CLOUD, tunnel: None, ..tunnel } })
}

/// Lets node or border router `id` protect what `peering` is for; what no policy is for is discarded.
pub(crate) fn protect<const POLICIES: usize, const PEERS: usize>(
    ipsec: &mut Ipsec<POLICIES, PEERS>,
    id: u32,
    peering: &Peering,
) -> Result<(), Box<dyn Error>> {
    let told = |error| format!("ipsec of node {}: {error:?}", peering.id);
    Ok(peering.share(ipsec, id, false, transform).map_err(told)?)
}

/// Lets headers be compressed on links whose packets `peering` protects.
pub(crate) fn compress<const FLOWS: usize>(compression: &mut Compression<FLOWS>, peering: &Peering) {
    compression.start(Format::default(), peering.spi);
}

/// How often IPsec has refused packets, by direction and reason. It prints as ` in/replay=3 out/no-room=1`.
#[derive(Default)]
pub(crate) struct Refused(BTreeMap<(&'static str, &'static str), u32>);

impl Refused {
    /// Counts the refusal that an event tells of, and says whether it is one.
    pub(crate) fn count(&mut self, event: Event) -> bool {
        let reason = match event {
            Event::Refused(Refusal::Outbound(error)) => ("out", error.name()),
            Event::Refused(Refusal::Inbound(error)) => ("in", error.name()),
            _ => return false,
        };
        *self.0.entry(reason).or_default() += 1;
        true
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = self.0.iter();
        all.try_for_each(|((direction, reason), count)| write!(f, " {direction}/{reason}={count}"))
    }
}

/// The policy that lets packets go and come as they are.
pub(crate) fn bypass<const POLICIES: usize, const PEERS: usize>(
    ipsec: &mut Ipsec<POLICIES, PEERS>,
    selector: Selector,
) -> Result<(), Box<dyn Error>> {
    let policy = Policy { selector, action: Action::Bypass };
    ipsec.add_policy(policy).map_err(|_| "no room for a policy".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_node::ipsec::{InboundError, OutboundError};

    #[test]
    fn refusals_are_counted_by_direction_and_reason() {
        let mut refused = Refused::default();
        let replay = Event::Refused(Refusal::Inbound(InboundError::Replayed));
        let no_room = Event::Refused(Refusal::Outbound(OutboundError::NoRoom));
        assert!([replay, no_room, replay].into_iter().all(|event| refused.count(event)));
        assert_eq!(refused.to_string(), " in/replay=2 out/no-room=1");
    }
}
