//! How neighbours register their addresses.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, Instant, Slot};
use sixlock_ipv6::nd::{EncodedRegistration, Status};

use super::{REQUEST_AGAIN, Registry};
use crate::neighbour_discovery::ask::{Ask, Request};
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::network::Tells;
use crate::neighbour_discovery::output::{self, is_link_local};
use crate::neighbour_discovery::registrations::{Denial, Registration, Through};
use crate::neighbour_discovery::reply::{Kind, Reply};

/// `TENTATIVE_NCE_LIFETIME` ([RFC 6775 section 9](https://www.rfc-editor.org/rfc/rfc6775#section-9)), in seconds.
const TENTATIVE: u32 = 20;

impl<R: Array<Slot<Registration>>> Registry<R> {
    /// Tells a neighbour what became of its registration.
    ///
    /// A refusal does not go to an address that may be another's, but to the one on the link that the EUI-64 in the registration makes
    /// ([RFC 6775 section 6.5.2](https://www.rfc-editor.org/rfc/rfc6775#section-6.5.2)). In the form of RFC 8505 that need be no EUI-64:
    /// there it is the neighbour's.
    pub(super) fn tell(&mut self, ask: &Ask, status: Status) -> Result<(), Error> {
        let blames_source =
            matches!(status, Status::DUPLICATE_SOURCE_ADDRESS | Status::INVALID_SOURCE_ADDRESS)
                || ask.source == *ask.address();
        let destination = match ask.names_target {
            _ if status == Status::SUCCESS || !blames_source => ask.source,
            true => output::link_local(ask.neighbour),
            false => output::link_local(Eui64(*ask.registration.rovr())),
        };
        let registration = Some((&ask.registration, status));
        Reply::put(&mut self.answers, &ask.neighbour, &destination, &ask.target, registration).map(|_| ())
    }

    /// Registers an address, or asks the border router whether it may
    /// ([RFC 6775 section 6.5](https://www.rfc-editor.org/rfc/rfc6775#section-6.5),
    /// [RFC 8505 section 5.6](https://www.rfc-editor.org/rfc/rfc8505#section-5.6)).
    pub(super) fn register<T: Tells>(
        &mut self,
        now: Instant,
        network: &T,
        ask: &Ask,
        is_target_own: bool,
    ) -> Result<(), Error> {
        // In the form of RFC 6775 it is the router that is solicited.
        if !ask.names_target && !is_target_own {
            return Err(Error::NotForUs);
        }
        let address = ask.address();
        let checked = match self.check_ask(network, ask) {
            Ok(()) => self.registrations.check(address, &ask.registration),
            Err(status) => Err(Denial::Status(status)),
        };
        match checked {
            Ok(()) => {}
            Err(Denial::Status(status)) => {
                self.tell(ask, status)?;
                return Err(match status {
                    Status::NEIGHBOUR_CACHE_FULL => Error::Full,
                    _ => Error::Refused,
                });
            }
            Err(Denial::Undecided) => return Err(Error::Busy),
        }
        if ask.registration.lifetime() == 0 {
            return self.release(now, network, ask);
        }
        if network.is_border_router() || is_link_local(address) {
            self.tell(ask, Status::SUCCESS)?;
            self.keep::<T>(now, ask);
            return Ok(());
        }
        let known = self.registrations.place(address).and_then(|place| match place {
            // One that waits for its answer already waits on: its node has only sent it again.
            Slot::Full(known) => Some(known).filter(|known| !known.waits_for(ask)),
            place @ Slot::Empty => {
                let through = Through::Neighbour(ask.neighbour);
                let known = Registration::put(place, address, &ask.registration, through)?;
                known.expiry.begin(now, TENTATIVE);
                Some(known)
            }
        });
        if let Some(known) = known {
            known.request = Slot::Full(Request { ask: *ask, is_due: true, sent: 1, at: now + REQUEST_AGAIN });
        }
        Ok(())
    }

    /// Whether an address may be registered here, and from that source, as far as other registrations do not matter.
    fn check_ask<T: Tells>(&self, network: &T, ask: &Ask) -> Result<(), Status> {
        let address = ask.address();
        if ask.names_target && !is_link_local(&ask.source) {
            return Err(Status::INVALID_SOURCE_ADDRESS);
        }
        if ask.source != *address {
            let owner = self.registrations.get(&ask.source).map(|known| known.registration.rovr());
            if self.is_own(network, &ask.source)
                || owner.is_some_and(|owner| owner != ask.registration.rovr())
            {
                return Err(Status::DUPLICATE_SOURCE_ADDRESS);
            }
        }
        if self.is_own(network, address) {
            return Err(Status::DUPLICATE_ADDRESS);
        }
        if is_link_local(address) || network.has_prefix_of(address) {
            Ok(())
        } else {
            Err(Status::TOPOLOGICALLY_INCORRECT)
        }
    }

    /// Ends a registration, as its node wants it.
    fn release<T: Tells>(&mut self, now: Instant, network: &T, ask: &Ask) -> Result<(), Error> {
        let address = ask.address();
        self.tell(ask, Status::SUCCESS)?;
        if T::MAY_BE_BORDER_ROUTER && network.is_border_router() {
            self.release_at_border_router(now, address, &ask.registration);
            return Ok(());
        }
        self.remove(address);
        if is_link_local(address) {
            return Ok(());
        }
        // If it is lost, the border router's lifetime ends it.
        let registration = asked(network, &ask.registration);
        let registration = Some((&registration, Status::SUCCESS));
        let border_router = network.border_router_address();
        Reply::put(&mut self.answers, &self.address, border_router, address, registration)?.kind =
            Kind::Release;
        Ok(())
    }

    pub(super) fn remove(&mut self, address: &Ipv6Addr) {
        if self.registrations.remove(address) {
            self.events.registrations_changed();
        }
    }

    /// Keeps what was registered.
    pub(super) fn keep<T: Tells>(&mut self, now: Instant, ask: &Ask) {
        let through = Through::Neighbour(ask.neighbour);
        if let Some(known) = self.confirm::<T>(now, ask.address(), &ask.registration, through) {
            known.generic_compression = ask.generic_compression;
        }
    }
}

/// What the border router is asked about a registration.
pub(super) fn asked<T: Tells>(network: &T, registration: &EncodedRegistration) -> EncodedRegistration {
    let mut asked = *registration;
    if !network.reads_extended() {
        asked.set_transaction(None);
    }
    asked
}
