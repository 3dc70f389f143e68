use sixlock_base::{Array, Symbols};

use crate::contikimac::phases::Phases;
use crate::contikimac::times::ASSESSMENT;
use crate::contikimac::{Phase, Times};

/// What a device does when it sends nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Wake {
    /// Its radio is off until the next wake-up.
    Sleeps,
    /// The radio was told of that wake-up, and may still wait for it.
    Checks,
    /// The channel was busy: it listens, and is to look at the channel again.
    Listens,
    /// The radio was told.
    Looks,
    /// It waits for the next frame of a burst.
    AwaitsBurst,
}

/// Where a device stands in its cycle.
pub struct DutyCycle<A> {
    pub(super) times: Times,
    pub(super) phase_lock: bool,
    /// The next wake-up.
    pub(super) wakes: Symbols,
    pub(super) wake: Wake,
    /// When it looks at the channel again, or gives up to wait.
    pub(super) at: Symbols,
    /// Since when it listens.
    since: Symbols,
    looks: u8,
    silent: u8,
    /// When something happened last.
    pub(super) now: Symbols,
    /// Whether the radio was told to listen.
    pub(super) is_on: bool,
    /// Whether the current frame is sealed.
    pub(super) is_sealed: bool,
    /// Whether the current frame is sent in a burst: the neighbour is awake.
    pub(super) is_burst: bool,
    /// How long its copies are sent.
    pub(super) limit: u32,
    /// When the first of them begins.
    pub(super) first: Symbols,
    /// When the last of them began.
    pub(super) last: Symbols,
    pub(super) phases: Phases<A>,
}

impl<A: Array<Phase>> DutyCycle<A> {
    pub(super) const fn new(times: Times, phase_lock: bool, now: Symbols, wakes: Symbols) -> Self {
        Self {
            times,
            phase_lock,
            wakes,
            wake: Wake::Sleeps,
            at: now,
            since: now,
            looks: 0,
            silent: 0,
            now,
            // A radio listens until it is told otherwise.
            is_on: true,
            is_sealed: false,
            is_burst: false,
            limit: 0,
            first: now,
            last: now,
            phases: Phases::new(),
        }
    }

    /// Whether it listens for frames of others.
    pub(super) fn is_awake(&self) -> bool {
        matches!(self.wake, Wake::Listens | Wake::Looks | Wake::AwaitsBurst)
    }

    /// Nothing is to be heard: it sleeps until the next wake-up after `at`. Those that have passed meanwhile are not made up for.
    pub(super) fn sleep(&mut self, at: Symbols) {
        self.wake = Wake::Sleeps;
        if at.has_reached(self.wakes) {
            let passed = at.count().wrapping_sub(self.wakes.count());
            let into = passed.checked_rem(self.times.cycle).unwrap_or_default();
            self.wakes = at.after(self.times.cycle - into);
        }
    }

    /// An assessment for itself has ended.
    pub(super) fn assessed(&mut self, at: Symbols, clear: bool) {
        match self.wake {
            Wake::Checks if clear => self.sleep(at),
            Wake::Checks => {
                self.sleep(at);
                (self.since, self.looks, self.silent) = (at, 0, 0);
                self.listen(at);
            }
            Wake::Looks => {
                self.looks = self.looks.saturating_add(1);
                self.silent = if clear { self.silent.saturating_add(1) } else { 0 };
                // Whether a frame comes in, only the channel tells: it may, as long as that is busy.
                let is_over = clear && (self.silent > self.times.silent || self.looks > self.times.looks);
                let listened = at.count().wrapping_sub(self.since.count());
                if is_over || listened >= self.times.listening.into() {
                    self.sleep(at);
                } else {
                    self.listen(at);
                }
            }
            Wake::Sleeps | Wake::Listens | Wake::AwaitsBurst => {}
        }
    }

    /// It listens on, and looks at the channel once more after `at`.
    fn listen(&mut self, at: Symbols) {
        self.wake = Wake::Listens;
        self.at = at.after(u32::from(self.times.apart).saturating_sub(ASSESSMENT));
    }

    /// Whether the current frame may be sent once more after `at`.
    pub(super) fn goes_on(&self, at: Symbols) -> bool {
        at.count().wrapping_sub(self.first.count()) < self.limit
    }

    /// Its times.
    pub(crate) const fn times(&self) -> &Times {
        &self.times
    }

    /// Something has come in at `at`, for this device if it `is_own`. After a frame of data none more is to come, unless it was for this
    /// device and its sender says that another is `pending`.
    pub(crate) fn received(&mut self, at: Symbols, is_data: bool, is_own: bool, pending: bool) {
        self.now = at;
        if !is_data || !self.is_awake() {
            return;
        }
        if is_own && pending {
            (self.wake, self.at) = (Wake::AwaitsBurst, at.after(self.times.burst.into()));
        } else if is_own || self.wake != Wake::AwaitsBurst {
            self.sleep(at);
        }
    }
}
