//! What a router and the border router say to each other of addresses.

use core::cmp::Ordering;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, Instant, Slot, lollipop};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{EncodedMessage, EncodedRegistration, Status};

use super::Registry;
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::network::Tells;
use crate::neighbour_discovery::output;
use crate::neighbour_discovery::registrations::{Denial, Registration, Through};
use crate::neighbour_discovery::reply::{Kind, Reply};

impl<R: Array<Slot<Registration>>> Registry<R> {
    /// Keeps a registration in the place of the one before, and tells the router that this one was registered at
    /// ([RFC 8505 section 4.1](https://www.rfc-editor.org/rfc/rfc8505#section-4.1)). `None` if there is no room.
    pub(super) fn confirm<T: Tells>(
        &mut self,
        now: Instant,
        address: &Ipv6Addr,
        registration: &EncodedRegistration,
        through: Through,
    ) -> Option<&mut Registration> {
        let place = self.registrations.place(address)?;
        let before = place.get().filter(|known| known.is_confirmed);
        let is_same = before.is_some_and(|before| {
            before.through == through
                && before.registration.wants_reachability() == registration.wants_reachability()
        });
        if !is_same {
            self.events.registrations_changed();
        }
        self.events.note_registered();
        // Who registers at two routers at once does so by the same id, and who moves, by a later one.
        let is_parallel = registration.transaction().is_some()
            && before.is_some_and(|before| before.registration.transaction() == registration.transaction());
        if T::MAY_BE_BORDER_ROUTER
            && let Some(before) = before
            && let Through::Router(router) = before.through
            && before.through != through
            && !is_parallel
        {
            let mut moved = before.registration;
            moved.set_transaction(registration.transaction());
            moved.set_lifetime(0);
            // It is a courtesy: without it, the registration there is over after its lifetime.
            let _ = confirm(&mut self.answers, &router, address, &moved, Status::MOVED);
        }
        let known = Registration::put(place, address, registration, through)?;
        known.expiry.begin_minutes(now, registration.lifetime());
        known.is_confirmed = true;
        Some(known)
    }

    /// At the border router: another router asks for an address
    /// ([RFC 6775 section 8.2.3](https://www.rfc-editor.org/rfc/rfc6775#section-8.2.3)).
    pub(super) fn handle_request<T: Tells>(
        &mut self,
        now: Instant,
        network: &T,
        header: &Header,
        message: &EncodedMessage<'_>,
    ) -> Result<(), Error> {
        let (request, address) = (message.registration(), message.target());
        if !self.is_own(network, &header.destination) || request.status() != Status::SUCCESS {
            return Err(Error::NotForUs);
        }
        let status = if self.is_own(network, &address) {
            Status::DUPLICATE_ADDRESS
        } else if !network.has_prefix_of(&address) {
            Status::TOPOLOGICALLY_INCORRECT
        } else {
            match self.registrations.check(&address, &request) {
                Ok(()) => Status::SUCCESS,
                Err(Denial::Status(Status::NEIGHBOUR_CACHE_FULL)) => Status::REGISTRY_SATURATED,
                Err(Denial::Status(status)) => status,
                Err(Denial::Undecided) => return Err(Error::Busy),
            }
        };
        confirm(&mut self.answers, &header.source, &address, &request, status)?;
        match status {
            Status::SUCCESS => {}
            Status::REGISTRY_SATURATED => return Err(Error::Full),
            _ => return Err(Error::Refused),
        }
        if request.lifetime() == 0 {
            self.release_at_border_router(now, &address, &request);
        } else {
            self.confirm::<T>(now, &address, &request, Through::Router(header.source));
        }
        Ok(())
    }

    pub(super) fn release_at_border_router(
        &mut self,
        now: Instant,
        address: &Ipv6Addr,
        registration: &EncodedRegistration,
    ) {
        if self.registrations.release(now, address, registration.transaction()) {
            self.events.registrations_changed();
        }
    }

    /// The border router has answered, or says that a registration is no more
    /// ([RFC 6775 section 8.2.4](https://www.rfc-editor.org/rfc/rfc6775#section-8.2.4)).
    pub(super) fn handle_confirmation<T: Tells>(
        &mut self,
        now: Instant,
        network: &T,
        header: &Header,
        message: &EncodedMessage<'_>,
    ) -> Result<(), Error> {
        if !self.is_own(network, &header.destination) {
            return Err(Error::NotForUs);
        }
        if header.source != *network.border_router_address() {
            return Err(Error::Unasked);
        }
        let (confirmation, address) = (message.registration(), message.target());
        let known = self.registrations.get(&address).ok_or(Error::Unasked)?;
        let request = known.request.get().filter(|request| {
            let asked = &request.ask.registration;
            let transaction = confirmation.transaction();
            confirmation.rovr() == asked.rovr()
                && (transaction.is_none() || transaction == asked.transaction())
        });
        if let Some(request) = request {
            let ask = request.ask;
            // Who cannot be told now asks again.
            self.tell(&ask, confirmation.status())?;
            if confirmation.status() == Status::SUCCESS {
                self.keep::<T>(now, &ask);
            } else {
                self.remove(&address);
            }
            return Ok(());
        }
        if confirmation.status() == Status::SUCCESS
            || confirmation.rovr() != known.registration.rovr()
            || !known.is_confirmed
        {
            return Err(Error::Unasked);
        }
        // It was long on its way: the node has registered anew since.
        if let Some((told, known)) = confirmation.transaction().zip(known.registration.transaction())
            && lollipop::compare(told, known) == Some(Ordering::Less)
        {
            return Err(Error::Stale);
        }
        let neighbour = known.neighbour();
        let mut told = known.registration;
        told.set_lifetime(0);
        told.clear_opaque();
        self.remove(&address);
        let Some(neighbour) = neighbour else { return Ok(()) };
        // In the form of RFC 6775 nothing names the address but the packet's destination.
        let (destination, target) = match told.transaction() {
            Some(_) => (output::link_local(neighbour), address),
            None => (address, self.link_local_address()),
        };
        let registration = Some((&told, confirmation.status()));
        Reply::put(&mut self.answers, &neighbour, &destination, &target, registration).map(|_| ())
    }
}

/// Tells a router what became of a registration, from the border router.
fn confirm(
    answers: &mut [Slot<Reply>],
    router: &Ipv6Addr,
    address: &Ipv6Addr,
    registration: &EncodedRegistration,
    status: Status,
) -> Result<(), Error> {
    let nobody = Eui64([0; 8]);
    Reply::put(answers, &nobody, router, address, Some((registration, status)))?.kind = Kind::Confirmation;
    Ok(())
}
