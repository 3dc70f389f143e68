//! What a simulation has shown so far.

use sixlock_base::{Counter, Counters, Engines};

use crate::costs::MeasuredTask;
use crate::drops::Drops;
use crate::echoes::Echo;
use crate::emulated::Emulated;
use crate::energest::{Energest, EnergestTicks};
use crate::energy::{Energy, Nanojoules, StateTimes};
use crate::medium::Medium;
use crate::profile::Profile;
use crate::readings::Counted;
use crate::routing::RoutingKind;
use crate::scenario::Listen;
use crate::sizes::READINGS;
use crate::station::Station;
use crate::statistics::{
    BorderRouterReport, CloudReport, Distribution, EchoWork, HandshakeReport, Network, NetworkNode,
    NodeReport, Provenance, RegisteredReport, Report, RouterReport, SteadyReport, Transmissions,
};
use crate::time::{Span, Time};

use super::{Air, NodeState, Simulation, TrafficStart};

impl Simulation {
    /// Where node `id` has registered its address.
    fn registered(&self, id: u32) -> Option<RegisteredReport> {
        let (router, address) = self.stations[id as usize].registered()?;
        Some(RegisteredReport { at: router.node_id()?, address: address.to_string() })
    }

    /// What has been shown so far.
    pub fn report(&self) -> Report {
        let echoes = self.echoes();
        let node = |(state, id): (&NodeState, u32)| {
            let counters = &self.stations[id as usize].counters;
            let Counted { due, sent, delivered, failed, skipped, skipped_for, pending } =
                state.readings.counted();
            NodeReport {
                id,
                registered: self.registered(id),
                duplicates: Some(state.duplicates).filter(|&duplicates| duplicates > 0),
                hops: self.hops_now(id),
                parent: self.parent_now(id),
                joined_s: state.joined_s(),
                rank: self.stations[id as usize].rank(),
                parent_changes: self.parent_changes(id),
                due,
                sent,
                delivered,
                failed,
                skipped,
                skipped_for,
                pending,
                false_readings: state.false_readings,
                drops: Drops::of(counters).by_cause(),
                handshake: self.deployment.scenario.security.transport.map(|_| self.handshake(id, state)),
                rtt_ms: Distribution::of(&state.readings.round_trips),
                cpu_ms: self.deployment.scenario.platform_of(id).and_then(|_| EchoWork::of(&echoes, id)),
                frames: self.air[id as usize].frames,
                bytes: self.air[id as usize].bytes,
                control_frames: self.control_frames(id),
                control_bytes: self.control_bytes(id),
                duty_cycle: self.duty_cycle(id, &StateTimes::default()),
                duty_cycle_joined: state.joined.and_then(|(_, before)| self.duty_cycle(id, &before)),
                energy_mj: self.energy(id),
                steady: self.steady(id, state),
                energest: self.energest(id),
                life_days: self.life_as_it_goes(id, state),
                provenance: self.provenance(id),
            }
        };
        let mut routers = Counters::new();
        for router in self.deployment.layout.numbers().routers() {
            for (counter, count) in self.stations[router as usize].counters.iter() {
                routers.add(counter, count);
            }
        }
        Report {
            schema: 2,
            scenario: self.deployment.scenario.name.clone(),
            security: self.deployment.scenario.security.to_string(),
            seed: self.deployment.scenario.seed,
            simulated_s: self.now.since(Time::ZERO).as_secs(),
            nodes: self.nodes.iter().zip(1..).map(node).collect(),
            router: RouterReport {
                frames: self.of_routers(|air| air.frames),
                bytes: self.of_routers(|air| air.bytes),
                control_frames: self.routes_by_rpl().then(|| self.of_routers(|air| air.control_frames)),
                control_bytes: self.routes_by_rpl().then(|| self.of_routers(|air| air.control_bytes)),
                drops: Drops::of(&routers).by_cause(),
            },
            routers: self.border_routers(),
            cloud: Some(self.far.drops().by_cause())
                .filter(|drops| !drops.is_empty())
                .map(|drops| CloudReport { drops }),
            attacks: self.attack_reports(),
            cost: None,
        }
    }

    /// What was seen of all border routers.
    fn of_routers<T: core::iter::Sum>(&self, figure: fn(&Air) -> T) -> T {
        self.deployment.layout.numbers().routers().map(|router| figure(&self.air[router as usize])).sum()
    }

    /// What was seen of each border router, where there are several.
    fn border_routers(&self) -> Vec<BorderRouterReport> {
        let numbers = self.deployment.layout.numbers();
        let is_rpl = self.routes_by_rpl();
        let of = |router: u32| {
            let Air { frames, bytes, control_frames, control_bytes, .. } = self.air[router as usize];
            BorderRouterReport {
                id: numbers.of(router),
                router: RouterReport {
                    frames,
                    bytes,
                    control_frames: is_rpl.then_some(control_frames),
                    control_bytes: is_rpl.then_some(control_bytes),
                    drops: Drops::of(&self.stations[router as usize].counters).by_cause(),
                },
            }
        };
        numbers.routers().filter(|_| numbers.routers > 1).map(of).collect()
    }

    /// How many hops node `id` is from a border router by the parents that nodes have now, if they lead to one.
    fn hops_now(&self, id: u32) -> Option<u32> {
        let numbers = self.deployment.layout.numbers();
        let is_router = |number| numbers.station(number).is_some_and(|station| numbers.is_router(station));
        let parent = |at: u32| self.parent_now(at);
        let way = core::iter::successors(Some(id), |&at| (!is_router(at)).then(|| parent(at)).flatten());
        let hops = way.take(self.stations.len()).position(is_router)?;
        Some(hops as u32)
    }

    /// The parent that node `id` has now; nothing as long as RPL has found none, and while the node is off. An emulated one does not tell.
    fn parent_now(&self, id: u32) -> Option<u32> {
        // An attacker may be taken for a parent, and stands behind all stations.
        let (station, node) =
            (self.stations.get(id as usize)?, self.nodes.get((id as usize).checked_sub(1)?)?);
        match self.routes_by_rpl() {
            true if self.is_off(id) => None,
            true if station.tells_routing() => station.parent(),
            _ => Some(node.parent),
        }
    }

    fn routes_by_rpl(&self) -> bool {
        self.deployment.scenario.routing != RoutingKind::Static
    }

    /// How often node `id` took a parent, if it tells.
    fn parent_changes(&self, id: u32) -> Option<u32> {
        let station = &self.stations[id as usize];
        let tells = self.routes_by_rpl() && station.tells_routing();
        tells.then(|| station.counters.get(Counter::RplParentChanges))
    }

    /// A station's frames that carried control messages, if there may be any.
    fn control_frames(&self, id: u32) -> Option<u32> {
        self.routes_by_rpl().then(|| self.air[id as usize].control_frames)
    }

    /// Their bytes.
    fn control_bytes(&self, id: u32) -> Option<u32> {
        self.routes_by_rpl().then(|| self.air[id as usize].control_bytes)
    }

    /// The handshakes of node `id`. Those that other nodes began with it are theirs.
    fn handshake(&self, id: u32, state: &NodeState) -> HandshakeReport {
        let (air, handshakes) = (&self.air[id as usize], &state.handshakes);
        HandshakeReport {
            begun: handshakes.begun,
            done: handshakes.done,
            failed: handshakes.failed,
            ms: Distribution::of(&handshakes.times),
            frames: air.handshake_frames,
            bytes: air.handshake_bytes,
            energy_mj: self
                .profile(id)
                .zip(self.handshake_times(id))
                .map(|(profile, times)| Energy::of(&profile, &times)),
        }
    }

    /// The figures of what node `id` runs on, if that takes time.
    pub(super) fn profile(&self, id: u32) -> Option<Profile> {
        self.deployment.scenario.platform_of(id).map(|platform| *platform.profile())
    }

    /// How long the parts of a node, or of the border router, which is 0, have been in each state. The CPU of a native one
    /// takes no time.
    pub fn state_times(&self, id: u32) -> Option<StateTimes> {
        state_times(&self.stations, &self.medium, id, self.now)
    }

    /// How long the parts of a node have been in each state while its own handshakes were under way.
    pub(super) fn handshake_times(&self, id: u32) -> Option<StateTimes> {
        let node = self.nodes.get((id as usize).checked_sub(1)?)?;
        Some(node.handshakes.spent(&self.state_times(id)?))
    }

    /// What node `id` has consumed while none of its own handshakes was under way, if it runs on a platform and there are handshakes.
    fn steady(&self, id: u32, state: &NodeState) -> Option<SteadyReport> {
        self.deployment.scenario.security.transport?;
        let (profile, all) = self.profile(id).zip(self.state_times(id))?;
        let handshakes = state.handshakes.spent(&all);
        let [energy, of_handshakes] = [all, handshakes].map(|times| Nanojoules::of(&profile, &times));
        let energy_mj = energy.without(&of_handshakes).millijoules();
        let (all, handshakes) = match &state.traffic_start {
            Some(start) => (all.since(&start.times), handshakes.since(&start.handshakes)),
            None => (all, handshakes),
        };
        let [energy, of_handshakes] = [all, handshakes].map(|times| Nanojoules::of(&profile, &times));
        // The CPU's states are those of all the time.
        let time = (all.cpu + all.lpm).saturating_sub(handshakes.cpu + handshakes.lpm);
        let life_days = self.life(id, &energy.without(&of_handshakes).millijoules(), time);
        Some(SteadyReport { energy_mj, life_days })
    }

    /// The first reading of node `id`, or echo to it, is due: if the traffic has a begin, how it stands is noted.
    pub(super) fn traffic_begins(&mut self, id: u32) {
        let is_first = self.nodes[id as usize - 1].readings.next_number() == 2;
        if !is_first || self.deployment.scenario.traffic.begin == Span::ZERO {
            return;
        }
        let Some(times) = self.state_times(id) else { return };
        let (at, node) = (self.now, &mut self.nodes[id as usize - 1]);
        let handshakes = node.handshakes.spent(&times);
        node.traffic_start = Some(Box::new(TrafficStart { at, times, handshakes }));
    }

    /// How many days the battery of node `id` lasts, if it has one, and all goes on as since the traffic's begin.
    fn life_as_it_goes(&self, id: u32, state: &NodeState) -> Option<f64> {
        let (profile, times) = self.profile(id).zip(self.state_times(id))?;
        let (times, since) = match &state.traffic_start {
            Some(start) => (times.since(&start.times), start.at),
            None => (times, Time::ZERO),
        };
        self.life(id, &Energy::of(&profile, &times), self.now.since(since))
    }

    /// What Contiki's Energest would have counted at node `id`, if it runs on a platform.
    pub(super) fn energest_ticks(&self, id: u32) -> Option<EnergestTicks> {
        self.stations.get(id as usize)?.meters.energest(self.medium.radio(id), self.now)
    }

    fn energest(&self, id: u32) -> Option<Energest> {
        Some(Energest::of(&self.profile(id)?, self.energest_ticks(id)?))
    }

    /// The share of the time that the radio of node `id` was on, where radios sleep, since its parts had been in each state for `before`.
    fn duty_cycle(&self, id: u32, before: &StateTimes) -> Option<f64> {
        let times = self.state_times(id).filter(|_| self.deployment.scenario.listen != Listen::Always)?;
        let times = times.since(before);
        let on = times.listen + times.rx + times.tx;
        Some(on.as_secs() / (on + times.off).as_secs()).filter(|share| share.is_finite())
    }

    /// Every echo so far, and what it took. There are none but with echo traffic from inside the simulation.
    pub fn echoes(&self) -> Vec<Echo> {
        self.echoes.all(|id| self.state_times(id))
    }

    /// What node `id` has consumed, if it runs on a platform.
    fn energy(&self, id: u32) -> Option<Energy> {
        Some(Energy::of(&self.profile(id)?, &self.state_times(id)?))
    }

    /// How many days the battery of node `id` lasts, if it has one, and consumes so much in such a time.
    fn life(&self, id: u32, energy: &Energy, time: Span) -> Option<f64> {
        let scenario = &self.deployment.scenario;
        scenario.battery.filter(|_| !scenario.mains.contains(&id))?.life(energy.total(), time.as_secs())
    }

    /// Where the times of node `id` and what it consumes are from, if it runs on a platform.
    fn provenance(&self, id: u32) -> Option<Provenance> {
        let cpu = if self.deployment.scenario.emulated.contains_key(&id) { "emulated" } else { "modelled" };
        let engine = (self.deployment.scenario.security.engines != Engines::NONE).then_some("modelled");
        let platform = self.deployment.scenario.platform_of(id)?;
        let currents = if platform.is_shipped() { "published" } else { "given" };
        Some(Provenance { platform: platform.name().into(), cpu, engine, radio: "modelled", currents })
    }

    /// How many bytes of stack the node `id` has used so far, if it is emulated.
    pub fn stack_peak(&mut self, id: u32) -> Option<Result<u32, sixlock_emulator::Error>> {
        Some(self.stations.get_mut(id as usize)?.emulated()?.stack_peak())
    }

    /// The first 64 KB of what the node `id` has put out at its serial port, if it is emulated.
    pub fn serial(&mut self, id: u32) -> Option<&[u8]> {
        Some(self.stations.get_mut(id as usize)?.emulated()?.serial())
    }

    /// The tasks that the node `id`, if it is emulated and has a shadow, has done since this was last called.
    pub fn take_measured(&mut self, id: u32) -> Vec<MeasuredTask> {
        let emulated = self.stations.get_mut(id as usize).and_then(Station::emulated);
        emulated.map_or(Vec::new(), Emulated::take_measured)
    }

    /// The network as it is now.
    pub fn network(&self) -> Network {
        let transmissions = |id: u32| {
            let Air { frames, bytes, security_bytes, .. } = self.air[id as usize];
            let security_bytes = security_bytes.max(0) as u64;
            Transmissions { frames, bytes, security_bytes, control_bytes: self.control_bytes(id) }
        };
        let security = self.deployment.scenario.security.to_string();
        let node = |(state, id): (&NodeState, u32)| {
            let counters = &self.stations[id as usize].counters;
            let sent_again =
                [Counter::MacRetries, Counter::DtlsRetransmissions, Counter::CoapRetransmissions];
            NetworkNode {
                id,
                address: self.deployment.mesh_address(id).to_string(),
                parent: self.parent_now(id),
                hops: self.hops_now(id),
                rank: self.stations[id as usize].rank(),
                joined_s: state.joined_s(),
                parent_changes: self.parent_changes(id),
                security: security.clone(),
                handshakes: counters.get(Counter::DtlsHandshakes),
                retransmissions: sent_again.iter().map(|&counter| counters.get(counter)).sum(),
                transmissions: transmissions(id),
                points: state.readings.counted().delivered * READINGS as u64,
            }
        };
        Network {
            schema: 1,
            time_s: self.now.since(Time::ZERO).as_secs(),
            routing: if self.routes_by_rpl() { "rpl" } else { "static" },
            router: Transmissions {
                frames: self.of_routers(|air| air.frames),
                bytes: self.of_routers(|air| air.bytes),
                security_bytes: self.of_routers(|air| air.security_bytes).max(0) as u64,
                control_bytes: self.routes_by_rpl().then(|| self.of_routers(|air| air.control_bytes)),
            },
            nodes: self.nodes.iter().zip(1..).map(node).collect(),
        }
    }
}

impl NodeState {
    /// When it has joined, in seconds.
    fn joined_s(&self) -> Option<f64> {
        self.joined.map(|(joined, _)| joined.since(Time::ZERO).as_secs())
    }
}

pub(super) fn state_times(stations: &[Station], medium: &Medium, id: u32, now: Time) -> Option<StateTimes> {
    let station = stations.get(id as usize)?;
    Some(StateTimes::new(&station.meters, medium.radio(id), now))
}
