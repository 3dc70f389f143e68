//! What the radio does, and when: from slot to slot, and inside each.

use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv, Slot, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::MAX_FRAME;
use sixlock_ieee802154::enhanced::{Asn, Synchronization, TimeCorrection, Timeslot, TimeslotTimes};

use super::clock::SlotClock;
use super::config::TschConfig;
use super::contention::Contention;
use super::schedule::{self, Cell, Slotframes, Station};
use super::security::{Reserved, SlotSecurity};
use super::times::{SYMBOL, Times};
use crate::airtime::airtime;
use crate::event::{BROADCAST, Event, Outcome};
use crate::layer::RadioCommand;
use crate::link::LinkLayer;
use crate::neighbours::Neighbours;
use crate::queue::{Frame, Queue};
use crate::{Config, Csma};

/// How long before a slot begins a device prepares for it, in symbols: the time to seal a frame, and to tune the radio.
const LEAD: u32 = 32;

/// How long a device that has not joined listens on a channel, in symbols: two seconds.
const SCAN: u32 = 125_000;

/// On how many channels a device listens, one after the other, when it looks for a network: at its start, so that a network may form meanwhile, for
/// twenty minutes; when it has lost one, for five; and then each time for as long as 16 beacons of a neighbour take, one for each channel.
const FIRST_SEARCH: u16 = 600;
const SEARCH: u16 = 150;
const SEARCH_AGAIN: u16 = 32;

/// For how many symbols its radio is off when it has not found any: 16 seconds, and each time twice as long, up to ten minutes.
const FIRST_REST: u32 = 1_000_000;
const LAST_REST: u32 = 37_500_000;

/// After how many symbols without a frame of its time source a device that knows its drift listens to that one's beacon: five seconds.
const LISTEN_AGAIN: u32 = 312_500;

/// After how many symbols without a frame of its time source a device asks it for the time: ten seconds.
const KEEP_ALIVE: u32 = 625_000;

/// After how many symbols without one it has lost the network: nineteen seconds. In 13.75 s two clocks that nobody corrects drift out of the
/// 1.1 ms for which a device listens on either side of a frame, when they are 80 parts in a million apart.
const LOST: u32 = 1_187_500;

/// For how many symbols a device listens before and after a frame should begin at most: 1.5 ms.
const MOST_GUARD: u32 = 94;

/// A device listens longer by one in 2^this of the time for which it was not told what time it is: 122 parts in a million, and when it knows
/// how it drifts, 15.
const DRIFTS: u32 = 13;
const DRIFTS_STEADILY: u32 = 16;

/// So often a device that has lost the network listens on a channel before it takes beacons of those who are no nearer to the coordinator
/// than it was: 96 seconds.
const PATIENCE: u8 = 48;

/// So many frames go to a neighbour one behind the other, and then others may send to it.
const BURST: u8 = 8;

/// Where a device stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It was not started.
    Stopped,
    /// It listens for a beacon until a time, and then on another channel.
    Scan,
    /// It has heard none, and its radio is off until a time.
    Rest,
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

/// What goes on in the slot behind one with a frame that told of another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Burst {
    /// The next frame for this neighbour is sent.
    Send(Eui64),
    /// The next frame of the same neighbour comes.
    Listen,
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
    guard: Option<u16>,
    /// When it was told of its slots.
    told_at: Symbols,
    csma: Csma,
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
    /// What that one's last beacon said of how near the coordinator is.
    source_metric: Option<u8>,
    /// Whether its own join metric follows from that.
    derives_metric: bool,
    /// The next slot that it is to do something in.
    next: Asn,
    /// When a frame of the time source was heard last.
    synchronized: Symbols,
    pub(super) sequence: Option<u8>,
    pub(super) neighbours: Neighbours<L::Neighbours>,
    pub(super) queue: Queue<L::Queue>,
    contention: Contention,
    /// What goes on in the next slot, if that follows from this one; and how many frames have gone to a neighbour so.
    burst: Slot<Burst>,
    in_burst: u8,
    /// Whether it listens for such a frame of a neighbour in this slot; and whether one such slot was in vain.
    listens_on: bool,
    was_in_vain: bool,
    /// Whether the frame on the air tells of another.
    pub(super) is_followed: bool,
    pub(super) step: Step,
    at: Symbols,
    sending: Sending,
    /// Whose acknowledgement is awaited, and of which sequence number.
    pub(super) awaited: Option<(Eui64, u8)>,
    scans: u8,
    /// On how many more channels it listens before it rests, and for how long then.
    left: u16,
    rest: u32,
    /// How many more times it listens for those only who are nearer to the coordinator than it was.
    patience: u8,
    /// The frame on the air, sealed.
    pub(super) out: [u8; MAX_FRAME],
    pub(super) out_len: u8,
    command: Slot<RadioCommand>,
    /// Whether the time has come for that.
    is_due: bool,
    channel: u8,
}

impl<C: Crypto, L: LinkLayer> Tsch<C, L> {
    /// A MAC that has sent and heard nothing, of no device yet: [`Tsch::start`] says of which. It is all zero bytes.
    pub const fn new() -> Self {
        let Some(first) = Asn::new(0) else { unreachable!() };
        Self {
            address: Eui64([0; 8]),
            pan_id: 0,
            is_coordinator: false,
            slotframes: Slotframes { shared: 0, beacons: None, unicast: None },
            beacon_period: 0,
            guard: None,
            told_at: Symbols::new(0),
            csma: Csma::NONE,
            security: Slot::Empty,
            timeslot: Timeslot { template: 0, times: None },
            times: Times::NONE,
            clock: SlotClock::new(first, Symbols::new(0)),
            reserved: Reserved::new(),
            join_metric: None,
            beacon_due: first,
            time_source: None,
            source_metric: None,
            derives_metric: false,
            next: first,
            synchronized: Symbols::new(0),
            sequence: None,
            neighbours: Neighbours::new(),
            queue: Queue::new(),
            contention: Contention::new(),
            burst: Slot::Empty,
            in_burst: 0,
            listens_on: false,
            was_in_vain: false,
            is_followed: false,
            step: Step::Stopped,
            at: Symbols::new(0),
            sending: Sending::Beacon,
            awaited: None,
            scans: 0,
            left: 0,
            rest: 0,
            patience: 0,
            out: [0; MAX_FRAME],
            out_len: 0,
            command: Slot::Empty,
            is_due: false,
            channel: 0,
        }
    }

    /// Tells it of its slots, at the time `at`, at which it begins with them; to be called first.
    pub fn set_slots(&mut self, slots: &TschConfig, at: Symbols) {
        let TschConfig { is_coordinator, slotframes, timeslot, beacon_period, guard } = *slots;
        (self.is_coordinator, self.slotframes) = (is_coordinator, slotframes);
        self.set_timeslot(timeslot);
        self.beacon_period = beacon_period.max(1);
        (self.guard, self.told_at) = (guard, at);
    }

    /// Makes it a device's; to be called behind [`Tsch::set_slots`], and once. Of [`Csma`] it takes the exponents of the back-off in links that
    /// several send in, and the retries; it acknowledges and asks for acknowledgements in any case. False, and without effect, if frames
    /// cannot be secured as `config` says: the link is not [`SECURED`](LinkLayer::SECURED), its suite has no MIC
    /// ([RFC 8180 section 4.6](https://www.rfc-editor.org/rfc/rfc8180#section-4.6)), or a coordinator's storage does not say from which slot on it
    /// may count.
    pub fn start<E: Entropy, N: Nv>(&mut self, config: &Config, cx: &mut Cx<'_, C, E, N>) -> bool {
        let security = match &config.security {
            None => Slot::Empty,
            Some(_) if !L::SECURED => return false,
            Some(security) => match SlotSecurity::new(security, cx.crypto) {
                None => return false,
                Some(security) => Slot::Full(security),
            },
        };
        let first = match (self.is_coordinator && security.is_full(), Asn::new(0)) {
            (true, _) => self.reserved.first(cx.nv).ok(),
            (false, first) => first,
        };
        let Some(first) = first else { return false };
        self.security = security;
        (self.address, self.pan_id, self.csma) = (config.address, config.pan_id, config.csma);
        self.channel = schedule::scanned(self.scans);
        if self.is_coordinator {
            self.join_metric = Some(0);
            self.clock.set(first, self.told_at.after(2 * LEAD));
            self.beacon_due = first;
            self.sleep(self.told_at);
        } else {
            self.search(self.told_at, FIRST_SEARCH);
        }
        true
    }

    /// What secures its frames, if anything does.
    pub(super) fn security(&self) -> Option<&SlotSecurity<C>> {
        if L::SECURED { self.security.get() } else { None }
    }

    /// Whether it has joined a network, or is its coordinator.
    pub fn has_joined(&self) -> bool {
        !matches!(self.step, Step::Stopped | Step::Scan | Step::Rest)
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
        if !self.is_coordinator && self.has_joined() && self.time_source != Some(neighbour) {
            (self.time_source, self.source_metric) = (Some(neighbour), None);
            self.clock.follow_another();
        }
    }

    /// Tells how near the coordinator is, 0 being that itself, or that it does not know any more. Only a device that knows sends beacons
    /// ([RFC 8180 section 6.3](https://www.rfc-editor.org/rfc/rfc8180#section-6.3)).
    pub fn set_join_metric(&mut self, join_metric: Option<u8>) {
        if !self.is_coordinator {
            self.join_metric = join_metric;
            self.derives_metric = false;
        }
    }

    /// Follows the clock of the neighbour that packets go to which leave the network, if there is one, and tells how near the coordinator is:
    /// where only the neighbour is known, one further than that says in its beacons.
    pub fn follow(&mut self, at: Symbols, parent: Option<Eui64>, join_metric: Option<u8>) {
        if self.is_coordinator || !self.has_joined() {
            return;
        }
        let before = (self.time_source, self.join_metric.is_some());
        if let Some(parent) = parent {
            self.set_time_source(parent);
        }
        self.set_join_metric(join_metric);
        if parent.is_some() && join_metric.is_none() {
            self.derives_metric = true;
            self.derive_metric();
        }
        if before != (self.time_source, self.join_metric.is_some()) {
            self.look_again(at);
        }
    }

    fn derive_metric(&mut self) {
        if self.derives_metric {
            self.join_metric = self.source_metric.and_then(|metric| metric.checked_add(1));
        }
    }

    /// A beacon has told how near its sender is to the coordinator.
    pub(super) fn hear_metric(&mut self, from: Eui64, join_metric: u8) {
        if !self.is_coordinator && self.time_source == Some(from) {
            self.source_metric = Some(join_metric);
            self.derive_metric();
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
        self.is_due = false;
        self.command.take()
    }

    /// The same when its time has come, as [`Tsch::handle_timeout`] was told: for a driver that can do things at once only.
    pub fn poll_radio_due(&mut self) -> Option<RadioCommand> {
        if self.is_due { self.poll_radio() } else { None }
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
        if let Some(command) = self.command.get() {
            return Some(command.at());
        }
        let waits = !matches!(
            self.step,
            Step::Stopped | Step::Detect | Step::DetectAck | Step::Send | Step::Acknowledge
        );
        waits.then_some(self.at)
    }

    fn enter(&mut self, step: Step, at: Symbols) {
        (self.step, self.at) = (step, at);
    }

    /// Looks for a network, on so many channels at first.
    fn search(&mut self, at: Symbols, first: u16) {
        (self.left, self.rest) = (first, FIRST_REST);
        self.scan(at);
    }

    /// Listens for beacons, or rests.
    fn scan(&mut self, at: Symbols) {
        let Some(left) = self.left.checked_sub(1) else {
            self.command = Slot::Full(RadioCommand::Off { at });
            self.enter(Step::Rest, at.after(self.rest));
            (self.left, self.rest) = (SEARCH_AGAIN, (self.rest * 2).min(LAST_REST));
            return;
        };
        self.left = left;
        self.scans = self.scans.wrapping_add(1);
        self.patience = self.patience.saturating_sub(1);
        self.channel = schedule::scanned(self.scans);
        self.command = Slot::Full(RadioCommand::Listen { at });
        self.enter(Step::Scan, at.after(SCAN));
    }

    /// Whether to join by a beacon of `len` bytes, whose last symbol came in at `at`. Those who have lost the coordinator could else follow
    /// each other for ever: in the network that it had, it joins by those who are nearer to the coordinator than it was, as long as there may be
    /// any.
    pub(super) fn leads_nearer(&self, at: Symbols, len: usize, told: Synchronization) -> bool {
        let asn = told.asn;
        let expected = self.clock.begin_of(asn, self.times.slot);
        let begin = at.before(airtime(len)).before(self.times.transmit_offset);
        let apart = begin.count().wrapping_sub(expected.count()).cast_signed().unsigned_abs();
        let is_same = asn >= self.clock.asn && apart < self.times.slot;
        let is_nearer = self.join_metric.is_none_or(|own| told.join_metric < own);
        self.patience == 0 || !is_same || is_nearer
    }

    /// Has joined by a beacon: this is the slot in which it was sent, and when that began.
    pub(super) fn join(&mut self, at: Symbols, (asn, begin): (Asn, Symbols), time_source: Eui64) {
        self.clock.set(asn, begin);
        (self.time_source, self.source_metric, self.synchronized) = (Some(time_source), None, at);
        self.beacon_due = asn;
        self.patience = 0;
        self.sleep(at);
    }

    /// What of the schedule is its own.
    fn station(&self) -> Station {
        Station {
            own: self.address,
            is_coordinator: self.is_coordinator,
            coordinator: self.time_source.filter(|_| self.source_metric == Some(0)),
            time_source: self.time_source,
            tells: self.join_metric.is_some(),
        }
    }

    /// The time source, if it is to be asked for the time.
    fn asks(&self, at: Symbols) -> Option<Eui64> {
        self.time_source.filter(|_| !self.is_coordinator && self.silence(at) >= KEEP_ALIVE)
    }

    /// The neighbours that it has something for.
    fn neighbours_waited_for(&self, at: Symbols) -> impl Iterator<Item = Eui64> + '_ {
        let frames = self.queue.waiting().map(Frame::destination).filter(|&to| to != BROADCAST);
        frames.chain(self.asks(at))
    }

    /// For how long nothing of the time source was heard.
    fn silence(&self, at: Symbols) -> u32 {
        let silence = at.count().wrapping_sub(self.synchronized.count());
        // What was heard in a slot that has not begun yet by the own clock.
        if silence > 1 << 31 { 0 } else { silence }
    }

    /// Turns the radio off until the next slot with a link.
    pub(super) fn sleep(&mut self, at: Symbols) {
        self.command = Slot::Full(RadioCommand::Off { at });
        self.wait(at);
    }

    /// The same, with the radio as it is.
    fn wait(&mut self, at: Symbols) {
        if self.burst.is_full()
            && let Some(next) = self.clock.asn.after(1)
        {
            let prepared = self.clock.begin_of(next, self.times.slot).before(LEAD);
            if !at.has_reached(prepared) {
                self.next = next;
                return self.enter(Step::Sleep, prepared);
            }
        }
        self.burst = Slot::Empty;
        let station = self.station();
        let mut from = Some(self.clock.asn);
        while let Some(next) =
            from.and_then(|from| self.slotframes.next(from, &station, self.neighbours_waited_for(at)))
        {
            let prepared = self.clock.begin_of(next, self.times.slot).before(LEAD);
            if !at.has_reached(prepared) {
                self.next = next;
                return self.enter(Step::Sleep, prepared);
            }
            from = next.after(1);
        }
        // There are no slots any more.
        self.enter(Step::Stopped, at);
    }

    /// Looks again for the next slot, if it sleeps: there may be a nearer one now.
    pub(super) fn look_again(&mut self, at: Symbols) {
        if self.step == Step::Sleep {
            self.wait(at);
        }
    }

    /// Does what is due.
    pub fn handle_timeout<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if !self.poll_timeout().is_some_and(|due| at.has_reached(due)) {
            return;
        }
        if self.command.is_full() {
            self.is_due = true;
            return;
        }
        match self.step {
            Step::Scan | Step::Rest => self.scan(at),
            Step::Sleep => self.begin_slot(cx, at),
            Step::Listen => self.detect(Step::Detect, at),
            Step::AwaitAck => self.detect(Step::DetectAck, at),
            Step::Receive => {
                self.listen_on();
                self.sleep(at);
            }
            Step::ReceiveAck => self.not_acknowledged(cx, at),
            _ => {}
        }
    }

    /// The frame that was told of has not come: it listens once more, as the frame is sent once more in the next slot.
    fn listen_on(&mut self) {
        if self.listens_on && !core::mem::replace(&mut self.was_in_vain, true) {
            self.burst = Slot::Full(Burst::Listen);
        }
    }

    fn detect(&mut self, step: Step, at: Symbols) {
        self.command = Slot::Full(RadioCommand::Assess { at, times: 1, apart: 0 });
        self.enter(step, at);
    }

    /// Takes in whether the channel was clear, as an assessment that ended at `at` has found.
    pub fn handle_cca<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols, clear: bool) {
        match (self.step, clear) {
            (Step::Detect, true) => {
                self.listen_on();
                self.sleep(at);
            }
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
            self.patience = PATIENCE;
            return self.search(at, SEARCH);
        }
        self.clock.advance(self.next, self.times.slot);
        let (asn, begin) = (self.clock.asn, self.clock.begin);
        let station = self.station();
        let burst = self.burst.take();
        self.in_burst = burst.map_or(0, |_| self.in_burst.saturating_add(1));
        self.listens_on = burst == Some(Burst::Listen);
        self.was_in_vain &= burst.is_some();
        let cell = match burst {
            Some(burst) => Some(Cell::Unicast { listens: burst == Burst::Listen }),
            None => self.slotframes.cell(asn, &station, self.neighbours_waited_for(at)),
        };
        let Some(cell) = cell.filter(|_| !at.has_reached(begin.after(self.times.transmit_offset))) else {
            // It was too busy to be in time.
            return self.wait(at);
        };
        let chosen = match burst {
            Some(Burst::Send(to)) => self.choose_frame(|other| other == to),
            Some(Burst::Listen) => None,
            None => self.choose(at, cell, &station),
        };
        if let Some((sending, to)) = chosen
            && self.may_send(cx, asn)
            && self.write(cx, asn, sending)
        {
            self.sending = sending;
            self.channel = match cell {
                Cell::Unicast { .. } => Slotframes::channel_to(asn, to),
                _ => Slotframes::channel(asn),
            };
            let at = begin.after(self.times.transmit_offset);
            self.command = Slot::Full(RadioCommand::Send { at, assess: false });
            return self.enter(Step::Send, at);
        }
        let is_wanted = || !self.clock.is_steady() || self.silence(at) >= LISTEN_AGAIN;
        self.channel = match cell {
            Cell::Shared => Slotframes::channel(asn),
            Cell::TimeSource if is_wanted() => Slotframes::channel(asn),
            Cell::Unicast { listens: true } => Slotframes::channel_to(asn, self.address),
            _ => return self.wait(at),
        };
        let (offset, wait) = self.window(at);
        let at = begin.after(offset);
        self.command = Slot::Full(RadioCommand::Listen { at });
        self.enter(Step::Listen, at.after(wait));
    }

    /// From when on in a slot, and for how long, it listens for a frame to begin.
    fn window(&self, at: Symbols) -> (u32, u32) {
        let Times { receive_offset, receive_wait, transmit_offset, .. } = self.times;
        let Some(guard) = self.guard.filter(|_| !self.is_coordinator) else {
            return (receive_offset, receive_wait);
        };
        let drifts = if self.clock.is_steady() { DRIFTS_STEADILY } else { DRIFTS };
        let guard = (u32::from(guard) / SYMBOL + (self.silence(at) >> drifts)).min(MOST_GUARD);
        (transmit_offset.saturating_sub(guard), 2 * guard.min(transmit_offset))
    }

    /// What to send in a slot, if anything, and to whom.
    fn choose(&mut self, at: Symbols, cell: Cell, station: &Station) -> Option<(Sending, Eui64)> {
        let asn = self.clock.asn;
        let is_beacon_due = self.slotframes.beacons.is_none() && station.tells && asn >= self.beacon_due;
        match cell {
            Cell::Beacon => return Some((Sending::Beacon, BROADCAST)),
            Cell::Shared if is_beacon_due => return Some((Sending::Beacon, BROADCAST)),
            Cell::TimeSource => return None,
            Cell::Shared | Cell::Unicast { .. } => {}
        }
        let slotframes = self.slotframes;
        let is_link = |to: Eui64| match cell {
            Cell::Shared => to == BROADCAST || slotframes.unicast.is_none(),
            _ => to != BROADCAST && slotframes.leads_to(asn, station, to),
        };
        let left = self.contention.pass(is_link);
        let may_send_to = |to: Eui64| is_link(to) && !left.contains(&Some(to));
        // The time goes first, so that other traffic does not cost the network.
        let asks = self.asks(at).filter(|&to| may_send_to(to));
        let frame = self.choose_frame(|to| may_send_to(to) && asks.is_none_or(|asked| to == asked));
        frame.or(asks.map(|to| (Sending::KeepAlive, to)))
    }

    /// The first frame to one of these neighbours, which is the current one then.
    fn choose_frame(&mut self, is_to: impl Fn(Eui64) -> bool) -> Option<(Sending, Eui64)> {
        let waiting = |queue: &Queue<L::Queue>| {
            queue.waiting().map(Frame::destination).enumerate().find(|&(_, to)| is_to(to))
        };
        let (n, to) = waiting(&self.queue)?;
        self.queue.promote(n);
        Some((Sending::Frame, to))
    }

    /// Whether another frame for the neighbour of the current one waits, and may follow at once.
    pub(super) fn has_more(&self, to: Eui64) -> bool {
        let mut others = self.queue.waiting().skip(1).map(Frame::destination);
        self.in_burst < BURST && others.any(|other| other == to)
    }

    /// Whether a frame may be sent in this slot.
    pub(super) fn may_send<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, asn: Asn) -> bool {
        if self.security().is_none() {
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
            (_, Sending::Frame) if self.awaited.is_none() => self.finish(at, Outcome::Delivered),
            _ => {
                let from = at.after(self.times.receive_ack_delay);
                self.command = Slot::Full(RadioCommand::Listen { at: from });
                self.enter(Step::AwaitAck, from.after(self.times.ack_wait));
            }
        }
    }

    /// Takes in the acknowledgement of what was sent.
    pub(super) fn acknowledged(&mut self, at: Symbols, from: Eui64, correction: TimeCorrection) {
        if self.time_source == Some(from) {
            self.synchronize(at, i32::from(correction.microseconds) / SYMBOL.cast_signed());
        }
        self.contention.succeed(from);
        match self.sending {
            _ if correction.is_nack => self.finish(at, Outcome::NoAck),
            Sending::Frame => {
                self.burst = self.is_followed.then_some(Burst::Send(from)).into();
                self.was_in_vain = false;
                self.finish(at, Outcome::Delivered);
            }
            _ => self.sleep(at),
        }
    }

    fn not_acknowledged<E: Entropy, N: Nv>(&mut self, cx: &mut Cx<'_, C, E, N>, at: Symbols) {
        if let Some((to, _)) = self.awaited {
            // Its receiver listens for what it was told of, and nobody else sends to it then.
            if self.in_burst > 0 && !core::mem::replace(&mut self.was_in_vain, true) {
                self.burst = Slot::Full(Burst::Send(to));
            } else {
                self.contention.fail(to, &self.csma, cx.entropy);
            }
        }
        if self.sending != Sending::Frame {
            return self.sleep(at);
        }
        let max_retries = self.csma.max_retries;
        if let Some(frame) = self.queue.current_mut()
            && frame.attempts < max_retries
        {
            frame.attempts += 1;
            cx.counters.count(Counter::MacRetries);
            return self.sleep(at);
        }
        cx.counters.count(Counter::MacNoAck);
        self.finish(at, Outcome::NoAck);
    }

    fn finish(&mut self, at: Symbols, outcome: Outcome) {
        let before = self.queue.current().map_or(0, |frame| frame.attempts);
        self.queue.finish(outcome, before.saturating_add(1));
        self.sleep(at);
    }

    /// Moves its slots by so many symbols, as its time source says.
    pub(super) fn synchronize(&mut self, at: Symbols, symbols: i32) {
        self.clock.correct(at, symbols);
        self.synchronized = at;
    }

    /// Sends the acknowledgement in `out` a turnaround after a frame whose last symbol came in at `at`; and listens in the next slot, if the frame
    /// is followed by another.
    pub(super) fn acknowledge(&mut self, at: Symbols, is_followed: bool) {
        self.burst = is_followed.then_some(Burst::Listen).into();
        self.was_in_vain = false;
        let at = at.after(self.times.transmit_ack_delay);
        self.command = Slot::Full(RadioCommand::Send { at, assess: false });
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
