use sixlock_base::{Duration, Entropy, Instant, New};

use crate::lollipop;
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
    /// All is told anew, before its lifetime is over.
    Refresh,
}

/// What a timeout asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    /// A DAO is sent.
    Send,
    /// The same, of routes that are told anew.
    Refresh,
    /// It was sent often enough: nobody acknowledges it.
    GaveUp,
}

impl New for DaoTimer {
    const NEW: Self = Self { at: None, then: Then::Tell, is_due: false, tries: 0, sequence: 0 };
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
        let waits = self.at.is_some() && self.then != Then::Refresh;
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

    /// The sequence of a DAO that begins to be sent.
    pub(crate) fn next_sequence(&mut self) -> u8 {
        if self.then != Then::Repeat {
            self.sequence = lollipop::next(self.sequence);
        }
        self.sequence
    }

    /// Whether an acknowledgement of that sequence is waited for.
    pub(crate) fn awaits(&self, sequence: u8) -> bool {
        self.then == Then::Repeat && self.at.is_some() && sequence == self.sequence
    }

    /// The DAO under way was acknowledged: the next one is sent within `refresh` milliseconds, if that is told.
    pub(crate) fn acknowledged<E: Entropy>(&mut self, now: Instant, entropy: &mut E, refresh: Option<u32>) {
        self.is_due = false;
        (self.at, self.then) = (refresh.map(|refresh| time::within(now, entropy, refresh)), Then::Refresh);
    }

    /// The DAO under way is given up for a while.
    pub(crate) fn pause(&mut self, now: Instant) {
        self.is_due = false;
        (self.at, self.then) = (Some(now + Duration::from_millis(Self::PAUSE)), Then::Refresh);
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.at
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Due {
        if !time::take_due(&mut self.at, now) {
            return Due::Nothing;
        }
        if self.then == Then::Repeat && self.tries >= Self::TRIES {
            self.pause(now);
            return Due::GaveUp;
        }
        self.is_due = true;
        if self.then == Then::Refresh { Due::Refresh } else { Due::Send }
    }
}
