use sixlock_base::{Entropy, Instant};

use super::timer;

/// Which of a host's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The one on the link.
    LinkLocal,
    /// The one with the prefix that its router tells.
    Global,
}

/// A solicitation that registers an address, and is sent again until it is answered
/// ([RFC 4861 section 7.2.2](https://www.rfc-editor.org/rfc/rfc4861#section-7.2.2)); each time that is waited is twice the last, as
/// [RFC 7048](https://www.rfc-editor.org/rfc/rfc7048) allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) which: Which,
    pub(super) is_due: bool,
    sent: u8,
    at: Instant,
}

/// How often it is sent. RFC 4861 says three times: the router may have to ask the border router, far away.
const MAX_SENT: u8 = 4;

/// The exponent of the milliseconds by which each time that is waited differs.
const SPREAD: u8 = 8;

impl Attempt {
    /// The first is sent at once.
    pub(super) fn new<E: Entropy>(now: Instant, entropy: &mut E, which: Which, interval: u32) -> Self {
        Self { which, is_due: true, sent: 1, at: timer::after(now, entropy, interval, SPREAD) }
    }

    pub(super) fn poll_timeout(&self) -> Instant {
        self.at
    }

    /// Sends it again if it is time to; whether it was sent as often as it may, in vain.
    pub(super) fn handle_timeout<E: Entropy>(
        &mut self,
        now: Instant,
        entropy: &mut E,
        interval: u32,
    ) -> bool {
        if !now.has_reached(self.at) {
            return false;
        }
        if self.sent == MAX_SENT {
            return true;
        }
        self.is_due = true;
        self.at = timer::after(now, entropy, interval << self.sent, SPREAD);
        self.sent += 1;
        false
    }
}
