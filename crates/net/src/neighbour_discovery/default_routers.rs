use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, Instant, New, Slot};

use sixlock_ipv6::nd::EncodedCapabilities;

use super::expiry::Expiry;

/// A router that a host has heard: `[Slot<DefaultRouter>; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct DefaultRouter {
    pub(super) neighbour: Eui64,
    /// Its link-local address.
    pub(super) address: Ipv6Addr,
    /// What it can do.
    pub(super) capabilities: EncodedCapabilities,
    /// After how many milliseconds a solicitation is sent to it again.
    pub(super) retransmission_time: u32,
    pub(super) expiry: Expiry,
    /// Whether it is the one that the host registers at.
    pub(super) is_own: bool,
    /// Before this time it is not asked: it has refused the host.
    pub(super) rests_until: Option<Instant>,
}

impl DefaultRouter {
    /// Whether it takes registrations in the extended form.
    pub(super) fn is_extended(&self) -> bool {
        self.capabilities.has(EncodedCapabilities::EXTENDED_REGISTRATION)
    }
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

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut DefaultRouter> {
        self.0.as_mut().iter_mut().filter_map(Slot::get_mut)
    }

    pub(super) fn get(&self, neighbour: &Eui64) -> Option<&DefaultRouter> {
        self.iter().find(|router| router.neighbour == *neighbour)
    }

    /// The one that the host registers at.
    pub(super) fn own(&self) -> Option<&DefaultRouter> {
        self.iter().find(|router| router.is_own)
    }

    pub(super) fn own_mut(&mut self) -> Option<&mut DefaultRouter> {
        self.iter_mut().find(|router| router.is_own)
    }

    /// Chooses the first that has not refused the host, if none is chosen yet.
    pub(super) fn choose(&mut self) {
        if self.own().is_none()
            && let Some(router) = self.iter_mut().find(|router| router.rests_until.is_none())
        {
            router.is_own = true;
        }
    }

    /// Lets the host register at none.
    pub(super) fn give_up(&mut self) {
        for router in self.iter_mut() {
            router.is_own = false;
        }
    }

    /// The place of what a router says of itself; `None` if there is no room.
    pub(super) fn place(&mut self, neighbour: &Eui64) -> Option<&mut DefaultRouter> {
        let places = self.0.as_mut();
        let known = places.iter().position(|place| place.get().is_some_and(|it| it.neighbour == *neighbour));
        let at = known.or_else(|| {
            let free = places.iter().position(|place| !place.is_full());
            let at = free.or_else(|| {
                places.iter().position(|place| place.get().is_some_and(|it| it.rests_until.is_some()))
            });
            let place = places.get_mut(at?)?;
            *place = Slot::Full(DefaultRouter {
                neighbour: *neighbour,
                address: Ipv6Addr::UNSPECIFIED,
                capabilities: EncodedCapabilities::NONE,
                retransmission_time: 0,
                expiry: Expiry::NEW,
                is_own: false,
                rests_until: None,
            });
            at
        });
        places.get_mut(at?)?.get_mut()
    }

    /// Removes one; whether it was the host's.
    pub(super) fn remove(&mut self, neighbour: &Eui64) -> bool {
        self.remove_if(|router| router.neighbour == *neighbour)
    }

    /// Removes the host's.
    pub(super) fn remove_own(&mut self) {
        self.remove_if(|router| router.is_own);
    }

    /// Removes those; whether the host's was among them.
    fn remove_if(&mut self, mut goes: impl FnMut(&mut DefaultRouter) -> bool) -> bool {
        let mut was_own = false;
        for place in self.0.as_mut() {
            if let Some(router) = place.get_mut()
                && goes(router)
            {
                was_own |= router.is_own;
                *place = Slot::Empty;
            }
        }
        was_own
    }

    pub(super) fn bring_forward(&self, due: &mut Option<Instant>) {
        for router in self.iter() {
            router.expiry.bring_forward(due);
            Instant::bring_forward(due, router.rests_until);
        }
    }

    /// Removes those whose lifetime is over, and ends the rest of those that have rested; whether the host's router is gone.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        self.remove_if(|router| {
            Instant::take_due(&mut router.rests_until, now);
            router.expiry.take_over(now)
        })
    }
}
