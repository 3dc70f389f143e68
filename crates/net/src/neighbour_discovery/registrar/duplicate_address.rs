//! What a router and the border router say to each other of addresses.

use core::cmp::Ordering;

use sixlock_base::{Array, Cx, Entropy, Slot, lollipop};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{AddressRegistration, Context, DuplicateAddress, Status};

use super::{Answer, Registrar};
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::expiry::Expiry;
use crate::neighbour_discovery::network::Network;
use crate::neighbour_discovery::output;
use crate::neighbour_discovery::registrations::{Denial, Registration, Through};
use crate::neighbour_discovery::reply::Reply;

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Registrar<R, C> {
    /// Keeps a registration in the place of the one before, and tells the router that this one was registered at
    /// ([RFC 8505 section 4.1](https://www.rfc-editor.org/rfc/rfc8505#section-4.1)).
    pub(super) fn put(&mut self, registration: Registration, before: Option<Registration>) {
        self.registrations.put(registration);
        let is_same = before.is_some_and(|before| {
            before.through == registration.through
                && before.wants_reachability == registration.wants_reachability
        });
        if !is_same {
            self.registrations_changed();
        }
        self.events.note_registered();
        // Who registers at two routers at once does so by the same id, and who moves, by a later one.
        let is_parallel = registration.transaction.is_some()
            && before.is_some_and(|before| before.transaction == registration.transaction);
        if let Some(before) = before
            && let Through::Router(router) = before.through
            && before.through != registration.through
            && !is_parallel
        {
            let message = DuplicateAddress {
                status: Status::MOVED,
                transaction: registration.transaction,
                lifetime: 0,
                rovr: before.rovr,
                address: before.address,
            };
            // It is a courtesy: without it, the registration there is over after its lifetime.
            let _ = self.answer(Answer::Confirmation { router, message });
        }
    }

    /// At the border router: another router asks for an address
    /// ([RFC 6775 section 8.2.3](https://www.rfc-editor.org/rfc/rfc6775#section-8.2.3)).
    pub(super) fn handle_request<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        network: &Network,
        header: &Header,
        request: &DuplicateAddress,
    ) -> Result<(), Error> {
        if !network.is_border_router || !self.is_own(header.destination) || request.status != Status::SUCCESS
        {
            return Err(Error::NotForUs);
        }
        let DuplicateAddress { transaction, lifetime, rovr, address, .. } = *request;
        let prefix = network.address_prefix();
        let denial = if self.is_own(address) {
            Some(Status::DUPLICATE_ADDRESS)
        } else if address.octets().first_chunk() != prefix.as_ref() {
            Some(Status::TOPOLOGICALLY_INCORRECT)
        } else {
            match self.registrations.check(address, rovr, transaction, lifetime) {
                Ok(()) => None,
                Err(Denial::Status(Status::NEIGHBOUR_CACHE_FULL)) => Some(Status::REGISTRY_SATURATED),
                Err(Denial::Status(status)) => Some(status),
                Err(Denial::Undecided) => return Err(Error::Busy),
            }
        };
        let status = denial.unwrap_or(Status::SUCCESS);
        let message = DuplicateAddress { status, ..*request };
        self.answer(Answer::Confirmation { router: header.source, message })?;
        if denial.is_some() {
            return Err(if status == Status::REGISTRY_SATURATED { Error::Full } else { Error::Refused });
        }
        if lifetime == 0 {
            if self.registrations.release(cx.now, address, transaction) {
                self.registrations_changed();
            }
            return Ok(());
        }
        let before = self.registrations.get(address).filter(|known| known.is_confirmed).copied();
        let registration = Registration {
            address,
            rovr,
            transaction,
            through: Through::Router(header.source),
            wants_reachability: false,
            generic_compression: false,
            expiry: Expiry::after_minutes(cx.now, lifetime),
            is_confirmed: true,
            request: Slot::Empty,
        };
        self.put(registration, before);
        Ok(())
    }

    /// The border router has answered, or says that a registration is no more
    /// ([RFC 6775 section 8.2.4](https://www.rfc-editor.org/rfc/rfc6775#section-8.2.4)).
    pub(super) fn handle_confirmation<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        network: &Network,
        header: &Header,
        confirmation: &DuplicateAddress,
    ) -> Result<(), Error> {
        if network.is_border_router || !self.is_own(header.destination) {
            return Err(Error::NotForUs);
        }
        if header.source != network.border_router.address {
            return Err(Error::Unasked);
        }
        let address = confirmation.address;
        let known = self.registrations.get_mut(address).ok_or(Error::Unasked)?;
        let request = known.request.get().filter(|request| {
            let asked = request.ask.registration;
            confirmation.rovr == asked.rovr
                && (confirmation.transaction.is_none() || confirmation.transaction == asked.transaction)
        });
        if let Some(request) = request {
            let ask = request.ask;
            // Who cannot be told now asks again.
            self.tell(&ask, confirmation.status)?;
            if confirmation.status == Status::SUCCESS {
                self.keep(cx.now, &ask);
                return Ok(());
            }
            if self.registrations.remove(address) {
                self.registrations_changed();
            }
            return Ok(());
        }
        if confirmation.status == Status::SUCCESS || confirmation.rovr != known.rovr || !known.is_confirmed {
            return Err(Error::Unasked);
        }
        // It was long on its way: the node has registered anew since.
        if let Some((told, known)) = confirmation.transaction.zip(known.transaction)
            && lollipop::compare(told, known) == Some(Ordering::Less)
        {
            return Err(Error::Stale);
        }
        let told = *known;
        if self.registrations.remove(address) {
            self.registrations_changed();
        }
        let Through::Neighbour(neighbour) = told.through else { return Ok(()) };
        let registration = AddressRegistration {
            status: confirmation.status,
            opaque: 0,
            opaque_kind: 0,
            wants_reachability: told.wants_reachability,
            transaction: told.transaction,
            lifetime: 0,
            rovr: told.rovr,
        };
        // In the form of RFC 6775 nothing names the address but the packet's destination.
        let (destination, target) = match told.transaction {
            Some(_) => (output::link_local(neighbour), address),
            None => (address, self.link_local_address()),
        };
        let registration = Some(registration);
        self.answer(Answer::Neighbour(Reply { neighbour, destination, target, registration }))
    }
}
