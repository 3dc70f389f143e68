//! What the radio does, and when: from slot to slot, and inside each.

use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv, Slot, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::MAX_FRAME;
use sixlock_ieee802154::enhanced::{Asn, TimeCorrection, Timeslot, TimeslotTimes};

use super::clock::SlotClock;
use super::config::TschConfig;
use super::schedule::{self, Cell, Slotframes};
use super::security::{Reserved, SlotSecurity};
use super::times::Times;
use crate::airtime::airtime;
use crate::event::{BROADCAST, Event, Outcome};
use crate::link::LinkLayer;
use crate::neighbours::Neighbours;
use crate::queue::Queue;
use crate::radio::RadioCommand;

/// How long before a slot begins a device prepares for it, in symbols: the time to seal a frame, and to tune the radio.
const LEAD: u32 = 32;

/// How long a device that has not joined listens on a channel, in symbols: two seconds.
const SCAN: u32 = 125_000;

/// After how many symbols without a frame of its time source a device asks it for the time: ten seconds.
const KEEP_ALIVE: u32 = 625_000;

/// After how many symbols without one it has lost the network: the wait of 1.1 ms on either side of a frame lasts 13.75 s when two clocks
/// drift apart by 80 parts in a million.
const LOST: u32 = 859_375;

/// Where a device stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It was not started.
    Stopped,
    /// It listens for a beacon until a time, and then on another channel.
    Scan,
    /// Its radio is off until a time at which it prepares for a slot.
    Sleep,
    /// It listens until the time at which a frame should have begun.
    Listen,
    /// It assesses whether one has.
    Detect,
    /// One has: it listens until the time at which the longest would be over.
    Receive,
    /// It was told to send an acknowledgement.
    Acknowledge,
    /// It was told to send a frame.
    Send,
    /// It listens for the acknowledgement of that, and the same two steps again.
    AwaitAck,
    DetectAck,
    ReceiveAck,
}

/// What is sent in a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    Beacon,
    /// The first frame of the queue.
    Frame,
    /// A frame without a payload, for the acknowledgement, which tells the time.
    KeepAlive,
}

/// A MAC that is in time slots, made, and as large, as `L` says.
pub struct Tsch<C: Crypto, L: LinkLayer> {
    pub(super) address: Eui64,
    pub(super) pan_id: u16,
    pub(super) is_coordinator: bool,
    pub(super) slotframes: Slotframes,
    pub(super) beacon_period: u16,
    backoff: (u8, u8),
    max_retries: u8,
    pub(super) security: Slot<SlotSecurity<C>>,
    pub(super) timeslot: Timeslot,
    pub(super) times: Times,
    pub(super) clock: SlotClock,
    pub(super) reserved: Reserved,
    /// What beacons say of how near the coordinator is; none are sent without.
    pub(super) join_metric: Option<u8>,
    /// From when on a beacon is due.
    pub(super) beacon_due: Asn,
    pub(super) time_source: Option<Eui64>,
    /// When a frame of the time source was heard last.
    synchronized: Symbols,
    pub(super) sequence: Option<u8>,
    pub(super) neighbours: Neighbours<L::Neighbours>,
    pub(super) queue: Queue<L::Queue>,
    retries: u8,
    exponent: u8,
    /// So many links to the neighbour of the first frame are left to others.
    skips: u16,
    pub(super) step: Step,
    at: Symbols,
    sending: Sending,
    scans: u8,
    /// The frame on the air, sealed.
    pub(super) out: [u8; MAX_FRAME],
    pub(super) out_len: u8,
    command: Option<RadioCommand>,
    channel: u8,
}

impl<C: Crypto, L: LinkLayer> Tsch<C, L> {
    /// A MAC that has sent and heard nothing, of no device yet: [`Tsch::start`] says of which.
    pub const fn new() -> Self {
        let Some(first) = Asn::new(0) else { unreachable!() };
        Self {
            address: Eui64([0; 8]),
            pan_id: 0,
            is_coordinator: false,
            slotframes: Slotframes { shared: 1, unicast: None },
            beacon_period: 1,
            backoff: (0, 0),
            max_retries: 0,
            security: Slot::Empty,
            timeslot: Timeslot { template: 0, times: None },
            times: Times::of(&TimeslotTimes::DEFAULT),
            clock: SlotClock { asn: first, begin: Symbols::new(0) },
            reserved: Reserved::new(),
            join_metric: None,
            beacon_due: first,
            time_source: None,
            synchronized: Symbols::new(0),
            sequence: None,
            neighbours: Neighbours::new(),
            queue: Queue::new(),
            retries: 0,
            exponent: 0,
            skips: 0,
            step: Step::Stopped,
            at: Symbols::new(0),
            sending: Sending::Frame,
            scans: 0,
            out: [0; MAX_FRAME],
            out_len: 0,
            command: None,
            channel: schedule::scanned(0),
        }
    }

    /// Makes it a device's, at the time `at`; to be called first, and once. False, and without effect, if frames cannot be secured as
    /// `config` says: its suite has no MIC, or a coordinator's storage does not say from which slot on it may count.
    pub fn start<E: Entropy, N: Nv>(
        &mut self,
        config: &TschConfig,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
    ) -> bool {
        let security = match config.security.as_ref().map(|security| SlotSecurity::new(security, cx.crypto)) {
            Some(None) => return false,
            Some(Some(security)) => Slot::Full(security),
            None => Slot::Empty,
        };
        let first = match (config.is_coordinator && security.is_full(), Asn::new(0)) {
            (true, _) => self.reserved.first(cx.nv).ok(),
            (false, first) => first,
        };
        let Some(first) = first else { return false };
        self.security = security;
        self.address = config.address;
        self.pan_id = config.pan_id;
        self.is_coordinator = config.is_coordinator;
        self.slotframes = config.slotframes;
        self.set_timeslot(config.timeslot);
        self.beacon_period = config.beacon_period.max(1);
        self.backoff = config.backoff;
        self.max_retries = config.max_retries;
        self.exponent = config.backoff.0;
        if self.is_coordinator {
            self.join_metric = Some(0);
            self.clock = SlotClock { asn: first, begin: at.after(2 * LEAD) };
            self.beacon_due = first;
            self.sleep(at);
        } else {
            self.scan(at);
        }
        true
    }

    /// Whether it has joined a network, or is its coordinator.
    pub fn has_joined(&self) -> bool {
        !matches!(self.step, Step::Stopped | Step::Scan)
    }

    /// The slot before whose begin, or in which, it is.
    pub fn asn(&self) -> Asn {
        self.clock.asn
    }

    /// The device's own address.
    pub fn address(&self) -> Eui64 {
        self.address
    }

    /// The neighbour whose clock it follows.
    pub fn time_source(&self) -> Option<Eui64> {
        self.time_source
    }

    /// From now on it follows this neighbour's clock, such as that of a routing protocol's parent
    /// ([RFC 8180 section 6.2](https://www.rfc-editor.org/rfc/rfc8180#section-6.2)).
    pub fn set_time_source(&mut self, neighbour: Eui64) {
        if !self.is_coordinator && self.has_joined() {
            self.time_source = Some(neighbour);
        }
    }

    /// Tells how near the coordinator is, 0 being that itself, or that it does not know any more. Only a device that knows sends beacons
    /// ([RFC 8180 section 6.3](https://www.rfc-editor.org/rfc/rfc8180#section-6.3)).
    pub fn set_join_metric(&mut self, join_metric: Option<u8>) {
        if !self.is_coordinator {
            self.join_metric = join_metric;
        }
    }

    pub(super) fn set_timeslot(&mut self, timeslot: Timeslot) {
        self.timeslot = timeslot;
        self.times = Times::of(&timeslot.times.unwrap_or(TimeslotTimes::DEFAULT));
    }

    /// What has happened since.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.queue.take_finished()
    }

    /// What the radio is to do next, once, as soon as that is known: on [`Tsch::channel`], to which it changes at once.
    pub fn poll_radio(&mut self) -> Option<RadioCommand> {
        self.command.take()
    }

    /// The channel of 2.4 GHz that the radio is on, 11 to 26.
    pub fn channel(&self) -> u8 {
        self.channel
    }

    /// The frame being sent, FCS included.
    pub fn transmit_frame(&self) -> &[u8] {
        match self.step {
            Step::Send | Step::Acknowledge => &self.out[..usize::from(self.out_len)],
            _ => &[],
        }
    }

    /// When to call [`Tsch::handle_timeout`]: at once if that has passed.
    pub fn poll_timeout(&self) -> Option<Symbols> {
        let waits = !matches!(
            self.step,
            Step::Stopped | Step::Detect | Step::DetectAck | Step::Send | Step::Acknowledge
        );
        waits.then_some(self.at)
    }

    fn enter(&mut self, step: Step, at: Symbols) {
        (self.step, self.at) = (step, at);
    }

    /// Listens for beacons.
    fn scan(&mut self, at: Symbols) {
        self.scans = self.scans.wrapping_add(1);
        self.channel = schedule::scanned(self.scans);
        self.command = Some(RadioCommand::Listen { at });
        self.enter(Step::Scan, at.after(SCAN));
    }

    /// Has joined by a beacon: this is the slot in which it was sent, and when that began.
    pub(super) fn join(&mut self, at: Symbols, clock: SlotClock, time_source: Eui64) {
        self.clock = clock;
        (self.time_source, self.synchronized) = (Some(time_source), at);
        self.beacon_due = clock.asn;
        self.sleep(at);
    }

    /// What is to be sent next beside beacons, and to whom. The time goes first, so that other traffic does not cost the network.
    fn head(&self) -> Option<(Sending, Eui64)> {
        let frame = self.queue.current().map(|frame| (Sending::Frame, frame.destination()));
        let asks = (!self.is_coordinator && self.silence(self.clock.begin) >= KEEP_ALIVE)
            .then_some(self.time_source)
            .flatten();
        match (asks, frame) {
            (Some(time_source), Some((_, to))) if to == time_source => frame,
            (Some(time_source), _) => Some((Sending::KeepAlive, time_source)),
            (None, frame) => frame,
        }
    }

    /// The neighbour that it is for.
    fn neighbour(&self) -> Option<Eui64> {
        self.head().map(|(_, to)| to).filter(|&to| to != BROADCAST)
    }

    /// Whom the frame on the air is for, and its sequence number, if it is acknowledged.
    pub(super) fn awaited(&self) -> Option<(Eui64, u8)> {
        match self.sending {
            Sending::Beacon => None,
            Sending::Frame => {
                let frame = self.queue.current()?;
                Some((frame.destination(), frame.sequence))
            }
            Sending::KeepAlive => self.time_source.zip(self.sequence),
        }
    }

    /// For how long nothing of the time source was heard.
    fn silence(&self, at: Symbols) -> u32 {
        let silence = at.count().wrapping_sub(self.synchronized.count());
        // What was heard in a slot that has not begun yet by the own clock.
        if silence > 1 << 31 { 0 } else { silence }
    }

    /// Turns the radio off until the next slot with a link.
    pub(super) fn sleep(&mut self, at: Symbols) {
        self.command = Some(RadioCommand::Off { at });
        self.wait(at);
    }

    /// The same, with the radio as it is.
    fn wait(&mut self, at: Symbols) {
        let to = self.neighbour();
        let mut from = Some(self.clock.asn);
        while let Some(next) = from.and_then(|from| self.slotframes.next(from, self.address, to)) {
            let prepared = self.clock.begin_of(next, self.times.slot).before(LEAD);
            if !at.has_reached(prepared) {
                self.clock.advance(next, self.times.slot);
                return self.enter(Step::Sleep, prepared);
            }
            from = next.after(1);
        }
        // There are no slots any more.
        self.enter(Step::Stopped, at);
    }

    /// Does what is due.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if !self.poll_timeout().is_some_and(|due| at.has_reached(due)) {
            return;
        }
        match self.step {
            Step::Scan => self.scan(at),
            Step::Sleep => self.begin_slot(cx, at),
            Step::Listen => self.detect(Step::Detect, at),
            Step::AwaitAck => self.detect(Step::DetectAck, at),
            Step::Receive => self.sleep(at),
            Step::ReceiveAck => self.not_acknowledged(cx, at),
            _ => {}
        }
    }

    fn detect(&mut self, step: Step, at: Symbols) {
        self.command = Some(RadioCommand::Assess { at, times: 1, apart: 0 });
        self.enter(step, at);
    }

    /// Takes in whether the channel was clear, as an assessment that ended at `at` has found.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        match (self.step, clear) {
            (Step::Detect, true) => self.sleep(at),
            (Step::Detect, false) => self.enter(Step::Receive, at.after(self.times.max_transmit)),
            (Step::DetectAck, true) => self.not_acknowledged(cx, at),
            (Step::DetectAck, false) => self.enter(Step::ReceiveAck, at.after(self.times.max_ack)),
            _ => {}
        }
    }

    /// Prepares for the slot that is about to begin.
    fn begin_slot<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if !self.is_coordinator && self.silence(at) >= LOST {
            self.time_source = None;
            return self.scan(at);
        }
        let (asn, begin) = (self.clock.asn, self.clock.begin);
        let cell = self.slotframes.cell(asn, self.address, self.neighbour());
        let Some(cell) = cell.filter(|_| !at.has_reached(begin.after(self.times.transmit_offset))) else {
            // It was too busy to be in time.
            return self.wait(at);
        };
        self.channel = cell.channel;
        if let Some(sending) = self.choose(cell)
            && self.may_send(cx, asn)
            && self.write(cx, asn, sending)
        {
            self.sending = sending;
            let at = begin.after(self.times.transmit_offset);
            self.command = Some(RadioCommand::Send { at, assess: false });
            self.enter(Step::Send, at);
        } else if cell.listens {
            let at = begin.after(self.times.receive_offset);
            self.command = Some(RadioCommand::Listen { at });
            self.enter(Step::Listen, at.after(self.times.receive_wait));
        } else {
            self.wait(at);
        }
    }

    /// What to send in a slot, if anything.
    fn choose(&mut self, cell: Cell) -> Option<Sending> {
        if cell.sends_to_all && self.join_metric.is_some() && self.clock.asn >= self.beacon_due {
            return Some(Sending::Beacon);
        }
        let (sending, to) = self.head()?;
        let is_link = if to == BROADCAST { cell.sends_to_all } else { cell.sends_to_one };
        if !is_link {
            return None;
        }
        if self.skips > 0 {
            self.skips -= 1;
            return None;
        }
        Some(sending)
    }

    /// Whether a frame may be sent in this slot.
    pub(super) fn may_send<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, asn: Asn) -> bool {
        if !self.security.is_full() {
            return true;
        }
        self.reserved.take(cx.nv, asn).unwrap_or_else(|_| {
            cx.counters.count(Counter::MacCounterExhausted);
            false
        })
    }

    /// Takes in that the last symbol of [`Tsch::transmit_frame`] went out at `at`.
    pub fn handle_transmitted<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if !matches!(self.step, Step::Send | Step::Acknowledge) {
            return;
        }
        cx.counters.count(Counter::FramesSent);
        cx.counters.add(Counter::BytesSent, u32::from(self.out_len));
        match (self.step, self.sending) {
            (Step::Acknowledge, _) => self.sleep(at),
            (_, Sending::Beacon) => {
                let period = u32::from(self.beacon_period);
                let earlier = cx.entropy.next_u32() % (period / 4 + 1);
                self.beacon_due = self.clock.asn.after(u64::from(period - earlier)).unwrap_or(Asn::MAX);
                self.sleep(at);
            }
            (_, Sending::Frame) if self.awaited().is_some_and(|(to, _)| to == BROADCAST) => {
                self.finish(at, Outcome::Delivered)
            }
            _ => {
                let from = at.after(self.times.receive_ack_delay);
                self.command = Some(RadioCommand::Listen { at: from });
                self.enter(Step::AwaitAck, from.after(self.times.ack_wait));
            }
        }
    }

    /// Takes in the acknowledgement of what was sent.
    pub(super) fn acknowledged(&mut self, at: Symbols, from: Eui64, correction: TimeCorrection) {
        if self.time_source == Some(from) {
            self.synchronize(at, i32::from(correction.microseconds) / super::times::SYMBOL.cast_signed());
        }
        self.exponent = self.backoff.0;
        match self.sending {
            _ if correction.is_nack => self.finish(at, Outcome::NoAck),
            Sending::Frame => self.finish(at, Outcome::Delivered),
            _ => self.sleep(at),
        }
    }

    fn not_acknowledged<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        let window = 1u32 << self.exponent.min(8);
        self.skips = (cx.entropy.next_u32() % window) as u16;
        self.exponent = self.exponent.saturating_add(1).min(self.backoff.1);
        if self.sending != Sending::Frame {
            return self.sleep(at);
        }
        if self.retries < self.max_retries {
            self.retries += 1;
            cx.counters.count(Counter::MacRetries);
            return self.sleep(at);
        }
        cx.counters.count(Counter::MacNoAck);
        self.finish(at, Outcome::NoAck);
    }

    fn finish(&mut self, at: Symbols, outcome: Outcome) {
        self.queue.finish(outcome, self.retries.saturating_add(1));
        self.retries = 0;
        self.sleep(at);
    }

    /// Moves its slots by so many symbols, as its time source says.
    pub(super) fn synchronize(&mut self, at: Symbols, symbols: i32) {
        self.clock.correct(symbols);
        self.synchronized = at;
    }

    /// Sends the acknowledgement in `out` a turnaround after a frame whose last symbol came in at `at`.
    pub(super) fn acknowledge(&mut self, at: Symbols) {
        let at = at.after(self.times.transmit_ack_delay);
        self.command = Some(RadioCommand::Send { at, assess: false });
        self.enter(Step::Acknowledge, at);
    }

    /// By how many symbols a frame of `len` bytes, whose last came in at `at`, came later than it should have.
    pub(super) fn lateness(&self, at: Symbols, len: usize) -> i32 {
        let expected = self.clock.begin.after(self.times.transmit_offset).after(airtime(len));
        at.count().wrapping_sub(expected.count()).cast_signed()
    }
}

impl<C: Crypto, L: LinkLayer> Default for Tsch<C, L> {
    fn default() -> Self {
        Self::new()
    }
}
