use core::cmp::Ordering;

use sixlock_base::{Array, Duration, Eui64, Instant, New, lollipop};
use sixlock_ipv6::rpl::{INFINITE_LIFETIME, Transit};

use crate::error::Error;

/// The route to a node below this one: `[Route; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub(crate) target: Eui64,
    pub(crate) next_hop: Eui64,
    state: State,
    pub(crate) sequence: u8,
    /// In units of the DODAG; 0 if it is no more, and the parent is to be told so.
    pub(crate) lifetime: u8,
    /// Frames to the next hop in a row that were not acknowledged.
    lost: u8,
    /// Whether the next hop is to be asked for DAOs.
    is_asked: bool,
    /// When it ends, or, if it has no end, when it was last heard of.
    ends: Instant,
}

/// Whether who is told of a route knows it: the parent, or the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// There is no route.
    Free,
    /// It is to be told.
    Unsaid,
    /// It was told, and has not acknowledged it yet.
    Said,
    /// It has.
    Known,
}

impl New for Route {
    const NEW: Self = Self {
        target: Eui64([0; 8]),
        next_hop: Eui64([0; 8]),
        state: State::Free,
        sequence: 0,
        lifetime: 0,
        lost: 0,
        is_asked: false,
        ends: Instant::from_millis(0),
    };
}

impl Route {
    /// Whether packets go by it.
    fn leads(&self) -> bool {
        self.state != State::Free && self.lifetime != 0
    }
}

/// Frames in a row that a next hop may not acknowledge.
const MOST_LOST: u8 = 3;

/// Routes to nodes below this one, as many as there is room for in `A`.
///
/// When there is no room, a route without an end that was not heard of for an hour makes room; else the new one is refused. So nobody
/// keeps others out for ever by routes without an end.
pub(crate) struct Routes<A> {
    routes: A,
    /// None was ever kept from this place on.
    used: usize,
}

/// For how long a route without an end is kept when there is no room for another.
const ENDLESS: u32 = 3_600_000;

impl<A: Array<Route>> Routes<A> {
    pub(crate) const fn new() -> Self {
        Self { routes: A::NEW, used: 0 }
    }

    /// The places that were ever used.
    fn places(&self) -> &[Route] {
        self.routes.as_ref().get(..self.used).unwrap_or_default()
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut Route> {
        let places = self.routes.as_mut().get_mut(..self.used).unwrap_or_default();
        places.iter_mut().filter(|route| route.state != State::Free)
    }

    fn get_mut(&mut self, target: Eui64) -> Option<&mut Route> {
        self.iter_mut().find(|route| route.target == target)
    }

    /// The next hop towards `target`.
    pub(crate) fn next_hop(&self, target: Eui64) -> Option<Eui64> {
        let mut routes = self.places().iter();
        routes.find(|route| route.leads() && route.target == target).map(|route| route.next_hop)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.places().iter().filter(|route| route.leads()).count()
    }

    /// Takes in that `next_hop` reaches `target`, for `millis` milliseconds or without an end. The next hop of an older route that is to
    /// be cleaned up, if there is one. One that is not newer is taken from the next hop that the route goes by, which knows best what
    /// it has left of it, or, if it is the same, instead of a route that is no more.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        (target, next_hop): (Eui64, Eui64),
        transit: &Transit,
        millis: Option<u32>,
    ) -> Result<Option<Eui64>, Error> {
        let ends = now + Duration::from_millis(millis.unwrap_or(0));
        let new = Route {
            target,
            next_hop,
            state: State::Unsaid,
            sequence: transit.path_sequence,
            lifetime: transit.path_lifetime,
            lost: 0,
            is_asked: false,
            ends,
        };
        if let Some(route) = self.get_mut(target) {
            let is_newer = lollipop::may_be_newer(new.sequence, route.sequence);
            let is_taken = match route.leads() {
                true => route.next_hop == next_hop,
                false => route.sequence == new.sequence,
            };
            if !is_newer && !is_taken {
                return Err(Error::Stale);
            }
            let old = (route.leads() && route.next_hop != next_hop).then_some(route.next_hop);
            *route = new;
            return Ok(old);
        }
        let is_old =
            |route: &Route| route.lifetime == INFINITE_LIFETIME && now.since(route.ends).millis() >= ENDLESS;
        let places = self.places();
        let free = places.iter().position(|route| route.state == State::Free);
        let free = free.or_else(|| (self.used < A::LEN).then_some(self.used));
        let free = free.or_else(|| places.iter().position(is_old)).ok_or(Error::Full)?;
        self.routes.make_room(free + 1);
        *self.routes.as_mut().get_mut(free).ok_or(Error::Full)? = new;
        self.used = self.used.max(free + 1);
        Ok(None)
    }

    /// The sequence of the route to `target`, if that is newer than `sequence`.
    pub(crate) fn newer(&self, target: Eui64, sequence: u8) -> Option<u8> {
        let mut routes = self.places().iter();
        let route = routes.find(|route| route.leads() && route.target == target)?;
        let is_newer = lollipop::compare(route.sequence, sequence) == Some(Ordering::Greater);
        is_newer.then_some(route.sequence)
    }

    /// Takes the route to `target` away, if it goes by `next_hop` and is no newer than `sequence`; whether it did.
    pub(crate) fn withdraw(&mut self, target: Eui64, next_hop: Eui64, sequence: u8) -> bool {
        let Some(route) = self.get_mut(target).filter(|route| route.leads()) else { return false };
        let is_older = lollipop::compare(sequence, route.sequence) == Some(Ordering::Less);
        if route.next_hop != next_hop || is_older {
            return false;
        }
        (route.state, route.lifetime, route.sequence) = (State::Unsaid, 0, sequence);
        true
    }

    /// Forgets the route to `target` if it is older than `sequence`, without a word to the parent, which knows. Its next hop.
    pub(crate) fn clean_up(&mut self, target: Eui64, sequence: u8) -> Option<Eui64> {
        let route = self.get_mut(target)?;
        if !lollipop::may_be_newer(sequence, route.sequence) {
            return None;
        }
        route.state = State::Free;
        Some(route.next_hop)
    }

    /// Takes the routes away that `ends` says; whether there were any.
    fn end(&mut self, ends: impl Fn(&Route) -> bool) -> bool {
        let mut any = false;
        for route in self.iter_mut().filter(|route| route.leads() && ends(route)) {
            (route.state, route.lifetime) = (State::Unsaid, 0);
            any = true;
        }
        any
    }

    /// Takes the routes by `next_hop` away; whether there were any.
    pub(crate) fn withdraw_by(&mut self, next_hop: Eui64) -> bool {
        self.end(|route| route.next_hop == next_hop)
    }

    /// Takes the route to `target` away if it goes by `next_hop`; whether it did.
    pub(crate) fn withdraw_one(&mut self, target: Eui64, next_hop: Eui64) -> bool {
        self.end(|route| route.target == target && route.next_hop == next_hop)
    }

    /// Takes the routes away whose time is over; whether there were any.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        self.end(|route| route.lifetime != INFINITE_LIFETIME && now.has_reached(route.ends))
    }

    /// When the next one's time is over.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let ending = self.places().iter();
        let ending = ending.filter(|route| route.leads() && route.lifetime != INFINITE_LIFETIME);
        ending.fold(None, |due, route| Instant::earliest(due, Some(route.ends)))
    }

    /// Learns what became of a frame to `next_hop`; whether routes by it are taken away.
    pub(crate) fn record(&mut self, next_hop: Eui64, is_acknowledged: bool) -> bool {
        let mut are_over = false;
        for route in self.iter_mut().filter(|route| route.next_hop == next_hop) {
            route.lost = if is_acknowledged { 0 } else { route.lost.saturating_add(1) };
            are_over |= route.leads() && route.lost >= MOST_LOST;
        }
        are_over && self.withdraw_by(next_hop)
    }

    /// Whether there are some of which the parent does not know.
    pub(crate) fn are_unknown(&self) -> bool {
        self.places().iter().any(|route| matches!(route.state, State::Unsaid | State::Said))
    }

    /// Chooses at most `most` of which the parent is told in a new DAO. One that is sent again tells of the same, so that an
    /// acknowledgement is of what was told.
    pub(crate) fn choose(&mut self, most: usize) {
        let mut left = most;
        for route in self.iter_mut().filter(|route| matches!(route.state, State::Unsaid | State::Said)) {
            route.state = if left > 0 { State::Said } else { State::Unsaid };
            left = left.saturating_sub(1);
        }
    }

    /// Those that were chosen.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &Route> {
        self.places().iter().filter(|route| route.state == State::Said)
    }

    /// The parent has acknowledged what it was told. Those that are no more are forgotten.
    pub(crate) fn acknowledged(&mut self) {
        for route in self.iter_mut().filter(|route| route.state == State::Said) {
            route.state = if route.lifetime == 0 { State::Free } else { State::Known };
        }
    }

    /// Lets each next hop be asked for DAOs.
    pub(crate) fn ask(&mut self) {
        self.iter_mut().for_each(|route| route.is_asked = route.leads());
    }

    /// Whether there is a next hop that is to be asked.
    pub(crate) fn asks(&self) -> bool {
        self.places().iter().any(|route| route.is_asked && route.leads())
    }

    /// The next hop that is asked now.
    pub(crate) fn asked(&mut self) -> Option<Eui64> {
        let next_hop = self.iter_mut().find(|route| route.is_asked && route.leads())?.next_hop;
        for route in self.iter_mut().filter(|route| route.next_hop == next_hop) {
            route.is_asked = false;
        }
        Some(next_hop)
    }

    /// A new parent knows nothing, and need not know of routes that are no more.
    pub(crate) fn unsay(&mut self) {
        for route in self.iter_mut() {
            route.state = if route.lifetime == 0 { State::Free } else { State::Unsaid };
        }
    }
}
