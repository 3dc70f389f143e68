use core::net::Ipv6Addr;

use sixlock_base::{Duration, Entropy, Eui64, Instant, New};

use super::timer;

/// Whom a router is to send its advertisement: those who have asked, each alone, or all
/// ([RFC 4861 section 6.2.6](https://www.rfc-editor.org/rfc/rfc4861#section-6.2.6)).
///
/// Of those who ask at the same time, four are answered; the others ask again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solicitors {
    waiting: [Option<(Eui64, Ipv6Addr)>; 4],
    /// When those who wait are answered.
    at: Option<Instant>,
    /// Whether that time is over.
    is_due: bool,
    to_all: bool,
    /// Before this time no advertisement goes to all again.
    quiet_until: Option<Instant>,
}

impl New for Solicitors {
    const NEW: Self = Self { waiting: [None; 4], at: None, is_due: false, to_all: false, quiet_until: None };
}

/// The exponent of the milliseconds within which a solicitation is answered: within `MAX_RA_DELAY_TIME`, two seconds.
const SPREAD: u8 = 10;
/// `MIN_DELAY_BETWEEN_RAS`.
const QUIET: Duration = Duration::from_secs(10);

impl Solicitors {
    /// Answers a neighbour at the address that it has asked from last, or all if it has none yet; whether there is room.
    pub(super) fn ask<E: Entropy>(
        &mut self,
        now: Instant,
        entropy: &mut E,
        who: Option<(Eui64, Ipv6Addr)>,
    ) -> bool {
        let has_room = match who {
            Some((neighbour, _)) => {
                let places = &mut self.waiting;
                let waits =
                    places.iter().position(|place| place.is_some_and(|(known, _)| known == neighbour));
                let at = waits.or_else(|| places.iter().position(Option::is_none));
                match at.and_then(|at| places.get_mut(at)) {
                    Some(place) => {
                        *place = who;
                        true
                    }
                    None => false,
                }
            }
            None if self.quiet_until.is_some() => false,
            None => {
                self.to_all = true;
                true
            }
        };
        if has_room && self.at.is_none() && !self.is_due {
            self.at = Some(timer::after(now, entropy, 0, SPREAD));
        }
        has_room
    }

    pub(super) fn has_output(&self) -> bool {
        self.is_due
    }

    /// The neighbour that the next advertisement goes to with its address, or all.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Option<(Eui64, Ipv6Addr)>> {
        if !self.is_due {
            return None;
        }
        if core::mem::take(&mut self.to_all) {
            self.quiet_until = Some(now + QUIET);
            self.is_due = self.waiting.iter().any(Option::is_some);
            return Some(None);
        }
        let who = self.waiting.iter_mut().find_map(Option::take);
        self.is_due = self.waiting.iter().any(Option::is_some);
        who.map(Some)
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.at, self.quiet_until)
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.is_due |= Instant::take_due(&mut self.at, now);
        Instant::take_due(&mut self.quiet_until, now);
    }
}
