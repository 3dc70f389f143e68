//! What a border router has refused, as it tells it: a line, when something was refused since the last one.

use sixlock_base::{Counter, Counters, Duration, Instant};
use sixlock_gateway::{Decision, Direction, Verdict};

use super::firewall_file::{DEFAULT_IN, DEFAULT_OUT, EVICTED, Firewall, UNREADABLE};
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
    /// What the firewall decides by, with its name, and how it decides.
    decisions: Vec<(String, Decision, Verdict)>,
    reported: Vec<u32>,
    at: Instant,
}

impl Refusals {
    /// Those of a border router without a firewall.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            by_ipsec: Refused::default(),
            decisions: Vec::new(),
            reported: vec![0; REFUSALS.len()],
            at: now,
        }
    }

    /// From now on it has this firewall, which has not counted yet.
    pub(super) fn follow(&mut self, firewall: &Firewall) {
        self.decisions = decisions(firewall);
        let refuses = |(_, _, verdict): &&(String, Decision, Verdict)| *verdict == Verdict::Deny;
        let refusing = self.decisions.iter().filter(refuses).count();
        self.reported.truncate(REFUSALS.len());
        self.reported.resize(REFUSALS.len() + refusing, 0);
    }

    /// Says what was refused, if something was since it was said last, and that was long enough ago.
    pub(super) fn tell(&mut self, now: Instant, counters: &Counters, firewall: &Rules) {
        if now.since(self.at).millis() < TOLD_EVERY.millis() {
            return;
        }
        let by_counter = REFUSALS.iter().map(|&counter| counters.get(counter));
        let by_firewall = self.by(Verdict::Deny, firewall).map(|(_, count)| count);
        let counted: Vec<_> = by_counter.chain(by_firewall).collect();
        if counted == self.reported {
            return;
        }
        (self.reported, self.at) = (counted, now);
        let refused = REFUSALS.iter().map(|&counter| (counter.name(), counters.get(counter)));
        let refused = refused.filter(|(_, count)| *count > 0).map(|(name, count)| format!(" {name}={count}"));
        let by_ipsec = self.by_ipsec.to_string();
        let evicted = (!self.decisions.is_empty()).then(|| (EVICTED, firewall.evicted()));
        let denied = spell(self.by(Verdict::Deny, firewall).chain(evicted));
        let allowed = match spell(self.by(Verdict::Allow, firewall)) {
            none if none.is_empty() => none,
            allowed => format!("; allowed so far:{allowed}"),
        };
        to_stdout!("refused so far:{}{allowed}", refused.chain([by_ipsec, denied]).collect::<String>());
    }

    /// About how many packets the firewall has decided so, by what.
    fn by<'a>(&'a self, verdict: Verdict, firewall: &'a Rules) -> impl Iterator<Item = (&'a str, u32)> {
        let decided = self.decisions.iter().filter(move |(_, _, by)| *by == verdict);
        decided.map(|(name, decision, _)| (&**name, firewall.count(*decision)))
    }
}

/// What the firewall has counted, but for what has not happened.
fn spell<'a>(counts: impl Iterator<Item = (&'a str, u32)>) -> String {
    counts.filter(|(_, count)| *count > 0).map(|(name, count)| format!(" firewall/{name}={count}")).collect()
}

fn decisions(firewall: &Firewall) -> Vec<(String, Decision, Verdict)> {
    let Firewall { rules, defaults } = firewall;
    let named =
        (0..).zip(rules).map(|(place, (name, rule))| (name.clone(), Decision::Rule(place), rule.verdict));
    let others = [
        (DEFAULT_IN, Decision::Default(Direction::In), defaults.inward),
        (DEFAULT_OUT, Decision::Default(Direction::Out), defaults.outward),
        (UNREADABLE, Decision::Unreadable, Verdict::Deny),
    ];
    named.chain(others.map(|(name, by, verdict)| (name.to_owned(), by, verdict))).collect()
}
