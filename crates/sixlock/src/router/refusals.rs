//! What a border router has refused, as it tells it: a line, when something was refused since the last one.

use sixlock_base::{Counter, Counters, Duration, Instant};
use sixlock_gateway::{Decision, Direction, Verdict};

use super::firewall_file::Firewall;
use super::machine::Rules;
use crate::protection::Refused;

/// How often it is told what was refused, at most.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// What policy and security refuse, and what cannot be read.
const REFUSALS: [Counter; 16] = [
    Counter::MacNeighboursFull,
    Counter::MacUnsecured,
    Counter::MacBadMic,
    Counter::MacReplayed,
    Counter::LineMalformed,
    Counter::Ipv6Malformed,
    Counter::Ipv6BadAddress,
    Counter::Ipv6TooBig,
    Counter::IpsecDiscarded,
    Counter::IpsecNotProtected,
    Counter::IpsecMalformed,
    Counter::IpsecNoAssociation,
    Counter::IpsecBadIcv,
    Counter::IpsecReplayed,
    Counter::IpsecExpired,
    Counter::IpsecPolicyViolated,
];

/// What was refused, and what of that was told.
pub(super) struct Refusals {
    /// What IPsec has refused.
    pub(super) by_ipsec: Refused,
    /// What the firewall decides by, with its name, and whether that refuses.
    decisions: Vec<(String, Decision, bool)>,
    reported: Vec<u32>,
    at: Instant,
}

impl Refusals {
    /// Those of a border router without a firewall.
    pub(super) fn new(now: Instant) -> Self {
        Self { by_ipsec: Refused::default(), decisions: Vec::new(), reported: Vec::new(), at: now }
    }

    /// From now on it has this firewall, which has not counted yet.
    pub(super) fn follow(&mut self, firewall: &Firewall) {
        self.decisions = decisions(firewall);
    }

    /// Says what was refused, if something was since it was said last, and that was long enough ago.
    pub(super) fn tell(&mut self, now: Instant, counters: &Counters, firewall: &Rules) {
        if now.since(self.at).millis() < TOLD_EVERY.millis() {
            return;
        }
        let by_counter = REFUSALS.iter().map(|&counter| counters.get(counter));
        let by_firewall =
            self.decisions.iter().filter(|(_, _, refuses)| *refuses).map(|&(_, by, _)| firewall.count(by));
        let counted: Vec<_> = by_counter.chain(by_firewall).collect();
        if counted.iter().all(|&count| count == 0) || counted == self.reported {
            return;
        }
        (self.reported, self.at) = (counted, now);
        let refused = REFUSALS.iter().map(|&counter| (counter.name(), counters.get(counter)));
        let refused = refused.filter(|(_, count)| *count > 0).map(|(name, count)| format!(" {name}={count}"));
        let by_ipsec = self.by_ipsec.to_string();
        let firewall = self.firewall(firewall).map(|(name, count)| format!(" firewall/{name}={count}"));
        to_stdout!("refused so far:{}", refused.chain([by_ipsec]).chain(firewall).collect::<String>());
    }

    /// About how many packets the firewall has decided, by what.
    fn firewall<'a>(&'a self, firewall: &Rules) -> impl Iterator<Item = (&'a str, u32)> {
        let decided = self.decisions.iter().map(|(name, decision, _)| (&**name, firewall.count(*decision)));
        let evicted = (!self.decisions.is_empty()).then(|| ("flows-evicted", firewall.evicted()));
        decided.chain(evicted).filter(|(_, count)| *count > 0).collect::<Vec<_>>().into_iter()
    }
}

fn decisions(firewall: &Firewall) -> Vec<(String, Decision, bool)> {
    let Firewall { rules, defaults } = firewall;
    let named = (0..)
        .zip(rules)
        .map(|(place, (name, rule))| (name.clone(), Decision::Rule(place), rule.verdict == Verdict::Deny));
    let others = [
        ("default-in", Decision::Default(Direction::In), defaults.inward == Verdict::Deny),
        ("default-out", Decision::Default(Direction::Out), defaults.outward == Verdict::Deny),
        ("unreadable", Decision::Unreadable, true),
    ];
    named.chain(others.map(|(name, by, refuses)| (name.to_owned(), by, refuses))).collect()
}
