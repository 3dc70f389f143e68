use core::cmp::Ordering;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, Instant, New, Slot, lollipop};
use sixlock_ipv6::nd::{EncodedRegistration, Status};

use super::ask::{Ask, Request};
use super::expiry::Expiry;
use super::output::is_link_local;

/// A registration of an address: `[Slot<Registration>; N]` is room for `N`.
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    pub(super) address: Ipv6Addr,
    pub(super) registration: EncodedRegistration,
    pub(super) through: Through,
    /// Whether the node reads payloads that are compressed by GHC (RFC 7400).
    pub(super) generic_compression: bool,
    /// When it is over; of one that is not confirmed, when its place is given up.
    pub(super) expiry: Expiry,
    /// Whether it is registered. While the border router is asked for the first time it is not, nor when its node has ended it there.
    pub(super) is_confirmed: bool,
    /// What the border router is asked.
    pub(super) request: Slot<Request>,
}

/// Where a registration has come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    /// From the node itself, a neighbour.
    Neighbour(Eui64),
    /// From the router that it has registered at, to the border router.
    Router(Ipv6Addr),
}

impl Registration {
    /// The address.
    pub fn address(&self) -> Ipv6Addr {
        self.address
    }

    /// The neighbour that has it; `None` if it is a neighbour of another router.
    pub fn neighbour(&self) -> Option<Eui64> {
        match self.through {
            Through::Neighbour(neighbour) => Some(neighbour),
            Through::Router(_) => None,
        }
    }

    /// Whether the border router is asked for it as `ask` does.
    pub(super) fn waits_for(&self, ask: &Ask) -> bool {
        self.request.get().is_some_and(|request| request.ask.registration == ask.registration)
    }

    /// Whether the node wants its router to make the address reachable from elsewhere, and one on the link is not.
    pub fn wants_reachability(&self) -> bool {
        self.registration.wants_reachability() && !is_link_local(&self.address)
    }

    /// Puts one in a place that is not confirmed, nor asked for.
    pub(super) fn put<'a>(
        place: &'a mut Slot<Self>,
        address: &Ipv6Addr,
        registration: &EncodedRegistration,
        through: Through,
    ) -> Option<&'a mut Self> {
        *place = Slot::Full(Self {
            address: *address,
            registration: *registration,
            through,
            generic_compression: false,
            expiry: Expiry::NEW,
            is_confirmed: false,
            request: Slot::Empty,
        });
        place.get_mut()
    }
}

/// Why an address is not registered.
pub(super) enum Denial {
    /// The node is told so.
    Status(Status),
    /// Two nodes ask for it at once, or its owner has just ended it: who asks is not answered, and asks again
    /// ([RFC 6775 section 8.2.2](https://www.rfc-editor.org/rfc/rfc6775#section-8.2.2)).
    Undecided,
}

/// `DELAY_FIRST_PROBE_TIME`, in seconds: for so long the place of a registration that was ended is kept.
const DELAY: u32 = 5;

/// The registrations that a router keeps, as many as there is room for in `A`.
///
/// When there is no room, a new address is refused: its node asks another router. None is displaced before its lifetime is over, so who
/// invents addresses cannot take those of others away. One that the border router has not confirmed is given up after 20 seconds, and the
/// place of one that was ended there after 5.
pub(super) struct Registrations<A>(A);

impl<A: Array<Slot<Registration>>> Registrations<A> {
    pub(super) const fn new() -> Self {
        Self(A::NEW)
    }

    /// Those that are registered.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Registration> {
        self.0.as_ref().iter().filter_map(Slot::get).filter(|registration| registration.is_confirmed)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Registration> {
        self.0.as_mut().iter_mut().filter_map(Slot::get_mut)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Registration> {
        self.0.as_ref().iter().filter_map(Slot::get)
    }

    /// The place of an address, counted from 0.
    #[inline(never)]
    fn position(&self, address: &Ipv6Addr) -> Option<usize> {
        let holds = |place: &Slot<Registration>| place.get().is_some_and(|known| known.address == *address);
        self.0.as_ref().iter().position(holds)
    }

    #[inline(never)]
    pub(super) fn get(&self, address: &Ipv6Addr) -> Option<&Registration> {
        self.0.as_ref().get(self.position(address)?)?.get()
    }

    /// Whether the owner of `rovr` may register the address with that transaction id
    /// ([RFC 8505 section 5.2](https://www.rfc-editor.org/rfc/rfc8505#section-5.2)).
    ///
    /// One without an id does not follow one with an id: else who leaves it out could take up an older place
    /// ([section 6.3](https://www.rfc-editor.org/rfc/rfc8505#section-6.3)).
    pub(super) fn check(&self, address: &Ipv6Addr, new: &EncodedRegistration) -> Result<(), Denial> {
        let Some(known) = self.get(address) else {
            let has_room = new.lifetime() == 0 || self.has_room();
            return if has_room { Ok(()) } else { Err(Denial::Status(Status::NEIGHBOUR_CACHE_FULL)) };
        };
        if known.registration.rovr() != new.rovr() {
            let denial = if known.is_confirmed {
                Denial::Status(Status::DUPLICATE_ADDRESS)
            } else {
                Denial::Undecided
            };
            return Err(denial);
        }
        let is_older = match (new.transaction(), known.registration.transaction()) {
            (Some(new), Some(known)) => lollipop::compare(new, known) == Some(Ordering::Less),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        if is_older { Err(Denial::Status(Status::MOVED)) } else { Ok(()) }
    }

    fn has_room(&self) -> bool {
        let places = self.0.as_ref();
        places.len() < A::LEN || places.iter().any(|place| !place.is_full())
    }

    /// The place of an address, or a free one for it; `None` if there is no room.
    pub(super) fn place(&mut self, address: &Ipv6Addr) -> Option<&mut Slot<Registration>> {
        let places = self.0.as_ref();
        let free = || places.iter().position(|place| !place.is_full());
        let at = self.position(address).or_else(free).unwrap_or(places.len());
        self.0.make_room(at + 1);
        self.0.as_mut().get_mut(at)
    }

    /// Ends the registration of an address by `transaction`; whether it was registered. For a while its place is kept, for its owner alone:
    /// so what is older and comes late is known for it
    /// ([RFC 8505 section 5.7](https://www.rfc-editor.org/rfc/rfc8505#section-5.7)).
    pub(super) fn release(&mut self, now: Instant, address: &Ipv6Addr, transaction: Option<u8>) -> bool {
        let at = self.position(address);
        let Some(known) = at.and_then(|at| self.0.as_mut().get_mut(at)?.get_mut()) else { return false };
        known.registration.set_transaction(transaction);
        let was_registered = core::mem::take(&mut known.is_confirmed);
        if was_registered {
            known.expiry.begin(now, DELAY);
        }
        was_registered
    }

    /// Removes the registration of an address; whether it was registered.
    pub(super) fn remove(&mut self, address: &Ipv6Addr) -> bool {
        let at = self.position(address);
        let Some(place) = at.and_then(|at| self.0.as_mut().get_mut(at)) else { return false };
        let was_registered = place.get().is_some_and(|known| known.is_confirmed);
        *place = Slot::Empty;
        was_registered
    }

    /// Removes those whose time is over; whether one of them was registered.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        let mut has_changed = false;
        for place in self.0.as_mut() {
            if let Some(known) = place.get_mut()
                && known.expiry.take_over(now)
            {
                has_changed |= known.is_confirmed;
                *place = Slot::Empty;
            }
        }
        has_changed
    }
}
