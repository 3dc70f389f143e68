//! The reports made of a run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::echoes::Echo;
use crate::energest::Energest;
use crate::energy::Energy;
use crate::time::Span;

/// What a run has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The version of this format.
    pub schema: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The nodes' security mode.
    pub security: String,
    /// The run's seed.
    pub seed: u64,
    /// How long was simulated, in seconds.
    pub simulated_s: f64,
    /// The nodes, by id; the router is none of them.
    pub nodes: Vec<NodeReport>,
    /// The border router; of several, all together.
    pub router: RouterReport,
    /// Each of them, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<BorderRouterReport>,
    /// The far end, if it is inside the simulation and has dropped anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<CloudReport>,
    /// Those who attack the network.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attacks: Vec<AttackReport>,
    /// What that costs, where a run without it stands beside this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<AttackCost>,
}

/// What was seen of an attacker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttackReport {
    /// The number of its station: attackers come behind the nodes.
    pub id: u32,
    /// What it does.
    pub kind: &'static str,
    /// Frames it put on the air.
    pub frames: u32,
    /// Their bytes, FCS included.
    pub bytes: u32,
    /// How far its packets travel; nothing of noise, of what a wormhole carries, and if it sends none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub travels: Option<TravelReport>,
    /// Packets that it was to send on, as a captured node that drops them, and did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u32>,
    /// Readings of nodes that came to it, as a sink-hole; a reading that is sent again counts once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swallowed: Option<u32>,
}

/// How far the packets of an attacker travel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TravelReport {
    /// How many it has sent.
    pub packets: u32,
    /// How many stations send one on, on average.
    pub mean_hops: f64,
    /// How many have sent on the one that came furthest.
    pub most_hops: u32,
}

/// What attacks have cost the network: the difference to a run of the same seed without them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttackCost {
    /// Readings that were delivered without them, and are not with them.
    pub readings: i64,
    /// Readings that the far end has accepted, though the node that they are of did not send them, or did so before.
    pub false_readings: u64,
    /// Frames that the border router and the nodes have sent more.
    pub frames: i64,
    /// Bytes that they have.
    pub bytes: i64,
    /// Frames with control messages that they have sent more, where RPL routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_frames: Option<i64>,
    /// What those nodes have consumed more to compute and to send that run on platforms, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_mj: Option<f64>,
}

impl AttackCost {
    /// What a run cost beside one in which nobody attacks.
    pub fn of(attacked: &Report, calm: &Report) -> Self {
        let more = |field: fn(&NodeReport) -> u64| attacked.sum(field) as i64 - calm.sum(field) as i64;
        let router = |field: fn(&RouterReport) -> u32| {
            i64::from(field(&attacked.router)) - i64::from(field(&calm.router))
        };
        let energy = |report: &Report| -> Option<f64> {
            let nodes = report.nodes.iter().filter_map(|node| node.energy_mj.as_ref());
            nodes.map(Energy::computing_and_sending).reduce(|sum, one| sum + one)
        };
        Self {
            readings: -more(|node| node.delivered),
            false_readings: attacked.sum(|node| node.false_readings),
            frames: more(|node| node.frames.into()) + router(|router| router.frames),
            bytes: more(|node| node.bytes.into()) + router(|router| router.bytes),
            control_frames: attacked
                .control_frames()
                .zip(calm.control_frames())
                .map(|(attacked, calm)| attacked as i64 - calm as i64),
            energy_mj: energy(attacked).zip(energy(calm)).map(|(attacked, calm)| attacked - calm),
        }
    }
}

/// What a run has shown of the far end: the cloud, or the host that sends echoes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CloudReport {
    /// What it has dropped, by cause.
    pub drops: BTreeMap<&'static str, u32>,
}

/// What a run has shown of the border router.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouterReport {
    /// Frames it put on the air, acknowledgements and retries included.
    pub frames: u32,
    /// Their bytes, FCS included.
    pub bytes: u32,
    /// Frames that carried control messages, where RPL routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_frames: Option<u32>,
    /// Their bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_bytes: Option<u32>,
    /// What it has dropped, by cause.
    pub drops: BTreeMap<&'static str, u32>,
}

/// What a run has shown of one of several border routers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BorderRouterReport {
    /// Its number: 0 for the first, and the others behind all nodes.
    pub id: u32,
    /// What was seen of it.
    #[serde(flatten)]
    pub router: RouterReport,
}

/// Where a node has registered its address.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegisteredReport {
    /// The node at which it has, 0 for the border router.
    pub at: u32,
    /// The address.
    pub address: String,
}

/// What a run has shown of one node. Each reading that was due, or echo to it, is in exactly one of `delivered`, `failed`, `skipped`
/// and `pending`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeReport {
    /// The node's id.
    pub id: u32,
    /// The address that it has registered by neighbour discovery, and the node at which it has; nothing while it has none, and where addresses are
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered: Option<RegisteredReport>,
    /// How often a router has refused an address of it, which is another's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u32>,
    /// How many hops it is from the router; nothing where RPL routes and the node's parents lead to none.
    pub hops: Option<u32>,
    /// Its next hop towards the router, which is 0; where RPL routes, its parent, and nothing while it has none.
    pub parent: Option<u32>,
    /// When packets could go to the border router and back first, in seconds, where RPL finds their way; nothing if they never could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined_s: Option<f64>,
    /// Its rank at the end, where RPL routes and it has a parent; nothing is known of an emulated one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u16>,
    /// How often it took a parent, the first included, where RPL routes; nothing is known of an emulated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_changes: Option<u32>,
    /// Readings that were due until now, by the node's schedule and whatever it made of that.
    pub due: u64,
    /// Those handed to CoAP; of echoes, those sent.
    pub sent: u64,
    /// Those of which the far end accepted a first copy; of echoes, those that came back.
    pub delivered: u64,
    /// Those given up by the node of which no copy arrived; of echoes, those not back when the next one was sent, nor later.
    pub failed: u64,
    /// Those that were not begun.
    pub skipped: u64,
    /// Of these, how many for which cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_for: BTreeMap<&'static str, u64>,
    /// Those that are under way, or may yet be begun.
    pub pending: u64,
    /// Readings that the far end has accepted, though the node that they are of did not send them, or did so before.
    #[serde(skip_serializing_if = "is_none")]
    pub false_readings: u64,
    /// What the node has dropped, by cause. Of what emulated firmware drops, only what its radio does is known.
    pub drops: BTreeMap<&'static str, u32>,
    /// Its DTLS handshakes, where the security mode has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<HandshakeReport>,
    /// From the beginning of the task that makes a reading to its confirmation, without readings that waited for a handshake: on a
    /// platform, making and protecting the request is part of it; a native node takes no time for that. Of echoes, from
    /// sending one at the far end until it is back there. Nothing if there was none, or if the far end is outside: such a
    /// simulation has no end, and does not keep them.
    pub rtt_ms: Option<Distribution>,
    /// How long its CPU was at work for an echo, if it runs on a platform and there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<EchoWork>,
    /// Frames the node put on the air, acknowledgements and retries included.
    pub frames: u32,
    /// Their bytes, FCS included.
    pub bytes: u32,
    /// Frames that carried messages of RPL, others' that it forwarded and retries included, where RPL routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_frames: Option<u32>,
    /// Their bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_bytes: Option<u32>,
    /// The share of the time that its radio was on, where radios sleep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duty_cycle: Option<f64>,
    /// The same since it first had a way to a border router and back, where RPL finds the ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duty_cycle_joined: Option<f64>,
    /// What the node has consumed, if it runs on a platform that consumes anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_mj: Option<Energy>,
    /// Its energy outside of its own handshakes, where the security mode has any and it runs on a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyReport>,
    /// What Contiki's Energest would have counted at it, if it runs on a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energest: Option<Energest>,
    /// How many days its battery lasts if it goes on to consume as much, where the scenario has batteries and it runs on a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life_days: Option<f64>,
    /// Where its times and what it has consumed are from, if it runs on a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A node's DTLS handshakes, apart from what it does in its sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HandshakeReport {
    /// Those that it began, or that the far end began with it to send echoes. One between two nodes is counted at its client
    /// alone.
    pub begun: u64,
    /// Those that came to a session.
    pub done: u64,
    /// Those that did not.
    pub failed: u64,
    /// How long those took that came to a session, from the first hello on; nothing if there were none, or if the far end is
    /// outside.
    pub ms: Option<Distribution>,
    /// The frames among those of [`NodeReport::frames`] that carried handshakes and alerts, others' that it forwarded and the
    /// acknowledgements of such included.
    pub frames: u32,
    /// Their bytes.
    pub bytes: u32,
    /// What the node consumed while its own handshakes were under way, for whatever, if it runs on a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_mj: Option<Energy>,
}

/// What a node has consumed while none of its own handshakes was under way: with that of its handshakes, all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyReport {
    /// What it has consumed then.
    pub energy_mj: Energy,
    /// How many days its battery lasts without any further handshake, where the scenario has batteries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life_days: Option<f64>,
}

/// Where a node's times and what it has consumed are from: `emulated`, which is exact or an estimate, `modelled` or
/// `published`, as `docs/platforms.md` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// What the node runs on.
    pub platform: String,
    /// The times of its CPU.
    pub cpu: &'static str,
    /// Those of its accelerator, if it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<&'static str>,
    /// Those of its radio.
    pub radio: &'static str,
    /// Its currents.
    pub currents: &'static str,
}

/// A distribution of times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// What 95 % do not exceed.
    pub p95: f64,
}

impl Distribution {
    /// What its parts are called in reports.
    pub(crate) const PARTS: [&str; 3] = ["mean", "p50", "p95"];

    /// The distribution of `spans`, if there are any.
    pub(crate) fn of(spans: &[Span]) -> Option<Self> {
        let mut sorted: Vec<u64> = spans.iter().map(|span| span.micros()).collect();
        sorted.sort_unstable();
        let count = sorted.len() as u64;
        let millis = |micros: u64| micros as f64 / 1000.0;
        // Nearest rank.
        let rank = |percent: u64| (count * percent).div_ceil(100).max(1) as usize - 1;
        let mean = sorted.iter().sum::<u64>().checked_div(count)?;
        Some(Self { mean: millis(mean), p50: millis(sorted[rank(50)]), p95: millis(sorted[rank(95)]) })
    }
}

/// How long a node's CPU was at work for an echo, in milliseconds: see [`Echo::way`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EchoWork {
    /// For one that it sent back itself.
    pub echoed: Option<Distribution>,
    /// For one that it sent on, there and back.
    pub forwarded: Option<Distribution>,
}

impl EchoWork {
    /// What node `id` did for those of `echoes` that came back, if it was on the way of any.
    pub(crate) fn of(echoes: &[Echo], id: u32) -> Option<Self> {
        let [echoed, forwarded] = [true, false].map(|own| {
            let back = echoes.iter().filter(|echo| echo.round_trip.is_some() && (echo.node == id) == own);
            Distribution::of(&back.filter_map(|echo| echo.cpu(id)).collect::<Vec<_>>())
        });
        echoed.or(forwarded)?;
        Some(Self { echoed, forwarded })
    }
}

impl Report {
    /// What all nodes come to.
    pub fn sum(&self, field: impl Fn(&NodeReport) -> u64) -> u64 {
        self.nodes.iter().map(field).sum()
    }

    /// Frames with control messages that the nodes and the border router have sent, where RPL routes.
    pub fn control_frames(&self) -> Option<u64> {
        let router = self.router.control_frames?;
        Some(u64::from(router) + self.sum(|node| node.control_frames.unwrap_or(0).into()))
    }

    /// Their bytes.
    pub fn control_bytes(&self) -> Option<u64> {
        let router = self.router.control_bytes?;
        Some(u64::from(router) + self.sum(|node| node.control_bytes.unwrap_or(0).into()))
    }

    /// The share of the readings that were due which was delivered; nothing if none was due.
    pub fn delivery(&self) -> Option<f64> {
        let due = self.sum(|node| node.due);
        (due > 0).then(|| self.sum(|node| node.delivered) as f64 / due as f64)
    }
}

impl NodeReport {
    /// DTLS handshakes that came to a session.
    pub fn handshakes(&self) -> u64 {
        self.handshake.as_ref().map_or(0, |handshake| handshake.done)
    }

    /// How long those took, in milliseconds, if there were any.
    pub fn handshake_ms(&self) -> Option<Distribution> {
        self.handshake.as_ref()?.ms
    }
}

/// The network as it is now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Network {
    /// The version of this format.
    pub schema: u32,
    /// Seconds since the simulation began.
    pub time_s: f64,
    /// How ways are found: `static` or `rpl`.
    pub routing: &'static str,
    /// The border router's transmissions.
    pub router: Transmissions,
    /// The nodes, by id.
    pub nodes: Vec<NetworkNode>,
}

/// What a device has put on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Transmissions {
    /// Frames, acknowledgements and retries included.
    pub frames: u32,
    /// Their bytes, FCS included.
    pub bytes: u32,
    /// Those of the bytes that are there only because of the security mode.
    pub security_bytes: u64,
    /// Those of frames that carry messages of RPL, where that routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_bytes: Option<u32>,
}

/// One node as it is now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkNode {
    /// The node's id.
    pub id: u32,
    /// Its address in the mesh.
    pub address: String,
    /// Its next hop towards the router, which is 0; nothing as long as RPL has found none.
    pub parent: Option<u32>,
    /// How many hops it is from the router; nothing where parents do not lead there just now.
    pub hops: Option<u32>,
    /// Its rank, where RPL routes and it has a parent; nothing is known of an emulated one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u16>,
    /// When packets could go to the router and back first, in seconds, where RPL finds their way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined_s: Option<f64>,
    /// How often it took a parent, the first included, where RPL routes; nothing is known of an emulated one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_changes: Option<u32>,
    /// The security mode.
    pub security: String,
    /// DTLS handshakes completed.
    pub handshakes: u32,
    /// What it has sent again: frames, DTLS flights and CoAP messages.
    pub retransmissions: u32,
    /// What it has put on the air, for itself and for those behind it.
    #[serde(flatten)]
    pub transmissions: Transmissions,
    /// Values accepted at the far end.
    pub points: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_summed_up() {
        assert_eq!(Distribution::of(&[]), None);
        let spans: Vec<_> = (1..=100).rev().map(Span::from_millis).collect();
        assert_eq!(Distribution::of(&spans), Some(Distribution { mean: 50.5, p50: 50.0, p95: 95.0 }));
        let one = [Span::from_micros(1500)];
        assert_eq!(Distribution::of(&one), Some(Distribution { mean: 1.5, p50: 1.5, p95: 1.5 }));
    }
}
