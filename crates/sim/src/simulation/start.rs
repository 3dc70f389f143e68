//! How a simulation begins: its stations, and who is at the far end, as its scenario has them.

use std::collections::VecDeque;
use std::sync::Arc;

use sixlock_base::{Duration, Eui64, MESH_PREFIX};
use sixlock_gateway::{Exit, Gateway};
use sixlock_node::{
    Access, COAP_PORT, Config, DTLS_ECHO_PORT, ECHO_PORT, Identity, InterfaceConfig, LinkSecurity, MacConfig,
    Node, Resource, Uplink,
};

use crate::accounting::Observer;
use crate::application::{Own, Part};
use crate::board::Board;
use crate::cloud::{COAP, COAPS, Cloud};
use crate::devices::Device;
use crate::drops::Drops;
use crate::echo_host::EchoHost;
use crate::echoes::Echoes;
use crate::emulated::Shadow;
use crate::engine::Accelerated;
use crate::environment::Environment;
use crate::events::{Events, Owner};
use crate::handshakes::Handshakes;
use crate::medium::Medium;
use crate::modelled::Modelled;
use crate::pace::Pace;
use crate::processor::Processor;
use crate::protection::Peering;
use crate::public_keys::KeyRings;
use crate::random::{Purpose, Stream};
use crate::readings::{Readings, Schedule};
use crate::recorder::Recorder;
use crate::scenario::{Credential, Destination, Mac, Scenario, ScenarioError, TrafficKind};
use crate::security_gateway::{InternetSide, SecurityGateway, peerings};
use crate::sized::SizedNode;
use crate::station::{Machine, Station};
use crate::time::{Span, Time};

use super::emulation::Emulation;
use super::far_end::Far;
use super::{Air, CLOUD, FarEnd, Happening, LINK_KEY_INDEX, NodeState, Options, PAN_ID, Simulation};

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
        let (devices, cloud_keys) = match options.devices {
            Some(devices) if devices.len() != ids.len() => {
                return Err(error(format!("{} devices are given for {} nodes", devices.len(), ids.len())));
            }
            Some(devices) => (devices, None),
            None => {
                let rings = KeyRings::new(scenario, ids.len() as u32);
                let nodes = ids.clone().zip(0..).map(|(id, place): (_, usize)| Device {
                    keys: rings.as_ref().map(|rings| rings.nodes[place]),
                    ..Device::of_node(seed, id)
                });
                (nodes.collect::<Vec<_>>(), rings.map(|rings| rings.cloud))
            }
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
        let of_scenario = || scenario.gateway.clone().map(|nodes| SecurityGateway { internet: None, nodes });
        let security_gateway = options.security_gateway.or_else(of_scenario);
        let mut peerings =
            peerings(scenario, ids.clone(), options.host, security_gateway.as_ref()).map_err(error)?;
        let emulation = Emulation { scenario, layout: &layout, peerings: &peerings };
        let [serves, echoes] = [COAP_PORT, ECHO_PORT]
            .map(|service| scenario.services().iter().any(|&(_, port)| port == service));
        let mut stations = vec![Station::new(seed, 0, |cx| {
            Machine::Gateway(Box::new(Gateway::new(cx, &interface(0), exit)))
        })];
        stations[0].nv.outlasting = options.router_counters;
        if let (Mac::Null, Some(platform)) = (scenario.mac, scenario.profile) {
            let security = &scenario.security;
            stations[0].pace = Some(Pace::of(platform, security.link, security.engines)?);
        }
        // A cloud outside knows no addresses of nodes.
        let credential = match options.far_end {
            FarEnd::Inside => scenario.traffic.credential,
            FarEnd::Outside => Credential::Query,
        };
        for (id, own) in ids.clone().zip(&devices) {
            // Who posts to a node has that node's key, if they share one.
            let device = match scenario.traffic.to {
                Destination::Node(server) if own.keys.is_none() => {
                    devices.get(server as usize - 1).unwrap_or(own)
                }
                _ => own,
            };
            let cloud = match scenario.traffic.kind {
                TrafficKind::Report => {
                    let has_part = posts(scenario, id) || scenario.traffic.to == Destination::Node(id);
                    has_part.then(|| cloud_config(scenario, id, device, credential))
                }
                TrafficKind::Echo { .. } => {
                    scenario.security.transport.map(|_| cloud_config(scenario, id, device, credential))
                }
            };
            let config = Config { interface: interface(id), cloud, serves, echoes };
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
            match &mut station.machine {
                Machine::Node(node) => {
                    let protection = node.interface().protection();
                    protection.is_in_rpl = scenario.rpl_headers;
                    protection.compression = scenario.compression;
                }
                Machine::Gateway(gateway) => {
                    let protection = gateway.interface().protection();
                    protection.is_in_rpl = scenario.rpl_headers;
                    protection.compression = scenario.compression;
                }
                Machine::Board(_) => {}
            }
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
        let medium = Medium::new(seed, &layout.positions, &scenario.radio);
        let far = match (options.far_end, scenario.traffic.kind) {
            (FarEnd::Outside, _) => Far::Outside,
            (_, TrafficKind::Report) => {
                Far::Cloud(Box::new(Cloud::new(seed, devices, cloud_keys, credential)))
            }
            (_, TrafficKind::Echo { payload }) => {
                let secured = scenario.security.transport.map(|_| (devices, cloud_keys));
                let port = if secured.is_some() { DTLS_ECHO_PORT } else { ECHO_PORT };
                let flows = ids.clone().filter_map(|id| {
                    stations[0].with_gateway(Time::ZERO, |gateway, cx| {
                        gateway.open(cx, CLOUD, Eui64::of_node(id), port)
                    })
                });
                Far::Echo(EchoHost::new(seed, payload, flows.collect(), secured))
            }
        };
        let node = |id| {
            let schedule = schedule(scenario, &far, id);
            NodeState {
                environment: Environment::new(seed, id),
                is_client: schedule.is_some()
                    && scenario.traffic.kind == TrafficKind::Report
                    && scenario.security.transport.is_some(),
                readings: Readings::new(schedule),
                handshakes: Handshakes::default(),
                is_connected: false,
            }
        };
        let mut simulation = Self {
            scenario: scenario.clone(),
            now: Time::ZERO,
            events: Events::new(),
            medium,
            observer: Observer::new(scenario.security, scenario.compression, key, layout.len()),
            recorder,
            nodes: ids.map(node).collect(),
            far,
            far_drops: Drops::default(),
            echoes: Echoes::default(),
            outbound: VecDeque::new(),
            packets: VecDeque::new(),
            peerings,
            outcomes: Vec::new(),
            air: vec![Air::default(); stations.len()],
            stations,
            layout,
        };
        simulation.schedule_first();
        for id in 0..simulation.stations.len() as u32 {
            simulation.settle(id);
        }
        Ok(simulation)
    }

    /// Schedules what is due first. A reading that is due at once is so before its node, which is about to start, takes it.
    fn schedule_first(&mut self) {
        for id in 1..=self.nodes.len() as u32 {
            let Some(first) = self.nodes[id as usize - 1].readings.next_due() else { continue };
            match self.scenario.traffic.kind {
                TrafficKind::Report if first == self.now => self.reading_is_due(id),
                TrafficKind::Report => self.events.push(first, Owner::Schedule, Happening::Reading(id)),
                TrafficKind::Echo { .. } => self.events.push(first, Owner::Cloud, Happening::Echo(id)),
            }
        }
    }
}

fn too_long(id: u32) -> String {
    format!("the names or the key of node {id} are too long")
}

/// When the traffic of node `id` begins: somewhere in the first period.
fn first_of(scenario: &Scenario, id: u32) -> Span {
    let period = scenario.traffic.period.micros();
    Span::from_micros(Stream::new(scenario.seed, id, Purpose::Start).below(period))
}

/// Whether node `id` posts readings, where nodes do.
fn posts(scenario: &Scenario, id: u32) -> bool {
    let is_server = scenario.traffic.to == Destination::Node(id);
    !is_server && scenario.traffic.from.is_none_or(|from| from == id)
}

/// When readings of node `id` are due, or echoes to it; nothing if there are none.
fn schedule(scenario: &Scenario, far: &Far, id: u32) -> Option<Schedule> {
    let (first, period) = (first_of(scenario, id), scenario.traffic.period);
    match (scenario.traffic.kind, far, scenario.traffic.to) {
        (TrafficKind::Report, ..) => posts(scenario, id).then(|| Schedule::in_millis(first, period)),
        (TrafficKind::Echo { .. }, Far::Outside, _) => None,
        (TrafficKind::Echo { .. }, _, Destination::Node(node)) if node != id => None,
        (TrafficKind::Echo { .. }, ..) => Some(Schedule::new(first, period)),
    }
}

/// Where the readings of node `id` go, and with what `device` proves.
fn cloud_config<'a>(
    scenario: &Scenario,
    id: u32,
    device: &'a Device,
    credential: Credential,
) -> sixlock_node::Cloud<Part<'a>> {
    let millis = |span: Span| Duration::from_millis((span.micros() / 1000) as u32);
    let key = device.key.as_bytes();
    let identity = Identity { name: device.identity.as_bytes(), key };
    let own = device.keys.map_or(Own::PreShared(identity), Own::PublicKey);
    let (port, access) = match (scenario.security.transport, scenario.traffic.to) {
        _ if matches!(scenario.traffic.kind, TrafficKind::Echo { .. }) => (DTLS_ECHO_PORT, Part::Echoes(own)),
        (_, Destination::Node(server)) if server == id => (COAPS, Part::Takes(own)),
        (Some(_), _) => (
            COAPS,
            Part::Posts(match device.keys {
                Some(keys) => Access::DtlsPublicKey(keys),
                None => Access::DtlsPsk(identity),
            }),
        ),
        (None, _) => {
            let resource = match credential {
                Credential::Query => Resource { id: device.resource.as_bytes(), key },
                Credential::None => Resource { id: &[], key: &[] },
            };
            (COAP, Part::Posts(Access::Plain(resource)))
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
