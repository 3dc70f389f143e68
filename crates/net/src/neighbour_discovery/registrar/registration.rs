//! How neighbours register their addresses.

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, Slot};
use sixlock_ipv6::nd::{AddressRegistration, Context, Status};

use super::{Answer, REQUEST_AGAIN, Registrar};
use crate::neighbour_discovery::ask::{Ask, Request};
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::expiry::Expiry;
use crate::neighbour_discovery::network::Network;
use crate::neighbour_discovery::output::{self, is_link_local};
use crate::neighbour_discovery::registrations::{Denial, Registration, Through};
use crate::neighbour_discovery::reply::Reply;

/// `TENTATIVE_NCE_LIFETIME` ([RFC 6775 section 9](https://www.rfc-editor.org/rfc/rfc6775#section-9)), in seconds.
const TENTATIVE: u32 = 20;

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Registrar<R, C> {
    /// Tells a neighbour what became of its registration.
    ///
    /// A refusal does not go to an address that may be another's, but to the one on the link that the EUI-64 in the registration makes
    /// ([RFC 6775 section 6.5.2](https://www.rfc-editor.org/rfc/rfc6775#section-6.5.2)). In the form of RFC 8505 that need be no EUI-64:
    /// there it is the neighbour's.
    pub(super) fn tell(&mut self, ask: &Ask, status: Status) -> Result<(), Error> {
        let blames_source =
            matches!(status, Status::DUPLICATE_SOURCE_ADDRESS | Status::INVALID_SOURCE_ADDRESS)
                || ask.source == ask.address();
        let destination = match ask.names_target {
            _ if status == Status::SUCCESS || !blames_source => ask.source,
            true => output::link_local(ask.neighbour),
            false => output::link_local(Eui64(ask.registration.rovr.0)),
        };
        self.answer(Answer::Neighbour(Reply {
            neighbour: ask.neighbour,
            destination,
            target: ask.target,
            registration: Some(AddressRegistration { status, ..ask.registration }),
        }))
    }

    fn deny(&mut self, ask: &Ask, status: Status) -> Result<(), Error> {
        self.tell(ask, status)?;
        Err(if status == Status::NEIGHBOUR_CACHE_FULL { Error::Full } else { Error::Refused })
    }

    /// Registers an address, or asks the border router whether it may
    /// ([RFC 6775 section 6.5](https://www.rfc-editor.org/rfc/rfc6775#section-6.5),
    /// [RFC 8505 section 5.6](https://www.rfc-editor.org/rfc/rfc8505#section-5.6)).
    pub(super) fn register<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        network: &Network,
        ask: Ask,
    ) -> Result<(), Error> {
        let Ask { neighbour, registration, target, .. } = ask;
        // In the form of RFC 6775 it is the router that is solicited.
        if !ask.names_target && !self.is_own(target) {
            return Err(Error::NotForUs);
        }
        let address = ask.address();
        if let Err(status) = self.check_ask(network, &ask) {
            return self.deny(&ask, status);
        }
        let AddressRegistration { rovr, transaction, lifetime, .. } = registration;
        match self.registrations.check(address, rovr, transaction, lifetime) {
            Ok(()) => {}
            Err(Denial::Status(status)) => return self.deny(&ask, status),
            Err(Denial::Undecided) => return Err(Error::Busy),
        }
        if registration.lifetime == 0 {
            return self.release(cx.now, network, &ask);
        }
        let asks_border_router = !network.is_border_router && !is_link_local(address);
        if !asks_border_router {
            self.tell(&ask, Status::SUCCESS)?;
            self.keep(cx.now, &ask);
            return Ok(());
        }
        let request = Request { ask, is_due: true, sent: 1, at: cx.now + REQUEST_AGAIN };
        let known = self.registrations.get_mut(address);
        // One that waits for its answer already waits on: its node has only sent it again.
        if known.as_ref().is_some_and(|known| known.waits_for(&ask)) {
            return Ok(());
        }
        match known {
            Some(known) => known.request = Slot::Full(request),
            None => {
                self.registrations.put(Registration {
                    address,
                    rovr: registration.rovr,
                    transaction: registration.transaction,
                    through: Through::Neighbour(neighbour),
                    wants_reachability: registration.wants_reachability,
                    generic_compression: ask.generic_compression,
                    expiry: Expiry::after_seconds(cx.now, TENTATIVE),
                    is_confirmed: false,
                    request: Slot::Full(request),
                });
            }
        }
        Ok(())
    }

    /// Whether an address may be registered here, and from that source, as far as other registrations do not matter.
    fn check_ask(&self, network: &Network, ask: &Ask) -> Result<(), Status> {
        let address = ask.address();
        if ask.names_target && !is_link_local(ask.source) {
            return Err(Status::INVALID_SOURCE_ADDRESS);
        }
        if ask.source != address {
            let owner = self.registrations.get(ask.source).map(|known| known.rovr);
            if self.is_own(ask.source) || owner.is_some_and(|owner| owner != ask.registration.rovr) {
                return Err(Status::DUPLICATE_SOURCE_ADDRESS);
            }
        }
        if self.is_own(address) {
            return Err(Status::DUPLICATE_ADDRESS);
        }
        let prefix = network.address_prefix();
        let is_of_network = address.octets().first_chunk() == prefix.as_ref();
        if is_link_local(address) || is_of_network { Ok(()) } else { Err(Status::TOPOLOGICALLY_INCORRECT) }
    }

    /// Ends a registration, as its node wants it.
    fn release(&mut self, now: Instant, network: &Network, ask: &Ask) -> Result<(), Error> {
        let address = ask.address();
        self.tell(ask, Status::SUCCESS)?;
        let was_registered = match network.is_border_router {
            true => self.registrations.release(now, address, ask.registration.transaction),
            false => self.registrations.remove(address),
        };
        if was_registered {
            self.registrations_changed();
        }
        if !network.is_border_router && !is_link_local(address) {
            // If it is lost, the border router's lifetime ends it.
            return self.answer(Answer::Release(ask.request(network)));
        }
        Ok(())
    }

    /// Keeps what was registered.
    pub(super) fn keep(&mut self, now: Instant, ask: &Ask) {
        let before = self.registrations.get(ask.address()).filter(|known| known.is_confirmed).copied();
        let through = Through::Neighbour(ask.neighbour);
        let registration = Registration {
            address: ask.address(),
            rovr: ask.registration.rovr,
            transaction: ask.registration.transaction,
            through,
            wants_reachability: ask.registration.wants_reachability,
            generic_compression: ask.generic_compression,
            expiry: Expiry::after_minutes(now, ask.registration.lifetime),
            is_confirmed: true,
            request: Slot::Empty,
        };
        self.put(registration, before);
    }
}
