//! How a simulation begins: its stations, who is at the far end, and what is due first.

use std::collections::VecDeque;

use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_gateway::FlowId;
use sixlock_ipv6::nd::Rovr;
use sixlock_node::{DTLS_ECHO_PORT, ECHO_PORT, PayloadCompression};

use crate::accounting::Observer;
use crate::arrivals::Arrivals;
use crate::attack::{Attackers, Trail};
use crate::cloud::Cloud;
use crate::discovery::{Addressing, Begins, DiscoveryKind};
use crate::drops::Drops;
use crate::echo_host::EchoHost;
use crate::echoes::Echoes;
use crate::environment::Environment;
use crate::error::ScenarioError;
use crate::events::{Events, Owner, ScheduledEvent};
use crate::far_end::RemoteHost;
use crate::forest::Forest;
use crate::handshakes::Handshakes;
use crate::network::LINK_KEY_INDEX;
use crate::options::{FarEnd, Options};
use crate::peerings::Peerings;
use crate::power::Power;
use crate::readings::{Readings, Schedule};
use crate::recorder::{Recorder, Sinks};
use crate::routing::RoutingKind;
use crate::scenario::{Destination, Listen, Scenario, TrafficKind};
use crate::station::Station;
use crate::time::Time;

use super::attacks::medium;
use super::deployment::{Deployment, posts};
use super::{Air, NodeState, Simulation};

impl Simulation {
    /// A simulation of `scenario`, at its beginning.
    ///
    /// # Errors
    /// When the scenario's nodes cannot stand as they should, or `options` have too few devices or
    /// names too long.
    pub fn new(scenario: &Scenario, options: Options) -> Result<Self, ScenarioError> {
        let mut simulation = Self::build(scenario, options, Time::ZERO)
            .map_err(|message| ScenarioError::of_file(&scenario.name, message))?;
        simulation.begin();
        Ok(simulation)
    }

    /// A simulation in which nothing has happened yet, nor is anything due. The clocks of nodes and border router show `clocks`.
    pub(super) fn build(scenario: &Scenario, mut options: Options, clocks: Time) -> Result<Self, String> {
        let deployment = Deployment::new(scenario, &mut options, clocks)?;
        let all = 0..deployment.layout.len() as u32;
        let mut stations = all.map(|id| deployment.station(id)).collect::<Result<Vec<_>, _>>()?;
        stations[0].nv.outlasting = options.router_counters;
        let recorder = recorder(options.sinks, &deployment);
        let far = far_end(options.far_end, &deployment, &mut stations[0]);
        let internet = deployment.security_gateway.as_ref().and_then(|gateway| gateway.internet.clone());
        let link = scenario.security.link.zip(deployment.link_key().copied());
        let attackers = Attackers::new(scenario, &deployment.layout, link);
        let all = stations.len() + attackers.places().count();
        let compression = (scenario.compression, scenario.compress_from.into());
        let mut observer = Observer::new(
            (scenario.security, scenario.addressing.prefix),
            compression,
            deployment.link_key(),
            deployment.layout.numbers(),
            all,
        );
        if scenario.routing != RoutingKind::Static {
            observer.look_for_control();
        }
        if let Listen::ContikiMac { times, .. } = scenario.listen {
            observer.look_behind_padding(times);
        }
        if !attackers.is_empty() {
            observer.look_for_attackers(stations.len() as u32);
        }
        let mut simulation = Self {
            now: Time::ZERO,
            events: Events::new(),
            medium: medium(&deployment, &attackers),
            observer,
            recorder,
            nodes: deployment.ids().map(|id| NodeState::new(&deployment, &far, id)).collect(),
            joining: deployment.ids().collect(),
            forest: Forest::new(all),
            far,
            far_drops: Drops::default(),
            echoes: Echoes::default(),
            outbound: VecDeque::new(),
            packets: VecDeque::new(),
            peerings: deployment.peerings.clone(),
            internet: Peerings::default(),
            outcomes: Vec::new(),
            air: vec![Air::default(); all],
            power: vec![Power::default(); stations.len()],
            stations,
            deployment,
            attackers,
            trail: Trail::default(),
            timeline: None,
            trial: None,
        };
        simulation.begin_energest();
        simulation.begin_timeline()?;
        if let Some(internet) = internet {
            simulation.set_internet(&internet).map_err(|error| error.to_string())?;
        }
        Ok(simulation)
    }

    /// Lets it begin.
    pub(super) fn begin(&mut self) {
        (0..self.stations.len() as u32).for_each(|id| self.begin_slots(id));
        self.schedule_scenario();
        self.schedule_attacks();
        self.schedule_first();
        for id in 0..self.stations.len() as u32 {
            if !self.is_off(id) {
                self.start_routing(id);
                self.settle(id);
            }
        }
    }

    /// Lets a station that has what is durable be in time slots, if its network is.
    pub(super) fn begin_slots(&mut self, id: u32) {
        if let Some((slots, mac)) = self.deployment.slots(id) {
            self.stations[id as usize].begin_slots(self.now, &slots, &mac);
        }
    }

    /// Lets a station that has what is durable take part in the routing protocol.
    pub(super) fn start_routing(&mut self, id: u32) {
        let Deployment { scenario, layout, .. } = &self.deployment;
        let address = self.deployment.address(id);
        let begins = Begins {
            addressing: scenario.addressing,
            rovr: Rovr(Eui64::of_node(layout.numbers().of(id)).0),
            generic_compression: scenario.compression == Some(PayloadCompression::Ghc),
            is_host: scenario.hosts.contains(&id),
        };
        self.stations[id as usize].start_routing(self.now, address, scenario.routing, &begins);
    }

    /// Schedules what is due first. A reading that is due at once is so before its node, which is about to start, takes it.
    fn schedule_first(&mut self) {
        for id in self.deployment.ids() {
            let Some(first) = self.nodes[id as usize - 1].readings.next_due() else { continue };
            match self.deployment.scenario.traffic.kind {
                TrafficKind::Report if first == self.now => self.reading_is_due(id),
                TrafficKind::Report => self.events.push(first, Owner::Schedule, ScheduledEvent::Reading(id)),
                TrafficKind::Echo { .. } => self.events.push(first, Owner::Cloud, ScheduledEvent::Echo(id)),
            }
        }
    }
}

impl NodeState {
    /// That of node `id` at the beginning.
    fn new(deployment: &Deployment, far: &RemoteHost, id: u32) -> Self {
        let scenario = &deployment.scenario;
        let schedule = schedule(deployment, far, id);
        Self {
            environment: Environment::new(scenario.seed, id),
            is_client: schedule.is_some()
                && scenario.traffic.kind == TrafficKind::Report
                && scenario.security.transport.is_some(),
            readings: Readings::new(schedule),
            handshakes: Handshakes::default(),
            is_connected: false,
            parent: deployment.layout.numbers().of(deployment.layout.parents[id as usize]),
            joined: None,
            traffic_start: None,
            duplicates: 0,
            false_readings: 0,
        }
    }
}

/// The recorder, which has recorded the keys that are known at the beginning.
fn recorder(sinks: Sinks, deployment: &Deployment) -> Recorder {
    let mut recorder = Recorder::new(sinks, deployment.layout.numbers());
    if let Some(key) = deployment.link_key() {
        recorder.link_key(LINK_KEY_INDEX, key);
    }
    let Addressing { prefix, discovery, .. } = deployment.scenario.addressing;
    // Nothing on the air tells it.
    if discovery == DiscoveryKind::Given && prefix != MESH_PREFIX {
        recorder.context(prefix);
    }
    for peering in &deployment.peerings {
        for (from, to, key) in peering.associations() {
            recorder.association(from, to, peering.suite, peering.spi, key);
        }
    }
    recorder
}

/// The flows by which echoes go.
pub(super) fn open_flows(deployment: &Deployment, router: &mut Station, now: Time) -> Vec<FlowId> {
    let secured = deployment.scenario.security.transport.is_some();
    let port = if secured { DTLS_ECHO_PORT } else { ECHO_PORT };
    let host = deployment.echo_host();
    let open = |id| {
        router.with_gateway(now, |gateway, cx, _| gateway.open(cx, host, deployment.mesh_address(id), port))
    };
    deployment.ids().filter_map(open).collect()
}

/// Who is at the far end. Echoes go by flows that the border router opens for them.
fn far_end(place: FarEnd, deployment: &Deployment, router: &mut Station) -> RemoteHost {
    let Deployment { scenario, devices, cloud_keys, credential, .. } = deployment;
    match (place, scenario.traffic.kind) {
        (FarEnd::Outside, _) => RemoteHost::Outside,
        (_, TrafficKind::Report) => {
            let credential = scenario.security.transport.is_none().then_some(*credential);
            RemoteHost::Cloud(Box::new(Cloud::new(scenario.seed, devices.clone(), *cloud_keys, credential)))
        }
        (_, TrafficKind::Echo { payload }) => {
            let secured = scenario.security.transport.map(|_| (devices.clone(), *cloud_keys));
            let flows = open_flows(deployment, router, Time::ZERO);
            RemoteHost::Echo(EchoHost::new(scenario.seed, payload, flows, secured))
        }
    }
}

/// When readings of node `id` are due, or echoes to it; nothing if there are none.
fn schedule(deployment: &Deployment, far: &RemoteHost, id: u32) -> Option<Schedule> {
    let scenario = &deployment.scenario;
    let arrivals = Arrivals::new(scenario.seed, id, &scenario.traffic);
    match (scenario.traffic.kind, far, scenario.traffic.to) {
        (TrafficKind::Report, ..) => {
            posts(scenario, id).then(|| Schedule::of_device(deployment.clock(id), arrivals))
        }
        (TrafficKind::Echo { .. }, RemoteHost::Outside, _) => None,
        (TrafficKind::Echo { .. }, ..) if scenario.measured_echoes().is_some() => None,
        (TrafficKind::Echo { .. }, _, Destination::Node(node)) if node != id => None,
        (TrafficKind::Echo { .. }, ..) => Some(Schedule::new(arrivals)),
    }
}
