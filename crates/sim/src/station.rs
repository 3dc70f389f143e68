//! One device on the air: the real node or border router, with its radio, timers, randomness and
//! storage in virtual time; or a board, on which a node takes the time that it would take on its platform.

use std::collections::VecDeque;

use sixlock_base::{Counter, Counters, Cx, Entropy, Instant, Nv, NvError, NvSlot, Packet, Symbols};
use sixlock_gateway::{Gateway, Tunnels, Upstream};
use sixlock_ieee802154::MAX_FRAME;
use sixlock_lockstep::{Command, Happening};
use sixlock_node::ipsec::ConfigError;
use sixlock_node::{
    Datagrams, Event, HEADERS, KeyLogEntry, Link, Measurement, Node, RadioCommand, RadioMachine, Readings,
    Route, RplHeaders, SendError, Stack,
};

use crate::application::AnyApplication;
use crate::board::{Board, News, Wishes};
use crate::emulated::Emulated;
use crate::energy::CpuMeter;
use crate::engine::Accelerated;
use crate::events::{Events, Happening as Scheduled, Owner};
use crate::medium::CCA;
use crate::network::MAX_NODES;
use crate::outcome::Failure;
use crate::pace::Pace;
use crate::processor::Processor;
use crate::protection::{Cleartext, Compression, Ipsec, Keyed, Peering, Reassembly, protect};
use crate::random::{Purpose, Stream};
use crate::time::{Span, Time};
use crate::timer::Timer;

/// No table that counts nodes is ever full.
pub(crate) const NODES: usize = MAX_NODES as usize;
/// The longest pause that the MAC makes between frames: 40 symbols.
const PAUSE: Span = Span::from_micros(40 * 16);
/// The largest IPv6 packet, in bytes: the least that IPv6 demands.
pub(crate) const MTU: usize = 1280;
/// Hosts outside with tunnels to a security gateway, at most.
const HOSTS: usize = 16;
/// The quantities in a reading.
pub(crate) const READINGS: usize = 3;
/// Who may observe them at a node at a time, and how often in one session with a node that is a server.
pub(crate) const OBSERVERS: usize = 4;

/// IPsec of a node: with 64 hosts.
pub(crate) type NodeIpsec = Ipsec<64, 64>;
/// How a node compresses: it forwards for 512 nodes in both directions.
pub(crate) type NodeCompression = Compression<1024>;
/// The layers of a node with this many transmit frames, and this many datagrams of so many bytes. Its tables of nodes have room for
/// every node of a scenario.
pub(crate) type NodeLayers<const FRAMES: usize, const MTU: usize, const POOL: usize> = Stack<
    Link<true, NODES, FRAMES>,
    Datagrams<MTU, POOL>,
    [Route; NODES],
    NodeIpsec,
    NodeCompression,
    RplHeaders,
    Reassembly,
>;
/// A node as the simulator sizes it.
pub(crate) type SimulatedNode =
    Node<Accelerated, AnyApplication, NodeLayers<2, MTU, 16>, Readings<READINGS, OBSERVERS>>;
/// The layers of the border router. It has IPsec with every node, and two policies more for the packets of others.
type GatewayLayers = Stack<
    Link<true, NODES, 4>,
    Datagrams<MTU, 32>,
    [Route; NODES],
    Ipsec<{ NODES + 2 }, NODES>,
    Compression<{ 2 * NODES }>,
    RplHeaders,
    Reassembly,
>;
/// The border router as the simulator sizes it; 1,024 flows are the limit of `up` as well.
pub(crate) type SimulatedGateway =
    Gateway<Accelerated, GatewayLayers, 1024, Tunnels<Accelerated, Keyed, HOSTS>>;
/// The context that both are lent.
pub(crate) type Context<'a> = Cx<'a, Accelerated, Stream, Memory>;

/// Storage that a simulated device never loses.
#[derive(Default)]
pub(crate) struct Memory {
    link_frame_counter: u32,
    pub(crate) ipsec_sequence: u32,
    /// What outlasts the simulation, if anything does; then it is used instead.
    pub(crate) outlasting: Option<Box<dyn Nv + Send>>,
}

impl Nv for Memory {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        if let Some(outlasting) = &mut self.outlasting {
            return outlasting.reserve(slot, count);
        }
        let counter = match slot {
            NvSlot::LinkFrameCounter => &mut self.link_frame_counter,
            NvSlot::IpsecSequence => &mut self.ipsec_sequence,
        };
        let first = *counter;
        *counter = first.checked_add(count).ok_or(NvError::Exhausted)?;
        Ok(first)
    }
}

/// The protocol code of a station.
pub(crate) enum Machine {
    /// A node.
    Node(Box<SimulatedNode>),
    /// The border router.
    Gateway(Box<SimulatedGateway>),
    /// A node whose CPU takes time.
    Board(Box<Board>),
}

impl Machine {
    /// The machine whose CPU takes no time, if it is one.
    fn native(&mut self) -> Option<&mut dyn Native> {
        match self {
            Self::Node(node) => Some(&mut **node),
            Self::Gateway(gateway) => Some(&mut **gateway),
            Self::Board(_) => None,
        }
    }
}

/// A machine whose CPU takes no time, whatever it is made of.
trait Native {
    fn happens(&mut self, cx: &mut Context<'_>, at: Symbols, happening: Happening);
    fn poll_radio(&mut self) -> Option<RadioCommand>;
    fn transmit_frame(&mut self) -> &[u8];
    fn timeouts(&mut self) -> (Option<Symbols>, Option<Instant>);
}

impl<M: RadioMachine<Crypto = Accelerated>> Native for M {
    fn happens(&mut self, cx: &mut Context<'_>, at: Symbols, happening: Happening) {
        happens(self, cx, at, happening);
    }

    fn poll_radio(&mut self) -> Option<RadioCommand> {
        RadioMachine::poll_radio(self)
    }

    fn transmit_frame(&mut self) -> &[u8] {
        RadioMachine::transmit_frame(self)
    }

    fn timeouts(&mut self) -> (Option<Symbols>, Option<Instant>) {
        (self.poll_radio_timeout(), self.poll_timeout())
    }
}

/// Tells a machine what happens, unless it is a frame or at a serial port.
pub(crate) fn happens<M: RadioMachine, E: Entropy, N: Nv>(
    machine: &mut M,
    cx: &mut Cx<'_, M::Crypto, E, N>,
    at: Symbols,
    happening: Happening,
) {
    match happening {
        Happening::Start | Happening::Frame | Happening::Serial => {}
        Happening::Transmitted => machine.handle_transmitted(cx, at),
        Happening::CcaClear => machine.handle_cca(cx, at, true),
        Happening::CcaBusy => machine.handle_cca(cx, at, false),
        Happening::RadioTimer => machine.handle_radio_timeout(cx, at),
        Happening::Timer => machine.handle_timeout(cx, at),
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
    on_air: [u8; MAX_FRAME],
    on_air_len: usize,
    /// When the channel assessment under way ends.
    cca_end: Option<Time>,
    radio_timer: Timer,
    timer: Timer,
    news: Option<News>,
    /// The CPU's work, where it takes time.
    pub(crate) cpu: CpuMeter,
    /// What its frames take to be made, where that counts though its CPU does not; and when the last was out.
    pub(crate) pace: Option<Pace>,
    sent: Time,
}

impl Station {
    /// The station that `machine` makes when it is lent its context.
    pub(crate) fn new(seed: u64, id: u32, machine: impl FnOnce(&mut Context<'_>) -> Machine) -> Self {
        let mut entropy = Stream::new(seed, id, Purpose::Entropy);
        let mut nv = Memory::default();
        let mut counters = Counters::new();
        let mut crypto = Accelerated::new(None);
        let mut cx = Cx {
            now: Time::ZERO.instant(),
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
            on_air: [0; MAX_FRAME],
            on_air_len: 0,
            cca_end: None,
            radio_timer: Timer::default(),
            timer: Timer::default(),
            news: None,
            cpu: CpuMeter::default(),
            pace: None,
            sent: Time::ZERO,
        }
    }

    fn lend(&mut self, now: Time) -> (&mut Machine, Context<'_>) {
        let cx = Cx {
            now: now.instant(),
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        };
        (&mut self.machine, cx)
    }

    /// A frame has come in; the border router gives what it completes to `upstream`.
    pub(crate) fn handle_frame(&mut self, now: Time, frame: &mut [u8], upstream: impl FnOnce(Upstream<'_>)) {
        let (machine, mut cx) = self.lend(now);
        match machine {
            Machine::Node(node) => node.handle_frame(&mut cx, now.symbols(), frame),
            Machine::Gateway(gateway) => gateway.handle_frame(&mut cx, now.symbols(), frame, upstream),
            Machine::Board(board) => board.receive(now, frame, cx.counters),
        }
    }

    /// The transmission of [`Station::on_air`] has ended.
    pub(crate) fn handle_transmitted(&mut self, now: Time) {
        self.sent = now;
        match &mut self.machine {
            Machine::Board(board) => board.sent(now),
            _ => self.happens(now, Happening::Transmitted),
        }
    }

    /// A channel assessment ends now, unless it was given up: with what `is_clear` says.
    pub(crate) fn handle_cca(&mut self, now: Time, is_clear: impl FnOnce() -> bool) {
        if self.cca_end != Some(now) {
            return;
        }
        self.cca_end = None;
        let happening = if is_clear() { Happening::CcaClear } else { Happening::CcaBusy };
        match &mut self.machine {
            Machine::Board(board) => board.happens(now, happening),
            _ => self.happens(now, happening),
        }
    }

    pub(crate) fn handle_radio_timer(&mut self, now: Time) {
        if self.radio_timer.fires(now) {
            self.timer(now, Happening::RadioTimer);
        }
    }

    pub(crate) fn handle_timer(&mut self, now: Time) {
        if self.timer.fires(now) {
            self.timer(now, Happening::Timer);
        }
    }

    /// A timer has run out.
    fn timer(&mut self, now: Time, happening: Happening) {
        match &mut self.machine {
            Machine::Board(board) => board.timer(now, happening),
            _ => self.happens(now, happening),
        }
    }

    /// Tells a machine whose CPU takes no time what happens.
    fn happens(&mut self, now: Time, happening: Happening) {
        let (machine, mut cx) = self.lend(now);
        if let Some(native) = machine.native() {
            native.happens(&mut cx, now.symbols(), happening);
        }
    }

    /// What has happened at a node.
    pub(crate) fn poll_event(&mut self, now: Time) -> Option<Event> {
        match &mut self.machine {
            Machine::Node(node) => node.poll_event(now.instant()),
            Machine::Gateway(_) | Machine::Board(_) => None,
        }
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
            Machine::Gateway(gateway) => gateway.interface().security().take_cleartexts(),
            Machine::Board(board) => match board.processor() {
                Processor::Modelled(modelled) => modelled.take_cleartexts(),
                Processor::Emulated(emulated) => emulated.take_cleartexts(),
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
            Machine::Gateway(gateway) => protect(gateway.interface(), peerings, id, unauthenticated),
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
        let (Machine::Node(node), mut cx) = self.lend(now) else { return Err(SendError::NoRoute) };
        // What protects it comes beside it.
        let mut packet = Packet::<[u8; MTU + 128]>::new();
        packet.reset(node.interface().front() - HEADERS);
        packet.extend(bytes).map_err(|_| SendError::TooLong)?;
        node.interface().send_packet(&mut cx, now.symbols(), &mut packet)
    }

    /// What has happened at a board in the task that has ended.
    pub(crate) fn poll_news(&mut self) -> Option<News> {
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

    /// Hands a node its measurements.
    pub(crate) fn report(&mut self, now: Time, measurements: &[Measurement]) {
        if let (Machine::Node(node), mut cx) = self.lend(now) {
            node.report(&mut cx, now.symbols(), measurements);
        }
    }

    /// Does something with the border router.
    pub(crate) fn with_gateway<T>(
        &mut self,
        now: Time,
        act: impl FnOnce(&mut SimulatedGateway, &mut Context<'_>) -> T,
    ) -> Option<T> {
        match self.lend(now) {
            (Machine::Gateway(gateway), mut cx) => Some(act(gateway, &mut cx)),
            _ => None,
        }
    }

    /// Lets the radio do what the machine says, and sets the timers. Whether a transmission of
    /// [`Station::on_air`] begins.
    pub(crate) fn settle(&mut self, now: Time, events: &mut Events<Scheduled>) -> bool {
        if let Machine::Board(_) = self.machine {
            return self.settle_board(now, events);
        }
        let mut transmits = false;
        while let Some(command) = self.machine.native().and_then(Native::poll_radio) {
            match command {
                RadioCommand::Cca => {
                    let made = self.made(now);
                    self.assess(made, events);
                }
                RadioCommand::Transmit => {
                    self.cca_end = None;
                    let frame = self.machine.native().map_or(&[][..], Native::transmit_frame);
                    self.on_air_len = frame.len().min(MAX_FRAME);
                    self.on_air[..self.on_air_len].copy_from_slice(&frame[..self.on_air_len]);
                    transmits = true;
                }
            }
        }
        let (radio, timer) = self.machine.native().map_or((None, None), Native::timeouts);
        self.set_timers(now, events, radio, timer);
        transmits
    }

    /// When the frame is made that the machine is about to send: it was begun with when the one before it was out.
    fn made(&mut self, now: Time) -> Time {
        let Some(pace) = &self.pace else { return now };
        let len = self.machine.native().map_or(0, |native| native.transmit_frame().len());
        let begun = if now.since(self.sent) <= PAUSE { self.sent } else { now };
        now.max(begun + pace.frame(len))
    }

    fn assess(&mut self, now: Time, events: &mut Events<Scheduled>) {
        let end = now.symbol_boundary() + CCA;
        self.cca_end = Some(end);
        events.push(end, Owner::Node(self.id), Scheduled::CcaEnds);
    }

    fn set_timers(
        &mut self,
        now: Time,
        events: &mut Events<Scheduled>,
        radio: Option<Symbols>,
        timer: Option<Instant>,
    ) {
        let owner = Owner::Node(self.id);
        if let Some(time) = self.radio_timer.set(radio.map(|deadline| now.of_symbols(deadline))) {
            events.push(time, owner, Scheduled::RadioTimer);
        }
        if let Some(time) = self.timer.set(timer.map(|deadline| now.of_instant(deadline))) {
            events.push(time, owner, Scheduled::Timer);
        }
    }

    /// The same for a board: what its task brought about, if one ends now, and the next task.
    fn settle_board(&mut self, now: Time, events: &mut Events<Scheduled>) -> bool {
        let Machine::Board(board) = &mut self.machine else { return false };
        let wishes = board.poll_wishes(now);
        let transmission = board.poll_transmission(now);
        let task_ends = board.begin_task(now, &mut self.counters);
        if let Some(end) = task_ends {
            self.cpu.work(now, end);
        }
        let wake_ups = [task_ends, board.poll_acknowledgement()];
        if let Some(Wishes { command, radio_timer, timer, news }) = wishes {
            self.news = Some(news);
            match command {
                Command::Cca => self.assess(now, events),
                Command::Transmit => self.cca_end = None,
                _ => {}
            }
            self.set_timers(now, events, radio_timer, timer);
        }
        let owner = Owner::Node(self.id);
        for (timer, happening) in
            [(&mut self.radio_timer, Scheduled::RadioTimer), (&mut self.timer, Scheduled::Timer)]
        {
            if let Some(time) = timer.set_again(now) {
                events.push(time, owner, happening);
            }
        }
        for time in wake_ups.into_iter().flatten() {
            events.push(time, owner, Scheduled::Board);
        }
        let Some(frame) = transmission else { return false };
        self.on_air_len = frame.len().min(MAX_FRAME);
        self.on_air[..self.on_air_len].copy_from_slice(&frame[..self.on_air_len]);
        self.counters.count(Counter::FramesSent);
        self.counters.add(Counter::BytesSent, frame.len() as u32);
        true
    }

    /// The frame on the air.
    pub(crate) fn on_air(&self) -> &[u8] {
        &self.on_air[..self.on_air_len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_hands_out_each_counter_once_and_then_no_more() {
        let mut memory = Memory::default();
        let slot = NvSlot::LinkFrameCounter;
        assert_eq!(memory.reserve(slot, 1024), Ok(0));
        assert_eq!(memory.reserve(slot, u32::MAX - 1024), Ok(1024));
        assert_eq!(memory.reserve(slot, 1), Err(NvError::Exhausted));
    }
}
