//! Why a station gave something up, told by the counters of the protocol code.

use std::collections::BTreeMap;

use sixlock_base::{Counter, Counters};

/// Each cause, and what counts it.
const CAUSES: [(&str, &[Counter]); 24] = [
    ("rxfifo", &[Counter::RadioReceiveFull]),
    ("queue", &[Counter::LowpanTransmitFull, Counter::LowpanHeldFull]),
    (
        "reassembly",
        &[
            Counter::LowpanReassemblyFull,
            Counter::LowpanReassemblyTimeout,
            Counter::LowpanReassemblyConflict,
            Counter::Ipv6ReassemblyFull,
            Counter::Ipv6ReassemblyTimeout,
            Counter::Ipv6ReassemblyConflict,
            Counter::DtlsReassemblyFull,
        ],
    ),
    ("no-ack", &[Counter::MacNoAck]),
    ("channel-busy", &[Counter::MacChannelBusy]),
    ("no-route", &[Counter::Ipv6NoRoute, Counter::RplRankErrors]),
    ("hop-limit", &[Counter::Ipv6HopLimit]),
    ("too-big", &[Counter::Ipv6TooBig]),
    ("address", &[Counter::Ipv6BadAddress]),
    ("no-port", &[Counter::UdpNoPort]),
    ("unsupported", &[Counter::Ipv6Unsupported, Counter::GatewayNotUdp]),
    (
        "malformed",
        &[
            Counter::MacMalformed,
            Counter::LowpanMalformed,
            Counter::Ipv6Malformed,
            Counter::NdMalformed,
            Counter::RplMalformed,
            Counter::UdpMalformed,
            Counter::IpsecMalformed,
            Counter::DtlsMalformed,
            Counter::CoapMalformed,
            Counter::LineMalformed,
        ],
    ),
    ("mic", &[Counter::MacBadMic]),
    ("icv", &[Counter::IpsecBadIcv]),
    ("record", &[Counter::DtlsBadRecord]),
    ("replay", &[Counter::MacReplayed, Counter::IpsecReplayed, Counter::DtlsReplayed]),
    ("unprotected", &[Counter::MacUnsecured, Counter::IpsecPolicyViolated]),
    ("not-protected", &[Counter::MacCounterExhausted, Counter::IpsecNotProtected]),
    ("policy", &[Counter::IpsecDiscarded]),
    ("association", &[Counter::IpsecNoAssociation, Counter::IpsecExpired]),
    ("sequence", &[Counter::LowpanUnknownSequence]),
    ("neighbours", &[Counter::MacNeighboursFull, Counter::MacSleepersFull]),
    ("session", &[Counter::DtlsNoSession, Counter::DtlsSessionsFull]),
    ("exchanges", &[Counter::CoapExchangesFull]),
];

/// The causes' names.
pub(crate) const NAMES: [&str; CAUSES.len()] = {
    let mut names = [""; CAUSES.len()];
    let mut n = 0;
    while n < names.len() {
        names[n] = CAUSES[n].0;
        n += 1;
    }
    names
};

/// How often a station has dropped something, by cause, in the order of the causes' list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drops([u32; CAUSES.len()]);

impl Drops {
    /// What the counters of a station say.
    pub(crate) fn of(counters: &Counters) -> Self {
        let count = |counters_of: &[Counter]| {
            counters_of.iter().fold(0_u32, |sum, &counter| sum.wrapping_add(counters.get(counter)))
        };
        Self(CAUSES.map(|(_, counters_of)| count(counters_of)))
    }

    /// The causes, each as often as something was dropped for it since `before`.
    pub(crate) fn since(self, before: Self) -> impl Iterator<Item = &'static str> {
        let counts = CAUSES.into_iter().zip(self.0).zip(before.0);
        counts.flat_map(|(((cause, _), now), then)| (then..now).map(move |_| cause))
    }

    /// Those causes that there were, and how often.
    pub(crate) fn by_cause(self) -> BTreeMap<&'static str, u32> {
        let counts = CAUSES.into_iter().zip(self.0);
        counts.filter(|(_, count)| *count > 0).map(|((cause, _), count)| (cause, count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is counted and is not given up: what is sent, sent again, or received once more.
    const NO_DROPS: [Counter; 29] = [
        Counter::FramesSent,
        Counter::BytesSent,
        Counter::MacRetries,
        Counter::MacDuplicate,
        Counter::LowpanWidened,
        Counter::Ipv6Forwarded,
        Counter::NdRefused,
        Counter::NdFull,
        Counter::RplRefused,
        Counter::RplNeighboursFull,
        Counter::RplRoutesFull,
        Counter::RplParentChanges,
        Counter::IpsecDummies,
        Counter::DtlsHandshakes,
        Counter::DtlsResumptions,
        Counter::DtlsHandshakesFailed,
        Counter::DtlsRetransmissions,
        Counter::DtlsDuplicates,
        Counter::DtlsCookiesSent,
        Counter::DtlsSessionsEvicted,
        Counter::DtlsAddressChanges,
        Counter::DtlsHeldBack,
        Counter::CoapRetransmissions,
        Counter::CoapTimeouts,
        Counter::CoapDuplicates,
        Counter::ReadingsSent,
        Counter::ReadingsConfirmed,
        Counter::ReadingsSkipped,
        Counter::GatewayFlowsEvicted,
    ];

    #[test]
    fn every_counter_is_that_of_one_cause_or_of_no_drop() {
        for counter in Counter::ALL {
            let causes = CAUSES.iter().filter(|(_, counters)| counters.contains(counter)).count();
            let others = NO_DROPS.iter().filter(|other| *other == counter).count();
            assert_eq!(causes + others, 1, "{}", counter.name());
        }
    }

    #[test]
    fn drops_are_told_one_by_one_and_summed_up_by_cause() {
        let mut counters = Counters::new();
        counters.add(Counter::MacReplayed, 1);
        let before = Drops::of(&counters);
        counters.add(Counter::MacReplayed, 1);
        counters.add(Counter::DtlsReplayed, 1);
        counters.add(Counter::RadioReceiveFull, 1);
        counters.add(Counter::FramesSent, 7);
        let now = Drops::of(&counters);
        assert_eq!(now.since(before).collect::<Vec<_>>(), ["rxfifo", "replay", "replay"]);
        assert_eq!(now.since(now).count(), 0);
        assert_eq!(now.by_cause(), BTreeMap::from([("rxfifo", 1), ("replay", 3)]));
    }

    #[test]
    fn the_documentation_has_every_cause() {
        let text = include_str!("../../../docs/events.md");
        let table = text.split("## Causes of `drop`").nth(1).unwrap_or_default();
        let table = table.split("\n## ").next().unwrap_or_default();
        let documented: Vec<_> =
            table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
        assert_eq!(documented, NAMES);
    }
}
