//! A stateful packet filter between a mesh and what is outside: rules decide about the first packet of a flow, and whatever
//! belongs to a flow that was let through passes, both ways.

mod decision;
mod seen;
mod states;

use core::fmt;

use sixlock_base::{Instant, Slot};
use sixlock_interface::ipsec::{Flow as Ends, Selector};
use sixlock_ipv6::next_header;

use crate::flows::Flow;
pub use decision::{Decision, Direction};
use seen::{Kind, Seen};
use states::States;

/// What is done with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It passes, and so does what belongs to its flow.
    #[default]
    Allow,
    /// It is dropped, without an answer.
    Deny,
}

/// What is done with the first packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which way the packet goes.
    pub direction: Direction,
    /// Which packets it is for; the near end is the node's.
    pub selector: Selector,
    /// What is done with them.
    pub verdict: Verdict,
}

/// Packets that no rule is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Those into the mesh.
    pub inward: Verdict,
    /// Those out of it.
    pub outward: Verdict,
}

/// There are more rules than there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyRules;

impl fmt::Display for TooManyRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are more rules than there is room for")
    }
}

impl core::error::Error for TooManyRules {}

/// What passes a border router.
#[derive(Clone, Copy, Debug)]
pub enum Traffic<'a> {
    /// A packet, as it is between the two policies of IPsec.
    Packet(&'a [u8]),
    /// A UDP datagram between these ends.
    Datagram(Flow),
}

/// What says which packets may pass a border router: a [`Firewall`], or nothing for `()`.
pub trait Filter {
    /// One that was told nothing yet, and lets everything pass.
    const NEW: Self;

    /// Whether it passes.
    fn passes(&mut self, now: Instant, direction: Direction, traffic: Traffic<'_>) -> bool;
}

impl Filter for () {
    const NEW: Self = ();

    fn passes(&mut self, _: Instant, _: Direction, _: Traffic<'_>) -> bool {
        true
    }
}

/// At most `RULES` rules, of which the first that matches decides, and at most `STATES` flows let through in each direction.
/// Until it is [started](Firewall::start) everything passes.
///
/// A flow is what has the same two addresses, protocol and, of UDP and TCP, ports; of an echo, identifier. Its packets pass both ways until none
/// has come for [`IDLE`](crate::IDLE); of an echo, requests one way and replies the other. So does an ICMPv6 error about a packet
/// of the flow, to its sender ([RFC 4890 section 4.3.1](https://www.rfc-editor.org/rfc/rfc4890#section-4.3.1)). Other messages of ICMPv6 make no flow:
/// rules decide about each.
///
/// Behind ESP nothing can be read, and a fragment has no ports: these are protocols of their own, ESP (50) and fragment (44). AH (51)
/// hides nothing: a rule may name it, or what is behind it. What a routing header still leads elsewhere is dropped.
///
/// When all places of a direction are taken, the flow idle for longest gives way, and is counted: its next packet meets the rules again. Flows
/// that begin outside take no places of those that begin in the mesh.
pub struct Firewall<const RULES: usize, const STATES: usize> {
    is_started: bool,
    rules: [Slot<Rule>; RULES],
    defaults: Defaults,
    by_rule: [u32; RULES],
    by_default: [u32; 2],
    unreadable: u32,
    /// Of flows by the direction of their first packet.
    inward: States<STATES>,
    outward: States<STATES>,
}

impl<const RULES: usize, const STATES: usize> Firewall<RULES, STATES> {
    /// Makes these its rules. What was let through, and what was counted, is forgotten.
    ///
    /// # Errors
    /// When there are too many; then nothing is changed.
    pub fn start(&mut self, rules: &[Rule], defaults: Defaults) -> Result<(), TooManyRules> {
        if rules.len() > RULES {
            return Err(TooManyRules);
        }
        *self = Self { is_started: true, defaults, ..Self::NEW };
        for (place, rule) in self.rules.iter_mut().zip(rules) {
            *place = Slot::Full(*rule);
        }
        Ok(())
    }

    /// How many packets it has decided about so, wrapping.
    pub fn count(&self, decision: Decision) -> u32 {
        match decision {
            Decision::Rule(place) => self.by_rule.get(usize::from(place)).copied().unwrap_or(0),
            Decision::Default(direction) => self.by_default[direction as usize],
            Decision::Unreadable => self.unreadable,
        }
    }

    /// How many flows that were not idle have given way to newer ones, wrapping.
    pub fn evicted(&self) -> u32 {
        self.inward.evicted().wrapping_add(self.outward.evicted())
    }

    fn tally(&mut self, decision: Decision) {
        let count = match decision {
            Decision::Rule(place) => self.by_rule.get_mut(usize::from(place)),
            Decision::Default(direction) => self.by_default.get_mut(direction as usize),
            Decision::Unreadable => Some(&mut self.unreadable),
        };
        if let Some(count) = count {
            *count = count.wrapping_add(1);
        }
    }

    /// The flows whose first packets have gone in this direction.
    fn begun(&mut self, direction: Direction) -> &mut States<STATES> {
        match direction {
            Direction::In => &mut self.inward,
            Direction::Out => &mut self.outward,
        }
    }

    /// What has let the flow through that this belongs to.
    fn flow_of(&mut self, now: Instant, direction: Direction, kind: &Kind<'_>) -> Option<Decision> {
        let both = [direction, direction.reversed()];
        let (ends, begun): (_, &[Direction]) = match kind {
            Kind::Flow(ends) => (ends, &both),
            Kind::Request(ends) => (ends, &both[..1]),
            Kind::Reply(ends) => (ends, &both[1..]),
            Kind::Error { .. } | Kind::Message => return None,
        };
        begun.iter().find_map(|&begun| self.begun(begun).find(now, ends))
    }

    /// What has let the flow through that an error is about.
    fn flow_about(&mut self, now: Instant, direction: Direction, seen: &Seen<'_>) -> Option<Decision> {
        let Kind::Error { about } = seen.kind else { return None };
        // It was on its way when it met the error, which goes back to whoever sent it.
        let way = direction.reversed();
        let met = seen::see(about, way)?;
        let is_its_sender = match way {
            Direction::In => met.ends.remote == seen.ends.remote,
            Direction::Out => met.ends.local == seen.ends.local,
        };
        if is_its_sender { self.flow_of(now, way, &met.kind) } else { None }
    }

    fn decide(&mut self, now: Instant, direction: Direction, seen: &Seen<'_>) -> (Decision, Verdict) {
        let known = self.flow_of(now, direction, &seen.kind);
        if let Some(decision) = known.or_else(|| self.flow_about(now, direction, seen)) {
            return (decision, Verdict::Allow);
        }
        let rules = (0_u16..).zip(self.rules.iter().map_while(Slot::get));
        let found = rules.into_iter().find(|(_, rule)| rule.direction == direction && is_for(rule, seen));
        let (decision, verdict) = match (found, direction) {
            (Some((place, rule)), _) => (Decision::Rule(place), rule.verdict),
            (None, Direction::In) => (Decision::Default(direction), self.defaults.inward),
            (None, Direction::Out) => (Decision::Default(direction), self.defaults.outward),
        };
        if let (Verdict::Allow, Kind::Flow(ends) | Kind::Request(ends)) = (verdict, &seen.kind) {
            self.begun(direction).insert(now, *ends, decision);
        }
        (decision, verdict)
    }
}

/// Whether the rule is for the packet, by what is behind AH or by AH itself.
fn is_for(rule: &Rule, seen: &Seen<'_>) -> bool {
    let as_ah = Ends { protocol: next_header::AH, ports: None, ..seen.ends };
    rule.selector.matches(&seen.ends) || seen.has_ah && rule.selector.matches(&as_ah)
}

impl<const RULES: usize, const STATES: usize> Filter for Firewall<RULES, STATES> {
    const NEW: Self = Self {
        is_started: false,
        rules: [Slot::Empty; RULES],
        defaults: Defaults { inward: Verdict::Allow, outward: Verdict::Allow },
        by_rule: [0; RULES],
        by_default: [0; 2],
        unreadable: 0,
        inward: States::NEW,
        outward: States::NEW,
    };

    fn passes(&mut self, now: Instant, direction: Direction, traffic: Traffic<'_>) -> bool {
        if !self.is_started {
            return true;
        }
        let seen = match traffic {
            Traffic::Packet(packet) => seen::see(packet, direction),
            Traffic::Datagram(flow) => Some(Seen::of(flow)),
        };
        let (decision, verdict) = match seen {
            Some(seen) => self.decide(now, direction, &seen),
            None => (Decision::Unreadable, Verdict::Deny),
        };
        self.tally(decision);
        verdict == Verdict::Allow
    }
}
