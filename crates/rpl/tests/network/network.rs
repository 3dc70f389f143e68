//! A small network in virtual time: nodes with positions, links that lose frames, and a MAC that sends a frame four times at most and
//! tells what became of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use sixlock_base::{Counter, Entropy, Eui64, Instant, LINK_LOCAL_PREFIX, MESH_PREFIX};
use sixlock_ipv6::nd::RegisteredAddress;
use sixlock_ipv6::rpl::{ALL_RPL_NODES, INFINITE_RANK, ModeOfOperation};
use sixlock_ipv6::{Header, extension, next_header, tunnel};
use sixlock_rpl::objective::Mrhof;
use sixlock_rpl::{
    Advertiser, DataError, Error, ExternalHost, Externals, Member, Neighbour, Node, Profile, Root, Route,
    Settings, SourceRoutes, Storing, StoringRoot,
};
use sixlock_testing::{Random, Rig, packets};

/// How often a frame is sent at most.
pub(crate) const ATTEMPTS: u8 = 4;
/// Milliseconds that a frame takes.
const FRAME: u32 = 5;
/// Room for a packet and what is put around it.
const PACKET: usize = 1280;

pub(crate) struct Router;

impl Profile for Router {
    type Neighbours = [Neighbour; 8];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = ();
    type Prefix = ();
    type External = Externals<[ExternalHost; 4]>;
}

pub(crate) struct StoringRouter;

impl Profile for StoringRouter {
    type Neighbours = [Neighbour; 8];
    type Objective = Mrhof;
    type Advertising = Advertiser;
    type Downward = Storing<[Route; 64]>;
    type Prefix = ();
    type External = Externals<[ExternalHost; 4]>;
}

pub(crate) struct Leaf;

impl Profile for Leaf {
    type Neighbours = [Neighbour; 4];
    type Objective = Mrhof;
    type Advertising = ();
    type Downward = ();
    type Prefix = ();
    type External = ();
}

/// A machine of any kind.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Machine {
    Root(Root<SourceRoutes<[Member; 64]>>),
    StoringRoot(Root<StoringRoot<[Route; 64], [Member; 64]>>),
    Router(Node<Router>),
    StoringRouter(Node<StoringRouter>),
    Leaf(Node<Leaf>),
}

macro_rules! each {
    ($machine:expr, $m:ident => $root:expr, $n:ident => $node:expr) => {
        match $machine {
            Machine::Root($m) => $root,
            Machine::StoringRoot($m) => $root,
            Machine::Router($n) => $node,
            Machine::StoringRouter($n) => $node,
            Machine::Leaf($n) => $node,
        }
    };
}

pub(crate) struct Station {
    pub(crate) machine: Machine,
    pub(crate) rig: Rig,
    pub(crate) at: (i32, i32),
    pub(crate) is_on: bool,
    /// Data packets that have come in.
    pub(crate) received: Vec<Vec<u8>>,
    /// Control packets that were sent, by ICMPv6 code.
    pub(crate) sent: BTreeMap<u8, u32>,
    /// Packets that were not sent on, and why.
    pub(crate) refused: Vec<DataError>,
    /// Hosts that have registered here, with the transaction ids of that.
    pub(crate) registered: BTreeMap<u32, u8>,
    /// Packets that have gone to them.
    pub(crate) handed_over: Vec<Vec<u8>>,
}

/// What happens at a time, in the order of the numbers.
enum NetworkEvent {
    /// A frame comes in.
    Frame { from: u32, to: u32, packet: Vec<u8> },
    /// What became of a frame is known.
    Outcome { of: u32, to: u32, is_acknowledged: bool, attempts: u8 },
}

pub(crate) struct Network {
    pub(crate) now: u32,
    pub(crate) stations: BTreeMap<u32, Station>,
    pub(crate) mode: ModeOfOperation,
    queue: BTreeMap<(u32, u64), NetworkEvent>,
    number: u64,
    pub(crate) random: Random,
    /// Links by which nothing passes, one way.
    pub(crate) cut: BTreeSet<(u32, u32)>,
    /// How far a frame reaches.
    pub(crate) range: i32,
    /// Frames in a hundred that are lost at half the range; none is at no distance.
    pub(crate) loss: u32,
}

pub(crate) fn eui(id: u32) -> Eui64 {
    Eui64::of_node(id)
}

pub(crate) fn mesh(id: u32) -> Ipv6Addr {
    eui(id).with_prefix(MESH_PREFIX)
}

pub(crate) fn link_local(id: u32) -> Ipv6Addr {
    eui(id).with_prefix(LINK_LOCAL_PREFIX)
}

pub(crate) fn settings() -> Settings {
    Settings::usual::<Mrhof>(MESH_PREFIX)
}

impl Network {
    pub(crate) fn new(seed: u32, mode: ModeOfOperation) -> Self {
        Self {
            now: 0,
            stations: BTreeMap::new(),
            mode,
            queue: BTreeMap::new(),
            number: 0,
            random: Random::new(seed),
            cut: BTreeSet::new(),
            range: 100,
            loss: 10,
        }
    }

    /// Nodes at random places in a square, each within reach of one that was placed before it.
    pub(crate) fn field(seed: u32, mode: ModeOfOperation, count: u32, side: u32) -> Self {
        let mut network = Self::new(seed, mode);
        network.add_root((side as i32 / 2, side as i32 / 2));
        for id in 1..count {
            let at = loop {
                let at = (network.random.below(side) as i32, network.random.below(side) as i32);
                let reaches = |station: &Station| distance2(station.at, at) < (network.range * 7 / 10).pow(2);
                if network.stations.values().any(reaches) {
                    break at;
                }
            };
            network.add_router(id, at);
        }
        network
    }

    /// Nodes in a row, each within reach of its neighbours alone.
    pub(crate) fn chain(mode: ModeOfOperation, count: u32) -> Self {
        let mut network = Self::new(1, mode);
        network.loss = 0;
        network.add_root((0, 0));
        (1..count).for_each(|id| network.add_router(id, (id as i32 * 60, 0)));
        network
    }

    fn add(&mut self, id: u32, at: (i32, i32), machine: Machine) {
        let rig = Rig::seeded(self.random.next_u32());
        let station = Station {
            machine,
            rig,
            at,
            is_on: true,
            received: Vec::new(),
            sent: BTreeMap::new(),
            refused: Vec::new(),
            registered: BTreeMap::new(),
            handed_over: Vec::new(),
        };
        self.stations.insert(id, station);
        self.start(id);
    }

    pub(crate) fn add_root(&mut self, at: (i32, i32)) {
        let machine = self.new_machine(0);
        self.add(0, at, machine);
    }

    pub(crate) fn add_router(&mut self, id: u32, at: (i32, i32)) {
        let machine = self.new_machine(id);
        self.add(id, at, machine);
    }

    pub(crate) fn add_leaf(&mut self, id: u32, at: (i32, i32)) {
        self.add(id, at, Machine::Leaf(Node::new()));
    }

    fn new_machine(&self, id: u32) -> Machine {
        match (id, self.mode) {
            (0, ModeOfOperation::NON_STORING) => Machine::Root(Root::new()),
            (0, _) => Machine::StoringRoot(Root::new()),
            (_, ModeOfOperation::NON_STORING) => Machine::Router(Node::new()),
            _ => Machine::StoringRouter(Node::new()),
        }
    }

    fn start(&mut self, id: u32) {
        let now = self.now();
        let Station { machine, rig, .. } = self.station(id);
        let mut cx = rig.at(now);
        each!(machine, root => root.start(&mut cx, eui(id), &settings()).unwrap(),
            node => node.start(&mut cx, eui(id), 0).unwrap());
        self.drain(id);
    }

    /// Turns a node off and on: it forgets all but what is durable.
    pub(crate) fn reboot(&mut self, id: u32) {
        let is_leaf = matches!(self.station(id).machine, Machine::Leaf(_));
        let machine = if is_leaf { Machine::Leaf(Node::new()) } else { self.new_machine(id) };
        let station = self.station(id);
        (station.machine, station.is_on) = (machine, true);
        self.start(id);
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_millis(self.now)
    }

    pub(crate) fn station(&mut self, id: u32) -> &mut Station {
        self.stations.get_mut(&id).unwrap()
    }

    pub(crate) fn parent(&self, id: u32) -> Option<u32> {
        each!(&self.stations[&id].machine, _root => None, node => node.parent().and_then(Eui64::node_id))
    }

    pub(crate) fn rank(&self, id: u32) -> u16 {
        each!(&self.stations[&id].machine, root => root.rank(), node => node.rank())
    }

    pub(crate) fn version(&self, id: u32) -> Option<u8> {
        each!(&self.stations[&id].machine, root => root.version(), node => node.version())
    }

    pub(crate) fn node_count(&self) -> usize {
        each!(&self.stations[&0].machine, root => root.node_count(), _node => 0)
    }

    pub(crate) fn count(&self, id: u32, counter: Counter) -> u32 {
        self.stations[&id].rig.count(counter)
    }

    pub(crate) fn encapsulate(&self, buffer: &mut [u8], length: usize) -> Result<usize, DataError> {
        each!(&self.stations[&0].machine, root => root.encapsulate(buffer, length), _node => Err(DataError::NoRoute))
    }

    pub(crate) fn next_hop_of_root(&self, destination: Ipv6Addr) -> Option<Eui64> {
        each!(&self.stations[&0].machine, root => root.next_hop(destination), _node => None)
    }

    pub(crate) fn global_repair(&mut self) {
        let now = self.now();
        let Station { machine, rig, .. } = self.station(0);
        let mut cx = rig.at(now);
        each!(machine, root => root.global_repair(&mut cx).unwrap(), _node => ());
        self.drain(0);
    }

    pub(crate) fn refresh(&mut self) {
        let now = self.now();
        let Station { machine, rig, .. } = self.station(0);
        let mut cx = rig.at(now);
        each!(machine, root => root.refresh(&mut cx), _node => ());
        self.drain(0);
    }

    /// Whether a frame from one node reaches another this time.
    fn passes(&mut self, from: u32, to: u32) -> bool {
        let (a, b) = (&self.stations[&from], &self.stations[&to]);
        let distance2 = distance2(a.at, b.at);
        let reach2 = self.range.pow(2);
        if !a.is_on || !b.is_on || self.cut.contains(&(from, to)) || distance2 > reach2 {
            return false;
        }
        // The loss grows with the square of the distance: four times as much at the range.
        let loss = (self.loss * 4).min(90) as i32 * distance2 / reach2;
        self.random.below(100) as i32 >= loss
    }

    fn schedule(&mut self, after: u32, event: NetworkEvent) {
        self.number += 1;
        self.queue.insert((self.now + after, self.number), event);
    }

    /// Puts a packet on the air: to a neighbour, or to all.
    pub(crate) fn transmit(&mut self, from: u32, to: Eui64, packet: Vec<u8>) {
        if to == Eui64([0xff; 8]) {
            let others: Vec<u32> = self.stations.keys().copied().filter(|id| *id != from).collect();
            for to in others {
                if self.passes(from, to) {
                    self.schedule(FRAME, NetworkEvent::Frame { from, to, packet: packet.clone() });
                }
            }
            return;
        }
        let to = to.node_id().expect("a node of the network");
        if !self.stations.contains_key(&to) {
            let outcome = NetworkEvent::Outcome { of: from, to, is_acknowledged: false, attempts: ATTEMPTS };
            return self.schedule(FRAME * u32::from(ATTEMPTS), outcome);
        }
        let mut has_arrived = false;
        for attempt in 1..=ATTEMPTS {
            let after = FRAME * u32::from(attempt);
            if self.passes(from, to) {
                if !has_arrived {
                    self.schedule(after, NetworkEvent::Frame { from, to, packet: packet.clone() });
                }
                has_arrived = true;
                if self.passes(to, from) {
                    let outcome =
                        NetworkEvent::Outcome { of: from, to, is_acknowledged: true, attempts: attempt };
                    return self.schedule(after + 1, outcome);
                }
            }
        }
        let outcome = NetworkEvent::Outcome { of: from, to, is_acknowledged: false, attempts: ATTEMPTS };
        self.schedule(FRAME * u32::from(ATTEMPTS) + 1, outcome);
    }

    /// Sends what a machine has to send.
    fn drain(&mut self, id: u32) {
        loop {
            let now = self.now();
            let Station { machine, rig, sent, .. } = self.station(id);
            let mut out = [0; PACKET];
            let had_output = each!(machine, root => root.has_output(), node => node.has_output());
            let mut cx = rig.at(now);
            let length = each!(machine, root => root.poll_transmit(&mut out),
                node => node.poll_transmit(&mut cx, &mut out));
            let Some(length) = length else {
                assert!(!each!(machine, root => root.has_output(), node => node.has_output()));
                return;
            };
            assert!(had_output && length <= 200, "{length}");
            *sent.entry(out[41]).or_default() += 1;
            self.originate(id, out[..length].to_vec());
        }
    }

    /// Sends a packet of a node.
    fn originate(&mut self, id: u32, packet: Vec<u8>) {
        let length = packet.len();
        let mut buffer = packet;
        buffer.resize(PACKET + 400, 0);
        let machine = &self.stations[&id].machine;
        let length = each!(machine, root => root.originate(&mut buffer, length), node => node.originate(&mut buffer, length));
        let length = match length {
            Ok(length) => length,
            Err(error) => return self.station(id).refused.push(error),
        };
        buffer.truncate(length);
        let destination = destination(&buffer);
        let next_hop = match destination.is_multicast() {
            true => Some(Eui64([0xff; 8])),
            false => each!(machine, root => root.next_hop(destination), node => node.next_hop(destination)),
        };
        match next_hop {
            Some(next_hop) => self.transmit(id, next_hop, buffer),
            None => self.station(id).refused.push(DataError::NoRoute),
        }
    }

    /// Sends a datagram.
    pub(crate) fn send(&mut self, from: u32, to: u32, payload: &[u8]) {
        let ports = sixlock_ipv6::udp::Header { source_port: 1, destination_port: 2 };
        self.originate(from, packets::udp(mesh(from), mesh(to), 64, ports, payload));
    }

    /// Lets so many milliseconds pass; `each` is called after each thing that happens.
    pub(crate) fn run_with(&mut self, millis: u32, mut each_time: impl FnMut(&Self)) {
        let end = self.now + millis;
        loop {
            let due =
                self.stations.iter().filter(|(_, station)| station.is_on).filter_map(|(id, station)| {
                    let due =
                        each!(&station.machine, root => root.poll_timeout(), node => node.poll_timeout());
                    Some((due?.millis().max(self.now), *id))
                });
            let timer = due.min();
            let event = self.queue.first_key_value().map(|(key, _)| *key);
            let (at, is_timer) = match (timer, event) {
                (Some((at, _)), Some((other, _))) if at < other => (at, true),
                (_, Some((at, _))) => (at, false),
                (Some((at, _)), None) => (at, true),
                (None, None) => break,
            };
            if at > end {
                break;
            }
            self.now = at;
            if is_timer {
                self.time_out(timer.unwrap().1);
            } else {
                let (_, event) = self.queue.pop_first().unwrap();
                self.handle_event(event);
            }
            each_time(self);
        }
        self.now = end;
    }

    pub(crate) fn run(&mut self, millis: u32) {
        self.run_with(millis, |_| ());
    }

    fn time_out(&mut self, id: u32) {
        let now = self.now();
        let Station { machine, rig, .. } = self.station(id);
        let mut cx = rig.at(now);
        each!(machine, root => root.handle_timeout(&mut cx), node => node.handle_timeout(&mut cx));
        self.drain(id);
    }

    fn handle_event(&mut self, event: NetworkEvent) {
        let now = self.now();
        match event {
            NetworkEvent::Frame { from, to, packet } => {
                if self.stations.get(&to).is_some_and(|station| station.is_on) {
                    self.receive(from, to, packet);
                }
            }
            NetworkEvent::Outcome { of, to, is_acknowledged, attempts } => {
                let Station { machine, rig, is_on, .. } = self.station(of);
                if !*is_on {
                    return;
                }
                let mut cx = rig.at(now);
                each!(machine, root => root.handle_outcome(&mut cx, eui(to), is_acknowledged, attempts),
                    node => node.handle_outcome(&mut cx, eui(to), is_acknowledged, attempts));
                self.drain(of);
            }
        }
    }

    /// Hands a control message to a machine.
    pub(crate) fn handle(
        &mut self,
        id: u32,
        source: Ipv6Addr,
        destination: Ipv6Addr,
        message: &[u8],
    ) -> Result<(), Error> {
        let now = self.now();
        let Station { machine, rig, .. } = self.station(id);
        let mut cx = rig.at(now);
        let handled = each!(machine, root => root.handle(&mut cx, source, destination, message),
            node => node.handle(&mut cx, source, destination, message));
        self.drain(id);
        handled
    }

    pub(crate) fn receive(&mut self, from: u32, to: u32, packet: Vec<u8>) {
        let now = self.now();
        let (header, _) = Header::parse(&packet).unwrap();
        let own = [mesh(to), link_local(to), ALL_RPL_NODES].contains(&header.destination);
        let is_at_its_end = own && extension::process(&packet).is_ok();
        if !is_at_its_end {
            return self.forward(from, to, packet);
        }
        let upper = extension::process(&packet).unwrap();
        match upper.protocol {
            next_header::IPV6 => {
                let mut packet = packet;
                let end = packet.len();
                let length = tunnel::decapsulate(&mut packet, upper.at..end).unwrap();
                packet.truncate(length);
                assert!(!matches!(Header::parse(&packet).unwrap().0.next_header, next_header::IPV6));
                if destination(&packet) == mesh(to) {
                    self.receive(from, to, packet);
                } else {
                    self.forward(from, to, packet);
                }
            }
            next_header::ICMPV6 => {
                let Station { machine, rig, .. } = self.station(to);
                let mut cx = rig.at(now);
                let message = &packet[upper.at..];
                // What is wrong with it is counted.
                let _ = each!(machine, root => root.handle(&mut cx, header.source, header.destination, message),
                    node => node.handle(&mut cx, header.source, header.destination, message));
                self.drain(to);
            }
            _ => self.station(to).received.push(packet),
        }
    }

    fn forward(&mut self, from: u32, to: u32, mut packet: Vec<u8>) {
        let now = self.now();
        let hop_limit = packet[Header::HOP_LIMIT_AT];
        if hop_limit <= 1 {
            return self.station(to).refused.push(DataError::NoRoute);
        }
        packet[Header::HOP_LIMIT_AT] = hop_limit - 1;
        let Station { machine, rig, registered, handed_over, .. } = self.station(to);
        if Eui64::of_address(destination(&packet)).node_id().is_some_and(|id| registered.contains_key(&id)) {
            return handed_over.push(packet);
        }
        let mut cx = rig.at(now);
        let next_hop = each!(machine,
        root => root.forward(&mut cx, eui(from), &mut packet).and_then(|()| {
            let length = packet.len();
            if !root.has_option_down(&packet) {
                packet.resize(length + 400, 0);
                let length = root.encapsulate(&mut packet, length)?;
                packet.truncate(length);
            }
            root.next_hop(destination(&packet)).ok_or(DataError::NoRoute)
        }),
        node => node.forward(&mut cx, eui(from), &mut packet).and_then(|next_hop| {
            let length = packet.len();
            packet.resize(length + 400, 0);
            let length = node.encapsulate(&mut packet, length)?;
            packet.truncate(length);
            Ok(next_hop)
        }));
        match next_hop {
            Ok(next_hop) => self.transmit(to, next_hop, packet),
            Err(error) => self.station(to).refused.push(error),
        }
        self.drain(to);
    }

    /// Hosts register at a router, or are no more there.
    pub(crate) fn register(&mut self, router: u32, hosts: &[(u32, u8)]) {
        let now = self.now();
        let Station { machine, rig, registered, .. } = self.station(router);
        *registered = hosts.iter().copied().collect();
        let mut cx = rig.at(now);
        each!(machine, _root => panic!("a root tells nobody"),
            node => node.take_registered(&mut cx, hosts.iter().map(|&(id, transaction)| registration(id, transaction, 60))));
        self.drain(router);
    }

    /// A host that has registered at a router sends a packet.
    pub(crate) fn send_of_host(&mut self, router: u32, host: u32, packet: Vec<u8>) {
        self.forward(host, router, packet);
    }

    /// The nodes that are on and should be in the DODAG: they reach the root over links that are mostly good.
    pub(crate) fn reachable(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::from([0]);
        loop {
            let more: Vec<u32> = self
                .stations
                .iter()
                .filter(|(id, station)| station.is_on && !found.contains(id))
                .filter(|(id, station)| {
                    found.iter().any(|other| {
                        let near =
                            distance2(self.stations[other].at, station.at) < (self.range * 8 / 10).pow(2);
                        near && !self.cut.contains(&(**id, *other)) && !self.cut.contains(&(*other, **id))
                    })
                })
                .map(|(id, _)| *id)
                .collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    /// Nodes whose parents lead back to them.
    pub(crate) fn in_loops(&self) -> Vec<u32> {
        let leads_back = |id: &u32| {
            let mut at = *id;
            for _ in 0..self.stations.len() {
                match self.parent(at) {
                    Some(parent) if parent == *id => return true,
                    Some(parent) if self.stations.contains_key(&parent) => at = parent,
                    _ => return false,
                }
            }
            false
        };
        self.stations.keys().copied().filter(leads_back).collect()
    }

    /// What is not as it should be when all has come to rest.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for id in self.in_loops() {
            faults.push(format!("{id} is in a loop"));
        }
        for id in self.reachable().into_iter().filter(|id| *id != 0) {
            let Some(parent) = self.parent(id) else {
                faults.push(format!("{id} has no parent"));
                continue;
            };
            if !self.stations.get(&parent).is_some_and(|parent| parent.is_on) {
                faults.push(format!("{id} has a parent that is off, {parent}"));
            }
            if self.rank(id) == INFINITE_RANK || self.version(id) != self.version(0) {
                faults.push(format!("{id} has rank {} and version {:?}", self.rank(id), self.version(id)));
            }
        }
        faults
    }

    /// The ranks from a node to where its parents lead, and how many packets were refused there.
    pub(crate) fn way_up(&self, id: u32) -> Vec<(u32, u16, usize)> {
        let mut way = Vec::new();
        let mut at = Some(id);
        while let Some(id) = at.filter(|_| way.len() < 40) {
            way.push((id, self.rank(id), self.stations[&id].refused.len()));
            at = self.parent(id);
        }
        way
    }

    /// Sends a datagram from the root to each node and from each node to the root; those that did not come.
    pub(crate) fn ping_all(&mut self) -> Vec<String> {
        let nodes: Vec<u32> = self.reachable().into_iter().filter(|id| *id != 0).collect();
        for station in self.stations.values_mut() {
            station.received.clear();
        }
        for id in &nodes {
            self.send(0, *id, &[*id as u8]);
            self.send(*id, 0, &[*id as u8]);
            self.run(200);
        }
        self.run(2_000);
        let mut lost = Vec::new();
        let up: Vec<u8> =
            self.stations[&0].received.iter().filter_map(|packet| packet.last().copied()).collect();
        for id in nodes {
            if self.stations[&id].received.is_empty() {
                lost.push(format!("down to {id}"));
            }
            if !up.contains(&(id as u8)) {
                lost.push(format!("up from {id}"));
            }
        }
        lost
    }

    /// Lets time pass, and a datagram go up from each node each minute, until nothing is wrong, for `seconds` at most.
    pub(crate) fn settle(&mut self, seconds: u32) -> u32 {
        let begin = self.now;
        while self.now - begin < seconds * 1000 {
            let nodes: Vec<u32> = self.stations.keys().copied().filter(|id| *id != 0).collect();
            for id in nodes {
                if self.stations[&id].is_on {
                    self.send(id, 0, b"up");
                }
            }
            self.run(30_000);
            if self.faults().is_empty() && self.node_count() >= self.reachable().len() - 1 {
                break;
            }
        }
        (self.now - begin) / 1000
    }
}

/// A registration for so many minutes.
pub(crate) fn registration(id: u32, transaction: u8, lifetime: u16) -> RegisteredAddress {
    RegisteredAddress { address: mesh(id), transaction, lifetime }
}

pub(crate) fn destination(packet: &[u8]) -> Ipv6Addr {
    Header::parse(packet).unwrap().0.destination
}

fn distance2(a: (i32, i32), b: (i32, i32)) -> i32 {
    (a.0 - b.0).pow(2) + (a.1 - b.1).pow(2)
}
