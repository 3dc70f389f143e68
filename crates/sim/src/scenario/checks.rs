//! What a scenario may not ask for, whether a file or a caller asks.

use core::ops::RangeInclusive;
use std::collections::{BTreeMap, BTreeSet};

use sixlock_base::{Engines, LinkSuite, Security};
use sixlock_ipv6::rpl::source_route::MOST_LEFT_OUT;
use sixlock_node::mac::tsch::Slotframes;
use sixlock_node::{Backoff, Rules};

use crate::buffers::Buffers;
use crate::built_image::sleeps_as_images;
use crate::discovery::{Addressing, DiscoveryKind};
use crate::network::{CHANNELS, MAX_NODES, ROUTER};
use crate::platform::{EmulatedNode, Platform};
use crate::readings::BEGUN;
use crate::routing::{HOP_LIMIT, LONG_HOP_LIMIT, RoutingKind};
use crate::sizes::{FLOWS, MEMBERS, PROTECTED};
use crate::time::Span;
use crate::toml_reader::not_within;
use crate::topology::{Layout, Topology, TopologyError};
use crate::units::longer_than_nothing;

use super::{
    Credential, Csma, Destination, Listen, Mac, Pattern, RadioModel, SHORT_ECHO, Scenario, ScenarioEventKind,
    TrafficKind, attack,
};

/// The ranges of IEEE 802.15.4-2006, table 86.
pub(super) const MAX_BE: RangeInclusive<u64> = 3..=8;
pub(super) const MAX_BACKOFFS: RangeInclusive<u64> = 0..=5;
pub(super) const MAX_RETRIES: RangeInclusive<u64> = 0..=7;
/// The lengths of slotframes, in slots: an unsigned number of two bytes, and not so short that nothing is between the shared slots.
pub(super) const SLOTFRAME: RangeInclusive<u64> = 3..=9999;
/// An acknowledgement and what is before it on the air, 11 bytes, in symbols.
const ACK_AND_HEADER: u32 = 22;
/// The numbers that nodes have, and how many there may be.
pub(super) const NODES: RangeInclusive<u64> = 1..=MAX_NODES as u64;
/// How many leading octets addresses may have in common for source routes: the prefix, or more.
pub(super) const COMMON_OCTETS: RangeInclusive<u64> = 8..=MOST_LEFT_OUT as u64;
/// How many border routers.
pub(super) const ROUTERS: RangeInclusive<u64> = 1..=1000;
/// Frames that a link loses in a row.
pub(super) const BURST: RangeInclusive<u64> = 1..=1000;
/// Bits per second of a serial line.
pub(super) const BAUD: RangeInclusive<u64> = 1200..=4_000_000;
/// Readings that come one after the other: the simulator knows as many apart that are on their way.
pub(super) const READINGS_IN_A_BURST: RangeInclusive<u64> = 2..=BEGUN as u64;
/// Bytes of an echo.
const PAYLOAD: RangeInclusive<u16> = 8..=1024;
/// That which fills a packet of 1,280 bytes, where nothing is added to it: headers of IPv6 and UDP take 48.
const BARE_PAYLOAD: RangeInclusive<u16> = 8..=1232;
pub(super) const NOT_A_PAYLOAD: &str = "the payload of echo traffic has between 8 and 1024 bytes, such as \"64B\"; without IPsec, DTLS and RPL up to 1232";
/// The lengths from which packets may be compressed: up to that of the longest.
pub(super) const COMPRESS_FROM: RangeInclusive<u16> = 0..=1280;
pub(super) const NOT_A_LENGTH: &str = "packets are compressed from \"0B\" to \"1280B\" on";
/// The longest period: devices tell times apart that are less than 24 days apart.
const LONGEST_PERIOD: Span = Span::from_secs(20 * 86_400);
/// The shortest time that a node uses a DTLS session for: a handshake that loses datagrams takes as long.
const SHORTEST_SESSION: Span = Span::from_secs(60);
/// The same of a Poisson process, whose times are now and then many times as long: one in 500 million more than 20 times.
const LONGEST_POISSON: Span = Span::from_secs(86_400);

/// The greatest common divisor.
const fn common_divisor(a: u16, b: u16) -> u16 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The part of a scenario that is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Duration,
    Security,
    Range,
    Interference,
    Burst,
    LossAtRange,
    Links,
    Floor,
    Mac,
    Battery,
    Routing,
    Discovery,
    Prefix,
    Compression,
    CompressFrom,
    Topology,
    Node(u32),
    Spacing,
    Routers,
    Begin,
    Session,
    Period,
    Payload,
    To,
    From,
    Credential,
    Confirmable,
    Pattern,
    /// By its place among the events, and when that is.
    Event(usize),
    EventTime(usize),
    /// By its place among the attacks.
    Attack(usize),
}

/// On which lines keys stand, of those that the file has.
pub(super) type Lines = BTreeMap<Key, Option<usize>>;

/// What is wrong.
pub(super) struct Fault {
    pub(super) key: Key,
    pub(super) message: String,
}

fn fault(key: Key, message: impl Into<String>) -> Fault {
    Fault { key, message: message.into() }
}

/// Whether this is the number of a border router that is not the first.
fn is_another_router(layout: &Layout, number: u32) -> bool {
    let numbers = layout.numbers();
    let station = numbers.station(number).filter(|&station| numbers.of(station) == number);
    number > 0 && station.is_some_and(|station| numbers.is_router(station))
}

fn within(
    key: Key,
    name: &'static str,
    number: impl Into<u64>,
    range: RangeInclusive<u64>,
) -> Result<(), Fault> {
    match range.contains(&number.into()) {
        true => Ok(()),
        false => Err(fault(key, not_within(name, &range))),
    }
}

impl Scenario {
    /// Whether it can be simulated, as far as can be seen before. What is to happen to stations does so within `longest`, from which the duration may
    /// have been cut.
    pub(super) fn check(&self, longest: Span) -> Result<(), Fault> {
        longer_than_nothing(self.duration)
            .map_err(|wrong| fault(Key::Duration, format!("duration: {wrong}")))?;
        self.check_radio()?;
        self.check_mac()?;
        self.check_battery()?;
        self.check_traffic()?;
        self.check_routing()?;
        self.check_addressing()?;
        self.check_compression()?;
        self.check_security()?;
        self.check_emulated()?;
        self.check_routers()?;
        let layout = self.check_topology()?;
        self.check_eui64s(&layout)?;
        self.check_hosts()?;
        self.check_destination(&layout)?;
        self.check_room(&layout)?;
        self.check_events(&layout, longest.max(self.duration))?;
        attack::check(self, &layout).map_err(|(index, message)| fault(Key::Attack(index), message))
    }

    /// Gives a chain, a grid or a random field this many nodes.
    pub(super) fn set_nodes(&mut self, wanted: u32) -> Result<(), Fault> {
        if !NODES.contains(&wanted.into()) {
            let message = format!("a network has between 1 and {MAX_NODES} nodes, not {wanted}");
            return Err(fault(Key::Topology, message));
        }
        match &mut self.topology {
            Topology::Chain { nodes, .. } | Topology::Grid { nodes, .. } | Topology::Random { nodes, .. } => {
                *nodes = wanted;
            }
            Topology::List(_) => {
                return Err(fault(Key::Topology, "the number of nodes is that of its [[node]] entries"));
            }
        }
        Ok(())
    }

    fn check_radio(&self) -> Result<(), Fault> {
        let radio = &self.radio;
        if let RadioModel::LogDistance(model) = &radio.model
            && model.floor > model.sensitivity
        {
            return Err(fault(Key::Floor, "floor is at most sensitivity: what is received is sensed, too"));
        }
        if let RadioModel::UnitDisk { loss_at_range: Some(most) } = radio.model
            && most < radio.loss
        {
            return Err(fault(Key::LossAtRange, "loss_at_range is at least loss, which is that close by"));
        }
        if radio.range <= 0 {
            return Err(fault(Key::Range, "range: it must be more than nothing"));
        }
        if radio.interference < radio.range {
            return Err(fault(Key::Interference, "interference must reach at least as far as range"));
        }
        let Some(mean) = radio.burst else { return Ok(()) };
        within(Key::Burst, "burst", mean, BURST)?;
        match radio.worst_loss().in_bursts(mean) {
            Some(_) => Ok(()),
            None => Err(fault(Key::Burst, "bursts as short as that cannot make so much loss: raise burst")),
        }
    }

    fn check_mac(&self) -> Result<(), Fault> {
        if self.listen != Listen::Always {
            if let (Some(id), false) = (self.emulated.keys().next(), sleeps_as_images(self)) {
                let message = format!(
                    "node {id} is emulated, and its firmware sleeps by Contiki's CSMA, with its times and those of ContikiMAC, polls each 30s, or is in time slots: set kind to \
                    \"contiki-csma\" in [mac], and leave times, strobe_gap and phase_lock out; or leave poll out; or leave guard and the lengths of slotframes out; or leave listen out"
                );
                return Err(fault(Key::Mac, message));
            }
            if !self.attacks.is_empty() {
                return Err(fault(
                    Key::Mac,
                    "attackers send to nodes that always listen: leave listen out of [mac]",
                ));
            }
        }
        self.check_slots()?;
        if let Listen::Sleepy { .. } = self.listen {
            match self.mac {
                Mac::Csma(Csma { ack: true, rules: Rules { backoff, .. }, .. })
                    if backoff != Backoff::Linear => {}
                _ => {
                    return Err(fault(
                        Key::Mac,
                        "a node that sleeps learns from acknowledgements whether something waits for it: set [mac] kind to \"csma\", and leave ack out",
                    ));
                }
            }
        }
        let Mac::Csma(Csma { min_be, max_be, max_backoffs, max_retries, rules, .. }) = self.mac else {
            return Ok(());
        };
        let has_other_rules = rules != Rules::STANDARD && self.listen == Listen::Always;
        if let (Some(id), true) = (self.emulated.keys().next(), has_other_rules) {
            return Err(fault(
                Key::Mac,
                format!(
                    "node {id} is emulated, and its firmware has the times of the standard: leave them out of [mac], and set kind to \"csma\""
                ),
            ));
        }
        if rules.ack_wait < rules.ack_turnaround + ACK_AND_HEADER {
            return Err(fault(
                Key::Mac,
                "ack_wait: it is at least ack_turnaround and the 352us of an acknowledgement",
            ));
        }
        if rules.short_pause > rules.long_pause {
            return Err(fault(Key::Mac, "short_pause: it is at most as long as long_pause"));
        }
        within(Key::Mac, "max_retries", max_retries, MAX_RETRIES)?;
        if rules.backoff == Backoff::Linear {
            return Ok(());
        }
        within(Key::Mac, "max_be", max_be, MAX_BE)?;
        within(Key::Mac, "min_be", min_be, 0..=max_be.into())?;
        within(Key::Mac, "max_backoffs", max_backoffs, MAX_BACKOFFS)
    }

    /// Whether the network can be one of TSCH, if it is to be.
    fn check_slots(&self) -> Result<(), Fault> {
        let Listen::Tsch { slotframes: Slotframes { shared, beacons, unicast }, .. } = self.listen else {
            return Ok(());
        };
        let wrong = |message: &str| Err(fault(Key::Mac, message));
        if !matches!(self.mac, Mac::Csma(Csma { ack: true, .. })) {
            return wrong(
                "TSCH keeps time by acknowledgements: set [mac] kind to \"csma\", and leave ack out",
            );
        }
        let lengths: Vec<_> = [Some(shared), beacons, unicast].into_iter().flatten().collect();
        for (n, &length) in lengths.iter().enumerate() {
            within(Key::Mac, "a slotframe's length", length, SLOTFRAME)?;
            if length % 2 == 0 {
                return wrong(&format!(
                    "a slotframe of {length} slots misses channels, of which there are {CHANNELS}: take an odd length"
                ));
            }
            let met = lengths[..n].iter().find(|&&other| common_divisor(other, length) > 1);
            if let Some(other) = met {
                return wrong(&format!(
                    "slotframes of {other} and {length} slots have a common divisor, so that slots of nodes always coincide: take others"
                ));
            }
        }
        if self.modelled().next().is_some() || self.router.is_some() {
            return wrong(
                "what boards take in time slots is counted in emulators alone: leave platforms out but those of kind = \"emulated\", or listen = \"tsch\"",
            );
        }
        if self.topology.routers() > 1 {
            return wrong("one border router is the coordinator of a network: leave [topology] routers out");
        }
        match self.security.link {
            Some(LinkSuite::Ctr) => wrong(
                "in time slots frames need a MIC: set security to llsec with a suite that has one, such as \"llsec:ccm-32\"",
            ),
            _ => Ok(()),
        }
    }

    fn check_traffic(&self) -> Result<(), Fault> {
        let traffic = &self.traffic;
        let period = |message: &str| Err(fault(Key::Period, format!("period: {message}")));
        longer_than_nothing(traffic.period).or_else(|wrong| period(&wrong))?;
        if !traffic.period.micros().is_multiple_of(1000) {
            return period("readings are due in whole milliseconds");
        }
        if traffic.period > LONGEST_PERIOD {
            return period("readings are due at least every 20d");
        }
        if !traffic.begin.micros().is_multiple_of(1000) || traffic.begin > LONGEST_PERIOD {
            return Err(fault(
                Key::Begin,
                "begin: readings are due in whole milliseconds, and from 20d on at the latest",
            ));
        }
        self.check_session()?;
        self.check_pattern()?;
        let TrafficKind::Echo { payload } = traffic.kind else { return self.check_confirmable() };
        let is_open = self.security.network.is_none() && self.security.transport.is_none();
        let is_clear = is_open && self.security.link.is_none();
        let is_bare = is_open && self.routing == RoutingKind::Static;
        if !(if is_bare { BARE_PAYLOAD } else { PAYLOAD }).contains(&payload) {
            return Err(fault(Key::Payload, NOT_A_PAYLOAD));
        }
        match traffic.from {
            None => {}
            Some(ROUTER) if is_clear && self.serial.is_none() => {}
            Some(ROUTER) => {
                return Err(fault(
                    Key::From,
                    "the border router sends echoes in the clear alone, and without [serial]",
                ));
            }
            Some(node) if !self.emulated.contains_key(&node) => {
                return Err(fault(
                    Key::From,
                    "echoes are the cloud's: to names the node that answers them; of nodes, emulated ones alone send them",
                ));
            }
            Some(_) if !is_clear => {
                return Err(fault(
                    Key::From,
                    "an emulated node sends echoes in the clear alone: set security to \"none\"",
                ));
            }
            Some(node) if matches!(traffic.to, Destination::Node(other) if other != node) => {}
            Some(_) => {
                return Err(fault(Key::From, "a node sends echoes to another: set to to the number of that"));
            }
        }
        match traffic.credential {
            Credential::None => Ok(()),
            Credential::Query => Err(fault(Key::Credential, "echoes prove nothing: leave credential out")),
        }
    }

    fn check_session(&self) -> Result<(), Fault> {
        let Some(session) = self.traffic.session else { return Ok(()) };
        let wrong = |message: &str| Err(fault(Key::Session, format!("session: {message}")));
        if session < SHORTEST_SESSION || session > LONGEST_PERIOD || !session.micros().is_multiple_of(1000) {
            return wrong("a node uses a session for 1min at least and 20d at most, in whole milliseconds");
        }
        if self.traffic.kind != TrafficKind::Report {
            return wrong("echoes over DTLS are the cloud's: leave session out");
        }
        match self.emulated.keys().next() {
            Some(id) => wrong(&format!(
                "node {id} is emulated, and its firmware uses a session as long as it gets answers"
            )),
            None => Ok(()),
        }
    }

    fn check_pattern(&self) -> Result<(), Fault> {
        let (period, wrong) = (self.traffic.period, |message: &str| Err(fault(Key::Pattern, message)));
        let whole = |span: Span| span.micros().is_multiple_of(1000);
        match self.traffic.pattern {
            Pattern::Periodic { jitter: Span::ZERO } => return Ok(()),
            Pattern::Periodic { jitter } if jitter >= period || !whole(jitter) => {
                return wrong("jitter: it is shorter than the period, in whole milliseconds");
            }
            Pattern::Poisson if period > LONGEST_POISSON => {
                return wrong("the period of a Poisson process is at most 1d");
            }
            Pattern::Burst { readings, gap } => {
                within(Key::Pattern, "burst", readings, READINGS_IN_A_BURST)?;
                if gap >= period || gap == Span::ZERO || !whole(gap) {
                    return wrong("burst_gap: it is shorter than the period, in whole milliseconds");
                }
                if u64::from(readings) * period.micros() > LONGEST_PERIOD.micros() {
                    return wrong("bursts come at least every 20d, which is burst times the period");
                }
            }
            Pattern::Periodic { .. } | Pattern::Poisson => {}
        }
        match self.emulated.keys().next() {
            Some(id) if self.traffic.kind == TrafficKind::Report => {
                wrong(&format!("node {id} is emulated, and its firmware reports by its period alone"))
            }
            _ => Ok(()),
        }
    }

    fn check_confirmable(&self) -> Result<(), Fault> {
        if self.traffic.confirmable {
            return Ok(());
        }
        let wrong = |message: &str| Err(fault(Key::Confirmable, message));
        if self.traffic.to != Destination::Cloud {
            return wrong(
                "a node takes confirmable readings only: set confirmable to true, or to to \"cloud\"",
            );
        }
        match self.emulated.keys().next() {
            Some(id) => {
                wrong(&format!("node {id} is emulated, and its firmware sends confirmable messages only"))
            }
            None => Ok(()),
        }
    }

    fn check_topology(&self) -> Result<Layout, Fault> {
        if let Topology::Chain { nodes, spacing } | Topology::Grid { nodes, spacing } = self.topology {
            within(Key::Topology, "nodes", nodes, NODES)?;
            if spacing <= 0 {
                return Err(fault(Key::Spacing, "spacing must be more than nothing"));
            }
        }
        if let Topology::Random { nodes, width, height, routers } = self.topology {
            within(Key::Topology, "nodes", nodes, NODES)?;
            within(Key::Routers, "routers", routers, ROUTERS)?;
            if width <= 0 || height <= 0 {
                return Err(fault(Key::Spacing, "a field's width and height must be more than nothing"));
            }
        }
        self.check_links()?;
        self.layout().map_err(|wrong| {
            let message = match wrong {
                TopologyError::Unreachable(_) => format!("{wrong}: {}", self.what_leads_a_way()),
                _ => wrong.to_string(),
            };
            fault(wrong.node().map_or(Key::Topology, Key::Node), message)
        })
    }

    /// What lets a way lead from all nodes to a router.
    fn what_leads_a_way(&self) -> String {
        let reach = match self.radio.model {
            RadioModel::Links(_) => return "list links that carry frames both ways".into(),
            RadioModel::LogDistance(_) => "raise transmit_power",
            RadioModel::UnitDisk { .. } => "raise the range",
        };
        let distance = match self.topology {
            Topology::Chain { .. } | Topology::Grid { .. } => "lower the spacing",
            Topology::Random { .. } => "have more nodes or a smaller field",
            Topology::List(_) => "move the nodes nearer to each other",
        };
        format!("{reach} or {distance}")
    }

    /// Whether the file of links, if there is one, is of this network.
    fn check_links(&self) -> Result<(), Fault> {
        let RadioModel::Links(table) = &self.radio.model else { return Ok(()) };
        let last = match &self.topology {
            Topology::Chain { nodes, .. } | Topology::Grid { nodes, .. } | Topology::Random { nodes, .. } => {
                *nodes
            }
            Topology::List(placements) => placements.iter().map(|placement| placement.id).max().unwrap_or(0),
        };
        table.check(last).map_err(|wrong| fault(Key::Links, wrong))
    }

    /// Whether several border routers, if there are, can do what else the scenario wants.
    fn check_routers(&self) -> Result<(), Fault> {
        let Topology::Random { routers: 2.., .. } = self.topology else { return Ok(()) };
        let wrong = |message: &str| Err(fault(Key::Routers, message));
        if self.routing == RoutingKind::Static {
            return wrong(
                "each of several border routers is the root of a DODAG: set [routing] kind to \"rpl\", or leave routers out",
            );
        }
        if self.security.network.is_some() || self.gateway.is_some() {
            return wrong(
                "associations of IPsec end at one border router: leave ah and esp out of security, or leave routers out",
            );
        }
        if self.traffic.kind != TrafficKind::Report {
            return wrong(
                "echoes go by flows of one border router: set [traffic] kind to \"report\", or leave routers out",
            );
        }
        if self.traffic.to != Destination::Cloud {
            return wrong(
                "no way leads from a DODAG into another: set [traffic] to to \"cloud\", or leave routers out",
            );
        }
        if !self.attacks.is_empty() {
            return wrong(
                "attackers are for networks of one border router: leave [[attack]] out, or leave routers out",
            );
        }
        Ok(())
    }

    fn check_destination(&self, layout: &Layout) -> Result<(), Fault> {
        let last = layout.nodes();
        let is_report = self.traffic.kind == TrafficKind::Report;
        if let Some(node) = self.traffic.from.filter(|&node| node > last || (node == ROUTER && is_report)) {
            let sends = if is_report { "post readings" } else { "send echoes" };
            return Err(fault(Key::From, format!("node {node} cannot {sends}: the last node is {last}")));
        }
        let Destination::Node(node) = self.traffic.to else { return Ok(()) };
        if node > last {
            let message = match self.traffic.kind {
                TrafficKind::Report => format!("readings cannot go to node {node}: the last node is {last}"),
                TrafficKind::Echo { .. } => format!("node {node} cannot echo: the last node is {last}"),
            };
            return Err(fault(Key::To, message));
        }
        if self.traffic.kind == TrafficKind::Report && self.security.transport.is_none() {
            return Err(fault(Key::To, "a node takes readings by DTLS only: set security to \"dtls-psk\""));
        }
        Ok(())
    }

    /// Whether the border router has room for so many nodes, where it keeps something for each.
    fn check_room(&self, layout: &Layout) -> Result<(), Fault> {
        let nodes = layout.nodes();
        let deepest = layout.hops.iter().copied().max().unwrap_or(0);
        if deepest >= HOP_LIMIT.into() && !self.emulated.is_empty() {
            return Err(fault(
                Key::Topology,
                format!(
                    "packets of firmware go less than {HOP_LIMIT} hops, and the deepest node is {deepest} away: leave emulated nodes out, or have a shorter way"
                ),
            ));
        }
        if deepest >= LONG_HOP_LIMIT.into() {
            return Err(fault(
                Key::Topology,
                format!(
                    "packets of IPv6 go less than {LONG_HOP_LIMIT} hops here, and the deepest node is {deepest} away: have a shorter way"
                ),
            ));
        }
        if self.security.network.is_some() && nodes > PROTECTED as u32 {
            return Err(fault(
                Key::Security,
                format!(
                    "a border router shares associations of IPsec with at most {PROTECTED} nodes: leave ah and esp out of security, or have fewer nodes"
                ),
            ));
        }
        let members = layout.routers * MEMBERS as u32;
        if self.routing != RoutingKind::Static && nodes > members {
            return Err(fault(
                Key::Topology,
                format!(
                    "a border router knows the ways to at most {MEMBERS} nodes of its DODAG: set [topology] routers to {} or more, in a random field",
                    nodes.div_ceil(MEMBERS as u32)
                ),
            ));
        }
        if matches!(self.traffic.kind, TrafficKind::Echo { .. }) && nodes > FLOWS as u32 {
            return Err(fault(
                Key::Topology,
                format!("a border router has at most {FLOWS} flows for echoes: have fewer nodes"),
            ));
        }
        Ok(())
    }

    fn check_events(&self, layout: &Layout, longest: Span) -> Result<(), Fault> {
        let last = layout.nodes();
        let mut order: Vec<_> = self.events.iter().enumerate().collect();
        order.sort_by_key(|(_, event)| event.at);
        let (mut touched, mut dead) = (BTreeSet::new(), BTreeSet::new());
        for (index, event) in order {
            let (node, kind) = (event.node, event.kind);
            let wrong = |message: String| Err(fault(Key::Event(index), message));
            if is_another_router(layout, node) {
                return wrong(format!(
                    "node {node} is a border router, and of several only the first, node 0, can reboot: name that, or a node up to {last}"
                ));
            }
            if node > last {
                return wrong(format!("nothing can happen to node {node}: the last node is {last}"));
            }
            if event.at > longest {
                let [at, end] = [event.at, longest].map(Span::as_secs);
                let message = format!(
                    "nothing happens to node {node} at {at}s: the simulation is over after {end}s: set duration to \"{at}s\" or more, or at to less"
                );
                return Err(fault(Key::EventTime(index), message));
            }
            if node == 0 && kind != ScenarioEventKind::Reboot {
                return wrong("node 0 is the border router, which can only reboot".into());
            }
            if let Some(platform) = self.platform_of(node).filter(|_| node > 0) {
                let name = platform.name();
                return wrong(format!(
                    "node {node} runs on {name}, and events are for native nodes and the border router: name \
                    another node, or leave its platform out"
                ));
            }
            if dead.contains(&node) {
                return wrong(format!("nothing can happen to node {node}, which is dead by then"));
            }
            if !touched.insert(node) && kind == ScenarioEventKind::Join {
                return wrong(format!("node {node} is off until it joins: nothing can happen to it before"));
            }
            if kind == ScenarioEventKind::Die {
                dead.insert(node);
            }
        }
        Ok(())
    }

    /// What nodes run on that are not emulated.
    fn modelled(&self) -> impl Iterator<Item = &Platform> {
        self.profile.iter().chain(self.platforms.values())
    }

    fn has_boards(&self) -> bool {
        self.profile.is_some() || !self.platforms.is_empty() || !self.emulated.is_empty()
    }

    fn check_compression(&self) -> Result<(), Fault> {
        if let (Some(id), true) = (self.emulated.keys().next(), self.compress_from > 0) {
            return Err(fault(
                Key::CompressFrom,
                format!(
                    "node {id} is emulated, and its firmware compresses the headers of all packets: leave [lowpan] compress_from out"
                ),
            ));
        }
        match self.compression.is_some() && self.has_boards() {
            true => Err(fault(
                Key::Compression,
                "no firmware compresses payloads: leave [lowpan] compression out, or platforms",
            )),
            false => Ok(()),
        }
    }

    fn check_battery(&self) -> Result<(), Fault> {
        match self.battery.is_some() && !self.has_boards() {
            true => Err(fault(
                Key::Battery,
                "native nodes consume nothing that is known: name what they run on in [platform], or leave [battery] out",
            )),
            false => Ok(()),
        }
    }

    /// Whether there are images for what is to be emulated.
    fn check_emulated(&self) -> Result<(), Fault> {
        let is_foreign = |(_, node): &(&u32, &EmulatedNode)| !node.platform.is_emulated();
        match self.emulated.iter().find(is_foreign) {
            Some((&id, node)) => {
                let boards: Vec<_> = Platform::all().filter(Platform::is_emulated).collect();
                let boards: Vec<_> = boards.iter().map(|board| format!("\"{}\"", board.name())).collect();
                Err(fault(
                    Key::Node(id),
                    format!(
                        "node {id} is to be emulated, and no image and no emulator is for a {}: name {} instead, or have it modelled",
                        node.platform.name(),
                        boards.join(" or ")
                    ),
                ))
            }
            None => Ok(()),
        }
    }

    fn check_routing(&self) -> Result<(), Fault> {
        let is_rpl = self.routing != RoutingKind::Static;
        if let Some(small) = self.modelled().find(|platform| is_rpl && platform.is_small()) {
            return Err(fault(
                Key::Routing,
                format!(
                    "a {} has no memory for RPL: set [routing] kind to \"static\", or name another platform",
                    small.name()
                ),
            ));
        }
        let Mac::Csma(Csma { ack: true, .. }) = self.mac else {
            return match is_rpl {
                true => Err(fault(
                    Key::Routing,
                    "RPL judges links by acknowledgements: set [mac] kind to \"csma\" and ack to true",
                )),
                false => Ok(()),
            };
        };
        Ok(())
    }

    /// Whether nodes can come to their addresses so: images know theirs, and listed routes are to addresses that are known.
    fn check_addressing(&self) -> Result<(), Fault> {
        let is_rpl = self.routing != RoutingKind::Static;
        let wrong = |key, message: &str| Err(fault(key, message));
        let (discovers, is_usual) = (
            self.addressing.discovery == DiscoveryKind::NeighbourDiscovery,
            self.addressing.prefix == Addressing::default().prefix,
        );
        if self.addressing.of_cloud() {
            return wrong(Key::Prefix, "the cloud is at fd00:c::1, outside the mesh: take another prefix");
        }
        let key = if is_usual { Key::Discovery } else { Key::Prefix };
        match self.addressing == Addressing::default() {
            true => {}
            false if !is_rpl => {
                return wrong(
                    key,
                    "listed routes know the usual prefix: set [routing] kind to \"rpl\", or leave [network] out",
                );
            }
            false if self.modelled().next().is_some() || !self.emulated.is_empty() && !discovers => {
                return wrong(
                    key,
                    "firmware knows the usual prefix, unless it is emulated and discovery is \"nd\": leave platforms out, or [network]",
                );
            }
            false if self.gateway.is_some() => {
                return wrong(
                    key,
                    "a security gateway's policies know the usual prefix: leave [gateway] out, or [network]",
                );
            }
            false => {}
        }
        if discovers && self.topology.routers() > 1 {
            return wrong(
                Key::Discovery,
                "one border router keeps the registry: leave [topology] routers out",
            );
        }
        Ok(())
    }

    /// Whether nodes can be hosts alone: a router must register them, and tell the way to them.
    fn check_hosts(&self) -> Result<(), Fault> {
        let is_found = self.addressing.discovery == DiscoveryKind::NeighbourDiscovery
            && self.routing != RoutingKind::Static;
        match self.hosts.first() {
            Some(&id) if !is_found => Err(fault(
                Key::Node(id),
                format!(
                    "node {id} is a host: it finds a router by neighbour discovery, which tells the way to it by RPL: \
                    set [network] discovery to \"nd\" and [routing] kind to \"rpl\""
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Whether nodes can have the EUI-64 of others.
    fn check_eui64s(&self, layout: &Layout) -> Result<(), Fault> {
        let discovers = self.addressing.discovery == DiscoveryKind::NeighbourDiscovery;
        for (&id, &other) in &self.same_eui64 {
            let wrong = |message: String| Err(fault(Key::Node(id), message));
            if id == other || other > layout.nodes() || self.same_eui64.contains_key(&other) {
                return wrong(format!("node {id}: eui64 names another node that has its own"));
            }
            if !discovers {
                return wrong(format!(
                    "node {id} has the EUI-64 of node {other}, and nobody would find out: set [network] discovery to \"nd\""
                ));
            }
            if self.security != Security::default() {
                return wrong(format!(
                    "node {id} has the EUI-64 of node {other}, and they would use the same nonces and keys: set security to \"none\""
                ));
            }
            let hears = |from: u32, to: u32| {
                let at = |id: u32| layout.positions[id as usize];
                self.radio
                    .link(self.seed, (from, to), at(from), at(to))
                    .is_some_and(|link| link.loss.is_some())
            };
            if hears(id, other) || hears(other, id) {
                return wrong(format!(
                    "node {id} has the EUI-64 of node {other}, and each would answer frames for the other: move them out of each other's range"
                ));
            }
        }
        Ok(())
    }

    fn check_security(&self) -> Result<(), Fault> {
        let wrong = |message: String| Err(fault(Key::Security, message));
        if let (Some(suite), false) = (self.security.unauthenticated(), self.unauthenticated) {
            return wrong(format!(
                "{suite} accepts forged and replayed packets: choose another suite, or set unauthenticated = true \
                in the scenario"
            ));
        }
        if let Some(small) = self.modelled().find(|platform| platform.is_small()) {
            let name = small.name();
            if self.buffers() == Buffers::Long {
                return wrong(format!(
                    "a {name} has no memory for echoes of more than {SHORT_ECHO} bytes: name another platform"
                ));
            }
            if self.security.transport.is_some() {
                return wrong(format!(
                    "a {name} has no memory for DTLS: set security to \"none\" or \"llsec\", or name another \
                    platform"
                ));
            }
        }
        if self.security.engines == Engines::NONE {
            return Ok(());
        }
        if let Some(id) = self.emulated.keys().next() {
            return wrong(format!(
                "node {id} is emulated, and its firmware takes no engine: leave @engine out"
            ));
        }
        if let Some(platform) = self.modelled().find(|platform| platform.accelerator().is_none()) {
            return wrong(format!(
                "of a {} no engine is known: name another platform, or leave @engine out",
                platform.name()
            ));
        }
        let is_native = match &self.topology {
            Topology::List(nodes) => {
                nodes.iter().any(|node| node.id > 0 && self.platform_of(node.id).is_none())
            }
            _ => self.profile.is_none(),
        };
        match is_native {
            true => wrong(
                "the native platform has no engine: name another in [platform] profile, \
                or leave @engine out"
                    .into(),
            ),
            false => Ok(()),
        }
    }
}
