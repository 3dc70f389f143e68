use sixlock_base::{Array, Duration, Eui64, Instant, New};
use sixlock_ipv6::rpl::INFINITE_RANK;

use crate::link::{ETX, Link};

/// A neighbour, and what it said of itself: `[Neighbour; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    pub(crate) address: Eui64,
    is_used: bool,
    /// Whether it is the preferred parent.
    pub(crate) is_parent: bool,
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
        is_parent: false,
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

    /// How good it is to keep among those that acknowledge as it does or does not: by rank and link.
    #[inline(never)]
    fn worth(&self) -> u16 {
        INFINITE_RANK - self.rank.saturating_add(self.link.etx().unwrap_or(ETX))
    }

    /// Whether it is better to keep than another: who is heard by it more than who is not.
    fn is_better(&self, other: &Self) -> bool {
        match (self.link.is_confirmed(), other.link.is_confirmed()) {
            (true, false) => true,
            (false, true) => false,
            _ => self.worth() > other.worth(),
        }
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

    /// Its place, by which it is found as long as it stays.
    #[inline(never)]
    pub(crate) fn place(&self, address: &Eui64) -> Option<usize> {
        self.0.as_ref().iter().position(|neighbour| neighbour.is_used && neighbour.address == *address)
    }

    /// The place of the parent.
    #[inline(never)]
    pub(crate) fn parent_place(&self) -> Option<usize> {
        self.0.as_ref().iter().position(|neighbour| neighbour.is_parent)
    }

    pub(crate) fn at(&self, place: usize) -> Option<&Neighbour> {
        self.0.as_ref().get(place)
    }

    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut Neighbour> {
        self.0.as_mut().get_mut(place)
    }

    #[inline(never)]
    pub(crate) fn parent(&self) -> Option<&Neighbour> {
        self.at(self.parent_place()?)
    }

    pub(crate) fn parent_mut(&mut self) -> Option<&mut Neighbour> {
        let place = self.parent_place()?;
        self.at_mut(place)
    }

    pub(crate) fn get(&self, address: &Eui64) -> Option<&Neighbour> {
        self.at(self.place(address)?)
    }

    pub(crate) fn get_mut(&mut self, address: &Eui64) -> Option<&mut Neighbour> {
        let place = self.place(address)?;
        self.at_mut(place)
    }

    /// Each with its place.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, &Neighbour)> {
        self.0.as_ref().iter().enumerate().filter(|(_, neighbour)| neighbour.is_used)
    }

    /// Makes the one at that place the preferred parent, and no other.
    pub(crate) fn make_parent(&mut self, place: usize) {
        for (n, neighbour) in self.0.as_mut().iter_mut().enumerate() {
            neighbour.is_parent = n == place;
            if n == place {
                neighbour.probe_at = None;
            }
        }
    }

    /// Whether the preferred parent is that one.
    #[inline(never)]
    pub(crate) fn is_parent(&self, address: &Eui64) -> bool {
        self.get(address).is_some_and(|neighbour| neighbour.is_parent)
    }

    /// A place that is free; else that of the worst neighbour but the parent.
    fn free_or_worst(&mut self) -> Option<&mut Neighbour> {
        let mut found: Option<&mut Neighbour> = None;
        for neighbour in self.0.as_mut() {
            if !neighbour.is_used {
                return Some(neighbour);
            }
            let is_worse = found.as_ref().is_none_or(|worst| worst.is_better(neighbour));
            if is_worse && !neighbour.is_parent {
                found = Some(neighbour);
            }
        }
        found
    }

    /// Makes room for a neighbour of that rank, which is not there yet, beside the parent.
    pub(crate) fn insert(&mut self, address: &Eui64, rank: u16) -> Option<&mut Neighbour> {
        let new = Neighbour { address: *address, is_used: true, rank, link: Link::UNKNOWN, ..Neighbour::NEW };
        let place = self.free_or_worst()?;
        if place.is_used && place.worth() >= new.worth() {
            return None;
        }
        *place = new;
        Some(place)
    }

    pub(crate) fn clear(&mut self) {
        self.0 = A::NEW;
    }
}
