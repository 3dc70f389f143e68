use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, Instant, Slot};

use super::expiry::Expiry;

/// A router that a host has heard: `[Slot<DefaultRouter>; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct DefaultRouter {
    pub(super) neighbour: Eui64,
    /// Its link-local address.
    pub(super) address: Ipv6Addr,
    /// Whether it takes registrations in the extended form.
    pub(super) is_extended: bool,
    /// Whether its border router reads extended duplicate address messages.
    pub(super) reads_extended: bool,
    /// Whether it reads payloads that are compressed by GHC (RFC 7400).
    pub(super) generic_compression: bool,
    /// After how many milliseconds a solicitation is sent to it again.
    pub(super) retransmission_time: u32,
    pub(super) expiry: Expiry,
    /// Before this time it is not asked: it has refused the host.
    pub(super) rests_until: Option<Instant>,
}

/// The routers that a host has heard, as many as there is room for in `A`.
///
/// When there is no room, a new one takes the place of one that has refused the host, or is ignored.
pub(super) struct DefaultRouters<A>(A);

impl<A: Array<Slot<DefaultRouter>>> DefaultRouters<A> {
    pub(super) const fn new() -> Self {
        Self(A::NEW)
    }

    fn iter(&self) -> impl Iterator<Item = &DefaultRouter> {
        self.0.as_ref().iter().filter_map(Slot::get)
    }

    pub(super) fn get(&self, neighbour: Eui64) -> Option<&DefaultRouter> {
        self.iter().find(|router| router.neighbour == neighbour)
    }

    /// Takes in what a router says of itself; whether there was room.
    pub(super) fn learn(&mut self, mut router: DefaultRouter) -> bool {
        let rests_until = self.get(router.neighbour).and_then(|known| known.rests_until);
        let places = self.0.as_mut();
        let is_known = |place: &Slot<DefaultRouter>| {
            place.get().is_some_and(|known| known.neighbour == router.neighbour)
        };
        let rests =
            |place: &Slot<DefaultRouter>| place.get().is_some_and(|known| known.rests_until.is_some());
        let free = || places.iter().position(|place| !place.is_full());
        let at = places.iter().position(is_known).or_else(free).or_else(|| places.iter().position(rests));
        let Some(place) = at.and_then(|at| places.get_mut(at)) else { return false };
        router.rests_until = rests_until;
        *place = Slot::Full(router);
        true
    }

    /// The first that has not refused the host.
    pub(super) fn best(&self) -> Option<&DefaultRouter> {
        self.iter().find(|router| router.rests_until.is_none())
    }

    /// Lets a router rest that has refused the host.
    pub(super) fn rest(&mut self, neighbour: Eui64, until: Instant) {
        for place in self.0.as_mut() {
            if let Some(router) = place.get_mut()
                && router.neighbour == neighbour
            {
                router.rests_until = Some(until);
            }
        }
    }

    pub(super) fn remove(&mut self, neighbour: Eui64) {
        for place in self.0.as_mut() {
            if place.get().is_some_and(|router| router.neighbour == neighbour) {
                *place = Slot::Empty;
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.iter().fold(None, |due, router| {
            let own = Instant::earliest(Some(router.expiry.timeout()), router.rests_until);
            Instant::earliest(due, own)
        })
    }

    /// Removes those whose lifetime is over, and ends the rest of those that have rested.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        for place in self.0.as_mut() {
            let Some(router) = place.get_mut() else { continue };
            if router.rests_until.is_some_and(|until| now.has_reached(until)) {
                router.rests_until = None;
            }
            if router.expiry.is_over(now) {
                *place = Slot::Empty;
            }
        }
    }
}
