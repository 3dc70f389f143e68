//! Which packets have passed a node twice, as who hears every frame sees it.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use sixlock_base::Eui64;
use sixlock_decode::{Capture, Decoder, Ipv6, Keys, Layer, LinkAddress};
use sixlock_ieee802154::Address;

/// A packet that has passed a node twice.
pub(crate) struct Pass {
    /// Which one, when and where.
    pub(crate) what: String,
    /// Whether a router has said in it before that its way was wrong, and has sent it back where RPL has it do so.
    pub(crate) is_of_repair: bool,
}

/// A packet: who sends it to whom, and what it carries.
type Packet = (Ipv6Addr, Ipv6Addr, String);

/// A copy of a packet on its way.
#[derive(Default)]
struct Copy {
    /// When it was heard last, in microseconds.
    heard: u64,
    /// Who has sent it on, and how many hops were left.
    passed: BTreeMap<Eui64, u8>,
    is_of_repair: bool,
}

/// What is sent again behind this many microseconds is another copy: one that goes round in a circle has run out of hops.
const CIRCLES: u64 = 5_000_000;

/// Each packet of a capture that has passed a node twice. A copy that its source sends again begins anew.
pub(crate) fn twice(capture: &[u8], keys: &str) -> Vec<Pass> {
    let mut opened = Keys::default();
    opened.add(keys).unwrap();
    let mut decoder = Decoder::new(opened);
    let mut under_way: BTreeMap<Packet, Copy> = BTreeMap::new();
    let mut twice = Vec::new();
    for record in Capture::new(capture).unwrap() {
        let record = record.unwrap();
        let layers = decoder.decode(&record);
        let Some((sender, hop_limit, packet)) = packet(&layers) else { continue };
        let what = || {
            let (at, (source, destination, carried)) = (LinkAddress(Address::Extended(sender)), &packet);
            format!("{} µs, {source} to {destination} at {at}: {carried}", record.us)
        };
        let copy = under_way.entry(packet.clone()).or_default();
        if record.us - copy.heard > CIRCLES || copy.passed.values().all(|&before| before <= hop_limit) {
            // Its source sends it: for the first time, or again.
            *copy = Copy::default();
        }
        copy.heard = record.us;
        copy.is_of_repair |= is_of_repair(&layers);
        if copy.passed.insert(sender, hop_limit).is_some_and(|before| hop_limit < before) {
            twice.push(Pass { what: what(), is_of_repair: copy.is_of_repair });
        }
    }
    twice
}

/// The packet that a frame completes, if it goes farther than to a neighbour: who sends the frame, and the hops left.
fn packet(layers: &[Layer]) -> Option<(Eui64, u8, Packet)> {
    let Layer::Mac(mac) = layers.first()? else { return None };
    let Some(LinkAddress(Address::Extended(sender))) = mac.source.filter(|_| !mac.repeated) else {
        return None;
    };
    let outer = layers.iter().find_map(ipv6)?;
    let (at, inner) = layers.iter().enumerate().rev().find_map(|(at, layer)| Some((at, ipv6(layer)?)))?;
    if inner.source.is_unicast_link_local() || inner.destination.is_unicast_link_local() {
        return None;
    }
    let carries = layers[at + 1..].iter().filter(|layer| !matches!(layer, Layer::Extension(_)));
    let carried: Vec<_> = carries.map(|layer| format!("{layer:?}")).collect();
    let destination = inner.final_destination.unwrap_or(inner.destination);
    Some((sender, outer.hop_limit, (inner.source, destination, carried.join(" | "))))
}

fn ipv6(layer: &Layer) -> Option<&Ipv6> {
    match layer {
        Layer::Ipv6(ipv6) => Some(ipv6),
        _ => None,
    }
}

/// Whether RPL's option says that the packet's way is wrong.
fn is_of_repair(layers: &[Layer]) -> bool {
    layers.iter().any(|layer| match layer {
        Layer::Extension(extension) => {
            extension.rpl.is_some_and(|rpl| rpl.rank_error || rpl.forwarding_error)
        }
        _ => false,
    })
}
