use core::net::Ipv6Addr;

use sixlock_base::{Duration, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::nd::ALL_NODES;

use super::timer;
use crate::BROADCAST;

/// Whom a router is to send its advertisement: those who have asked, each alone, or all
/// ([RFC 4861 section 6.2.6](https://www.rfc-editor.org/rfc/rfc4861#section-6.2.6)). When it begins, all, a few times
/// ([section 6.2.4](https://www.rfc-editor.org/rfc/rfc4861#section-6.2.4)).
///
/// Of those who ask at the same time, four are answered; the others ask again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solicitors {
    waiting: [Slot<Solicitor>; 4],
    /// When those who wait are answered.
    at: Option<Instant>,
    /// Whether that time is over.
    is_due: bool,
    to_all: bool,
    /// Before this time no advertisement goes to all again.
    quiet_until: Option<Instant>,
    /// How often it goes to all unasked, then.
    unasked: u8,
}

/// Who has asked.
#[derive(Clone, Copy, Debug)]
struct Solicitor {
    neighbour: Eui64,
    address: Ipv6Addr,
}

impl New for Solicitors {
    const NEW: Self = Self {
        waiting: [Slot::Empty; 4],
        at: None,
        is_due: false,
        to_all: false,
        quiet_until: None,
        unasked: 0,
    };
}

/// The exponent of the milliseconds within which a solicitation is answered: within `MAX_RA_DELAY_TIME`, two seconds.
const SPREAD: u8 = 10;
/// `MIN_DELAY_BETWEEN_RAS`.
const QUIET: Duration = Duration::from_secs(10);
/// `MAX_INITIAL_RTR_ADVERTISEMENTS`.
const INITIAL: u8 = 3;

impl Solicitors {
    /// Answers a neighbour at the address that it has asked from last, or all if it has none yet; whether there is room.
    pub(super) fn ask<E: Entropy>(
        &mut self,
        now: Instant,
        entropy: &mut E,
        neighbour: &Eui64,
        address: &Ipv6Addr,
    ) -> bool {
        if *address == Ipv6Addr::UNSPECIFIED {
            if self.quiet_until.is_some() {
                return false;
            }
            self.to_all = true;
        } else {
            let waits =
                |place: &Slot<Solicitor>| place.get().is_some_and(|known| known.neighbour == *neighbour);
            let at = self.waiting.iter().position(waits);
            let at = at.or_else(|| self.waiting.iter().position(|place| !place.is_full()));
            let Some(place) = at.and_then(|at| self.waiting.get_mut(at)) else { return false };
            *place = Slot::Full(Solicitor { neighbour: *neighbour, address: *address });
        }
        if self.at.is_none() && !self.is_due {
            self.at = Some(timer::after(now, entropy, 0, SPREAD));
        }
        true
    }

    /// Tells all, now and some times more: the router has begun.
    pub(super) fn announce(&mut self) {
        self.unasked = INITIAL - 1;
        (self.to_all, self.is_due) = (true, true);
    }

    pub(super) fn has_output(&self) -> bool {
        self.is_due
    }

    /// The neighbour that the next advertisement goes to with its address, or all.
    pub(super) fn poll(&mut self, now: Instant) -> Option<(Eui64, Ipv6Addr)> {
        if !self.is_due {
            return None;
        }
        let who = if core::mem::take(&mut self.to_all) {
            self.quiet_until = Some(now + QUIET);
            Some((BROADCAST, ALL_NODES))
        } else {
            self.waiting.iter_mut().find_map(Slot::take).map(|known| (known.neighbour, known.address))
        };
        self.is_due = self.waiting.iter().any(Slot::is_full);
        who
    }

    pub(super) fn bring_forward(&self, due: &mut Option<Instant>) {
        Instant::bring_forward(due, self.at);
        Instant::bring_forward(due, self.quiet_until);
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.is_due |= Instant::take_due(&mut self.at, now);
        if Instant::take_due(&mut self.quiet_until, now) && self.unasked > 0 {
            self.unasked -= 1;
            (self.to_all, self.is_due) = (true, true);
        }
    }
}
