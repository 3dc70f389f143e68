//! One device on the air: the real node or border router, with its radio, timers, randomness and
//! storage in virtual time; or a board, on which a node takes the time that it would take on its platform.

use core::net::Ipv6Addr;
use std::collections::VecDeque;

use sixlock_base::{Counter, Counters, Cx, Eui64, Instant, Packet, Symbols};
use sixlock_gateway::Upstream;
use sixlock_ieee802154::MAX_FRAME;
use sixlock_ieee802154::enhanced::Asn;
use sixlock_lockstep::DeviceEvent;
use sixlock_net::Discovery;
use sixlock_net::neighbour_discovery::Event as DiscoveryEvent;
use sixlock_node::ipsec::{ConfigError, Refusal};
use sixlock_node::mac::tsch::TschConfig;
use sixlock_node::{
    Event, HEADERS, KeyLogEntry, MacConfig, Measurement, Occupied, RadioCommand, RadioMachine, SendError,
    UnderWay,
};

use crate::board::{Board, TaskEvents, TaskOutput};
use crate::clock::Clock;
use crate::costs::Step;
use crate::discovery::Begins;
use crate::emulated::Emulated;
use crate::engine::{Accelerated, Done};
use crate::events::{Events, Owner, ScheduledEvent};
use crate::frame_time::FrameTime;
use crate::machines::{Context, SimulatedNode, happens};
use crate::medium::Medium;
use crate::memory::Memory;
use crate::meters::{Meters, TaskTimes};
use crate::network::FIRST_CHANNEL;
use crate::outcome::Failure;
use crate::processor::Processor;
use crate::protection::{Cleartext, Peering, protect, refusal};
use crate::radio::{Radio, RadioEvent};
use crate::random::{Purpose, Stream};
use crate::router::Router;
use crate::router_processor::{Entering, RouterProcessor, is_taken};
use crate::routing::{NodeRouting, RoutingKind};
use crate::sizes::MTU;
use crate::time::{Span, Time};
use crate::timer::Timer;

/// The longest pause that the MAC makes between frames: 40 symbols.
const PAUSE: Span = Span::from_micros(40 * 16);
/// The protocol code of a station.
pub(crate) enum Machine {
    /// A node.
    Node(Box<SimulatedNode>),
    /// The border router.
    Gateway(Router),
    /// A node whose CPU takes time.
    Board(Box<Board>),
}

impl Machine {
    /// The machine whose CPU takes no time, if it is one.
    fn native(&mut self) -> Option<&mut dyn Native> {
        match self {
            Self::Node(node) => Some(&mut **node),
            Self::Gateway(gateway) => Some(gateway),
            Self::Board(_) => None,
        }
    }
}

/// A machine whose CPU takes no time, whatever it is made of.
trait Native {
    fn happens(&mut self, cx: &mut Context<'_>, at: Symbols, event: DeviceEvent);
    fn poll_radio(&mut self) -> Option<RadioCommand>;
    fn channel(&mut self) -> Option<u8>;
    fn transmit_frame(&mut self) -> &[u8];
    fn timeouts(&mut self) -> (Option<Symbols>, Option<Instant>);
}

impl<M: RadioMachine<Crypto = Accelerated>> Native for M {
    fn happens(&mut self, cx: &mut Context<'_>, at: Symbols, event: DeviceEvent) {
        happens(self, cx, at, event);
    }

    fn poll_radio(&mut self) -> Option<RadioCommand> {
        RadioMachine::poll_radio(self)
    }

    fn channel(&mut self) -> Option<u8> {
        RadioMachine::channel(self)
    }

    fn transmit_frame(&mut self) -> &[u8] {
        RadioMachine::transmit_frame(self)
    }

    fn timeouts(&mut self) -> (Option<Symbols>, Option<Instant>) {
        (self.poll_radio_timeout(), self.poll_timeout())
    }
}

/// One device on the air.
pub(crate) struct Station {
    pub(crate) id: u32,
    pub(crate) machine: Machine,
    pub(crate) counters: Counters,
    pub(crate) crypto: Accelerated,
    entropy: Stream,
    pub(crate) nv: Memory,
    clock: Clock,
    on_air: [u8; MAX_FRAME],
    on_air_len: usize,
    radio: Radio,
    /// Whether the transmission of [`Station::on_air`] begins.
    transmits: bool,
    radio_timer: Timer,
    timer: Timer,
    news: Option<TaskEvents>,
    /// The work of the CPU, where it takes time, and of what its tasks use.
    pub(crate) meters: Meters,
    /// What its frames take to be made, where that counts though its CPU does not; and when the last was out.
    pub(crate) frame_time: Option<FrameTime>,
    sent: Time,
    /// That of a border router whose work takes time.
    pub(crate) router_processor: Option<RouterProcessor>,
}

impl Station {
    /// The station that `machine` makes when it is lent its context at `now`, with this clock. Its radio takes a turnaround from an
    /// assessment of the channel to sending.
    pub(crate) fn new(
        seed: u64,
        id: u32,
        (clock, now): (Clock, Time),
        turnaround: Span,
        machine: impl FnOnce(&mut Context<'_>) -> Machine,
    ) -> Self {
        let mut entropy = Stream::new(seed, id, Purpose::Entropy);
        let mut nv = Memory::default();
        let mut counters = Counters::new();
        let mut crypto = Accelerated::new(None);
        let mut cx = Cx {
            now: clock.instant(now),
            crypto: &mut crypto,
            entropy: &mut entropy,
            nv: &mut nv,
            counters: &mut counters,
        };
        let machine = machine(&mut cx);
        Self {
            id,
            machine,
            counters,
            crypto,
            entropy,
            nv,
            clock,
            on_air: [0; MAX_FRAME],
            on_air_len: 0,
            radio: Radio::new(turnaround),
            transmits: false,
            radio_timer: Timer::default(),
            timer: Timer::default(),
            news: None,
            meters: Meters::default(),
            frame_time: None,
            sent: Time::ZERO,
            router_processor: None,
        }
    }

    /// Lends the machine what it needs, and the radio time.
    fn lend(&mut self, now: Time) -> (&mut Machine, Context<'_>, Symbols) {
        let cx = Cx {
            now: self.clock.instant(now),
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        };
        (&mut self.machine, cx, self.clock.symbols(now))
    }

    /// A frame has come in; the border router gives what it completes to `upstream`.
    pub(crate) fn handle_frame(&mut self, now: Time, frame: &mut [u8], upstream: impl FnOnce(Upstream<'_>)) {
        if self.router_processor.is_some() {
            return self.handle_frame_in_time(now, frame, upstream);
        }
        let (machine, mut cx, at) = self.lend(now);
        match machine {
            Machine::Node(node) => node.handle_frame(&mut cx, at, frame),
            Machine::Gateway(gateway) => gateway.handle_frame(&mut cx, at, frame, upstream),
            Machine::Board(board) => board.receive(now, frame, cx.counters),
        }
    }

    /// The same for a border router whose work takes time: its radio drops the frame if it is full.
    fn handle_frame_in_time(&mut self, now: Time, frame: &mut [u8], upstream: impl FnOnce(Upstream<'_>)) {
        let Machine::Gateway(gateway) = &mut self.machine else { return };
        let is_taken = is_taken(frame, gateway.address());
        if let Some(processor) = self.router_processor.as_mut().filter(|_| is_taken)
            && !processor.takes_frame(now, frame.len())
        {
            return self.counters.count(Counter::RadioReceiveFull);
        }
        let mut left = None;
        let (machine, mut cx, at) = self.lend(now);
        if let Machine::Gateway(gateway) = machine {
            gateway.handle_frame(&mut cx, at, frame, |leaving| {
                left = Some(match &leaving {
                    Upstream::Packet(packet) => packet.len(),
                    Upstream::Datagram(datagram) => HEADERS + datagram.payload.len(),
                });
                upstream(leaving);
            });
        }
        if is_taken {
            self.work(|processor, done, protected| processor.frame(now, frame, left, done, protected));
        }
    }

    /// Lets the processor of a border router whose work takes time work at what was done since this was last called.
    fn work<T>(&mut self, act: impl FnOnce(&mut RouterProcessor, &Done, &[(Step, usize)]) -> T) -> Option<T> {
        let (Machine::Gateway(gateway), Some(processor)) = (&mut self.machine, &mut self.router_processor)
        else {
            return None;
        };
        Some(act(processor, &self.crypto.take(), &gateway.security().take_steps()))
    }

    /// The transmission of [`Station::on_air`] has ended.
    pub(crate) fn handle_transmitted(&mut self, now: Time) {
        self.sent = now;
        match &mut self.machine {
            Machine::Board(board) => {
                self.counters.count(Counter::FramesSent);
                self.counters.add(Counter::BytesSent, self.on_air_len as u32);
                board.sent(now);
            }
            _ => self.happens(now, DeviceEvent::Transmitted),
        }
    }

    /// The radio goes on with what it was told; whether the machine is told anything, or a transmission begins.
    pub(crate) fn handle_radio(&mut self, now: Time, medium: &mut Medium) -> bool {
        let Self { id, radio, machine, frame_time, sent, router_processor, crypto, .. } = self;
        let made = || match (router_processor, &mut *machine) {
            (Some(processor), Machine::Gateway(gateway)) => {
                processor.transmission(now, RadioMachine::transmit_frame(gateway), &crypto.take())
            }
            (_, machine) => made(machine, frame_time.as_ref(), *sent, now),
        };
        let event = match radio.go_on(*id, now, medium, made) {
            None => return false,
            Some(RadioEvent::Sends) => {
                self.transmit();
                return true;
            }
            Some(RadioEvent::Assessed { clear: true }) => DeviceEvent::CcaClear,
            Some(RadioEvent::Assessed { clear: false }) => DeviceEvent::CcaBusy,
        };
        match &mut self.machine {
            Machine::Board(board) => board.happens(now, event),
            _ => self.happens(now, event),
        }
        true
    }

    /// Lets a board that sleeps, and begins to assess the channel, find it clear and sleep on, all at once, if that is over before `end`, until
    /// when others do no more than wake up: a network that sleeps does hardly anything else. Whether it did.
    pub(crate) fn wake_up(
        &mut self,
        now: Time,
        end: Time,
        events: &mut Events<ScheduledEvent>,
        medium: &mut Medium,
    ) -> bool {
        let is_done = self.try_wake_up(now, end, medium).is_some();
        if is_done {
            self.schedule_radio(events);
        }
        is_done
    }

    fn try_wake_up(&mut self, now: Time, end: Time, medium: &mut Medium) -> Option<()> {
        let Machine::Board(board) = &mut self.machine else { return None };
        if !medium.is_off(self.id) {
            return None;
        }
        let mut assessed = None;
        for time in self.radio.assessments(now)? {
            if !medium.is_clear(self.id, time) {
                return None;
            }
            assessed = Some(time);
        }
        let assessed = assessed?;
        let until = assessed + board.wake_up_time()?;
        if until >= end {
            return None;
        }
        medium.assess(self.id, true, now);
        medium.assess(self.id, false, assessed);
        self.meters.begin_task(assessed, TaskTimes { until, engine: Span::ZERO, storage: Span::ZERO });
        self.radio.assessed();
        if let Some(command) = board.wake_up(assessed) {
            self.radio.take(self.id, command, until, self.clock, medium);
        }
        Some(())
    }

    /// Begins to send the frame of a machine whose CPU takes no time.
    fn transmit(&mut self) {
        let frame = self.machine.native().map_or(&[][..], Native::transmit_frame);
        self.on_air_len = frame.len().min(MAX_FRAME);
        self.on_air[..self.on_air_len].copy_from_slice(&frame[..self.on_air_len]);
        self.transmits = true;
    }

    pub(crate) fn handle_radio_timer(&mut self, now: Time) {
        if self.radio_timer.fires(now) {
            self.timer(now, DeviceEvent::RadioTimer);
        }
    }

    pub(crate) fn handle_timer(&mut self, now: Time) {
        if self.timer.fires(now) {
            self.timer(now, DeviceEvent::Timer);
        }
    }

    /// A timer has run out.
    fn timer(&mut self, now: Time, event: DeviceEvent) {
        match &mut self.machine {
            Machine::Board(board) => board.timer(now, event),
            _ => self.happens(now, event),
        }
    }

    /// Tells a machine whose CPU takes no time what happens.
    fn happens(&mut self, now: Time, event: DeviceEvent) {
        let (machine, mut cx, at) = self.lend(now);
        if let Some(native) = machine.native() {
            native.happens(&mut cx, at, event);
        }
        let step = match event {
            DeviceEvent::Transmitted => Step::Transmitted,
            DeviceEvent::RadioTimer => Step::RadioTimer,
            DeviceEvent::Timer => Step::Timer,
            _ => return,
        };
        self.work(|processor, done, _| processor.step(now, step, done));
    }

    /// Lets it be in time slots from now on. Which of them may be used, its storage says.
    pub(crate) fn begin_slots(&mut self, now: Time, slots: &TschConfig, config: &MacConfig) {
        let (machine, mut cx, at) = self.lend(now);
        match machine {
            Machine::Node(node) => node.interface().mac().begin_slots(&mut cx, at, slots, config),
            Machine::Gateway(gateway) => gateway.mac().begin_slots(&mut cx, at, slots, config),
            Machine::Board(_) => {}
        }
    }

    /// Lets it come to its address, and take part in the routing protocol at it, if its network has one. One whose storage fails stays out
    /// of that until it starts anew.
    pub(crate) fn start_routing(&mut self, now: Time, address: Eui64, kind: RoutingKind, begins: &Begins) {
        let (machine, mut cx, _) = self.lend(now);
        let _ = match machine {
            Machine::Node(node) => {
                node.interface().discovery().start(&mut cx, address, begins, false);
                begins.is_host || node.interface().routing().start(&mut cx, address, kind).is_ok()
            }
            Machine::Gateway(gateway) => {
                gateway.interface().discovery().start(&mut cx, address, begins, true);
                let started = gateway.interface().routing().start(&mut cx, address, kind, begins.addressing);
                started.is_ok()
            }
            Machine::Board(_) => true,
        };
    }

    /// What has happened to it in neighbour discovery, once; and where it is registered then, and with which address.
    pub(crate) fn poll_discovery_event(&mut self) -> Option<(DiscoveryEvent, Option<(Eui64, Ipv6Addr)>)> {
        let discovery = match &mut self.machine {
            Machine::Node(node) => node.interface().discovery(),
            Machine::Gateway(gateway) => gateway.interface().discovery(),
            Machine::Board(_) => return None,
        };
        let event = discovery.poll_event()?;
        Some((event, discovery.registration()))
    }

    /// Where it is registered, and with which address, if neighbour discovery has come so far.
    pub(crate) fn registered(&self) -> Option<(Eui64, Ipv6Addr)> {
        match &self.machine {
            Machine::Node(node) => node.discovery().registration(),
            Machine::Gateway(_) | Machine::Board(_) => None,
        }
    }

    /// Whether the host that has this address is registered here; taken for granted where firmware does not tell.
    pub(crate) fn knows_host(&mut self, address: Ipv6Addr) -> bool {
        match &mut self.machine {
            Machine::Node(node) => node.discovery().neighbour(address).is_some(),
            Machine::Gateway(gateway) => gateway.interface().discovery().neighbour(address).is_some(),
            Machine::Board(_) => true,
        }
    }

    /// Whether it is a node that has no address in the mesh yet.
    pub(crate) fn lacks_address(&self) -> bool {
        match &self.machine {
            Machine::Node(node) => node.discovery().usable_prefix().is_none(),
            Machine::Gateway(_) | Machine::Board(_) => false,
        }
    }

    /// What has happened to it in RPL, once.
    pub(crate) fn poll_routing_event(&mut self) -> Option<sixlock_rpl::Event> {
        match &mut self.machine {
            Machine::Node(node) => node.interface().routing().poll_event(),
            Machine::Gateway(gateway) => gateway.interface().routing().poll_event(),
            Machine::Board(board) => match board.processor() {
                Processor::Modelled(modelled) => modelled.routing().poll_event(),
                Processor::Emulated(_) => None,
            },
        }
    }

    /// How a node routes, if it tells: the firmware of an emulated one does not.
    fn router(&self) -> Option<&NodeRouting> {
        match &self.machine {
            Machine::Node(node) => Some(node.routing()),
            Machine::Board(board) => board.router(),
            Machine::Gateway(_) => None,
        }
    }

    /// Whether it is a node that tells how it routes.
    pub(crate) fn tells_routing(&self) -> bool {
        self.router().is_some()
    }

    /// The number of the parent of a node that routes by RPL, if it has one and tells; of a host, of the router at which it is registered.
    pub(crate) fn parent(&self) -> Option<u32> {
        let router_of_host = match &self.machine {
            Machine::Node(node) => node.discovery().router_of_host(),
            Machine::Gateway(_) | Machine::Board(_) => None,
        };
        router_of_host.or_else(|| self.router()?.parent())?.node_id()
    }

    /// The slot in which it sends, if its network is in time slots and it tells: firmware does not.
    pub(crate) fn asn(&mut self) -> Option<Asn> {
        match &mut self.machine {
            Machine::Node(node) => node.interface().mac().asn(),
            Machine::Gateway(gateway) => gateway.mac().asn(),
            Machine::Board(_) => None,
        }
    }

    /// Whether it is a host, which takes no part in RPL.
    pub(crate) fn is_host(&self) -> bool {
        matches!(&self.machine, Machine::Node(node) if node.discovery().is_of_host())
    }

    /// The rank of such a node, as long as it has a parent.
    pub(crate) fn rank(&self) -> Option<u16> {
        self.router()?.rank()
    }

    /// Whether it knows a neighbour by which packets go to that address of the mesh.
    pub(crate) fn routes_to(&mut self, destination: Ipv6Addr) -> bool {
        match &mut self.machine {
            Machine::Node(node) => node.interface().net().next_hop(destination).is_some(),
            Machine::Gateway(gateway) => gateway.interface().net().next_hop(destination).is_some(),
            Machine::Board(_) => false,
        }
    }

    /// What has happened at a node.
    pub(crate) fn poll_event(&mut self, now: Time) -> Option<Event> {
        match &mut self.machine {
            Machine::Node(node) => node.poll_event(self.clock.instant(now)),
            Machine::Gateway(_) | Machine::Board(_) => None,
        }
    }

    /// What its pools hold, by name; nothing is known of a board's.
    pub(crate) fn occupied(&mut self) -> Vec<(&'static str, usize)> {
        let (Occupied { frames, packets, whole }, UnderWay { requests, handshakes }) = match &mut self.machine
        {
            Machine::Node(node) => (node.interface().occupied(), node.under_way()),
            Machine::Gateway(gateway) => (gateway.interface().occupied(), UnderWay::default()),
            Machine::Board(_) => return Vec::new(),
        };
        vec![
            ("transmit frames", frames),
            ("packets in reassembly", packets.reassembling),
            ("packets lent", packets.received),
            ("packets to be sent", packets.transmitting),
            ("packets in fragments of IPv6", whole),
            ("requests of CoAP", requests),
            ("buffers of DTLS handshakes", handshakes),
        ]
    }

    /// What opens the session that a node has told of.
    pub(crate) fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        match &self.machine {
            Machine::Node(node) => node.key_log(),
            Machine::Gateway(_) | Machine::Board(_) => None,
        }
    }

    /// What was protected by IPsec since this was last called, before it was.
    pub(crate) fn take_cleartexts(&mut self) -> Vec<Cleartext> {
        match &mut self.machine {
            Machine::Node(node) => node.interface().security().take_cleartexts(),
            Machine::Gateway(gateway) => gateway.security().take_cleartexts(),
            Machine::Board(board) => match board.processor() {
                Processor::Modelled(modelled) => modelled.take_cleartexts(),
                Processor::Emulated(emulated) => emulated.take_cleartexts(),
            },
        }
    }

    /// Why IPsec has refused packets since this was last called. Firmware does not tell.
    pub(crate) fn take_refusals(&mut self) -> Vec<Refusal> {
        match &mut self.machine {
            Machine::Node(node) => node.interface().security().take_refusals(),
            Machine::Gateway(gateway) => {
                let mut refusals = gateway.security().take_refusals();
                refusals.extend(gateway.internet().ipsec().poll_event().and_then(refusal));
                refusals
            }
            Machine::Board(board) => match board.processor() {
                Processor::Modelled(modelled) => modelled.take_refusals(),
                Processor::Emulated(_) => Vec::new(),
            },
        }
    }

    /// How many errors of packets without a route IPsec's policy has not let out since this was last called.
    pub(crate) fn take_unreachable(&mut self) -> u32 {
        match &mut self.machine {
            Machine::Node(node) => node.interface().security().take_unreachable(),
            Machine::Gateway(gateway) => gateway.security().take_unreachable(),
            Machine::Board(_) => 0,
        }
    }

    /// Why DTLS has refused something: the first since this was last called. Firmware does not tell.
    pub(crate) fn poll_dtls_refusal(&mut self) -> Option<sixlock_dtls::Refusal> {
        match &mut self.machine {
            Machine::Node(node) => node.poll_refusal(),
            Machine::Gateway(_) => None,
            Machine::Board(board) => match board.processor() {
                Processor::Modelled(modelled) => modelled.poll_refusal(),
                Processor::Emulated(_) => None,
            },
        }
    }

    /// Turns IPsec on, with these peerings: of all nodes for the border router, its own for a node.
    ///
    /// # Errors
    /// When there is no room for so many.
    pub(crate) fn protect<'p>(
        &mut self,
        peerings: impl Iterator<Item = &'p Peering>,
        unauthenticated: bool,
    ) -> Result<(), ConfigError> {
        let id = self.id;
        match &mut self.machine {
            Machine::Gateway(gateway) => {
                gateway.interface().compression().start();
                gateway.security().start(peerings, id, unauthenticated)
            }
            Machine::Node(node) => protect(node.interface(), peerings, id, unauthenticated),
            Machine::Board(board) => match board.processor() {
                Processor::Modelled(modelled) => modelled.protect(peerings, id, unauthenticated),
                // The image has its own, and so has the native node beside it.
                Processor::Emulated(emulated) => emulated.protect(peerings, id, unauthenticated),
            },
        }
    }

    /// Packets of TCP that have come to a node whose CPU takes no time, which are kept from the first call on.
    pub(crate) fn segments(&mut self) -> Option<&mut VecDeque<Vec<u8>>> {
        match &mut self.machine {
            Machine::Node(node) => Some(node.interface().security().segments()),
            Machine::Gateway(_) | Machine::Board(_) => None,
        }
    }

    /// Sends a packet that a program of such a node has made.
    pub(crate) fn send_packet(&mut self, now: Time, bytes: &[u8]) -> Result<(), SendError> {
        let (Machine::Node(node), mut cx, at) = self.lend(now) else { return Err(SendError::NoRoute) };
        // What protects it comes beside it.
        let mut packet = Packet::<[u8; MTU + 128]>::new();
        packet.reset(node.interface().front() - HEADERS);
        packet.extend(bytes).map_err(|_| SendError::TooLong)?;
        node.interface().send_packet(&mut cx, at, &mut packet)
    }

    /// What has happened at a board in the task that has ended.
    pub(crate) fn poll_news(&mut self) -> Option<TaskEvents> {
        self.news.take()
    }

    /// Why a board runs no more.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match &self.machine {
            Machine::Board(board) => board.failure(),
            _ => None,
        }
    }

    /// When the CPU of a board began the task that is under way, if it is at work.
    pub(crate) fn at_work_since(&self) -> Option<Time> {
        match &self.machine {
            Machine::Board(board) => board.at_work_since(),
            _ => None,
        }
    }

    /// What an emulated node runs in.
    pub(crate) fn emulated(&mut self) -> Option<&mut Emulated> {
        match &mut self.machine {
            Machine::Board(board) => match board.processor() {
                Processor::Emulated(emulated) => Some(emulated),
                Processor::Modelled(_) => None,
            },
            _ => None,
        }
    }

    /// Takes in what has come over the border router's serial line, and gives what leaves the mesh to `upstream`.
    pub(crate) fn handle_line(&mut self, now: Time, upstream: impl FnMut(Upstream<'_>)) {
        // A bridge that has something to do leaves packets on the line.
        let room = match &self.router_processor {
            None => usize::MAX,
            Some(processor) => usize::from(processor.ready(now) == now),
        };
        let mut entered = None;
        if let (Machine::Gateway(gateway), mut cx, at) = self.lend(now) {
            gateway.arrive(&mut cx, (now, at), room, upstream, |len| entered = Some(len));
        }
        if let Some(len) = entered {
            self.work(|processor, done, protected| processor.packet(now, len, done, protected));
        }
    }

    /// Hands a node its measurements.
    pub(crate) fn report(&mut self, now: Time, measurements: &[Measurement]) {
        if let (Machine::Node(node), mut cx, at) = self.lend(now) {
            node.report(&mut cx, at, measurements);
        }
    }

    /// Lets something from outside wait for the processor of a border router whose work takes time, or drops and counts it if too much waits;
    /// returns it if the router's takes none, nor does a host's at a serial line.
    pub(crate) fn enter(&mut self, entering: Entering) -> Option<Entering> {
        match (&self.machine, &mut self.router_processor) {
            (Machine::Gateway(Router::Whole(_)), Some(processor)) => {
                if !processor.enter(entering) {
                    self.counters.count(Counter::LowpanTransmitFull);
                }
                None
            }
            _ => Some(entering),
        }
    }

    /// What the processor of such a router takes up now that came from outside.
    pub(crate) fn poll_entering(&mut self, now: Time) -> Option<Entering> {
        self.router_processor.as_mut()?.poll_entering(now)
    }

    /// It has taken it up, `len` bytes.
    pub(crate) fn entered(&mut self, now: Time, len: usize) {
        self.work(|processor, done, protected| processor.packet(now, len, done, protected));
    }

    /// Does something with the border router, which is told the radio time.
    pub(crate) fn with_gateway<T>(
        &mut self,
        now: Time,
        act: impl FnOnce(&mut Router, &mut Context<'_>, Symbols) -> T,
    ) -> Option<T> {
        match self.lend(now) {
            (Machine::Gateway(gateway), mut cx, at) => Some(act(gateway, &mut cx, at)),
            _ => None,
        }
    }

    /// Tells the radio what the machine says, and sets the timers. Whether a transmission of
    /// [`Station::on_air`] begins.
    pub(crate) fn settle(
        &mut self,
        now: Time,
        events: &mut Events<ScheduledEvent>,
        medium: &mut Medium,
    ) -> bool {
        if let Machine::Board(_) = self.machine {
            return self.settle_board(now, events, medium);
        }
        while let Some(native) = self.machine.native()
            && let Some(command) = native.poll_radio()
        {
            if let Some(channel) = native.channel() {
                medium.tune(self.id, channel.saturating_sub(FIRST_CHANNEL), now);
            }
            self.radio.take(self.id, command, now, self.clock, medium);
        }
        self.schedule_radio(events);
        if let Machine::Gateway(gateway) = &mut self.machine {
            let ready = self.router_processor.as_ref().map_or(now, |processor| processor.ready(now));
            for time in gateway.carry(ready) {
                events.push(time, Owner::Node(self.id), ScheduledEvent::Line);
            }
            let waits = gateway.waits(now);
            if let Some(time) =
                self.router_processor.as_mut().and_then(|processor| processor.poll_time(now, waits))
            {
                events.push(time, Owner::Node(self.id), ScheduledEvent::Processor);
            }
        }
        let (radio, timer) = self.machine.native().map_or((None, None), Native::timeouts);
        self.set_timers(now, events, radio, timer);
        core::mem::take(&mut self.transmits)
    }

    /// Schedules what the radio does next.
    pub(crate) fn schedule_radio(&mut self, events: &mut Events<ScheduledEvent>) {
        let Some(time) = self.radio.poll_time() else { return };
        let (owner, event) = (Owner::Node(self.id), ScheduledEvent::Radio);
        let is_wake_up = match &mut self.machine {
            Machine::Board(board) => self.radio.only_assesses() && board.wake_up_time().is_some(),
            _ => false,
        };
        match is_wake_up {
            true => events.push_wake_up(time, owner, event),
            false => events.push(time, owner, event),
        }
    }

    fn set_timers(
        &mut self,
        now: Time,
        events: &mut Events<ScheduledEvent>,
        radio: Option<Symbols>,
        timer: Option<Instant>,
    ) {
        let owner = Owner::Node(self.id);
        if let Some(time) = self.radio_timer.set(radio.map(|deadline| self.clock.of_symbols(now, deadline))) {
            events.push(time, owner, ScheduledEvent::RadioTimer);
        }
        if let Some(time) = self.timer.set(timer.map(|deadline| self.clock.of_instant(now, deadline))) {
            events.push(time, owner, ScheduledEvent::Timer);
        }
    }

    /// The same for a board: what its task brought about, if one ends now, and the next task.
    fn settle_board(&mut self, now: Time, events: &mut Events<ScheduledEvent>, medium: &mut Medium) -> bool {
        let Machine::Board(board) = &mut self.machine else { return false };
        let wishes = board.poll_wishes(now);
        let transmission = board.poll_transmission(now);
        let task = board.begin_task(now, &mut self.counters);
        if let Some(task) = task {
            self.meters.begin_task(now, task);
        }
        let wake_ups = [task.map(|task| task.until), board.poll_acknowledgement(), board.poll_frame()];
        if let Some(TaskOutput { channel, command, sends, radio_timer, timer, news }) = wishes {
            self.news = Some(news);
            if let Some(channel) = channel {
                medium.tune(self.id, channel.saturating_sub(FIRST_CHANNEL), now);
            }
            match command {
                Some(command) => self.radio.take(self.id, command, now, self.clock, medium),
                None if sends => self.radio.give_up(self.id, now, medium),
                None => {}
            }
            self.set_timers(now, events, radio_timer, timer);
        }
        self.schedule_radio(events);
        let owner = Owner::Node(self.id);
        for (timer, event) in
            [(&mut self.radio_timer, ScheduledEvent::RadioTimer), (&mut self.timer, ScheduledEvent::Timer)]
        {
            if let Some(time) = timer.set_again(now) {
                events.push(time, owner, event);
            }
        }
        for time in wake_ups.into_iter().flatten() {
            events.push(time, owner, ScheduledEvent::Board);
        }
        let Some(frame) = transmission else { return false };
        self.on_air_len = frame.len().min(MAX_FRAME);
        self.on_air[..self.on_air_len].copy_from_slice(&frame[..self.on_air_len]);
        true
    }

    /// The frame on the air.
    pub(crate) fn on_air(&self) -> &[u8] {
        &self.on_air[..self.on_air_len]
    }
}

/// When the frame is made that `machine` is about to send: it was begun with when the one before it was out, at `sent`.
fn made(machine: &mut Machine, frame_time: Option<&FrameTime>, sent: Time, now: Time) -> Time {
    let Some(frame_time) = frame_time else { return now };
    let len = machine.native().map_or(0, |native| native.transmit_frame().len());
    let begun = if now.since(sent) <= PAUSE { sent } else { now };
    now.max(begun + frame_time.frame(len))
}
