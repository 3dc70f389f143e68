//! What must hold in every trial.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use sixlock_base::{Counter, Counters, Security};

use crate::measured::values;
use crate::readings::Skip;
use crate::routing::RoutingKind;
use crate::scenario::{Scenario, TrafficKind};
use crate::time::{Span, Time};

use super::plan::{Attack, Plan};
use super::witness::{Misuse, Use, Witness, fingerprint};

/// What only those messages are counted by that are wrong.
const WRONG: &[Counter] = &[
    Counter::MacUnsecured,
    Counter::MacBadMic,
    Counter::MacNeighboursFull,
    Counter::LowpanMalformed,
    Counter::LowpanReassemblyConflict,
    Counter::Ipv6Malformed,
    Counter::Ipv6BadAddress,
    Counter::Ipv6Unsupported,
    Counter::Ipv6TooBig,
    Counter::Ipv6NoRoute,
    Counter::Ipv6HopLimit,
    Counter::Ipv6ReassemblyConflict,
    Counter::UdpMalformed,
    Counter::UdpNoPort,
    Counter::IpsecDiscarded,
    Counter::IpsecMalformed,
    Counter::IpsecNoAssociation,
    Counter::IpsecBadIcv,
    Counter::IpsecPolicyViolated,
    Counter::DtlsMalformed,
    Counter::CoapMalformed,
    Counter::GatewayNotUdp,
];

/// How often a client of CoAP sends a request again before it gives it up: MAX_RETRANSMIT
/// ([RFC 7252 section 4.8](https://www.rfc-editor.org/rfc/rfc7252#section-4.8)).
const MAX_RETRANSMIT: u32 = 4;

/// Breaches that are told.
const TOLD: usize = 8;
/// What a reading's third value says of the other two.
const CHECK: u64 = 10_000;
/// How long it may take a network to be as before when the disturbances are over: CoAP's longest exchange, another one, and a
/// handshake.
const RECOVERY: Span = Span::from_secs(300);
/// The same where a forged or damaged message may have spoilt a handshake, which its client gives up when it has sent its flight in vain for as long as
/// that may take.
const RECOVERY_OF_HANDSHAKE: Span = Span::from_secs(900);
/// How long before the end of readings one may be due and is to be delivered by the end of the trial.
const LAST: Span = Span::from_secs(1);

macro_rules! invariants {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal,)*) => {
        /// What must hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Invariant {
            $($(#[doc = $doc])* $name,)*
        }

        impl Invariant {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What it says.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

invariants! {
    /// No code panics.
    NoPanic = "no panic",
    /// No nonce or sequence number protects two messages under one key.
    NonceOnce = "no nonce twice",
    /// Nothing is opened twice by the same device.
    NoReplay = "no replay accepted",
    /// Nothing is opened that nobody has protected, and no reading accepted that nobody has made.
    NoForgery = "no forgery accepted",
    /// A reading that its node knows to be accepted has been.
    AcknowledgedIsDelivered = "nothing acknowledged is lost",
    /// No reading is accepted twice.
    DeliveredOnce = "nothing is delivered twice",
    /// Every reading that was due is in exactly one of delivered, failed, skipped and pending.
    Accounted = "every reading due is accounted for",
    /// When the disturbances are over, readings arrive again.
    Recovers = "the network recovers",
    /// A request is given up only when it was sent as often as it may be.
    SentOften = "nothing is given up early",
    /// Nothing is refused for what stands in it, where nobody forges or damages anything.
    WellFormed = "what is honest is well formed",
    /// Something is scheduled for later, and not all for now.
    TimeGoesOn = "time goes on",
    /// When the last reading is settled and all timers have run out, nothing is held any more.
    PoolsEmpty = "pools are empty at the end",
}

/// Something that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// When.
    pub time: Time,
    /// The station where it showed, if it was one.
    pub station: Option<u32>,
    /// What did not hold.
    pub invariant: Invariant,
    /// In what way.
    pub detail: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6} s", self.time.since(Time::ZERO).as_secs())?;
        if let Some(station) = self.station {
            write!(f, ", station {station}")?;
        }
        write!(f, ": not so: {}: {}", self.invariant.text(), self.detail)
    }
}

/// What a network promises under a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guarantees {
    /// Frames under the link key are of those who have it and are honest.
    pub(crate) link: bool,
    /// No reading is accepted that its node has not made.
    pub(crate) authentic: bool,
    /// None is accepted twice.
    pub(crate) once: bool,
    /// None is acknowledged that was not accepted.
    pub(crate) acknowledged: bool,
    /// Nobody forges or damages what no check sequence tells.
    pub(crate) honest: bool,
    /// The ways do not change, and so nothing is ever without one.
    pub(crate) static_routes: bool,
    /// What is sent once arrives once, without any protection against replays.
    pub(crate) single: bool,
    /// No request comes again so late that newer ones have made it forgotten.
    pub(crate) remembered: bool,
    /// Requests are not begun anew in another session before they are given up.
    pub(crate) patient: bool,
    /// In the end there is nothing that goes on and on, as handshakes do that are kept from coming through.
    pub(crate) rests: bool,
    /// How long after all is over readings arrive again, if that is promised.
    pub(crate) recovers: Option<Span>,
}

impl Guarantees {
    /// What this network promises, whatever it goes through.
    pub(crate) fn of(plan: &Plan, scenario: &Scenario) -> Self {
        let Security { link, network, transport, .. } = &scenario.security;
        // A node without a tunnel to the security gateway has link security only.
        let is_for_all = scenario.gateway.as_ref().is_none_or(|gateway| gateway.link_only.is_empty());
        let echoes = matches!(scenario.traffic.kind, TrafficKind::Echo { .. });
        let reboots = plan.has_reboots();
        // The host that sends echoes does not notice that a node has lost its session.
        let keeps_sessions = !echoes || transport.is_none() || !reboots && plan.attack.is_none();
        let is_spoilt = transport.is_some() && plan.spoils_handshakes(scenario.traffic.to);
        let static_routes = scenario.routing == RoutingKind::Static;
        let recovery = if is_spoilt { RECOVERY_OF_HANDSHAKE } else { RECOVERY };
        let Some(Attack { reach, .. }) = plan.attack else {
            // Message ids begin anywhere after a reboot, so they can be those of requests that are remembered.
            let acknowledged = !reboots || transport.is_some();
            let recovers = keeps_sessions.then_some(recovery);
            let honest = !plan.datagrams.damage.happens_ever();
            return Self {
                link: true,
                authentic: true,
                once: true,
                acknowledged,
                honest,
                static_routes,
                single: !plan.multiplies(),
                remembered: plan.restarts.is_empty(),
                patient: transport.is_none(),
                rests: transport.is_none() || recovers.is_some(),
                recovers,
            };
        };
        let is_link_safe = !reach.air || link.is_some() && !reach.link_key;
        // Who has the link key shuts others out by the highest counter. Who forges sequence numbers of IPsec leads those
        // astray that restore compressed ones, for up to 64 packets.
        // Who forges versions of the DODAG leads nodes away from its root for as long as they last.
        let is_undone =
            keeps_sessions && !reach.link_key && (is_link_safe || network.is_none() && static_routes);
        let recovers = is_undone.then_some(recovery);
        let authentic =
            transport.is_some() || (is_link_safe || network.is_some() && is_for_all) && !reach.internet;
        Self {
            link: !reach.link_key,
            authentic,
            // Who receives under keys that do not change knows nothing of what came before its own reboot.
            once: transport.is_some() || authentic && !reboots,
            acknowledged: authentic && (!reboots || transport.is_some()),
            honest: false,
            static_routes,
            single: false,
            remembered: false,
            patient: transport.is_none(),
            rests: transport.is_none() || recovers.is_some(),
            recovers,
        }
    }
}

/// The readings that were made and delivered, and what did not hold.
pub(crate) struct Invariants {
    pub(crate) guarantees: Guarantees,
    seed: u64,
    pub(crate) witness: Witness,
    made: BTreeSet<(u32, u64)>,
    delivered: BTreeSet<(u32, u64)>,
    /// Those that were due while one before them was on its way, and not begun.
    passed_over: BTreeSet<(u32, u64)>,
    /// By station, how many errors of packets without a route its policy has not let out.
    unreachable: BTreeMap<u32, u32>,
    breaches: Vec<Breach>,
}

impl Invariants {
    pub(crate) fn new(seed: u64, guarantees: Guarantees) -> Self {
        Self {
            guarantees,
            seed,
            witness: Witness::default(),
            made: BTreeSet::new(),
            delivered: BTreeSet::new(),
            passed_over: BTreeSet::new(),
            unreachable: BTreeMap::new(),
            breaches: Vec::new(),
        }
    }

    /// What did not hold so far; the first of it.
    pub(crate) fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    pub(crate) fn breach(&mut self, time: Time, station: Option<u32>, invariant: Invariant, detail: String) {
        if self.breaches.len() < TOLD {
            self.breaches.push(Breach { time, station, invariant, detail });
        }
    }

    fn check(&self, node: u32, number: u64) -> u64 {
        let parts = [self.seed.to_le_bytes(), u64::from(node).to_le_bytes(), number.to_le_bytes()];
        fingerprint(&[&parts.concat()]) % CHECK
    }

    /// The values of a node's reading of this number, in tenths, tenths and ones: they tell which it is.
    pub(crate) fn make(&mut self, node: u32, number: u64) -> [i32; 3] {
        self.made.insert((node, number));
        [number as i32, node as i32, self.check(node, number) as i32]
    }

    /// The far end has accepted a reading in this node's name; its number, if it is one of the node's.
    pub(crate) fn accept(&mut self, now: Time, node: u32, payload: &[u8]) -> Option<u64> {
        let number = self.number(node, payload);
        let Some(number) = number else {
            if self.guarantees.authentic {
                let text = String::from_utf8_lossy(payload).into_owned();
                self.breach(now, Some(node), Invariant::NoForgery, format!("it never said {text}"));
            }
            return None;
        };
        if !self.delivered.insert((node, number)) && self.guarantees.once {
            let detail = format!("reading {number} was accepted again");
            self.breach(now, Some(node), Invariant::DeliveredOnce, detail);
        }
        Some(number)
    }

    fn number(&self, node: u32, payload: &[u8]) -> Option<u64> {
        let [number, author, check] = values(payload)?;
        let is_own = author == u64::from(node) && check == 10 * self.check(node, number);
        (is_own && self.made.contains(&(node, number))).then_some(number)
    }

    /// The far end's endpoint has handed out a node's request that it handed out before.
    pub(crate) fn hand_out_again(&mut self, now: Time, node: u32) {
        if self.guarantees.once && self.guarantees.remembered {
            let detail = "the endpoint hands out the same message again".to_string();
            self.breach(now, Some(node), Invariant::DeliveredOnce, detail);
        }
    }

    /// A reading was delivered of which the far end does not tell what was in it.
    pub(crate) fn deliver(&mut self, node: u32, number: u64) {
        self.delivered.insert((node, number));
    }

    /// Something has come back that was no echo, or one that nobody awaits any more: nobody sends echoes again.
    pub(crate) fn come_back_again(&mut self, now: Time, node: u32, number: u64) {
        if self.is_delivered(node, number) && self.guarantees.single {
            let detail = format!("echo {number} has come back again");
            self.breach(now, Some(node), Invariant::DeliveredOnce, detail);
        }
    }

    /// So many requests have come again to the far end, and nodes have sent so many again.
    pub(crate) fn come_again(&mut self, now: Time, came: u32, sent: u32) {
        if came > sent && self.guarantees.single {
            let detail = format!("{came} requests came again, and only {sent} were sent again");
            self.breach(now, None, Invariant::DeliveredOnce, detail);
        }
    }

    /// A node knows that its reading was accepted.
    pub(crate) fn acknowledge(&mut self, now: Time, node: u32, number: u64) {
        if self.guarantees.acknowledged && !self.delivered.contains(&(node, number)) {
            let detail = format!("reading {number} is confirmed, and nobody has accepted it");
            self.breach(now, Some(node), Invariant::AcknowledgedIsDelivered, detail);
        }
    }

    /// Takes in what devices have protected and opened.
    pub(crate) fn look(&mut self, now: Time, station: u32) {
        for (misuse, what) in self.witness.take_misuses() {
            if is_of_link(&what) && !self.guarantees.link {
                continue;
            }
            let (invariant, how) = match misuse {
                Misuse::NonceRepeated => (Invariant::NonceOnce, "protects another message"),
                Misuse::ReplayOpened => (Invariant::NoReplay, "is opened again"),
                Misuse::ForgeryOpened => (Invariant::NoForgery, "is opened, and nobody has protected it so"),
            };
            self.breach(now, Some(station), invariant, format!("{} {how}", spell(&what)));
        }
    }

    /// Whether a reading that was due at `time` is to be delivered, whatever happened before.
    pub(crate) fn is_expected(&self, plan: &Plan, time: Time) -> bool {
        let recovered = self.guarantees.recovers.map(|after| plan.quiet + after);
        recovered.is_some_and(|recovered| time >= recovered) && time + LAST < plan.stop
    }

    /// What a node has counted by the end of its requests, each of which it sends again in vain until it gives it up: the far end
    /// acknowledges none without answering it.
    pub(crate) fn sent_often(&mut self, now: Time, node: u32, counters: &Counters) {
        let given_up = counters.get(Counter::CoapTimeouts);
        let sent_again = counters.get(Counter::CoapRetransmissions);
        if self.guarantees.patient && given_up * MAX_RETRANSMIT > sent_again {
            let detail = format!("{given_up} requests were given up, and {sent_again} sent again");
            self.breach(now, Some(node), Invariant::SentOften, detail);
        }
    }

    /// So many more errors of packets without a route a station's policy has not let out.
    pub(crate) fn note_unreachable(&mut self, station: u32, errors: u32) {
        *self.unreachable.entry(station).or_default() += errors;
    }

    /// What a station, or the far end, has counted by the end.
    pub(crate) fn well_formed(&mut self, now: Time, station: Option<u32>, counters: &Counters) {
        let looked_after = if self.guarantees.honest { WRONG } else { &[] };
        let Guarantees { static_routes, .. } = self.guarantees;
        // Where ways change, a packet may be without one for a while, or come back to who sent it.
        let is_way =
            |wrong| matches!(wrong, Counter::Ipv6NoRoute | Counter::Ipv6BadAddress) && !static_routes;
        for &wrong in looked_after.iter().filter(|&&wrong| !is_way(wrong)) {
            let mut count = counters.get(wrong);
            if !static_routes && wrong == Counter::IpsecDiscarded {
                // Of a packet without a route the station would tell its source, which no policy may allow.
                let errors = station.and_then(|station| self.unreachable.get(&station));
                count = count.saturating_sub(errors.copied().unwrap_or(0));
            }
            if count > 0 {
                let whose = if station.is_some() { "" } else { "the far end counts " };
                self.breach(now, station, Invariant::WellFormed, format!("{whose}{count} {}", wrong.name()));
            }
        }
    }

    /// What a pool of a station, or of the far end, holds at the end.
    pub(crate) fn empty_at_end(&mut self, now: Time, station: Option<u32>, pool: &str, count: usize) {
        if count > 0 && self.guarantees.rests {
            let whose = if station.is_some() { "" } else { "the far end has " };
            self.breach(now, station, Invariant::PoolsEmpty, format!("{whose}{count} {pool}"));
        }
    }

    /// A node does not begin a reading, for this cause.
    pub(crate) fn skip(&mut self, node: u32, number: u64, cause: Skip) {
        if matches!(cause, Skip::UnderWay | Skip::NoSession) {
            self.passed_over.insert((node, number));
        }
    }

    /// Whether a reading was not begun because the one before it was on its way, and that was delivered.
    pub(crate) fn has_made_way(&self, node: u32, number: u64) -> bool {
        self.passed_over.contains(&(node, number)) && self.is_delivered(node, number.saturating_sub(1))
    }

    /// Whether a reading was delivered.
    pub(crate) fn is_delivered(&self, node: u32, number: u64) -> bool {
        self.delivered.contains(&(node, number))
    }
}

/// The length of a key's name.
const KEY: usize = 16;

/// Link security alone has nonces of 13 bytes.
fn is_of_link(what: &Use) -> bool {
    what.len() == KEY + 13
}

fn spell(what: &Use) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let (key, nonce) = what.split_at(what.len().min(KEY));
    format!("nonce {} of key {}", hex(nonce), hex(&key[..4.min(key.len())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Guarantees = Guarantees {
        link: true,
        authentic: true,
        once: true,
        acknowledged: true,
        honest: true,
        static_routes: true,
        single: true,
        remembered: true,
        patient: true,
        rests: true,
        recovers: None,
    };

    fn senml([a, b, c]: [i32; 3]) -> String {
        format!("[{{\"v\":{}.{}}},{{\"v\":{}.{}}},{{\"v\":{c}}}]", a / 10, a % 10, b / 10, b % 10)
    }

    #[test]
    fn a_reading_is_accepted_once_and_only_if_it_was_made() {
        let mut invariants = Invariants::new(1, ALL);
        let reading = senml(invariants.make(3, 17));
        assert_eq!(invariants.accept(Time::ZERO, 3, reading.as_bytes()), Some(17));
        invariants.acknowledge(Time::ZERO, 3, 17);
        assert_eq!(invariants.breaches(), []);
        assert_eq!(invariants.accept(Time::ZERO, 3, reading.as_bytes()), Some(17), "again");
        assert_eq!(invariants.accept(Time::ZERO, 2, reading.as_bytes()), None, "in another's name");
        let other = reading.replace("1.7", "1.8");
        assert_eq!(invariants.accept(Time::ZERO, 3, other.as_bytes()), None, "another number");
        invariants.acknowledge(Time::ZERO, 3, 18);
        let broken: Vec<_> = invariants.breaches().iter().map(|breach| breach.invariant).collect();
        use Invariant::{AcknowledgedIsDelivered, DeliveredOnce, NoForgery};
        assert_eq!(broken, [DeliveredOnce, NoForgery, NoForgery, AcknowledgedIsDelivered]);
    }

    #[test]
    fn a_reading_makes_way_for_the_one_before_it_if_that_arrives() {
        let mut invariants = Invariants::new(1, ALL);
        for (number, cause) in [
            (2, Skip::NoSession),
            (3, Skip::UnderWay),
            (4, Skip::Off),
            (5, Skip::NotBegun),
            (7, Skip::UnderWay),
        ] {
            invariants.skip(3, number, cause);
        }
        for number in [1, 3, 4, 6] {
            invariants.deliver(3, number);
        }
        let made_way: Vec<_> = (0..9).filter(|number| invariants.has_made_way(3, *number)).collect();
        assert_eq!(made_way, [2, 7]);
        assert!(!invariants.has_made_way(2, 2), "of another node");
    }

    #[test]
    fn policy_discards_errors_of_packets_without_a_route_and_nothing_else() {
        let mut counters = Counters::default();
        for counter in
            [Counter::IpsecDiscarded, Counter::IpsecDiscarded, Counter::Ipv6NoRoute, Counter::Ipv6NoRoute]
        {
            counters.count(counter);
        }
        let mut invariants = Invariants::new(1, Guarantees { static_routes: false, ..ALL });
        invariants.note_unreachable(3, 1);
        invariants.note_unreachable(3, 1);
        invariants.well_formed(Time::ZERO, Some(3), &counters);
        assert_eq!(invariants.breaches(), []);
        // One without a route of which nobody is told excuses none that is discarded for another reason.
        invariants.well_formed(Time::ZERO, Some(2), &counters);
        assert_eq!(invariants.breaches()[0].invariant, Invariant::WellFormed);
    }
}
