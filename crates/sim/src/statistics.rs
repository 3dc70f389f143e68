//! What is counted during a run, and the reports made of it.

use serde::Serialize;

use crate::echoes::Echo;
use crate::energy::Energy;
use crate::time::{Span, Time};

/// How one node's readings, or echoes, fare.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    /// Times from sending to confirmation, where a report is made of them.
    pub(crate) round_trips: Vec<Span>,
    /// How long the handshakes took that the far end began.
    pub(crate) handshakes: Vec<Span>,
    latest: Option<Latest>,
}

/// The reading sent last.
#[derive(Clone, Copy, Debug)]
struct Latest {
    sent: Time,
    delivered: bool,
    confirmed: bool,
}

impl Tally {
    pub(crate) fn sent(&mut self, now: Time) {
        self.sent += 1;
        self.latest = Some(Latest { sent: now, delivered: false, confirmed: false });
    }

    /// The far end has accepted a reading: a node has one under way at a time, so it is the latest.
    /// Whether it is its first copy.
    pub(crate) fn delivered(&mut self) -> bool {
        match &mut self.latest {
            Some(latest) if !latest.delivered => {
                latest.delivered = true;
                self.delivered += 1;
                true
            }
            _ => false,
        }
    }

    /// The node has learnt that its reading was accepted; returns how long that took.
    pub(crate) fn confirmed(&mut self, now: Time) -> Option<Span> {
        self.delivered();
        let latest = self.latest.as_mut().filter(|latest| !latest.confirmed)?;
        latest.confirmed = true;
        Some(now.since(latest.sent))
    }
}

/// What a run has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The version of this format.
    pub schema: u32,
    /// The run's seed.
    pub seed: u64,
    /// How long was simulated, in seconds.
    pub simulated_s: f64,
    /// The nodes, by id; the router is none of them.
    pub nodes: Vec<NodeReport>,
}

/// What a run has shown of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeReport {
    /// The node's id.
    pub id: u32,
    /// How many hops it is from the router.
    pub hops: u32,
    /// Readings handed to CoAP.
    pub sent: u64,
    /// First copies that the far end accepted.
    pub delivered: u64,
    /// From handing a reading to CoAP to its confirmation; nothing if there was none, or if the far end
    /// is outside: such a simulation has no end, and does not keep them.
    pub rtt_ms: Option<Distribution>,
    /// How long handshakes took, from the first hello to the session, if the far end began any: for echoes over DTLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_ms: Option<Distribution>,
    /// How long its CPU was at work for an echo, if it runs on a platform and there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<EchoWork>,
    /// DTLS handshakes completed.
    pub handshakes: u32,
    /// Frames the node put on the air, acknowledgements and retries included.
    pub frames: u32,
    /// Their bytes, FCS included.
    pub bytes: u32,
    /// What the node has consumed, if it runs on a platform that consumes anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_mj: Option<Energy>,
    /// Where its times and what it has consumed are from, if it runs on a platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// Where a node's times and what it has consumed are from: `emulated`, which is exact or an estimate, `modelled` or
/// `published`, as `docs/platforms.md` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// What the node runs on.
    pub platform: &'static str,
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
    /// The share of the readings sent that were delivered; 1 if none was sent.
    pub fn delivery(&self) -> f64 {
        let sum = |field: fn(&NodeReport) -> u64| self.nodes.iter().map(field).sum::<u64>();
        match sum(|node| node.sent) {
            0 => 1.0,
            sent => sum(|node| node.delivered) as f64 / sent as f64,
        }
    }
}

/// The network as it is now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Network {
    /// The version of this format.
    pub schema: u32,
    /// Seconds since the simulation began.
    pub time_s: f64,
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
}

/// One node as it is now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkNode {
    /// The node's id.
    pub id: u32,
    /// Its address in the mesh.
    pub address: String,
    /// Its next hop towards the router, which is 0.
    pub parent: u32,
    /// How many hops it is from the router.
    pub hops: u32,
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

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_reading_counts_once_however_often_it_arrives() {
        let mut tally = Tally::default();
        assert!(!tally.delivered(), "before anything was sent");
        tally.sent(at(0));
        assert!(tally.delivered());
        assert!(!tally.delivered());
        assert_eq!(tally.confirmed(at(30)), Some(Span::from_millis(30)));
        assert_eq!(tally.confirmed(at(40)), None);
        tally.sent(at(50));
        tally.confirmed(at(70));
        assert_eq!((tally.sent, tally.delivered), (2, 2));
    }

    #[test]
    fn round_trips_are_summed_up() {
        assert_eq!(Distribution::of(&[]), None);
        let spans: Vec<_> = (1..=100).rev().map(Span::from_millis).collect();
        assert_eq!(Distribution::of(&spans), Some(Distribution { mean: 50.5, p50: 50.0, p95: 95.0 }));
        let one = [Span::from_micros(1500)];
        assert_eq!(Distribution::of(&one), Some(Distribution { mean: 1.5, p50: 1.5, p95: 1.5 }));
    }
}
