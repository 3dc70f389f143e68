//! How a network and what it goes through are drawn from a seed.

use sixlock_base::{AhSuite, EspSuite, LinkSuite, NetworkSuite, Security, TransportSuite};
use sixlock_node::PayloadCompression;

use crate::random::{Probability, Purpose, Stream};
use crate::routing::{Objective, RoutingKind, RplMode};
use crate::scenario::{
    Csma, Destination, LogDistance, Mac, Pattern, Radio, RadioModel, Scenario, ScenarioBuilder, Traffic,
    TrafficKind,
};
use crate::security_gateway::NodesSide;
use crate::time::{Span, Time};
use crate::topology::{Placement, Topology};
use crate::trial::{Attack, Disturbance, Plan, Reach};

/// The longest echo of those that leave room for whatever stands around them.
const SHORT_ECHO: u16 = 407;
/// The longest of all: it fills a packet of 1,280 bytes, the least MTU of IPv6, which is as much as a packet's buffer has room for.
const LONGEST_ECHO: u16 = 1232;
/// Millimetres that a frame reaches.
const RANGE: i32 = 50_000;
/// How fast or slow clocks run at most, in parts per billion: not at all, as good crystals do, as IEEE 802.15.4 allows, and as the
/// crystals of watches do far below freezing.
const DRIFTS: [u32; 4] = [0, 20_000, 40_000, 100_000];
/// How long readings go on when all is quiet; longer, where a handshake may have to be given up; and how long the network has then to
/// come to rest.
const QUIET: Span = Span::from_secs(420);
const QUIET_AFTER_SPOILT_HANDSHAKES: Span = Span::from_secs(1020);
const REST: Span = Span::from_secs(320);

/// The network of `seed`, and what it goes through.
pub(super) fn draw(seed: u64) -> (Scenario, Plan) {
    let mut draw = Draw(Stream::new(seed, 0, Purpose::Swarm));
    let nodes = 1 + draw.below(6) as u32;
    let topology = draw.topology(nodes);
    let security = draw.security();
    let traffic = draw.traffic(nodes, &security);
    let is_long = matches!(traffic.kind, TrafficKind::Echo { payload } if payload > SHORT_ECHO);
    let mac = draw.mac();
    let radio = draw.radio();
    let stormy = Span::from_secs(60 + draw.below(240));
    let quiet = Time::ZERO + stormy;
    let mut plan = draw.plan(nodes, &security, quiet);
    if plan.spoils_handshakes(traffic.to) && security.transport.is_some() {
        plan.stop = quiet + QUIET_AFTER_SPOILT_HANDSHAKES;
    }
    let radio = Radio { drift: draw.one_of(&DRIFTS), ..radio };
    let is_acknowledged = matches!(mac, Mac::Csma(Csma { ack: true, .. }));
    let routing = match draw.once_in(4) && !is_long && is_acknowledged {
        true => RoutingKind::Rpl {
            objective: if seed & 1 == 0 { Objective::Mrhof } else { Objective::Of0 },
            mode: if seed & 2 == 0 { RplMode::NonStoring } else { RplMode::Storing },
        },
        false => RoutingKind::Static,
    };
    let compression = match draw.below(4) {
        0 => Some(PayloadCompression::Lithe),
        1 => Some(PayloadCompression::Ghc),
        _ => None,
    };
    let builder = Scenario::builder()
        .name(format!("swarm-{seed}"))
        .duration(plan.stop.since(Time::ZERO) + REST)
        .seed(seed)
        .security(security)
        .radio(radio)
        .mac(mac)
        .routing(routing)
        .compression(compression)
        .topology(topology)
        .traffic(traffic);
    let varied = (seed % VARIED == 1).then(|| {
        let mut draw = Draw(Stream::new(seed, 1, Purpose::Swarm));
        draw.vary(builder.clone(), nodes, &plan)
    });
    // Only networks that can be simulated are to be drawn: where nodes cannot stand so, they stand as before.
    let scenario = varied.and_then(|varied| varied.build().ok()).map_or_else(|| builder.build(), Ok);
    (scenario.unwrap_or_else(|wrong| panic!("{wrong}")), plan)
}

/// One network of so many stands in a field, under another model of the radio, or behind a security gateway. By another stream: the
/// others are what their seeds were drawn as before there were such.
const VARIED: u64 = 5;

struct Draw(Stream);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// Never, or up to so many per cent.
    fn per_cent(&mut self, most: u64) -> Probability {
        let share = if self.once_in(2) { 0 } else { self.below(most * 10) };
        Probability::new(share as f64 / 1000.0).unwrap_or(Probability::NEVER)
    }

    fn topology(&mut self, nodes: u32) -> Topology {
        let spacing = 40_000;
        match self.below(3) {
            0 => Topology::Chain { nodes, spacing },
            1 => Topology::Grid { nodes, spacing },
            _ => Topology::List(self.tree(nodes)),
        }
    }

    /// A network with what else there is: nodes anywhere in a field, links that carry frames one way only, signals that get weaker with
    /// the distance and capture the receiver, tunnels to a security gateway, and several border routers.
    fn vary(&mut self, builder: ScenarioBuilder, nodes: u32, plan: &Plan) -> ScenarioBuilder {
        let scenario = builder.scenario();
        let is_field = !self.once_in(4);
        let mut radio = scenario.radio.clone();
        let mut reach = RANGE;
        match self.below(3) {
            // Where parents are named, the way to one may lead over such a link, and no acknowledgement comes back.
            0 if is_field => radio.one_way = self.per_cent(50),
            1 => {
                let shadowing = self.one_of(&[0.0, 2.0, 4.0, 6.0]);
                let capture = self.one_of(&[1.0, 3.0, 10.0]);
                radio.model =
                    RadioModel::LogDistance(LogDistance { shadowing, capture, ..LogDistance::default() });
                reach = 2 * RANGE;
            }
            _ => {}
        }
        let mut varied = builder.radio(radio);
        let (width, height) = (self.side(reach), self.side(reach));
        let is_for_several = scenario.routing != RoutingKind::Static
            && scenario.security.network.is_none()
            && scenario.traffic.kind == TrafficKind::Report
            && scenario.traffic.to == Destination::Cloud
            && plan.attack.is_none();
        let routers = if is_for_several { 2 + self.below(2) as u32 } else { 1 };
        if is_field {
            varied = varied.topology(Topology::Random { nodes, width, height, routers });
        }
        if scenario.security.network.is_some() && scenario.traffic.to == Destination::Cloud && self.once_in(2)
        {
            let link_only =
                if self.once_in(3) { vec![1 + self.below(nodes.into()) as u32] } else { Vec::new() };
            let enforce = link_only.is_empty() && self.once_in(2);
            varied = varied.gateway(NodesSide { tunnels: true, link_only, enforce });
        }
        varied
    }

    /// How long a side of a field is, whose middle reaches `reach` millimetres.
    fn side(&mut self, reach: i32) -> i32 {
        reach / 2 + self.below(2 * reach as u64) as i32
    }

    /// Nodes each of which stands near one before it.
    fn tree(&mut self, nodes: u32) -> Vec<Placement> {
        let mut placed = vec![Placement { id: 0, x: 0, y: 0, parent: None }];
        for id in 1..=nodes {
            let near = placed[self.below(u64::from(id)) as usize];
            let away = |draw: &mut Self| draw.below(60_000) as i32 - 30_000;
            let (x, y) = (near.x + away(self), near.y + away(self));
            let parent = self.once_in(2).then_some(near.id);
            placed.push(Placement { id, x, y, parent });
        }
        placed
    }

    fn security(&mut self) -> Security {
        let link = self.once_in(2).then(|| {
            let suites: Vec<_> =
                LinkSuite::ALL.iter().copied().filter(|suite| suite.authenticates()).collect();
            self.one_of(&suites)
        });
        let network = match self.below(4) {
            0 => Some(NetworkSuite::Ah(self.one_of(AhSuite::ALL))),
            1 => Some(NetworkSuite::Esp(self.one_of(EspSuite::ALL))),
            2 if self.once_in(2) => Some(NetworkSuite::Joint(self.one_of(EspSuite::ALL))),
            _ => None,
        };
        let network = network.filter(|suite| suite.authenticates());
        let transport = match self.below(8) {
            0..=2 => Some(TransportSuite::DtlsPsk),
            3 => Some(self.one_of(&[TransportSuite::DtlsRpk, TransportSuite::DtlsX509])),
            _ => None,
        };
        Security { link, network, transport, ..Security::default() }
    }

    fn traffic(&mut self, nodes: u32, security: &Security) -> Traffic {
        let period = Span::from_millis(3_000 * u64::from(nodes) + self.below(20_000));
        let kind = match self.below(3) {
            0 => TrafficKind::Echo { payload: self.echo(nodes, security) },
            _ => TrafficKind::Report,
        };
        let to = match kind {
            TrafficKind::Report if security.transport.is_some() && nodes > 1 && self.once_in(6) => {
                Destination::Node(1 + self.below(nodes.into()) as u32)
            }
            // Two of so many fragments that meet on their way do so each time: neither comes back, on the calmest air.
            TrafficKind::Echo { payload } if payload > SHORT_ECHO => Destination::Node(nodes),
            _ => Destination::Cloud,
        };
        let jitter = match kind {
            // Echoes that are sent with the same time between them each period collide each time, or never.
            TrafficKind::Echo { .. } => Span::from_millis(period.micros() / 2_000),
            TrafficKind::Report => Span::ZERO,
        };
        let pattern = Pattern::Periodic { jitter };
        Traffic { kind, period, to, pattern, ..Scenario::default().traffic }
    }

    /// How long echoes are: also such that just fit, with which few nodes leave room for others.
    fn echo(&mut self, nodes: u32, security: &Security) -> u16 {
        let short = 8 + self.below(u64::from(SHORT_ECHO) - 7) as u16;
        let has_room = security.transport.is_none() && security.network.is_none();
        if nodes <= 2 && has_room && self.once_in(2) { LONGEST_ECHO - self.below(16) as u16 } else { short }
    }

    fn mac(&mut self) -> Mac {
        if self.once_in(8) {
            return Mac::Null;
        }
        let default = Csma::default();
        let max_be = 3 + self.below(6) as u8;
        Mac::Csma(Csma {
            min_be: (2 + self.below(3) as u8).min(max_be),
            max_be,
            max_retries: 2 + self.below(6) as u8,
            ack: !self.once_in(8),
            ..default
        })
    }

    fn radio(&mut self) -> Radio {
        let loss = self.per_cent(40);
        let burst =
            self.once_in(3).then(|| 2 + self.below(10) as u32).filter(|mean| loss.in_bursts(*mean).is_some());
        let interference = RANGE + self.one_of(&[0, 0, 30_000]);
        Radio { range: RANGE, interference, loss, burst, ..Scenario::default().radio() }
    }

    /// What clocks show at the beginning: nothing, anything, or that milliseconds or symbols wrap before all is quiet.
    fn clocks(&mut self, quiet: Time) -> Time {
        let before = Span::from_micros(self.below(quiet.since(Time::ZERO).micros()));
        let shown = match self.below(4) {
            0 => Span::ZERO,
            1 => Span::from_millis(self.below(1 << 32)),
            2 => Span::from_millis(1 << 32).saturating_sub(before),
            _ => Span::from_micros(16 << 32).saturating_sub(before),
        };
        Time::ZERO + shown
    }

    fn plan(&mut self, nodes: u32, security: &Security, quiet: Time) -> Plan {
        let frames = Disturbance {
            lose: Probability::NEVER,
            duplicate: self.per_cent(20),
            delay: self.per_cent(20),
            damage: self.per_cent(10),
        };
        let damage = if security.transport.is_some() { self.per_cent(10) } else { Probability::NEVER };
        let datagrams = Disturbance {
            lose: self.per_cent(20),
            duplicate: self.per_cent(20),
            delay: self.per_cent(20),
            damage,
        };
        let attack = self.once_in(2).then(|| {
            let air = !self.once_in(3);
            let reach = Reach {
                air,
                internet: !air || self.once_in(3),
                link_key: security.link.is_some() && self.once_in(4),
            };
            Attack { reach, pause: Span::from_millis(self.one_of(&[50, 500, 5_000])) }
        });
        let power_fails = if self.once_in(2) { self.per_cent(60) } else { Probability::NEVER };
        let cuts = if self.once_in(3) { 1 + self.below(4) } else { 0 };
        let cut = |draw: &mut Self| {
            let time = Time::ZERO + Span::from_micros(draw.below(quiet.since(Time::ZERO).micros()));
            (time, draw.below(u64::from(nodes) + 1) as u32)
        };
        let power_cuts = (0..cuts).map(|_| cut(self)).collect();
        let starts = if self.once_in(3) { 1 + self.below(3) } else { 0 };
        let start =
            |draw: &mut Self| Time::ZERO + Span::from_micros(draw.below(quiet.since(Time::ZERO).micros()));
        let restarts = (0..starts).map(|_| start(self)).collect();
        let clocks = self.clocks(quiet);
        let stop = quiet + QUIET;
        Plan { frames, datagrams, attack, power_fails, power_cuts, restarts, clocks, quiet, stop }
    }
}
