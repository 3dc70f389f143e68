//! What a scenario's stations are made of: their keys, their parts in its traffic, their routes. One that starts anew is made
//! of the same.

use core::net::Ipv6Addr;
use std::sync::Arc;

use sixlock_base::{Duration, Eui64, New as _};
use sixlock_gateway::Exit;
use sixlock_gateway::ipsec::ConfigError;
use sixlock_ieee802154::enhanced::Timeslot;
use sixlock_node::contikimac::ContikiMac;
use sixlock_node::mac::Sleepy;
use sixlock_node::mac::tsch::TschConfig;
use sixlock_node::{
    Access, COAP_PORT, Config, DTLS_ECHO_PORT, ECHO_PORT, Identity, InterfaceConfig, KeyRing, LinkSecurity,
    MacConfig, RadioMachine, Resource, Uplink,
};

use crate::application::{Own, Part, Posting, SampleTimes};
use crate::arrivals::Arrivals;
use crate::attack::Attackers;
use crate::board::Board;
use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::cloud::{COAP, COAPS};
use crate::devices::Device;
use crate::discovery::DiscoveryKind;
use crate::emulated::Shadow;
use crate::engine::Accelerated;
use crate::frame_time::FrameTime;
use crate::listening::StationListening;
use crate::machines::{SimulatedNode, StationMac};
use crate::modelled::Modelled;
use crate::network::{CLOUD, LINK_KEY_INDEX, PAN_ID, ROUTER};
use crate::options::{FarEnd, Options};
use crate::platform::EmulatedNode;
use crate::processor::Processor;
use crate::protection::{Host, Peering};
use crate::public_keys::KeyRings;
use crate::random::{Purpose, Stream};
use crate::router::Router;
use crate::router_processor::RouterProcessor;
use crate::routing::{HOP_LIMIT, LONG_HOP_LIMIT, RoutingKind};
use crate::scenario::{Credential, Destination, Listen, Mac, Scenario, Traffic, TrafficKind};
use crate::security_gateway::SecurityGateway;
use crate::sized::SizedNode;
use crate::station::{Machine, Station};
use crate::time::{SYMBOL, Span, Time};
use crate::topology::Layout;

use super::emulation::Emulation;

/// How a station starts.
struct Start {
    now: Time,
    /// What its own randomness is drawn from.
    seed: u64,
    /// How long until its next reading is due.
    first: Span,
    /// The number of that.
    number: u64,
}

/// What the stations of a scenario are made of.
pub(super) struct Deployment {
    pub(super) scenario: Scenario,
    pub(super) layout: Layout,
    /// What the nodes from 1 on are known by at the far end.
    pub(super) devices: Vec<Device>,
    /// The far end's keys, if it is inside the simulation and has public ones.
    pub(super) cloud_keys: Option<&'static KeyRing>,
    /// How readings in the clear say whose they are.
    pub(super) credential: Credential,
    /// The associations of all nodes.
    pub(super) peerings: Vec<Peering>,
    /// What the border router is as a security gateway, if it is one.
    pub(super) security_gateway: Option<SecurityGateway>,
    link_key: [u8; 16],
    exit: Exit,
    /// What clocks show when the simulation begins.
    clocks: Time,
    shadows: bool,
    far_end: FarEnd,
}

impl Deployment {
    /// What the stations of `scenario` are made of.
    ///
    /// # Errors
    /// Says why they cannot stand so, or be so many.
    pub(super) fn new(scenario: &Scenario, options: &mut Options, clocks: Time) -> Result<Self, String> {
        let layout = scenario.layout().map_err(|wrong| wrong.to_string())?;
        let nodes = layout.nodes();
        if let Some((id, _)) = scenario.emulated.iter().find(|(id, _)| !(1..=nodes).contains(id)) {
            return Err(format!("there is no node {id} that could be emulated"));
        }
        if layout.routers > 1 && (options.packets || matches!(options.far_end, FarEnd::Outside)) {
            return Err(
                "a world outside the simulation is behind one border router: leave [topology] routers out"
                    .into(),
            );
        }
        let has_hosts = options.security_gateway.as_ref().is_some_and(|gateway| gateway.internet.is_some());
        let is_reached = has_hosts || matches!(options.far_end, FarEnd::Outside);
        if is_reached && scenario.events.iter().any(|event| event.node == ROUTER) {
            return Err("a border router that hosts outside the simulation reach cannot reboot: leave that [[event]] out".into());
        }
        let (devices, cloud_keys) = devices(scenario, nodes, options.devices.take())?;
        let of_scenario = || scenario.gateway.clone().map(|nodes| SecurityGateway { internet: None, nodes });
        let security_gateway = options.security_gateway.take().or_else(of_scenario);
        if scenario.serial.is_some() && security_gateway.is_some() {
            return Err("tunnels end at the border router's address in the mesh, which the device at its serial line has: leave \
                        [serial] or the security gateway out"
                .into());
        }
        let peerings = peerings_of(scenario, nodes, options.host, security_gateway.as_ref())?;
        let mut link_key = [0; 16];
        sixlock_base::Entropy::fill(&mut Stream::new(scenario.seed, ROUTER, Purpose::Keys), &mut link_key);
        Ok(Self {
            layout,
            devices,
            cloud_keys,
            peerings,
            security_gateway,
            link_key,
            credential: match options.far_end {
                FarEnd::Inside => scenario.traffic.credential,
                // A cloud outside knows no addresses of nodes.
                FarEnd::Outside => Credential::Query,
            },
            exit: if options.packets { Exit::Packets { flows: CLOUD } } else { Exit::Flows },
            shadows: options.shadows,
            far_end: options.far_end,
            clocks,
            scenario: scenario.clone(),
        })
    }

    /// The key of the mesh, if its links are secured.
    pub(super) fn link_key(&self) -> Option<&[u8; 16]> {
        self.scenario.security.link.map(|_| &self.link_key)
    }

    /// Where its stations are and, behind them, the antennas of its attackers.
    pub(super) fn positions(&self, attackers: &Attackers) -> Vec<(i32, i32)> {
        let antennas = attackers.places().map(|(place, _)| place);
        self.layout.positions.iter().copied().chain(antennas).collect()
    }

    /// The clock of station `id`, for as long as the simulation lasts.
    pub(super) fn clock(&self, id: u32) -> Clock {
        Clock::of_station(self.scenario.seed, id, self.scenario.radio.drift).from(self.clocks)
    }

    /// The ids of the nodes.
    pub(super) fn ids(&self) -> core::ops::Range<u32> {
        1..self.layout.nodes() + 1
    }

    /// The address of station `id`.
    pub(super) fn address(&self, id: u32) -> Eui64 {
        Eui64::of_node(self.scenario.eui64_of(self.layout.numbers().of(id)))
    }

    /// The address of station `id` in the mesh.
    pub(super) fn mesh_address(&self, id: u32) -> Ipv6Addr {
        self.scenario.addressing.of(self.address(id))
    }

    /// Who sends echoes that no node measures: the cloud, or the border router.
    pub(super) fn echo_host(&self) -> Ipv6Addr {
        match self.scenario.traffic.from {
            Some(ROUTER) => self.mesh_address(ROUTER),
            _ => CLOUD,
        }
    }

    /// Station `id`, ready to run.
    ///
    /// # Errors
    /// Says why it cannot be.
    pub(super) fn station(&self, id: u32) -> Result<Station, String> {
        self.start(
            id,
            &Start { now: Time::ZERO, seed: self.scenario.seed, first: self.arrivals(id).first(), number: 1 },
        )
    }

    /// The same when it starts anew at `now`, for the time that `boot` says, and its next reading, of this `number`, is due at `next`. It does not
    /// draw again what it drew before.
    pub(super) fn station_again(
        &self,
        id: u32,
        now: Time,
        boot: u32,
        next: Option<Time>,
        number: u64,
    ) -> Result<Station, String> {
        // Devices count whole milliseconds.
        let millis = |time: Time| self.clock(id).at(time).micros() / 1000;
        let until = |next| Span::from_millis(millis(next).saturating_sub(millis(now)));
        let first = next.map_or(self.scenario.traffic.period, until);
        // Far from all seeds that people give.
        let seed = self.scenario.seed ^ u64::from(boot) << 40;
        self.start(id, &Start { now, seed, first, number })
    }

    fn start(&self, id: u32, start: &Start) -> Result<Station, String> {
        let mut station = match self.layout.numbers().is_router(id) {
            true => self.router(id, start)?,
            false => self.node(id, start)?,
        };
        self.protect(&mut station)?;
        self.connect(&mut station)?;
        Ok(station)
    }

    fn router(&self, id: u32, start: &Start) -> Result<Station, String> {
        let Scenario { mac, profile, security, .. } = &self.scenario;
        let rules = mac.rules();
        let at = (self.clock(id), start.now);
        let mut router = Station::new(start.seed, id, at, Span::from_symbols(rules.turnaround), |cx| {
            let mut router =
                Router::new(cx, &self.interface(id), self.mesh_address(id), self.exit, self.scenario.serial);
            self.prepare(id, start, router.mac());
            Machine::Gateway(router)
        });
        if let Some(platform) = &self.scenario.router {
            let processor = RouterProcessor::new(platform.clone(), security.link.is_some());
            router.router_processor = Some(processor.map_err(|wrong| wrong.to_string())?);
            router.crypto = Accelerated::new(Some((platform.clone(), security.engines)));
        } else if let (Mac::Null, Some(platform)) = (mac, profile) {
            let frame_time = FrameTime::of(platform.clone(), security.link, security.engines);
            router.frame_time = Some(frame_time.map_err(|wrong| wrong.to_string())?);
        }
        Ok(router)
    }

    fn node(&self, id: u32, start: &Start) -> Result<Station, String> {
        let (config, seed) = (self.config(id, start), start.seed);
        let mut started = Ok(());
        let rules = self.scenario.mac.rules();
        let board = match (self.scenario.emulated.get(&id), self.scenario.platform_of(id)) {
            (Some(node), _) => Some((node.platform.clone(), self.emulated(id, start, node, &config)?)),
            (None, Some(platform)) => {
                let costs = platform.costs().map_err(|wrong| wrong.to_string())?;
                let mut sized = SizedNode::new(&platform, self.buffers(id), rules);
                sized.routing().is_leaf = self.sleeps(id);
                if let Some(listening) = sized.listening() {
                    self.begin_listening(id, start, listening);
                }
                let crypto = Accelerated::new(Some((platform.clone(), self.scenario.security.engines)));
                let modelled =
                    self.modelled(id, sized, &config, self.scenario.routing, Some(Arc::new(costs)), crypto)?;
                Some((platform, Processor::Modelled(modelled)))
            }
            (None, None) => None,
        };
        let clock = self.clock(id);
        let at = (clock, start.now);
        let station = Station::new(seed, id, at, Span::from_symbols(rules.turnaround), |cx| match board {
            Some((platform, processor)) => {
                let is_slotted = matches!(self.scenario.listen, Listen::Tsch { .. });
                let ack_turnaround = (!is_slotted).then(|| Span::from_symbols(rules.ack_turnaround));
                Machine::Board(Box::new(Board::new(seed, id, platform, clock, ack_turnaround, processor)))
            }
            None => {
                let mut node = Box::new(SimulatedNode::new());
                started = node.start(cx, &config);
                self.prepare(id, start, node.interface().mac());
                node.interface().routing().is_leaf = self.sleeps(id);
                Machine::Node(node)
            }
        });
        started.map_err(|_| too_long(id))?;
        Ok(station)
    }

    /// Lets the MAC of station `id`, whose CPU takes no time, contend and listen as the scenario says.
    fn prepare<const FRAMES: usize>(&self, id: u32, start: &Start, mac: &mut StationMac<FRAMES>) {
        if let Some(mac) = mac.contending() {
            *mac.access() = self.scenario.mac.rules();
            self.begin_listening(id, start, mac.listening());
        }
    }

    /// What the MAC of station `id` is told, if the network is in time slots.
    pub(super) fn slots(&self, id: u32) -> Option<(TschConfig, MacConfig)> {
        let Listen::Tsch { slotframes, guard } = self.scenario.listen else { return None };
        let slots = TschConfig {
            is_coordinator: self.layout.numbers().is_router(id),
            slotframes,
            timeslot: Timeslot { template: 0, times: None },
            beacon_period: slotframes.shared,
            guard,
        };
        Some((slots, self.interface(id).mac))
    }

    /// Lets station `id` listen as the scenario says.
    fn begin_listening(&self, id: u32, start: &Start, listening: &mut StationListening) {
        let now = self.clock(id).symbols(start.now);
        match self.scenario.listen {
            Listen::ContikiMac { times, phase_lock } => {
                let mut draws = Stream::new(start.seed, id, Purpose::WakeUp);
                let wakes_after = draws.below(times.cycle.into()) as u32;
                let mut contikimac = Box::new(ContikiMac::NEW);
                contikimac.start(times, phase_lock, now, wakes_after);
                *listening = StationListening::ContikiMac(contikimac);
            }
            Listen::Sleepy { poll } if self.sleeps(id) => {
                let mut sleepy = Sleepy::NEW;
                sleepy.start((poll.micros() / SYMBOL) as u32, now);
                *listening = StationListening::Sleepy(sleepy);
            }
            Listen::Always | Listen::Sleepy { .. } | Listen::Tsch { .. } => {}
        }
    }

    /// Which buffers the board of node `id` has.
    fn buffers(&self, id: u32) -> Buffers {
        match (self.scenario.listen, self.scenario.buffers()) {
            (Listen::Sleepy { .. }, Buffers::Listed | Buffers::Rpl) if !self.sleeps(id) => Buffers::Parent,
            (_, buffers) => buffers,
        }
    }

    /// Whether station `id` is a node that sleeps, and so forwards nothing: a host, or one without mains through which no way leads at the start.
    fn sleeps(&self, id: u32) -> bool {
        let Scenario { listen, hosts, mains, emulated, .. } = &self.scenario;
        let is_parent =
            || self.layout.parents.iter().zip(0..).any(|(&parent, node)| parent == id && node != id);
        matches!(listen, Listen::Sleepy { .. })
            && !self.layout.numbers().is_router(id)
            && (hosts.contains(&id) || !is_parent() && (!mains.contains(&id) || emulated.contains_key(&id)))
    }

    fn modelled(
        &self,
        id: u32,
        sized: SizedNode,
        config: &Config<Part<'_>>,
        routing: RoutingKind,
        costs: Option<Arc<crate::costs::Costs>>,
        crypto: Accelerated,
    ) -> Result<Box<Modelled>, String> {
        let routes = (routing, self.routes_below(id, routing));
        let modelled = Modelled::start(self.scenario.seed, id, sized, config, routes, costs, crypto);
        modelled.map(Box::new).map_err(|_| too_long(id))
    }

    fn emulated(
        &self,
        id: u32,
        start: &Start,
        node: &EmulatedNode,
        config: &Config<Part<'_>>,
    ) -> Result<Processor, String> {
        if let (Listen::Sleepy { .. }, false) = (self.scenario.listen, self.sleeps(id)) {
            return Err(format!(
                "node {id} is emulated, and its firmware holds no packets for nodes that sleep: let no way lead through it"
            ));
        }
        // What its IPsec protects, nobody else can tell.
        let shadow = match self.shadows || !self.peerings.is_empty() {
            true => {
                let mut sized = SizedNode::new(&node.platform, Buffers::Listed, self.scenario.mac.rules());
                if let Some(listening) = sized.listening() {
                    self.begin_listening(id, start, listening);
                }
                let node =
                    self.modelled(id, sized, config, RoutingKind::Static, None, Accelerated::new(None))?;
                Some(Shadow { node, is_compared: self.shadows, measured: Vec::new() })
            }
            false => None,
        };
        let Self { scenario, layout, peerings, .. } = self;
        let emulated =
            Emulation { scenario, layout, peerings }.start(id, node, config, self.device(id), shadow);
        let emulated = emulated.map_err(|why| format!("node {id} cannot be emulated: {why}"))?;
        Ok(Processor::Emulated(Box::new(emulated)))
    }

    /// What node `id` proves its identity with: the key of the node that it posts to, if they share one.
    fn device(&self, id: u32) -> &Device {
        let own = &self.devices[id as usize - 1];
        match self.scenario.traffic.to {
            Destination::Node(server) if own.keys.is_none() => {
                self.devices.get(server as usize - 1).unwrap_or(own)
            }
            _ => own,
        }
    }

    fn config(&self, id: u32, start: &Start) -> Config<Part<'_>> {
        let Scenario { traffic, security, .. } = &self.scenario;
        let has_part = match traffic.kind {
            TrafficKind::Report => posts(&self.scenario, id) || traffic.to == Destination::Node(id),
            TrafficKind::Echo { .. } => security.transport.is_some(),
        };
        let cloud = has_part.then(|| self.cloud_config(id, start));
        let [serves, echoes] = [COAP_PORT, ECHO_PORT]
            .map(|service| self.scenario.services().iter().any(|&(_, port)| port == service));
        Config { interface: self.interface(id), cloud, serves, echoes }
    }

    /// Where the readings of node `id` go, and with what `device` proves.
    fn cloud_config(&self, id: u32, start: &Start) -> sixlock_node::Cloud<Part<'_>> {
        let Self { scenario, credential, .. } = self;
        let device = self.device(id);
        let millis = |span: Span| Duration::from_millis((span.micros() / 1000) as u32);
        let key = device.key.as_bytes();
        let identity = Identity { name: device.identity.as_bytes(), key };
        let times = SampleTimes {
            arrivals: self.arrivals(id),
            next: start.number,
            session: scenario.traffic.session.map(millis),
            session_ends: None,
        };
        let posts = |access| Part::Posts { access, style: self.posting(), times };
        let own = device.keys.map_or(Own::PreShared(identity), Own::PublicKey);
        let (port, access) = match (scenario.security.transport, scenario.traffic.to) {
            _ if matches!(scenario.traffic.kind, TrafficKind::Echo { .. }) => {
                (DTLS_ECHO_PORT, Part::Echoes(own))
            }
            (_, Destination::Node(server)) if server == id => (COAPS, Part::Takes(own)),
            (Some(_), _) => (
                COAPS,
                posts(match device.keys {
                    Some(keys) => Access::DtlsPublicKey(keys),
                    None => Access::DtlsPsk(identity),
                }),
            ),
            (None, _) => {
                let resource = match credential {
                    Credential::Query => Resource { id: device.resource.as_bytes(), key },
                    Credential::None => Resource { id: &[], key: &[] },
                };
                (COAP, posts(Access::Plain(resource)))
            }
        };
        sixlock_node::Cloud {
            address: match scenario.traffic.to {
                Destination::Cloud => CLOUD,
                Destination::Node(server) => self.mesh_address(server),
            },
            port,
            access,
            period: millis(scenario.traffic.period),
            first: millis(start.first),
        }
    }

    /// How nodes post their readings. Who would ask them is outside the simulation.
    fn posting(&self) -> Posting {
        match (self.scenario.traffic.confirmable, self.far_end) {
            (false, _) => Posting::Unconfirmed,
            (true, FarEnd::Outside) if self.scenario.security.transport.is_some() => Posting::Asked,
            (true, _) => Posting::Confirmable,
        }
    }

    /// When what node `id` sends or gets is due.
    fn arrivals(&self, id: u32) -> Arrivals {
        Arrivals::new(self.scenario.seed, id, &self.scenario.traffic)
    }

    fn interface(&self, id: u32) -> InterfaceConfig {
        let (csma, ack) = self.scenario.mac.config();
        let secured = |suite| LinkSecurity { suite, key: self.link_key, key_index: LINK_KEY_INDEX };
        InterfaceConfig {
            mac: MacConfig {
                address: self.address(id),
                pan_id: PAN_ID,
                csma,
                ack,
                security: self.scenario.security.link.map(secured),
            },
            uplink: match id {
                _ if self.layout.numbers().is_router(id) => Uplink::External,
                _ if self.scenario.routing != RoutingKind::Static => Uplink::None,
                _ => Uplink::NextHop(Eui64::of_node(self.layout.parents[id as usize])),
            },
        }
    }

    /// Gives a station its associations and policies of IPsec.
    fn protect(&self, station: &mut Station) -> Result<(), String> {
        let id = station.id;
        // A security gateway refuses what no policy is for, also if no node has a tunnel to it.
        let is_gateway = id == ROUTER && self.security_gateway.is_some();
        if !self.peerings.is_empty() || is_gateway {
            // The border router speaks for the cloud, and may have the other end of tunnels itself.
            let address = self.mesh_address(id);
            let addresses = if id == ROUTER { &[CLOUD, address][..] } else { &[address] };
            let own =
                |peering: &&Peering| [peering.node, peering.host].iter().any(|end| addresses.contains(end));
            station
                .protect(self.peerings.iter().filter(own), self.scenario.unauthenticated)
                .map_err(|_| format!("station {id} has no room for so much IPsec"))?;
            if self.scenario.routing != RoutingKind::Static {
                let discovers = self.scenario.addressing.discovery == DiscoveryKind::NeighbourDiscovery;
                let passed = match &mut station.machine {
                    Machine::Node(node) => node.interface().security().pass_control(discovers),
                    Machine::Gateway(gateway) => gateway.security().pass_control(discovers),
                    Machine::Board(board) => match board.processor() {
                        Processor::Modelled(modelled) => modelled.pass_control(discovers),
                        // The image has a policy of its own.
                        Processor::Emulated(_) => Ok(()),
                    },
                };
                passed.map_err(|_| {
                    format!("station {id} has no room for policies for RPL and neighbour discovery")
                })?;
            }
        }
        match &self.security_gateway {
            Some(gateway) if id == ROUTER => start_gateway(gateway, station)
                .map_err(|_| "the border router has no room for so much IPsec".to_string()),
            _ => Ok(()),
        }
    }

    /// The routes that are listed at station `id`: RPL finds them itself.
    fn routes_below(&self, id: u32, routing: RoutingKind) -> impl Iterator<Item = (u32, u32)> {
        (routing == RoutingKind::Static).then(|| self.layout.routes_below(id)).into_iter().flatten()
    }

    /// The hop limit of packets: one that lets them through the network.
    fn hop_limit(&self) -> u8 {
        let is_deep = self.layout.hops.iter().any(|&hops| hops >= HOP_LIMIT.into());
        if is_deep { LONG_HOP_LIMIT } else { HOP_LIMIT }
    }

    /// Tells a station the hop limit of its packets and how its links compress, and one whose CPU takes no time its routes; a board is told
    /// those at its start, and an image compresses in its own way.
    fn connect(&self, station: &mut Station) -> Result<(), String> {
        let ways = self
            .routes_below(station.id, self.scenario.routing)
            .map(|way| (Eui64::of_node(way.0), Eui64::of_node(way.1)));
        let compression = (self.scenario.compression, self.scenario.compress_from.into());
        let hop_limit = self.hop_limit();
        let listed = match &mut station.machine {
            Machine::Node(node) => {
                node.interface().compression().set(compression);
                node.interface().routing().hop_limit = hop_limit;
                node.interface().routing().list(ways)
            }
            Machine::Gateway(gateway) => {
                gateway.interface().compression().set(compression);
                gateway.interface().routing().hop_limit = hop_limit;
                gateway.interface().routing().list(ways)
            }
            Machine::Board(board) => {
                if let Processor::Modelled(modelled) = board.processor() {
                    modelled.compression().set(compression);
                    modelled.routing().hop_limit = hop_limit;
                }
                true
            }
        };
        if listed { Ok(()) } else { Err("there are more nodes than a route table holds".into()) }
    }
}

/// Makes the border router, which has its peerings already, a security gateway on the nodes' side.
fn start_gateway(gateway: &SecurityGateway, router: &mut Station) -> Result<(), ConfigError> {
    let started = router.with_gateway(Time::ZERO, |router, _, _| {
        router.interface().compression().start();
        router.security().protect_others(!gateway.nodes.enforce)
    });
    started.unwrap_or(Err(ConfigError::NoAssociation))
}

/// What the nodes are known by at the far end, and its own keys where they have public ones.
fn devices(
    scenario: &Scenario,
    nodes: u32,
    given: Option<Vec<Device>>,
) -> Result<(Vec<Device>, Option<&'static KeyRing>), String> {
    match given {
        Some(devices) if devices.len() != nodes as usize => {
            Err(format!("{} devices are given for {nodes} nodes", devices.len()))
        }
        Some(devices) => Ok((devices, None)),
        None => {
            let rings = KeyRings::new(scenario, nodes);
            let device = |id: u32| Device {
                keys: rings.as_ref().map(|rings| rings.nodes[id as usize - 1]),
                ..Device::of_node(scenario.seed, id)
            };
            Ok(((1..=nodes).map(device).collect(), rings.as_ref().map(|rings| rings.cloud)))
        }
    }
}

/// What the nodes from 1 to `nodes` share with other hosts, or with the border router if that is `gateway`.
///
/// # Errors
/// What is wrong with the gateway's wishes.
fn peerings_of(
    scenario: &Scenario,
    nodes: u32,
    host: Option<Host>,
    gateway: Option<&SecurityGateway>,
) -> Result<Vec<Peering>, String> {
    let ids = 1..=nodes;
    let link_only = gateway.map_or(&[][..], |gateway| &gateway.nodes.link_only);
    if let Some(id) = link_only.iter().find(|id| !ids.contains(id)) {
        return Err(format!("there is no node {id} that could have link security only"));
    }
    let has_tunnel = |id: u32| gateway.is_some_and(|gateway| gateway.nodes.has_tunnel_to(id));
    let on_platform = |id| Some((id, scenario.platform_of(id)?));
    if let Some((id, platform)) = ids.clone().filter(|&id| has_tunnel(id)).find_map(on_platform) {
        return Err(format!("node {id} is a {}, and firmware images have no tunnels", platform.name()));
    }
    let Some(suite) = scenario.security.network else {
        return match ids.clone().any(has_tunnel) {
            true => Err("tunnels to nodes need a security mode with ah or esp, for example llsec+esp".into()),
            false => Ok(Vec::new()),
        };
    };
    let server = match scenario.traffic {
        Traffic { kind: TrafficKind::Report, to: Destination::Node(server), .. } => Some(server),
        _ => None,
    };
    let of_node = |id| match has_tunnel(id) {
        true => vec![Peering::tunnel_of_node(scenario.seed, id, suite)],
        false => Peering::of_node((scenario.seed, scenario.addressing), id, suite, host, server),
    };
    Ok(ids.filter(|id| !link_only.contains(id)).flat_map(of_node).collect())
}

fn too_long(id: u32) -> String {
    format!("the names or the key of node {id} are too long")
}

/// Whether node `id` posts readings, where nodes do.
pub(super) fn posts(scenario: &Scenario, id: u32) -> bool {
    let is_server = scenario.traffic.to == Destination::Node(id);
    !is_server && scenario.traffic.from.is_none_or(|from| from == id)
}
