//! Two machines whose radios are off almost all the time, as with low-power listening: each assesses the channel twice in a cycle and
//! listens when it is busy, and sends a frame again and again for as long as a cycle. Four commands are all that takes.

use std::collections::BTreeSet;

use std::collections::VecDeque;

use sixlock_base::{Counter, Cx, Entropy, Eui64, MESH_PREFIX, Nv, Packet, Symbols};
use sixlock_crypto::Soft;
use sixlock_node::{
    Config, Csma, Datagrams, ECHO_PORT, Interface, InterfaceConfig, Link, MacConfig, Node, RadioCommand,
    RadioMachine, Route, Routes, Stack, Uplink,
};
use sixlock_testing::Rig;

use super::{Radio, RadioEvent};
use crate::clock::Clock;
use crate::energy::StateTimes;
use crate::events::{Events, Owner, ScheduledEvent};
use crate::medium::{Medium, Reception, airtime};
use crate::meters::Meters;
use crate::scenario;
use crate::time::{Span, Time};
use crate::timer::Timer;

/// From one wake-up to the next, in symbols: 125 ms.
const CYCLE: u32 = 7812;
/// From one assessment to the next: longer than a copy's pause, so that two in a row miss no strobe.
const APART: u16 = 38;
/// From one copy of a frame to the next.
const GAP: u32 = 25;
/// How long a radio listens at most: longer than a frame that it woke up in, and a copy.
const PATIENCE: u32 = 780;
/// How long a machine waits while another sends.
const RETRY: u32 = 600;

type Layers = Stack<Link<false, 4, 2>, Datagrams<1280, 4>, Routes<[Route; 4]>>;

/// What a machine's radio is about to do, or does.
#[derive(Clone, Copy)]
enum Doing {
    /// It is off, and assesses the channel when it wakes up.
    Sleeps,
    /// It listens until then at most.
    Listens(Symbols),
    /// It assesses the channel before it sends.
    Contends,
    /// It sends copies until then.
    Strobes(Symbols),
}

/// A node on which the radio's commands are made of when it wakes up, and of what its MAC would send.
struct Sleeper {
    node: Box<Node<Soft, (), Layers>>,
    doing: Doing,
    wakes: Symbols,
    commands: VecDeque<RadioCommand>,
}

impl Sleeper {
    fn assess(&mut self, at: Symbols, times: u8) {
        self.commands.push_back(RadioCommand::Assess { at, times, apart: APART });
    }

    fn sleep(&mut self, at: Symbols) {
        self.commands.push_back(RadioCommand::Off { at });
        while at.has_reached(self.wakes) {
            self.wakes = self.wakes.after(CYCLE);
        }
        self.doing = Doing::Sleeps;
        self.assess(self.wakes, 2);
    }

    fn receive<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Soft, E, N>, at: Symbols, frame: &mut [u8]) {
        self.node.handle_frame(cx, at, frame);
        self.sleep(at);
    }
}

impl RadioMachine for Sleeper {
    type Crypto = Soft;
    type Layers = Layers;

    fn interface(&mut self) -> &mut Interface<Soft, Layers> {
        self.node.interface()
    }

    fn handle_cca<E: Entropy, N: Nv>(&mut self, _: &mut Cx<'_, Soft, E, N>, at: Symbols, clear: bool) {
        match (self.doing, clear) {
            (Doing::Contends, true) => {
                self.doing = Doing::Strobes(at.after(CYCLE + PATIENCE));
                self.commands.push_back(RadioCommand::Send { at: at.after(12), assess: false });
            }
            (Doing::Contends, false) => self.assess(at.after(RETRY), 6),
            (_, true) => self.sleep(at),
            (_, false) => {
                self.doing = Doing::Listens(at.after(PATIENCE));
                self.commands.push_back(RadioCommand::Listen { at });
            }
        }
    }

    fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, Soft, E, N>, at: Symbols) {
        match self.doing {
            Doing::Strobes(until) if !at.has_reached(until) => {
                self.commands.push_back(RadioCommand::Send { at: at.after(GAP), assess: false });
            }
            _ => {
                self.node.handle_transmitted(cx, at);
                self.sleep(at);
            }
        }
    }

    fn poll_radio(&mut self) -> Option<RadioCommand> {
        if let Doing::Sleeps = self.doing
            && let Some(RadioCommand::Send { at, .. }) = self.node.poll_radio()
        {
            self.doing = Doing::Contends;
            self.assess(at, 6);
        }
        self.commands.pop_front()
    }

    fn poll_radio_timeout(&mut self) -> Option<Symbols> {
        match self.doing {
            Doing::Listens(until) => Some(until),
            _ => None,
        }
    }

    fn handle_radio_timeout<E: Entropy, N: Nv>(&mut self, _: &mut Cx<'_, Soft, E, N>, at: Symbols) {
        self.sleep(at);
    }
}

/// A machine on the air.
struct Station {
    machine: Sleeper,
    radio: Radio,
    timer: Timer,
    rig: Rig,
}

impl Station {
    /// Machine `id` with one neighbour, which first wakes up in the symbol `wakes`.
    fn new(id: u32, neighbour: u32, wakes: u32) -> Self {
        let mut rig = Rig::without_ranges(id);
        let mut node = Box::new(Node::new());
        let mac = MacConfig {
            address: Eui64::of_node(id),
            pan_id: 1,
            csma: Csma::NONE,
            ack: false,
            security: None,
        };
        let interface = InterfaceConfig { mac, uplink: Uplink::NextHop(Eui64::of_node(neighbour)) };
        let config = Config { interface, cloud: None, serves: false, echoes: true };
        node.start(&mut rig.cx(), &config).unwrap();
        let mut machine =
            Sleeper { node, doing: Doing::Sleeps, wakes: Symbols::new(wakes), commands: VecDeque::new() };
        machine.sleep(Symbols::new(0));
        Self { machine, radio: Radio::new(Span::from_symbols(12)), timer: Timer::default(), rig }
    }
}

struct Network {
    medium: Medium,
    events: Events<ScheduledEvent>,
    stations: [Station; 2],
    now: Time,
    /// What became of the frames of each, at the other.
    received: [u32; 2],
    missed: [u32; 2],
}

impl Network {
    fn new() -> Self {
        let radio = scenario::Radio { range: 50, interference: 50, ..scenario::Scenario::default().radio };
        let mut network = Self {
            medium: Medium::new(1, &[(0, 0), (40, 0)], &BTreeSet::new(), &radio),
            events: Events::new(),
            stations: [Station::new(0, 1, 100), Station::new(1, 0, 5000)],
            now: Time::ZERO,
            received: [0; 2],
            missed: [0; 2],
        };
        network.settle(0);
        network.settle(1);
        network
    }

    fn settle(&mut self, id: u32) {
        let (now, owner) = (self.now, Owner::Node(id));
        let Station { machine, radio, timer, .. } = &mut self.stations[id as usize];
        while let Some(command) = machine.poll_radio() {
            radio.take(id, command, now, Clock::TRUE, &mut self.medium);
        }
        if let Some(time) = radio.poll_time() {
            self.events.push(time, owner, ScheduledEvent::Radio);
        }
        if let Some(time) = timer.set(machine.poll_radio_timeout().map(|at| now.of_symbols(at))) {
            self.events.push(time, owner, ScheduledEvent::RadioTimer);
        }
    }

    fn run(&mut self, end: Time) {
        while let Some((now, owner, event)) = self.events.pop_until(end) {
            self.now = now;
            match (owner, event) {
                (Owner::Node(id), ScheduledEvent::Radio) => self.radio(id),
                (Owner::Node(id), _) => {
                    let Station { machine, timer, rig, .. } = &mut self.stations[id as usize];
                    if timer.fires(now) {
                        machine.handle_radio_timeout(&mut rig.cx(), now.symbols());
                    }
                    self.settle(id);
                }
                (_, ScheduledEvent::TransmissionEnds(id)) => self.end(id),
                _ => unreachable!("nothing else is scheduled"),
            }
        }
        self.now = end;
    }

    fn radio(&mut self, id: u32) {
        let now = self.now;
        let Station { machine, radio, rig, .. } = &mut self.stations[id as usize];
        match radio.go_on(id, now, &mut self.medium, || now) {
            None => {}
            Some(RadioEvent::Assessed { clear }) => machine.handle_cca(&mut rig.cx(), now.symbols(), clear),
            Some(RadioEvent::Sends) => {
                self.medium.begin(id, now);
                let end = now + airtime(machine.node.transmit_frame().len());
                self.events.push(end, Owner::Medium, ScheduledEvent::TransmissionEnds(id));
            }
        }
        self.settle(id);
    }

    fn end(&mut self, id: u32) {
        let at = self.now.symbols();
        let mut hears = false;
        self.medium.end(id, self.now, |_, outcome| hears = outcome == Reception::Received);
        let Station { machine, rig, .. } = &mut self.stations[id as usize];
        let mut frame = machine.node.transmit_frame().to_vec();
        machine.handle_transmitted(&mut rig.cx(), at);
        self.settle(id);
        if !hears {
            self.missed[id as usize] += 1;
            return;
        }
        self.received[id as usize] += 1;
        let Station { machine, rig, .. } = &mut self.stations[1 - id as usize];
        machine.receive(&mut rig.cx(), at, &mut frame);
        self.settle(1 - id);
    }

    /// Machine 0 sends a datagram to the echo of machine 1.
    fn send(&mut self) {
        let Station { machine, rig, .. } = &mut self.stations[0];
        let mut packet = Packet::<[u8; 1280]>::new();
        packet.reset(machine.interface().front());
        packet.extend(b"echo").unwrap();
        let to = Eui64::of_node(1).with_prefix(MESH_PREFIX);
        let (cx, at) = (&mut rig.cx(), self.now.symbols());
        machine.interface().send(cx, at, &mut packet, 49_152, to, ECHO_PORT).unwrap();
        self.settle(0);
    }

    fn times(&self, id: u32) -> StateTimes {
        StateTimes::new(&Meters::default(), self.medium.radio(id), self.now)
    }
}

#[test]
fn machines_that_sleep_and_wake_up_exchange_frames_and_their_radios_are_off_meanwhile() {
    let mut network = Network::new();
    let seconds = |seconds| Time::ZERO + Span::from_secs(seconds);
    network.run(seconds(5));
    for id in [0, 1] {
        let times = network.times(id);
        // Forty times from the begin of one assessment to the end of another.
        assert_eq!(
            (times.off + times.listen, times.listen.micros()),
            (Span::from_secs(5), 40 * (u64::from(APART) * 16 + 128)),
            "{id}"
        );
    }
    network.send();
    network.run(seconds(10));
    // The datagram, its echo to a port at which nobody listens, and what tells so.
    let counted = |id: usize, counter| network.stations[id].rig.count(counter);
    assert_eq!((counted(0, Counter::UdpNoPort), counted(0, Counter::FramesSent)), (1, 2));
    assert_eq!((counted(1, Counter::UdpNoPort), counted(1, Counter::FramesSent)), (0, 1));
    for (id, frames) in [(0, 2), (1, 1)] {
        let (received, missed) = (network.received[id], network.missed[id]);
        assert!((frames..=2 * frames).contains(&received), "{id}: {received}");
        assert!(missed > 10 * received, "{id}: who sleeps hears no copy, {missed} and {received}");
        let times = network.times(id as u32);
        assert_eq!(times.off + times.listen + times.rx + times.tx, Span::from_secs(10));
        assert!(times.off > Span::from_millis(9_500), "{id}: {times:?}");
        assert!(times.tx > Span::from_millis(60 * u64::from(frames)), "{id}: {times:?}");
    }
}
