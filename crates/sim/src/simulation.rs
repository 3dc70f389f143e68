//! The simulation: one queue of events that drives every station in virtual time.

mod attacks;
mod deployment;
mod emulation;
mod exchange;
mod joining;
mod node_events;
mod power;
mod reports;
mod scenario_events;
mod start;
#[cfg(test)]
mod tests;
mod timeline;
mod trials;

use core::net::SocketAddrV6;
use std::collections::{BTreeSet, VecDeque};
use std::io;

use sixlock_base::Counters;
use sixlock_gateway::{Error as GatewayError, FlowId, Upstream};
use sixlock_ieee802154::MAX_FRAME;
use sixlock_net::neighbour_discovery::Event as DiscoveryEvent;
use sixlock_node::SendError;
use sixlock_node::ipsec::ConfigError;
use sixlock_rpl::Event as RplEvent;

use crate::accounting::{Kind, Observer};
use crate::attack::{Attackers, Trail};
use crate::drops::Drops;
use crate::echoes::Echoes;
use crate::energy::StateTimes;
use crate::environment::Environment;
use crate::event_log::Logged;
use crate::events::{Events, Owner, ScheduledEvent};
use crate::far_end::RemoteHost;
use crate::forest::Forest;
use crate::handshakes::Handshakes;
use crate::medium::{Medium, Reception, airtime};
use crate::network::{CLOUD, ROUTER};
use crate::outbound::Outbound;
use crate::peerings::{ChangeError, Changed, Peerings};
use crate::power::Power;
use crate::protection::{Keyed, Peering};
use crate::readings::Readings;
use crate::recorder::Recorder;
use crate::router_processor::{Entering, Leaving};
use crate::security_gateway::InternetSide;
use crate::sizes::MTU;
use crate::station::Station;
use crate::statistics::Report;
use crate::time::Time;
use crate::timeline::Timeline;
use crate::trial::Trial;

use deployment::Deployment;

/// Room for what a border router puts around packets from outside: a tunnel, and a source route.
const AROUND: usize = 512;

/// A simulation under way.
pub struct Simulation {
    deployment: Deployment,
    now: Time,
    events: Events<ScheduledEvent>,
    medium: Medium,
    observer: Observer,
    recorder: Recorder,
    /// By id; the first is the border router.
    stations: Vec<Station>,
    nodes: Vec<NodeState>,
    /// The nodes that have no way to a border router and back: they have not joined yet, or have lost it.
    joining: BTreeSet<u32>,
    /// Who routes by RPL over whom.
    forest: Forest,
    /// By station.
    power: Vec<Power>,
    far: RemoteHost,
    /// What the far end has dropped, as far as events have told.
    far_drops: Drops,
    echoes: Echoes,
    outbound: VecDeque<Outbound>,
    /// Packets that have left the mesh.
    packets: VecDeque<Vec<u8>>,
    peerings: Vec<Peering>,
    /// The tunnels of the border router with hosts outside.
    internet: Peerings,
    /// What became of the transmission that ends, at each station.
    outcomes: Vec<(u32, Reception)>,
    /// What was seen on the air, by the station that sent it.
    air: Vec<Air>,
    /// Who attacks the network, and how far their packets travel.
    attackers: Attackers,
    trail: Trail,
    /// The timeline of it, if one is recorded.
    timeline: Option<Box<Timeline>>,
    /// What disturbs it and watches over it, if anything does.
    trial: Option<Box<Trial>>,
}

/// What the simulator keeps beside a station.
struct NodeState {
    environment: Environment,
    readings: Readings,
    handshakes: Handshakes,
    /// Whether it begins its handshakes itself, and has a session that it knows of.
    is_client: bool,
    is_connected: bool,
    /// The number of its next hop towards the border router, which is 0, or that of another: that of the layout until RPL finds another.
    parent: u32,
    /// When packets could go to the border router and back first, where RPL finds their way, and how long the node's parts had been in each
    /// state by then.
    joined: Option<(Time, StateTimes)>,
    /// How it stood when its first reading was due, if the traffic has a begin: from then on its battery's life is reckoned.
    traffic_start: Option<Box<TrafficStart>>,
    /// How often a router has refused an address of it, which is another's.
    duplicates: u32,
    /// Readings that the far end has accepted in its name, and that it did not send, or had sent before.
    false_readings: u64,
}

/// How long the parts of a node had been in each state at a time, in all and while its handshakes were under way.
struct TrafficStart {
    at: Time,
    times: StateTimes,
    handshakes: StateTimes,
}

/// What comes to a station.
enum Arriving<'a> {
    /// A frame.
    Frame(&'a mut [u8]),
    /// What is at the other end of a border router's serial line by now.
    Line,
}

/// What was seen of a station.
#[derive(Clone, Copy, Default)]
struct Air {
    /// Its frames and their bytes, of the one under way too.
    frames: u32,
    bytes: u32,
    /// Its bytes that are there for security.
    security_bytes: i64,
    /// Its frames that carry control messages, and their bytes.
    control_frames: u32,
    control_bytes: u32,
    /// Its frames that are part of handshakes, or acknowledge such, and their bytes.
    handshake_frames: u32,
    handshake_bytes: u32,
    /// What it has dropped, as far as events have told.
    drops: Drops,
    /// Whom the frame under way is for, and who has made the packet that begins in it, where attackers are looked for.
    carries: Option<(u32, u32)>,
}

impl Simulation {
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
        while let Some((time, owner, event)) = self.events.pop_until(end) {
            self.now = time;
            self.happen(owner, event, end);
            self.keep_timeline();
        }
        self.now = self.now.max(end);
    }

    /// Runs for the scenario's duration and sums up.
    ///
    /// # Errors
    /// When a sink or an emulated node failed.
    pub fn run(mut self) -> io::Result<Report> {
        self.step_until(Time::ZERO + self.deployment.scenario.duration);
        self.end_timeline();
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
        let sent = self.enter(0, Entering::Datagram(flow, payload.to_vec()));
        self.settle(0);
        sent
    }

    /// The next whole packet for a host outside other than the cloud, with [`Options::packets`].
    pub fn poll_packet(&mut self) -> Option<Vec<u8>> {
        self.packets.pop_front()
    }

    /// Hands the border router a whole packet from outside. What it cannot send on, it counts and, where the sender
    /// is to know, answers.
    pub fn handle_packet(&mut self, packet: &[u8]) {
        // It counts what it cannot send on.
        let _ = self.enter(0, Entering::Packet(packet.to_vec()));
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
        let is_on = self.power.get(id as usize).is_some_and(|power| !power.is_off);
        let station = self.stations.get_mut(id as usize).filter(|_| is_on).ok_or(SendError::NoRoute)?;
        station.send_packet(self.now, packet)?;
        self.settle(id);
        Ok(())
    }

    /// Makes the tunnels of the border router with hosts outside those of `side`: see [`Peerings::change`].
    ///
    /// # Errors
    /// Says why it cannot be done; then nothing is changed.
    pub fn set_internet(&mut self, side: &InternetSide) -> Result<Changed, ChangeError> {
        let (now, internet) = (self.now, &mut self.internet);
        let changed = self.stations[0]
            .with_gateway(now, |gateway, cx, _| side.apply(gateway.internet(), internet, cx.now, Keyed::of));
        let changed = changed.unwrap_or(Err(ChangeError::Config(ConfigError::NoAssociation)))?;
        self.peerings.retain(|peering| !peering.is_with_gateway());
        self.peerings.extend(side.peerings());
        Ok(changed)
    }

    /// The associations of IPsec that nodes share with hosts outside, the cloud among them.
    pub fn peerings(&self) -> &[Peering] {
        &self.peerings
    }

    /// Begins a flow from outside to a node's UDP port.
    pub fn open_flow(&mut self, node: u32, port: u16) -> Option<FlowId> {
        let (now, address) = (self.now, self.deployment.mesh_address(node));
        self.stations[0].with_gateway(now, |gateway, cx, _| gateway.open(cx, CLOUD, address, port))
    }

    /// The event counters of a node, or of the border router, which is 0.
    pub fn counters(&self, id: u32) -> Option<&Counters> {
        self.stations.get(id as usize).map(|station| &station.counters)
    }

    /// Something happens; nobody looks before `end` what comes of it.
    fn happen(&mut self, owner: Owner, event: ScheduledEvent, end: Time) {
        match (owner, event) {
            (_, ScheduledEvent::TransmissionEnds(source)) => self.end_transmission(source),
            (_, ScheduledEvent::Reading(node)) => self.reading_is_due(node),
            (_, ScheduledEvent::Echo(node)) => self.echo_is_due(node),
            (_, ScheduledEvent::PowerReturns(id)) => self.power_returns(id),
            (_, ScheduledEvent::Scenario(number)) => self.scenario_event(number),
            (_, ScheduledEvent::Attack(index)) => self.attack_is_due(index),
            (_, ScheduledEvent::AttackTurns(number)) => self.attack_turns(number),
            (_, ScheduledEvent::Trial) => self.trial_is_due(),
            (Owner::Node(id), _) if self.is_off(id) => {}
            (Owner::Node(id), ScheduledEvent::Line) => self.receive(id, Arriving::Line),
            (Owner::Node(id), ScheduledEvent::Processor) => self.processor_is_done(id),
            (Owner::Node(id), ScheduledEvent::Radio) => self.radio_goes_on(id, end),
            (Owner::Node(id), event) => {
                let now = self.now;
                let station = &mut self.stations[id as usize];
                match event {
                    ScheduledEvent::RadioTimer => station.handle_radio_timer(now),
                    ScheduledEvent::Board => {}
                    _ => station.handle_timer(now),
                }
                self.settle(id);
            }
            _ => self.handle_far_end_timer(),
        }
    }

    /// The radio of station `id` goes on with what it was told; nobody looks before `end` what comes of it.
    fn radio_goes_on(&mut self, id: u32, end: Time) {
        let now = self.now;
        // Others that wake up send nothing before this one has assessed the channel: their assessments begin no earlier, and take as long.
        let end = self.events.next_time_but_wake_ups().map_or(end, |next| next.min(end));
        let is_calm = self.trial.is_none() && self.timeline.is_none() && !self.has_due(id);
        let station = &mut self.stations[id as usize];
        if is_calm && station.wake_up(now, end, &mut self.events, &mut self.medium) {
            return;
        }
        if station.handle_radio(now, &mut self.medium) {
            self.settle(id);
        } else {
            // Between two assessments, the machine knows of nothing.
            station.schedule_radio(&mut self.events);
        }
    }

    /// Whether a reading of a node is due that it has not taken yet.
    fn has_due(&self, id: u32) -> bool {
        let node = id.checked_sub(1).and_then(|index| self.nodes.get(index as usize));
        node.is_some_and(|node| node.readings.waiting() > 0)
    }

    /// Hands a border router something from outside, unless it is off.
    fn enter(&mut self, router: u32, entering: Entering) -> Result<(), GatewayError> {
        if self.is_off(router) {
            return Err(GatewayError::UnknownFlow);
        }
        match self.stations[router as usize].enter(entering) {
            Some(entering) => self.take_in(router, entering),
            None => Ok(()),
        }
    }

    /// Lets a border router deal with something from outside.
    fn take_in(&mut self, router: u32, entering: Entering) -> Result<(), GatewayError> {
        let (now, packets, internet) = (self.now, &mut self.packets, &mut self.internet);
        let taken = self.stations[router as usize].with_gateway(now, |gateway, cx, at| match entering {
            Entering::Datagram(flow, payload) => gateway.handle_upstream(cx, at, flow, &payload),
            Entering::Packet(mut packet) => {
                let len = packet.len();
                packet.resize(len.max(MTU) + AROUND, 0);
                internet.handle_timeout(gateway.internet().ipsec(), cx.now);
                let answer = gateway.handle_packet(cx, at, &mut packet, len);
                packets.extend(answer.map(<[u8]>::to_vec));
                Ok(())
            }
        });
        taken.unwrap_or(Err(GatewayError::UnknownFlow))
    }

    /// Deals with what a call to a station has brought about.
    fn settle(&mut self, id: u32) {
        if self.look(id) {
            return;
        }
        while let Some(event) = self.stations[id as usize].poll_event(self.now) {
            self.handle_event(id, event);
        }
        let mut has_news = self.tell_discovery(id);
        let station = &mut self.stations[id as usize];
        while let Some(event) = station.poll_routing_event() {
            has_news = true;
            let logged = match (event, station.parent()) {
                (RplEvent::Left, _) => Logged::Left {},
                (RplEvent::Joined | RplEvent::ParentChanged, Some(parent)) => {
                    self.nodes[id as usize - 1].parent = parent;
                    Logged::Parent { to: parent.into() }
                }
                _ => continue,
            };
            self.recorder.event(self.now, id, logged);
        }
        if has_news {
            let parent = station.parent().and_then(|parent| self.deployment.layout.numbers().station(parent));
            self.forest.attach(id, parent);
        }
        for cleartext in station.take_cleartexts() {
            self.observer.learn(cleartext);
        }
        for refusal in station.take_refusals() {
            self.recorder.event(self.now, id, refusal.into());
        }
        if let Some(trial) = &mut self.trial {
            trial.invariants.note_unreachable(id, station.take_unreachable());
        }
        if let Some(refusal) = station.poll_dtls_refusal() {
            self.recorder.event(self.now, id, Logged::DtlsRefused { reason: refusal.name() });
        }
        let transmits = station.settle(self.now, &mut self.events, &mut self.medium);
        if let Some(news) = station.poll_news() {
            self.handle_news(id, news);
        }
        if transmits {
            self.begin_transmission(id);
        }
        self.tell_drops(id);
        self.note_dropped(id);
        if has_news {
            self.note_ways(id);
        }
    }

    /// Records what has happened to station `id` in neighbour discovery; whether it is a host, and may have another router, or others have
    /// registered at it, or do no more.
    fn tell_discovery(&mut self, id: u32) -> bool {
        let station = &mut self.stations[id as usize];
        let mut has_news = false;
        while let Some((event, registered)) = station.poll_discovery_event() {
            has_news |= station.is_host() || event == DiscoveryEvent::RegistrationsChanged;
            let logged = match (event, registered) {
                (DiscoveryEvent::Registered, Some((router, address))) => {
                    let at = router.node_id().unwrap_or_default().into();
                    Logged::Registered { at, address }
                }
                (DiscoveryEvent::Lost, None) => Logged::Unregistered {},
                (DiscoveryEvent::Duplicate, _) => {
                    self.nodes[id as usize - 1].duplicates += 1;
                    Logged::Duplicate {}
                }
                _ => continue,
            };
            self.recorder.event(self.now, id, logged);
        }
        if self.stations[id as usize].is_host()
            && has_news
            && let Some(router) = self.stations[id as usize].parent()
        {
            self.nodes[id as usize - 1].parent = router;
        }
        has_news
    }

    fn begin_transmission(&mut self, id: u32) {
        let attacker = self.attackers.owner(id);
        // What firmware does not tell, the coordinator knows, who is in all slots.
        let asn = [id, ROUTER].into_iter().find_map(|id| self.stations.get_mut(id as usize)?.asn());
        let frame = self.attackers.on_air(id).unwrap_or_else(|| self.stations[id as usize].on_air());
        self.recorder.frame(self.now, frame);
        let seen = self.observer.observe(id, frame, asn, self.recorder.tells_events());
        let (bytes, to) = (frame.len() as u64, seen.to.map(u64::from));
        let transmit = Logged::Transmit { bytes, kind: seen.kind.name(), to, attempt: seen.attempt };
        self.recorder.event(self.now, id, transmit);
        match (seen.fingerprint, attacker) {
            (Some(fingerprint), Some(attacker)) => self.trail.begin(fingerprint, attacker),
            (Some(fingerprint), None) if seen.attempt == Some(1) => self.trail.pass(fingerprint),
            _ => {}
        }
        let air = &mut self.air[id as usize];
        air.frames = air.frames.wrapping_add(1);
        air.bytes = air.bytes.wrapping_add(bytes as u32);
        air.security_bytes += seen.security_bytes;
        air.carries = seen.to.zip(seen.author);
        if seen.kind == Kind::Control {
            air.control_frames = air.control_frames.wrapping_add(1);
            air.control_bytes = air.control_bytes.wrapping_add(bytes as u32);
        }
        if seen.is_of_handshake {
            air.handshake_frames = air.handshake_frames.wrapping_add(1);
            air.handshake_bytes = air.handshake_bytes.wrapping_add(bytes as u32);
        }
        if seen.kind == Kind::Acknowledgement {
            self.medium.radio_meter(id).acknowledges();
        }
        self.medium.begin(id, self.now);
        let end = self.now + airtime(bytes as usize);
        self.events.push(end, Owner::Medium, ScheduledEvent::TransmissionEnds(id));
        if seen.begins_handshake {
            self.begin_handshake(id);
        }
    }

    /// Tells what a station has dropped since this was last called, where events are recorded.
    fn tell_drops(&mut self, id: u32) {
        if !self.recorder.tells_events() {
            return;
        }
        let drops = Drops::of(&self.stations[id as usize].counters);
        let before = core::mem::replace(&mut self.air[id as usize].drops, drops);
        for cause in drops.since(before) {
            self.recorder.event(self.now, id, Logged::Drop { cause });
        }
    }

    fn end_transmission(&mut self, source: u32) {
        let now = self.now;
        let mut outcomes = core::mem::take(&mut self.outcomes);
        self.medium.end(source, now, |receiver, outcome| outcomes.push((receiver, outcome)));
        if self.is_off(source) {
            // Its frame was cut off.
            outcomes.clear();
            self.outcomes = outcomes;
            return;
        }
        let mut on_air = [0; MAX_FRAME];
        let antenna = self.attackers.on_air(source);
        let sent = antenna.unwrap_or_else(|| self.stations[source as usize].on_air());
        let len = sent.len();
        on_air[..len].copy_from_slice(sent);
        if antenna.is_some() {
            self.attackers.transmitted(source, now);
        } else {
            self.stations[source as usize].handle_transmitted(now);
            self.settle(source);
        }
        for (receiver, outcome) in outcomes.drain(..) {
            if self.is_off(receiver) {
                continue;
            }
            let what = match outcome {
                Reception::Received => {
                    // A copy for each: link security is opened in place.
                    let mut frame = on_air;
                    self.swallow(source, receiver);
                    self.arrive(receiver, &mut frame[..len]);
                    continue;
                }
                _ if self.attackers.on_air(receiver).is_some() => continue,
                Reception::Lost => Logged::Lost { from: source.into() },
                Reception::Missed => Logged::Missed { from: source.into() },
            };
            self.recorder.event(now, receiver, what);
        }
        self.outcomes = outcomes;
    }

    fn receive(&mut self, receiver: u32, arriving: Arriving<'_>) {
        let mut left = Vec::new();
        let upstream = |upstream: Upstream<'_>| {
            left.push(match upstream {
                Upstream::Packet(packet) => Leaving::Packet(packet.to_vec()),
                Upstream::Datagram(datagram) => Leaving::Datagram(Outbound {
                    router: receiver,
                    flow: datagram.flow,
                    from: SocketAddrV6::new(datagram.ends.node, datagram.ends.node_port, 0, 0),
                    port: datagram.ends.host_port,
                    payload: datagram.payload.to_vec(),
                }),
            });
        };
        let station = &mut self.stations[receiver as usize];
        // What comes over a line leaves by a host, whose work takes no time.
        let by_host = matches!(arriving, Arriving::Line);
        match arriving {
            Arriving::Frame(frame) => station.handle_frame(self.now, frame, upstream),
            Arriving::Line => station.handle_line(self.now, upstream),
        }
        for leaving in left {
            match &mut self.stations[receiver as usize].router_processor {
                Some(processor) if !by_host => {
                    let at = processor.leave(self.now, leaving);
                    self.events.push(at, Owner::Node(receiver), ScheduledEvent::Processor);
                }
                _ => self.has_left(leaving),
            }
        }
        self.settle(receiver);
        if self.deployment.layout.numbers().is_router(receiver) && !self.outbound.is_empty() {
            self.settle_far_end();
        }
    }

    /// Something has left the mesh.
    fn has_left(&mut self, leaving: Leaving) {
        match leaving {
            Leaving::Packet(packet) => self.packets.push_back(packet),
            Leaving::Datagram(outbound) => self.outbound.push_back(outbound),
        }
    }

    /// Lets leave the mesh what a border router's processor is done with, and lets it take up what has come from outside.
    fn processor_is_done(&mut self, router: u32) {
        while let Some(processor) = &mut self.stations[router as usize].router_processor
            && let Some(leaving) = processor.poll_leaving(self.now)
        {
            self.has_left(leaving);
        }
        if let Some(entering) = self.stations[router as usize].poll_entering(self.now) {
            let len = entering.len();
            // What cannot be sent is lost, as on any link, and counted.
            let _ = self.take_in(router, entering);
            self.stations[router as usize].entered(self.now, len);
            self.settle(router);
        } else {
            self.receive(router, Arriving::Line);
        }
        if !self.outbound.is_empty() {
            self.settle_far_end();
        }
    }
}
