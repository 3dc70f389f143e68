//! A device without children whose receiver is off: it sends when it has something to send, and asks one neighbour by data requests (7.5.6.3) for
//! what that holds for it.

use sixlock_base::{Eui64, Slot, Symbols};

use crate::event::Outcome;
use crate::radio::Step;

/// After how many symbols a device asks for the first time when it has sent or got something: 125 ms. Each time that nothing waits for it, it
/// waits for twice as long, up to its period.
const FIRST: u32 = 7_812;

/// For how many symbols it listens after a frame to all, or to a neighbour that is not its parent: one second. Those that answer do not know that it
/// sleeps.
const ANSWERED: u32 = 62_500;

/// After so many frames in a row that its parent did not acknowledge, it listens until that answers again, or another is its parent.
const LOST: u8 = 3;

/// Where a device that polls stands.
pub struct Polling {
    /// The longest time from one data request to the next, in symbols.
    period: u32,
    /// When something happened last, if anything did: it is woken at once for the first time, so that it learns of its parent.
    now: Symbols,
    has_begun: bool,
    /// Whether the radio was told to listen.
    is_on: bool,
    /// The neighbour that frames wait at. Until there is one, the device listens.
    parent: Slot<Eui64>,
    /// Whether that has acknowledged a data request: before, it may send at once, as it does not know that this device sleeps.
    is_known: bool,
    /// How long after the last one the next data request is due, and when.
    delay: u32,
    asks: Symbols,
    /// Until when it listens.
    listens_until: Slot<Symbols>,
    /// Frames in a row that were not acknowledged.
    unanswered: u8,
}

impl Polling {
    pub(crate) const fn new(period: u32, now: Symbols) -> Self {
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
            unanswered: 0,
        }
    }

    /// Something happens at `at`.
    pub(crate) fn at(&mut self, at: Symbols) {
        (self.now, self.has_begun) = (at, true);
        if self.listens_until.get().is_some_and(|until| at.has_reached(*until)) {
            self.listens_until = Slot::Empty;
        }
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
        let is_asked = self.parent.is_full() && self.is_known;
        let is_due = step == Step::Backoff && self.now.has_reached(at);
        let sends = is_due || matches!(step, Step::Turnaround | Step::AwaitingAck);
        let listens = !is_asked || self.listens_until.is_full() || owes || sends;
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
        } else if outcome != Outcome::Delivered {
            self.unanswered = self.unanswered.saturating_add(1);
            self.is_known &= self.unanswered < LOST;
        } else {
            self.unanswered = 0;
            self.is_known |= is_request;
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
