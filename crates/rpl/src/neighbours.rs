use sixlock_base::{Array, Duration, Eui64, Instant, New};
use sixlock_ipv6::rpl::INFINITE_RANK;

use crate::link::{ETX, Link};

/// A neighbour, and what it said of itself: `[Neighbour; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    pub(crate) address: Eui64,
    is_used: bool,
    pub(crate) version: u8,
    pub(crate) dtsn: u8,
    pub(crate) rank: u16,
    pub(crate) link: Link,
    /// Probes in a row that were not acknowledged.
    unanswered: u8,
    /// Before this time it is not probed again.
    pub(crate) probe_at: Option<Instant>,
    /// Before this time others are preferred: it has no room for routes, or does not acknowledge them.
    pub(crate) rests_until: Option<Instant>,
}

impl New for Neighbour {
    const NEW: Self = Self {
        address: Eui64([0; 8]),
        is_used: false,
        version: 0,
        dtsn: 0,
        rank: 0,
        link: Link::NEW,
        unanswered: 0,
        probe_at: None,
        rests_until: None,
    };
}

/// The time until a neighbour that did not acknowledge a probe is probed again; it doubles each time.
const PROBE_AGAIN: u32 = 10_000;

/// How often that doubles.
const DOUBLINGS: u8 = 6;

impl Neighbour {
    /// Counts a probe that is about to be sent.
    pub(crate) fn probed(&mut self, now: Instant) {
        self.probe_at = Some(now + Duration::from_millis(PROBE_AGAIN << self.unanswered));
        self.unanswered = (self.unanswered + 1).min(DOUBLINGS);
    }

    /// Learns what became of a frame to it.
    pub(crate) fn record(&mut self, is_acknowledged: bool, attempts: u8) {
        self.link.record(is_acknowledged, attempts);
        if is_acknowledged {
            self.unanswered = 0;
        }
    }

    /// Lets others be preferred for so many milliseconds.
    pub(crate) fn rest(&mut self, now: Instant, millis: u32) {
        self.rests_until = Some(now + Duration::from_millis(millis));
    }

    /// How good it is to keep: who is heard by it less than who is not, then by rank and link.
    fn worth(&self) -> (bool, u16) {
        let etx = self.link.etx().unwrap_or(ETX);
        (self.link.is_confirmed(), INFINITE_RANK - self.rank.saturating_add(etx))
    }
}

/// The neighbours that may be parents, as many as there is room for in `A`.
///
/// When there is no room, a new one takes the place of the worst that is not the parent, if it is better: one that no frame was
/// acknowledged by is worse than any other. So who invents neighbours displaces others that are only heard of, and, of those that
/// acknowledge, only those whose path is worse than the best that can be invented; never the parent.
pub(crate) struct Neighbours<A>(A);

impl<A: Array<Neighbour>> Neighbours<A> {
    pub(crate) const fn new() -> Self {
        Self(A::NEW)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Neighbour> {
        self.0.as_ref().iter().filter(|neighbour| neighbour.is_used)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Neighbour> {
        self.0.as_mut().iter_mut().filter(|neighbour| neighbour.is_used)
    }

    #[inline(never)]
    fn position(&self, address: Eui64) -> Option<usize> {
        self.0.as_ref().iter().position(|neighbour| neighbour.is_used && neighbour.address == address)
    }

    pub(crate) fn get(&self, address: Eui64) -> Option<&Neighbour> {
        self.0.as_ref().get(self.position(address)?)
    }

    #[inline(never)]
    pub(crate) fn get_mut(&mut self, address: Eui64) -> Option<&mut Neighbour> {
        let place = self.position(address)?;
        self.0.as_mut().get_mut(place)
    }

    /// Makes room for a neighbour of that rank, which is not there yet, beside the parent.
    pub(crate) fn insert(
        &mut self,
        address: Eui64,
        rank: u16,
        parent: Option<Eui64>,
    ) -> Option<&mut Neighbour> {
        let new = Neighbour { address, is_used: true, rank, link: Link::UNKNOWN, ..Neighbour::NEW };
        let places = self.0.as_mut();
        let place = match places.iter().position(|neighbour| !neighbour.is_used) {
            Some(free) => places.get_mut(free)?,
            None => {
                let others = places.iter_mut().filter(|neighbour| Some(neighbour.address) != parent);
                let worst = others.min_by_key(|neighbour| neighbour.worth())?;
                let worth_of_new = (worst.link.is_confirmed(), new.worth().1);
                if worst.worth() >= worth_of_new {
                    return None;
                }
                worst
            }
        };
        *place = new;
        Some(place)
    }

    pub(crate) fn clear(&mut self) {
        self.iter_mut().for_each(|neighbour| *neighbour = Neighbour::NEW);
    }
}
