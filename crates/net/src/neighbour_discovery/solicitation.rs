use sixlock_base::{Entropy, Instant, New};

use super::timer;

/// When a host solicits routers: all of them while it has none, or the one that it has before what that has told is over
/// ([RFC 6775 section 5.3](https://www.rfc-editor.org/rfc/rfc6775#section-5.3)).
#[derive(Clone, Copy, Debug)]
pub(super) struct Solicitation {
    at: Option<Instant>,
    sent: u8,
    is_due: bool,
    /// Whether its router is asked first.
    refreshes: bool,
}

impl New for Solicitation {
    const NEW: Self = Self { at: None, sent: 0, is_due: false, refreshes: false };
}

/// `RTR_SOLICITATION_INTERVAL`.
const INTERVAL: u32 = 10_000;
/// `MAX_RTR_SOLICITATIONS`.
const MAX_SOLICITATIONS: u8 = 3;
/// `MAX_RTR_SOLICITATION_INTERVAL`.
const MAX_INTERVAL: u32 = 60_000;
/// How often the interval doubles until it is longer than that.
const DOUBLINGS: u8 = 3;
/// The exponent of the milliseconds within which all hosts send that start at once.
const SPREAD: u8 = 10;

impl Solicitation {
    /// Begins to ask all, unless it does already.
    pub(super) fn start<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        if self.at.is_none() || self.refreshes {
            self.begin(now, entropy, false);
        }
    }

    /// Begins to ask the host's router, and when it does not answer, all.
    pub(super) fn refresh<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        if self.at.is_none() {
            self.begin(now, entropy, true);
        }
    }

    fn begin<E: Entropy>(&mut self, now: Instant, entropy: &mut E, refreshes: bool) {
        *self = Self { at: Some(timer::after(now, entropy, 0, SPREAD)), sent: 0, is_due: false, refreshes };
    }

    pub(super) fn stop(&mut self) {
        *self = Self::NEW;
    }

    pub(super) fn has_output(&self) -> bool {
        self.is_due
    }

    /// Whether a solicitation is to be sent, and if so, whether to the host's router alone.
    pub(super) fn poll(&mut self) -> Option<bool> {
        let asks_router = self.refreshes && self.sent <= MAX_SOLICITATIONS;
        core::mem::take(&mut self.is_due).then_some(asks_router)
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.at
    }

    pub(super) fn handle_timeout<E: Entropy>(&mut self, now: Instant, entropy: &mut E) {
        if !Instant::take_due(&mut self.at, now) {
            return;
        }
        self.is_due = true;
        self.sent = (self.sent + 1).min(MAX_SOLICITATIONS + DOUBLINGS);
        let interval = (INTERVAL << self.sent.saturating_sub(MAX_SOLICITATIONS)).min(MAX_INTERVAL);
        self.at = Some(timer::after(now, entropy, interval, SPREAD));
    }
}
