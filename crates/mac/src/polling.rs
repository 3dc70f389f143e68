//! A device without children whose receiver is off: it sends when it has something to send, and asks one neighbour by data requests (7.5.6.3) for
//! what that holds for it.

use sixlock_base::{Eui64, Slot, Symbols};

use crate::event::{BROADCAST, Outcome};
use crate::radio::Step;

/// After how many symbols a device asks for the first time when it has sent or got something: 125 ms. Each time that nothing waits for it, it
/// waits for twice as long, up to its period.
const FIRST: u32 = 7_812;

/// For how many symbols it listens after a frame to all, or to a neighbour that is not its parent: one second. Those that answer do not know that it
/// sleeps.
const ANSWERED: u32 = 62_500;

/// After so many frames in a row that its parent did not acknowledge, it has lost it, and searches for one that answers.
const LOST: u8 = 3;

/// For how many symbols it listens when it searches for a parent: at its start, so that a network may form meanwhile, five minutes; when it has lost
/// one, a minute; and then each time after a frame to all that asks for one, eight seconds, in which routers answer.
const FIRST_SEARCH: u32 = 18_750_000;
const SEARCH: u32 = 3_750_000;
const SEARCH_AGAIN: u32 = 500_000;

/// How many symbols lie between two searches at least: 15 seconds, and after each search twice as many, up to ten minutes. The latter is also
/// the longest time between data requests to a parent that does not answer.
const FIRST_PAUSE: u32 = 937_500;
const LAST_PAUSE: u32 = 37_500_000;

/// Where a device that polls stands.
pub struct Polling {
    /// The longest time from one data request to the next, in symbols.
    period: u32,
    /// When something happened last, if anything did: it is woken at once for the first time, so that it learns of its parent.
    now: Symbols,
    has_begun: bool,
    /// Whether the radio was told to listen.
    is_on: bool,
    /// The neighbour that frames wait at.
    parent: Slot<Eui64>,
    /// Whether that has acknowledged a data request: before, it may send at once, as it does not know that this device sleeps, and this device
    /// searches.
    is_known: bool,
    /// How long after the last one the next data request is due, and when.
    delay: u32,
    asks: Symbols,
    /// Until when it listens.
    listens_until: Slot<Symbols>,
    /// Until when it listens as it searches for a parent, until when it does not search again, and for how long it will not then.
    searches_until: Slot<Symbols>,
    rests_until: Slot<Symbols>,
    pause: u32,
    /// Frames in a row that were not acknowledged.
    unanswered: u8,
}

impl Polling {
    pub(crate) fn new(period: u32, now: Symbols) -> Self {
        Self {
            period,
            now,
            has_begun: false,
            is_on: true,
            parent: Slot::Empty,
            is_known: false,
            delay: FIRST,
            asks: now,
            listens_until: Slot::Empty,
            searches_until: Slot::Full(now.after(FIRST_SEARCH)),
            rests_until: Slot::Empty,
            pause: FIRST_PAUSE,
            unanswered: 0,
        }
    }

    /// Something happens at `at`.
    pub(crate) fn at(&mut self, at: Symbols) {
        (self.now, self.has_begun) = (at, true);
        if self.listens_until.get().is_some_and(|until| at.has_reached(*until)) {
            self.listens_until = Slot::Empty;
        }
        if self.rests_until.get().is_some_and(|until| at.has_reached(*until)) {
            self.rests_until = Slot::Empty;
        }
        if self.searches_until.get().is_some_and(|until| at.has_reached(*until)) {
            self.searches_until = Slot::Empty;
            self.rests_until = Slot::Full(at.after(self.pause));
            self.pause = self.pause.saturating_mul(2).min(LAST_PAUSE);
        }
    }

    /// Searches for a parent that answers, for so many symbols at first.
    fn search(&mut self, at: Symbols, first: u32) {
        (self.searches_until, self.rests_until) = (Slot::Full(at.after(first)), Slot::Empty);
        self.pause = FIRST_PAUSE;
    }

    /// The neighbour to ask for what waits there, if that is due at `at`. It is due again after the present delay, unless
    /// the outcome of the data request says otherwise.
    pub(crate) fn take_due(&mut self, at: Symbols) -> Option<Eui64> {
        let parent = *self.parent.get()?;
        if self.listens_until.is_full() || !at.has_reached(self.asks) {
            return None;
        }
        self.asks = at.after(self.delay);
        Some(parent)
    }

    /// When something is due, where no frame is under way if `is_idle`.
    pub(crate) fn due(&self, is_idle: bool) -> Option<Symbols> {
        match self.listens_until.get() {
            Some(until) => Some(*until),
            None => (is_idle && self.parent.is_full() || !self.has_begun).then_some(self.asks),
        }
    }

    /// Until when it listens as it searches for a parent, if it does.
    pub(crate) fn searches_until(&self) -> Option<Symbols> {
        self.searches_until.get().copied()
    }

    /// Whether the receiver is to be turned on, or off, and since when, where a frame of the device's own stands at `step`, whose time is `at`, and an
    /// acknowledgement is owed or not.
    ///
    /// A driver that is asked when it is time turns the receiver on before it sends: behind a frame it would be too late for the
    /// acknowledgement, as that begins 12 symbols later.
    pub(crate) fn turns(&self, (step, at): (Step, Symbols), owes: bool) -> Option<(Symbols, bool)> {
        // What the radio was told would be taken back.
        if matches!(step, Step::Assessing | Step::OnAir) {
            return None;
        }
        let is_due = step == Step::Backoff && self.now.has_reached(at);
        let sends = is_due || matches!(step, Step::Turnaround | Step::AwaitingAck);
        let listens = self.searches_until.is_full() || self.listens_until.is_full() || owes || sends;
        (listens != self.is_on).then_some((self.now, listens))
    }

    /// The radio was told so.
    pub(crate) fn turned(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// The acknowledgement of the frame that was sent says that another waits for this device, which listens for it until then.
    pub(crate) fn waits(&mut self, until: Symbols) {
        self.listens_until = Slot::Full(until);
    }

    /// Packets go to `parent` from `at` on: that is to be asked.
    pub(crate) fn follow(&mut self, at: Symbols, parent: Option<Eui64>) {
        if self.parent.get() != parent.as_ref() {
            if self.is_known {
                self.search(at, SEARCH);
            }
            self.parent = parent.map_or(Slot::Empty, Slot::Full);
            (self.is_known, self.unanswered, self.delay) = (false, 0, FIRST.min(self.period));
            (self.now, self.asks) = (at, at);
        }
    }

    /// A frame to `destination` has come to its end at `at`, a data request or another.
    pub(crate) fn sent(&mut self, at: Symbols, (destination, is_request): (Eui64, bool), outcome: Outcome) {
        self.now = at;
        if self.parent.get() != Some(&destination) {
            self.listens_until = Slot::Full(at.after(ANSWERED));
            if destination == BROADCAST && !self.is_known && !self.rests_until.is_full() {
                let until = at.after(SEARCH_AGAIN);
                let is_longer = self.searches_until.get().is_some_and(|searches| searches.has_reached(until));
                if !is_longer {
                    self.searches_until = Slot::Full(until);
                }
            }
        } else if outcome != Outcome::Delivered {
            self.unanswered = self.unanswered.saturating_add(1);
            if self.is_known && self.unanswered >= LOST {
                (self.is_known, self.delay) = (false, FIRST.min(self.period));
                self.search(at, SEARCH);
            }
            if is_request && !self.is_known {
                self.asks = at.after(self.delay);
                self.delay = self.delay.saturating_mul(2).min(LAST_PAUSE.max(self.period));
            }
        } else {
            self.unanswered = 0;
            if is_request {
                self.is_known = true;
                (self.searches_until, self.rests_until) = (Slot::Empty, Slot::Empty);
            }
            let is_over = is_request && !self.listens_until.is_full();
            let delay = if is_over { self.delay.saturating_mul(2) } else { FIRST };
            self.delay = delay.min(self.period);
            self.asks = at.after(self.delay);
        }
    }

    /// A frame for this device has come in: another may wait.
    pub(crate) fn received(&mut self, at: Symbols) {
        self.listens_until = Slot::Empty;
        (self.asks, self.delay) = (at, FIRST.min(self.period));
    }
}
