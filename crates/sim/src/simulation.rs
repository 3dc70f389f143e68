//! The simulation: one queue of events that drives every station in virtual time.

mod emulation;
#[cfg(test)]
mod tests;

use core::net::{Ipv6Addr, SocketAddrV6};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use sixlock_base::{Counter, Counters, Duration, Engines, Eui64, MESH_PREFIX, Nv, TransportSuite};
use sixlock_gateway::{Error as GatewayError, Exit, FlowId, Gateway, Upstream};
use sixlock_ieee802154::MAX_FRAME;
use sixlock_lockstep::Flags;
use sixlock_node::{
    Access, COAP_PORT, Config, ECHO_PORT, Event, Identity, InterfaceConfig, LinkSecurity, MacConfig,
    Measurement, Node, Resource, SendError, Uplink,
};

use crate::accounting::Observer;
use crate::application::Part;
use crate::board::{Board, News};
use crate::cloud::{COAP, COAPS, Cloud};
use crate::costs::MeasuredTask;
use crate::devices::Device;
use crate::echoes::{Echo, Echoes};
use crate::emulated::{Emulated, Shadow};
use crate::energy::{Energy, StateTimes};
use crate::engine::Accelerated;
use crate::environment::Environment;
use crate::events::{Events, Owner};
use crate::medium::{Medium, Reception, airtime};
use crate::modelled::Modelled;
use crate::pace::Pace;
use crate::processor::Processor;
use crate::profile::Profile;
use crate::protection::{Host, Peering};
use crate::random::{Purpose, Stream};
use crate::recorder::{Recorder, Sinks};
use crate::scenario::{Destination, Mac, Scenario, ScenarioError, TrafficKind};
use crate::security_gateway::{InternetSide, SecurityGateway, peerings};
use crate::sized::SizedNode;
use crate::station::{MTU, Machine, READINGS, Station};
use crate::statistics::{
    Distribution, EchoWork, Network, NetworkNode, NodeReport, Provenance, Report, Tally, Transmissions,
};
use crate::time::{Span, Time};
use crate::topology::Layout;

use emulation::Emulation;

/// The cloud's address, as the mesh sees it.
pub const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);

/// The PAN of all networks.
pub const PAN_ID: u16 = 0xabcd;
/// The radio channel, which the simulated medium is.
const CHANNEL: u8 = 26;
/// The key index of the mesh's link key.
const LINK_KEY_INDEX: u8 = 1;
/// The largest UDP payload that the mesh carries.
const MAX_DATAGRAM: usize = 1232;

/// What happens at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// The transmission of this station ends.
    TransmissionEnds(u32),
    /// The channel assessment of the event's owner ends.
    CcaEnds,
    /// The radio timer of the event's owner.
    RadioTimer,
    /// The timer of the event's owner.
    Timer,
    /// A task of the event's owner, which is a board, ends, or its radio owes an acknowledgement.
    Board,
    /// An echo to this node is due.
    Echo(u32),
}

/// Where datagrams for the cloud go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FarEnd {
    /// To a cloud inside the simulation, over a link that takes no time.
    Inside,
    /// Out of the simulation: see [`Simulation::poll_upstream`].
    Outside,
}

/// How a simulation is run.
pub struct Options {
    /// Where to write what happens.
    pub sinks: Sinks,
    /// Where datagrams for the cloud go.
    pub far_end: FarEnd,
    /// Whether the border router lets whole packets out and in: see [`Simulation::poll_packet`]. What is for the cloud
    /// goes to the far end as ever.
    pub packets: bool,
    /// A host outside with which nodes share associations of IPsec too, where the security mode has it: see
    /// [`Simulation::peerings`].
    pub host: Option<Host>,
    /// What the border router is as a security gateway, if it is one.
    pub security_gateway: Option<SecurityGateway>,
    /// Counters of the border router that outlast the simulation: for keys that do.
    pub router_counters: Option<Box<dyn Nv + Send>>,
    /// What the nodes from 1 on are known by at the far end; without, [`Device::of_node`].
    pub devices: Option<Vec<Device>>,
    /// Whether each emulated node has a native one beside it that is handed the same, must want the same, and says what
    /// was done in each task: see [`Simulation::take_measured`].
    pub shadows: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sinks: Sinks::default(),
            far_end: FarEnd::Inside,
            packets: false,
            host: None,
            security_gateway: None,
            router_counters: None,
            devices: None,
            shadows: false,
        }
    }
}

/// A datagram on its way out of the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// Its flow, by which answers are handed to [`Simulation::handle_upstream`].
    pub flow: FlowId,
    /// The node that sent it.
    pub from: SocketAddrV6,
    /// The UDP port it is for.
    pub port: u16,
    /// What it carries.
    pub payload: Vec<u8>,
}

/// A simulation under way.
pub struct Simulation {
    scenario: Scenario,
    layout: Layout,
    now: Time,
    events: Events<Happening>,
    medium: Medium,
    observer: Observer,
    recorder: Recorder,
    /// By id; the first is the border router.
    stations: Vec<Station>,
    nodes: Vec<NodeState>,
    far: Far,
    echoes: Echoes,
    outbound: VecDeque<Outbound>,
    /// Packets that have left the mesh.
    packets: VecDeque<Vec<u8>>,
    peerings: Vec<Peering>,
    /// What became of the transmission that ends, at each station.
    outcomes: Vec<(u32, Reception)>,
    /// Bytes there for security, by the station that sent them.
    security_bytes: Vec<i64>,
}

/// What the simulator keeps beside a station.
struct NodeState {
    environment: Environment,
    tally: Tally,
}

/// Who is at the far end.
enum Far {
    Cloud(Box<Cloud>),
    /// A host that sends echoes of this many bytes; a flow for each node from 1 on.
    Echo {
        payload: usize,
        flows: Vec<FlowId>,
    },
    Outside,
}

impl Simulation {
    /// A simulation of `scenario`, at its beginning.
    ///
    /// # Errors
    /// When the scenario's nodes cannot stand as they should, or `options` have too few devices or
    /// names too long.
    pub fn new(scenario: &Scenario, options: Options) -> Result<Self, ScenarioError> {
        let error = |message: String| ScenarioError { file: scenario.name.clone(), line: None, message };
        let layout =
            scenario.topology.lay_out(scenario.radio.range).map_err(|wrong| error(wrong.to_string()))?;
        let seed = scenario.seed;
        let ids = 1..layout.len() as u32;
        let devices = match options.devices {
            Some(devices) if devices.len() != ids.len() => {
                return Err(error(format!("{} devices are given for {} nodes", devices.len(), ids.len())));
            }
            Some(devices) => devices,
            None => ids.clone().map(|id| Device::of_node(seed, id)).collect(),
        };
        if let Some((id, _)) = scenario.emulated.iter().find(|(id, _)| !ids.contains(id)) {
            return Err(error(format!("there is no node {id} that could be emulated")));
        }
        let mut link_key = [0; 16];
        sixlock_base::Entropy::fill(&mut Stream::new(seed, 0, Purpose::Keys), &mut link_key);
        let (csma, ack) = scenario.mac.config();
        let interface = |id: u32| InterfaceConfig {
            mac: MacConfig {
                address: Eui64::of_node(id),
                pan_id: PAN_ID,
                csma,
                ack,
                security: scenario.security.link.map(|suite| LinkSecurity {
                    suite,
                    key: link_key,
                    key_index: LINK_KEY_INDEX,
                }),
            },
            uplink: match id {
                0 => Uplink::External,
                _ => Uplink::NextHop(Eui64::of_node(layout.parents[id as usize])),
            },
        };
        let exit = match options.packets {
            true => Exit::Packets { flows: CLOUD },
            false => Exit::Flows,
        };
        let security_gateway = options.security_gateway;
        let mut peerings =
            peerings(scenario, ids.clone(), options.host, security_gateway.as_ref()).map_err(error)?;
        let emulation = Emulation { scenario, layout: &layout, peerings: &peerings };
        let serves = scenario.services().iter().any(|&(_, port)| port == COAP_PORT);
        let mut stations = vec![Station::new(seed, 0, |cx| {
            Machine::Gateway(Box::new(Gateway::new(cx, &interface(0), exit)))
        })];
        stations[0].nv.outlasting = options.router_counters;
        if let (Mac::Null, Some(platform)) = (scenario.mac, scenario.profile) {
            let security = &scenario.security;
            stations[0].pace = Some(Pace::of(platform, security.link, security.engines)?);
        }
        for (id, device) in ids.clone().zip(&devices) {
            // Who posts to a node has that node's key.
            let device = match scenario.traffic.to {
                Destination::Node(server) => devices.get(server as usize - 1).unwrap_or(device),
                Destination::Cloud => device,
            };
            let cloud = match scenario.traffic.kind {
                TrafficKind::Report => Some(cloud_config(scenario, id, device)),
                TrafficKind::Echo { .. } => None,
            };
            let config = Config { interface: interface(id), cloud, serves };
            let modelled = |node, costs, engine| {
                let routes = layout.routes_below(id);
                let crypto = Accelerated::new(engine);
                let modelled = Modelled::start(seed, id, node, &config, routes, costs, crypto);
                modelled.map(Box::new).map_err(|_| error(too_long(id)))
            };
            let processor = match (scenario.emulated.get(&id), scenario.platform_of(id)) {
                (Some(node), _) => {
                    let sized = SizedNode::new(node.platform, false);
                    // What its IPsec protects, nobody else can tell.
                    let shadow = match options.shadows || !peerings.is_empty() {
                        true => Some(Shadow {
                            node: modelled(sized, None, None)?,
                            is_compared: options.shadows,
                            measured: Vec::new(),
                        }),
                        false => None,
                    };
                    let emulated = emulation
                        .start(id, node, &config, device, shadow)
                        .map_err(|why| error(format!("node {id} cannot be emulated: {why}")))?;
                    Some((node.platform, Processor::Emulated(Box::new(emulated))))
                }
                (None, Some(platform)) => {
                    let (costs, engine) =
                        (Arc::new(platform.costs()?), (platform, scenario.security.engines));
                    let sized = SizedNode::new(platform, scenario.has_long_datagrams());
                    Some((platform, Processor::Modelled(modelled(sized, Some(costs), Some(engine))?)))
                }
                (None, None) => None,
            };
            let mut started = Ok(());
            stations.push(Station::new(seed, id, |cx| match processor {
                Some((platform, processor)) => {
                    Machine::Board(Box::new(Board::new(seed, id, platform, Eui64::of_node(id), processor)))
                }
                None => {
                    let mut node = Box::new(Node::new());
                    started = node.start(cx, &config);
                    Machine::Node(node)
                }
            }));
            started.map_err(|_| error(too_long(id)))?;
        }
        let mut recorder = Recorder::new(options.sinks);
        let key = scenario.security.link.map(|_| &link_key);
        if let Some(key) = key {
            recorder.link_key(LINK_KEY_INDEX, key);
        }
        for peering in &peerings {
            for (from, to, key) in peering.associations() {
                recorder.association(from, to, peering.suite, peering.spi, key);
            }
        }
        if !peerings.is_empty() {
            for station in &mut stations {
                let id = station.id;
                // The border router speaks for the cloud, and may have the other end of tunnels itself.
                let address = Eui64::of_node(id).with_prefix(MESH_PREFIX);
                let addresses = if id == 0 { &[CLOUD, address][..] } else { &[address] };
                let own = |peering: &&Peering| {
                    [peering.node, peering.host].iter().any(|end| addresses.contains(end))
                };
                station
                    .protect(peerings.iter().filter(own), scenario.unauthenticated)
                    .map_err(|_| error(format!("station {} has no room for so much IPsec", station.id)))?;
            }
        }
        if let Some(gateway) = &security_gateway {
            let started = gateway.start(&mut stations[0]);
            started.map_err(|_| error("the border router has no room for so much IPsec".into()))?;
            peerings.extend(gateway.internet.iter().flat_map(InternetSide::peerings));
        }
        for station in &mut stations {
            for (destination, next_hop) in layout.routes_below(station.id) {
                let net = match &mut station.machine {
                    Machine::Node(node) => node.interface().net(),
                    Machine::Gateway(gateway) => gateway.interface().net(),
                    Machine::Board(_) => continue,
                };
                net.add_route(Eui64::of_node(destination), Eui64::of_node(next_hop))
                    .map_err(|_| error("there are more nodes than a route table holds".into()))?;
            }
        }
        let radio = &scenario.radio;
        let medium = Medium::new(seed, &layout.positions, radio.range, radio.interference, radio.loss);
        let far = match (options.far_end, scenario.traffic.kind) {
            (FarEnd::Outside, _) => Far::Outside,
            (_, TrafficKind::Report) => Far::Cloud(Box::new(Cloud::new(seed, devices))),
            (_, TrafficKind::Echo { payload }) => {
                let flows = ids.clone().filter_map(|id| {
                    stations[0].with_gateway(Time::ZERO, |gateway, cx| {
                        gateway.open(cx, CLOUD, Eui64::of_node(id), ECHO_PORT)
                    })
                });
                Far::Echo { payload: payload.into(), flows: flows.collect() }
            }
        };
        let node = |id| NodeState { environment: Environment::new(seed, id), tally: Tally::default() };
        let mut simulation = Self {
            scenario: scenario.clone(),
            now: Time::ZERO,
            events: Events::new(),
            medium,
            observer: Observer::new(scenario.security, key, layout.len()),
            recorder,
            nodes: ids.map(node).collect(),
            far,
            echoes: Echoes::default(),
            outbound: VecDeque::new(),
            packets: VecDeque::new(),
            peerings,
            outcomes: Vec::new(),
            security_bytes: vec![0; stations.len()],
            stations,
            layout,
        };
        for id in 0..simulation.stations.len() as u32 {
            simulation.settle(id);
        }
        if matches!(simulation.far, Far::Echo { .. }) {
            let is_sent_to = |id: &u32| match scenario.traffic.to {
                Destination::Cloud => true,
                Destination::Node(node) => *id == node,
            };
            for id in (1..simulation.stations.len() as u32).filter(is_sent_to) {
                let first = Time::ZERO + first_of(scenario, id);
                simulation.events.push(first, Owner::Cloud, Happening::Echo(id));
            }
        }
        Ok(simulation)
    }

    /// The time that was reached.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// When the next event is: a driver that keeps pace with a clock can wait until then.
    pub fn next_time(&self) -> Option<Time> {
        self.events.next_time()
    }

    /// Runs to `end`, what happens at `end` included.
    pub fn step_until(&mut self, end: Time) {
        while let Some((time, owner, happening)) = self.events.pop_until(end) {
            self.now = time;
            self.happen(owner, happening);
        }
        self.now = self.now.max(end);
    }

    /// Runs for the scenario's duration and sums up.
    ///
    /// # Errors
    /// When a sink or an emulated node failed.
    pub fn run(mut self) -> io::Result<Report> {
        self.step_until(Time::ZERO + self.scenario.duration);
        self.flush()?;
        Ok(self.report())
    }

    /// Writes out what the sinks buffer.
    ///
    /// # Errors
    /// When a sink failed since this was last called, or an emulated node runs no more.
    pub fn flush(&mut self) -> io::Result<()> {
        for station in &self.stations {
            if let Some(failure) = station.failure() {
                return Err(io::Error::other(format!("node {} is emulated, and {failure}", station.id)));
            }
        }
        self.recorder.flush()
    }

    /// The next datagram for the world outside, when the far end is [`FarEnd::Outside`].
    pub fn poll_upstream(&mut self) -> Option<Outbound> {
        self.outbound.pop_front()
    }

    /// Hands the border router a datagram from outside.
    ///
    /// # Errors
    /// When it cannot be sent into the mesh; it is lost, as on any link.
    pub fn handle_upstream(&mut self, flow: FlowId, payload: &[u8]) -> Result<(), GatewayError> {
        let now = self.now;
        let sent = self.stations[0]
            .with_gateway(now, |gateway, cx| gateway.handle_upstream(cx, now.symbols(), flow, payload));
        self.settle(0);
        sent.unwrap_or(Err(GatewayError::UnknownFlow))
    }

    /// The next whole packet for a host outside other than the cloud, with [`Options::packets`].
    pub fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.packets.pop_front()
    }

    /// Hands the border router a whole packet from outside. What it cannot send on, it counts and, where the sender
    /// is to know, answers.
    pub fn handle_packet(&mut self, packet: &[u8]) {
        let now = self.now;
        let mut buffer = packet.to_vec();
        buffer.resize(packet.len().max(MTU), 0);
        let packets = &mut self.packets;
        self.stations[0].with_gateway(now, |gateway, cx| {
            let answer = gateway.handle_packet(cx, now.symbols(), &mut buffer, packet.len());
            packets.extend(answer.map(<[u8]>::to_vec));
        });
        self.settle(0);
    }

    /// The next packet of TCP that has come to node `id`, opened, for who is a program of that node: from the first call on, the
    /// node itself refuses none. There are none at a node that is emulated or modelled.
    pub fn poll_segment(&mut self, id: u32) -> Option<Vec<u8>> {
        self.stations.get_mut(id as usize)?.segments()?.pop_front()
    }

    /// Sends a packet of node `id` in the name of such a program.
    ///
    /// # Errors
    /// When it is not sent; it is lost, as on any link.
    pub fn send_segment(&mut self, id: u32, packet: &[u8]) -> Result<(), SendError> {
        let station = self.stations.get_mut(id as usize).ok_or(SendError::NoRoute)?;
        station.send_packet(self.now, packet)?;
        self.settle(id);
        Ok(())
    }

    /// The associations of IPsec that nodes share with hosts outside, the cloud among them.
    pub fn peerings(&self) -> &[Peering] {
        &self.peerings
    }

    /// Begins a flow from outside to a node's UDP port.
    pub fn open_flow(&mut self, node: u32, port: u16) -> Option<FlowId> {
        let now = self.now;
        self.stations[0].with_gateway(now, |gateway, cx| gateway.open(cx, CLOUD, Eui64::of_node(node), port))
    }

    /// The event counters of a node, or of the border router, which is 0.
    pub fn counters(&self, id: u32) -> Option<&Counters> {
        self.stations.get(id as usize).map(|station| &station.counters)
    }

    fn happen(&mut self, owner: Owner, happening: Happening) {
        match (owner, happening) {
            (_, Happening::TransmissionEnds(source)) => self.end_transmission(source),
            (_, Happening::Echo(node)) => self.send_echo(node),
            (Owner::Node(id), happening) => {
                let (now, medium) = (self.now, &self.medium);
                let station = &mut self.stations[id as usize];
                match happening {
                    Happening::CcaEnds => station.handle_cca(now, || medium.is_clear(id, now)),
                    Happening::RadioTimer => station.handle_radio_timer(now),
                    Happening::Board => {}
                    _ => station.handle_timer(now),
                }
                self.settle(id);
            }
            _ => {
                if let Far::Cloud(cloud) = &mut self.far {
                    cloud.handle_timer(self.now);
                }
                self.settle_far_end();
            }
        }
    }

    /// Deals with what a call to a station has brought about.
    fn settle(&mut self, id: u32) {
        while let Some(event) = self.stations[id as usize].poll_event(self.now) {
            self.handle_event(id, event);
        }
        let station = &mut self.stations[id as usize];
        for cleartext in station.take_cleartexts() {
            self.observer.learn(cleartext);
        }
        let transmits = station.settle(self.now, &mut self.events);
        if let Some(news) = station.poll_news() {
            self.handle_news(id, news);
        }
        if transmits {
            let frame = self.stations[id as usize].on_air();
            self.recorder.frame(self.now, frame);
            self.recorder.event(self.now, id, "transmit", Some(("bytes", frame.len() as u64)));
            self.security_bytes[id as usize] += self.observer.security_bytes(id, frame);
            self.medium.begin(id, self.now);
            let end = self.now + airtime(frame.len());
            self.events.push(end, Owner::Medium, Happening::TransmissionEnds(id));
        }
    }

    fn handle_event(&mut self, id: u32, event: Event) {
        let now = self.now;
        let node = &mut self.nodes[id as usize - 1];
        match event {
            Event::Sample => {
                let reading = node.environment.at(now);
                let measurements =
                    Measurement::of_sensors(reading.temperature, reading.humidity, reading.light);
                let station = &mut self.stations[id as usize];
                let counts = |station: &Station| {
                    [Counter::ReadingsSent, Counter::ReadingsSkipped]
                        .map(|counter| station.counters.get(counter))
                };
                let [sent, skipped] = counts(station);
                station.report(now, &measurements);
                match counts(station) {
                    [now_sent, _] if now_sent != sent => {
                        node.tally.sent(now);
                        self.recorder.event(now, id, "sent", Some(("reading", node.tally.sent)));
                    }
                    [_, now_skipped] if now_skipped != skipped => {
                        self.recorder.event(now, id, "skipped", None);
                    }
                    // A server keeps its reading.
                    _ => {}
                }
            }
            Event::ReadingConfirmed => self.confirm(id),
            Event::ReadingFailed => self.recorder.event(now, id, "failed", None),
            Event::Connected => {
                if let Some(keys) = self.stations[id as usize].key_log() {
                    self.recorder.key(keys.client_random, keys.master_secret);
                }
                self.recorder.event(now, id, "connected", None);
            }
            Event::Disconnected => self.recorder.event(now, id, "disconnected", None),
            Event::ReadingReceived(author) => self.deliver(author),
        }
    }

    /// The far end has accepted a reading of the node with this address.
    fn deliver(&mut self, author: Eui64) {
        let Some(id) = author.node_id() else { return };
        let node = id.checked_sub(1).and_then(|index| self.nodes.get_mut(index as usize));
        if node.is_some_and(|node| node.tally.delivered()) {
            self.recorder.event(self.now, id, "accepted", None);
        }
    }

    /// The far end has confirmed node `id`'s reading.
    fn confirm(&mut self, id: u32) {
        let tally = &mut self.nodes[id as usize - 1].tally;
        let round_trip = tally.confirmed(self.now);
        if !matches!(self.far, Far::Outside) {
            tally.round_trips.extend(round_trip);
        }
        let after = round_trip.map(|span| ("after_us", span.micros()));
        self.recorder.event(self.now, id, "confirmed", after);
    }

    /// What has happened at node `id`, which is a board, in a task that has ended.
    fn handle_news(&mut self, id: u32, news: News) {
        let now = self.now;
        let News { since, flags, keys, author } = news;
        if flags.contains(Flags::READING_RECEIVED) {
            self.deliver(author);
        }
        if flags.contains(Flags::READING_CONFIRMED) {
            self.confirm(id);
        }
        for (flag, name) in [
            (Flags::READING_FAILED, "failed"),
            (Flags::SESSION_LOST, "disconnected"),
            (Flags::SESSION_OPENED, "connected"),
        ] {
            if flags.contains(flag) {
                self.recorder.event(now, id, name, None);
            }
        }
        if let Some(keys) = keys {
            self.recorder.key(&keys.client_random, &keys.master_secret);
        }
        if flags.contains(Flags::READING_SENT) {
            let tally = &mut self.nodes[id as usize - 1].tally;
            tally.sent(since);
            self.recorder.event(now, id, "sent", Some(("reading", tally.sent)));
        }
    }

    fn end_transmission(&mut self, source: u32) {
        let now = self.now;
        let mut outcomes = core::mem::take(&mut self.outcomes);
        self.medium.end(source, now, |receiver, outcome| outcomes.push((receiver, outcome)));
        let mut on_air = [0; MAX_FRAME];
        let len = self.stations[source as usize].on_air().len();
        on_air[..len].copy_from_slice(self.stations[source as usize].on_air());
        self.stations[source as usize].handle_transmitted(now);
        self.settle(source);
        for (receiver, outcome) in outcomes.drain(..) {
            let what = match outcome {
                Reception::Received => {
                    // A copy for each: link security is opened in place.
                    let mut frame = on_air;
                    self.receive(receiver, &mut frame[..len]);
                    continue;
                }
                Reception::Lost => "lost",
                Reception::Missed => "missed",
            };
            self.recorder.event(now, receiver, what, Some(("from", source.into())));
        }
        self.outcomes = outcomes;
    }

    fn receive(&mut self, receiver: u32, frame: &mut [u8]) {
        let (outbound, packets) = (&mut self.outbound, &mut self.packets);
        let upstream = |upstream: Upstream<'_>| match upstream {
            Upstream::Packet(packet) => packets.push_back(packet.to_vec()),
            Upstream::Datagram(datagram) => outbound.push_back(Outbound {
                flow: datagram.flow,
                from: SocketAddrV6::new(datagram.ends.node, datagram.ends.node_port, 0, 0),
                port: datagram.ends.host_port,
                payload: datagram.payload.to_vec(),
            }),
        };
        self.stations[receiver as usize].handle_frame(self.now, frame, upstream);
        self.settle(receiver);
        if receiver == 0 && !self.outbound.is_empty() {
            self.settle_far_end();
        }
    }

    /// Carries datagrams between border router and far end.
    fn settle_far_end(&mut self) {
        let now = self.now;
        match &mut self.far {
            Far::Outside => {}
            Far::Echo { flows, .. } => {
                while let Some(datagram) = self.outbound.pop_front() {
                    let node = flows.iter().position(|flow| *flow == datagram.flow);
                    let Some(node) = node else { continue };
                    let tally = &mut self.nodes[node].tally;
                    let sent = tally.sent.to_be_bytes();
                    if datagram.payload.get(..sent.len()) == Some(&sent[..])
                        && let Some(round_trip) = tally.confirmed(now)
                    {
                        tally.round_trips.push(round_trip);
                        self.echoes.back(node as u32 + 1, round_trip);
                        let after = Some(("after_us", round_trip.micros()));
                        self.recorder.event(now, node as u32 + 1, "echoed", after);
                    }
                }
            }
            Far::Cloud(cloud) => {
                while let Some(mut datagram) = self.outbound.pop_front() {
                    cloud.handle(now, &mut datagram, |node| {
                        if self.nodes[node as usize - 1].tally.delivered() {
                            self.recorder.event(now, node, "accepted", None);
                        }
                    });
                }
                let mut payload = [0; MAX_DATAGRAM];
                while let Some((flow, len)) = cloud.poll_transmit(now, &mut payload) {
                    // What the border router cannot send is lost, as on any link.
                    let _ = self.stations[0].with_gateway(now, |gateway, cx| {
                        gateway.handle_upstream(cx, now.symbols(), flow, &payload[..len])
                    });
                }
                if let Some(time) = cloud.poll_timer(now) {
                    self.events.push(time, Owner::Cloud, Happening::Timer);
                }
                self.settle(0);
            }
        }
    }

    fn send_echo(&mut self, node: u32) {
        let Far::Echo { payload: len, flows } = &self.far else { return };
        let (len, flow) = (*len, flows[node as usize - 1]);
        let tally = &mut self.nodes[node as usize - 1].tally;
        tally.sent(self.now);
        self.recorder.event(self.now, node, "echo", Some(("number", tally.sent)));
        let times = |id| state_times(&self.stations, &self.medium, id, self.now);
        self.echoes.sent(self.now, self.layout.way(node), times);
        let mut payload = [0; MAX_DATAGRAM];
        let number = tally.sent.to_be_bytes();
        payload[..number.len()].copy_from_slice(&number);
        // What the border router cannot send is lost, as on any link.
        let _ = self.handle_upstream(flow, &payload[..len]);
        let next = self.now + self.scenario.traffic.period;
        self.events.push(next, Owner::Cloud, Happening::Echo(node));
    }

    /// What has been shown so far.
    pub fn report(&self) -> Report {
        let echoes = self.echoes();
        let node = |(state, id): (&NodeState, u32)| {
            let counters = &self.stations[id as usize].counters;
            NodeReport {
                id,
                hops: self.layout.hops[id as usize],
                sent: state.tally.sent,
                delivered: state.tally.delivered,
                rtt_ms: Distribution::of(&state.tally.round_trips),
                cpu_ms: self.scenario.platform_of(id).and_then(|_| EchoWork::of(&echoes, id)),
                handshakes: counters.get(Counter::DtlsHandshakes),
                frames: counters.get(Counter::FramesSent),
                bytes: counters.get(Counter::BytesSent),
                energy_mj: self.energy(id),
                provenance: self.provenance(id),
            }
        };
        Report {
            schema: 1,
            seed: self.scenario.seed,
            simulated_s: self.now.since(Time::ZERO).as_secs(),
            nodes: self.nodes.iter().zip(1..).map(node).collect(),
        }
    }

    /// How long the parts of a node, or of the border router, which is 0, have been in each state. The CPU of a native one
    /// takes no time.
    pub fn state_times(&self, id: u32) -> Option<StateTimes> {
        state_times(&self.stations, &self.medium, id, self.now)
    }

    /// Every echo so far, and what it took. There are none but with echo traffic from inside the simulation.
    pub fn echoes(&self) -> Vec<Echo> {
        self.echoes.all(|id| self.state_times(id))
    }

    /// What node `id` has consumed, if it runs on a platform.
    fn energy(&self, id: u32) -> Option<Energy> {
        let platform = self.scenario.platform_of(id)?;
        Some(Energy::of(&Profile::of(platform), &self.state_times(id)?))
    }

    /// Where the times of node `id` and what it consumes are from, if it runs on a platform.
    fn provenance(&self, id: u32) -> Option<Provenance> {
        let cpu = if self.scenario.emulated.contains_key(&id) { "emulated" } else { "modelled" };
        let engine = (self.scenario.security.engines != Engines::NONE).then_some("modelled");
        let platform = self.scenario.platform_of(id)?.name();
        Some(Provenance { platform, cpu, engine, radio: "modelled", currents: "published" })
    }

    /// How many bytes of stack the node `id` has used so far, if it is emulated.
    pub fn stack_peak(&mut self, id: u32) -> Option<Result<u32, sixlock_emulator::Error>> {
        Some(self.stations.get_mut(id as usize)?.emulated()?.stack_peak())
    }

    /// The tasks that the node `id`, if it is emulated and has a shadow, has done since this was last called.
    pub fn take_measured(&mut self, id: u32) -> Vec<MeasuredTask> {
        let emulated = self.stations.get_mut(id as usize).and_then(Station::emulated);
        emulated.map_or(Vec::new(), Emulated::take_measured)
    }

    /// The network as it is now.
    pub fn network(&self) -> Network {
        let transmissions = |id: u32| {
            let counters = &self.stations[id as usize].counters;
            Transmissions {
                frames: counters.get(Counter::FramesSent),
                bytes: counters.get(Counter::BytesSent),
                security_bytes: self.security_bytes[id as usize].max(0) as u64,
            }
        };
        let security = self.scenario.security.to_string();
        let node = |(state, id): (&NodeState, u32)| {
            let counters = &self.stations[id as usize].counters;
            let sent_again =
                [Counter::MacRetries, Counter::DtlsRetransmissions, Counter::CoapRetransmissions];
            NetworkNode {
                id,
                address: Eui64::of_node(id).with_prefix(MESH_PREFIX).to_string(),
                parent: self.layout.parents[id as usize],
                hops: self.layout.hops[id as usize],
                security: security.clone(),
                handshakes: counters.get(Counter::DtlsHandshakes),
                retransmissions: sent_again.iter().map(|&counter| counters.get(counter)).sum(),
                transmissions: transmissions(id),
                points: state.tally.delivered * READINGS as u64,
            }
        };
        Network {
            schema: 1,
            time_s: self.now.since(Time::ZERO).as_secs(),
            router: transmissions(0),
            nodes: self.nodes.iter().zip(1..).map(node).collect(),
        }
    }
}

fn state_times(stations: &[Station], medium: &Medium, id: u32, now: Time) -> Option<StateTimes> {
    let station = stations.get(id as usize)?;
    Some(StateTimes::new(&station.cpu, medium.radio(id), now))
}

fn too_long(id: u32) -> String {
    format!("the names or the key of node {id} are too long")
}

/// When the traffic of node `id` begins: somewhere in the first period.
fn first_of(scenario: &Scenario, id: u32) -> Span {
    let period = scenario.traffic.period.micros();
    Span::from_micros(Stream::new(scenario.seed, id, Purpose::Start).below(period))
}

/// Where the readings of node `id` go, and with what `device` proves.
fn cloud_config<'a>(scenario: &Scenario, id: u32, device: &'a Device) -> sixlock_node::Cloud<Part<'a>> {
    let millis = |span: Span| Duration::from_millis((span.micros() / 1000) as u32);
    let key = device.key.as_bytes();
    let identity = Identity { name: device.identity.as_bytes(), key };
    let (port, access) = match (scenario.security.transport, scenario.traffic.to) {
        (_, Destination::Node(server)) if server == id => (COAPS, Part::Takes(identity)),
        (Some(TransportSuite::DtlsPsk), _) => (COAPS, Part::Posts(Access::DtlsPsk(identity))),
        (None, _) => {
            let id = device.resource.as_bytes();
            (COAP, Part::Posts(Access::Plain(Resource { id, key })))
        }
    };
    sixlock_node::Cloud {
        address: match scenario.traffic.to {
            Destination::Cloud => CLOUD,
            Destination::Node(server) => Eui64::of_node(server).with_prefix(MESH_PREFIX),
        },
        port,
        access,
        period: millis(scenario.traffic.period),
        first: millis(first_of(scenario, id)),
    }
}
