use sixlock_base::{Duration, Entropy, Instant, New, lollipop};

use crate::time;

/// When DAOs are sent, and sent again.
///
/// One is under way at a time. It is sent [`DaoTimer::TRIES`] times at most, whatever lifetime it tells of, and begun again after
/// [`DaoTimer::PAUSE`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DaoTimer {
    at: Option<Instant>,
    /// What happens then.
    then: Then,
    pub(crate) is_due: bool,
    tries: u8,
    /// When the node tells of itself anew, before its lifetime is over; what it tells of others meanwhile does not put it off.
    refresh_at: Option<Instant>,
    /// The sequence of the DAO that is under way, or was last.
    pub(crate) sequence: u8,
}

/// What happens when the time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Then {
    /// What has changed is told.
    Tell,
    /// The DAO under way is sent again.
    Repeat,
    /// All is told anew: nobody has acknowledged it, or it was rejected.
    Begin,
}

/// What a timeout asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutAction {
    Nothing,
    /// A DAO is sent.
    Send,
    /// The same, of routes that are told anew.
    Refresh,
    /// It was sent often enough: nobody acknowledges it.
    GaveUp,
}

impl New for DaoTimer {
    const NEW: Self =
        Self { at: None, then: Then::Tell, is_due: false, tries: 0, refresh_at: None, sequence: 0 };
}

impl DaoTimer {
    /// Changes that come within this time are told together
    /// ([RFC 6550 section 9.5](https://www.rfc-editor.org/rfc/rfc6550#section-9.5)).
    const DELAY: u32 = 1_000;
    /// How long an acknowledgement may take; twice as long each time.
    const ACKNOWLEDGEMENT: u32 = 4_000;
    /// How often one is sent.
    const TRIES: u8 = 4;
    /// Until it is tried again after nobody acknowledged it, or it was rejected.
    const PAUSE: u32 = 60_000;

    pub(crate) fn stop(&mut self) {
        *self = Self { sequence: self.sequence, ..Self::NEW };
    }

    /// Something has changed.
    pub(crate) fn change<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        let waits = self.at.is_some() && self.then != Then::Begin;
        if !waits && !self.is_due {
            (self.at, self.then) = (Some(time::within(now, entropy, Self::DELAY)), Then::Tell);
            self.tries = 0;
        }
    }

    /// The same, of what makes the DAO under way void.
    pub(crate) fn begin<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        self.stop();
        self.change(now, entropy);
    }

    /// A DAO is being sent.
    pub(crate) fn sent<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        self.is_due = false;
        if self.then != Then::Repeat {
            self.tries = 0;
        }
        let wait = Self::ACKNOWLEDGEMENT << self.tries.min(Self::TRIES);
        (self.at, self.then) = (Some(time::within(now, entropy, wait)), Then::Repeat);
        self.tries += 1;
    }

    /// Whether the DAO that is due was sent before.
    pub(crate) fn is_repeated(&self) -> bool {
        self.then == Then::Repeat
    }

    /// The sequence of a DAO that begins to be sent.
    pub(crate) fn next_sequence(&mut self) -> u8 {
        if self.then != Then::Repeat {
            self.sequence = lollipop::next(self.sequence);
        }
        self.sequence
    }

    /// The same, which the DAO of `other` does not have: who acknowledges names nothing else.
    pub(crate) fn next_sequence_beside(&mut self, other: Option<&Self>) -> u8 {
        let sequence = self.next_sequence();
        let is_taken = other.is_some_and(|other| other.awaits(sequence));
        if is_taken { self.next_sequence() } else { sequence }
    }

    /// Whether an acknowledgement of that sequence is waited for.
    pub(crate) fn awaits(&self, sequence: u8) -> bool {
        self.then == Then::Repeat && self.at.is_some() && sequence == self.sequence
    }

    /// The DAO under way was acknowledged, or there is nothing to tell.
    pub(crate) fn acknowledged(&mut self) {
        (self.at, self.then, self.is_due) = (None, Then::Tell, false);
    }

    /// Lets the node tell of itself anew within `millis` milliseconds.
    pub(crate) fn refresh<E: Entropy>(&mut self, now: Instant, entropy: &mut E, millis: u32) {
        self.refresh_at = Some(time::within(now, entropy, millis));
    }

    /// The DAO under way is given up for a while.
    #[inline(never)]
    pub(crate) fn pause(&mut self, now: Instant) {
        self.is_due = false;
        (self.at, self.then) = (Some(now + Duration::from_millis(Self::PAUSE)), Then::Begin);
    }

    /// Whether nothing is under way or about to be.
    fn is_idle(&self) -> bool {
        self.at.is_none() && !self.is_due
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        if self.is_idle() { self.refresh_at } else { self.at }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) -> TimeoutAction {
        if self.is_idle() && Instant::take_due(&mut self.refresh_at, now) {
            self.is_due = true;
            return TimeoutAction::Refresh;
        }
        if !Instant::take_due(&mut self.at, now) {
            return TimeoutAction::Nothing;
        }
        if self.then == Then::Repeat && self.tries >= Self::TRIES {
            self.pause(now);
            return TimeoutAction::GaveUp;
        }
        self.is_due = true;
        if self.then == Then::Begin { TimeoutAction::Refresh } else { TimeoutAction::Send }
    }
}
