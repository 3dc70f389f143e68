use core::net::Ipv6Addr;

use sixlock_base::{Eui64, LINK_LOCAL_PREFIX, Slot};
use sixlock_ipv6::nd::{ALL_NODES, EncodedRegistration, HOP_LIMIT, NeighbourAdvertisement, Status};

use super::error::Error;
use super::output::{self, Transmit};
use crate::BROADCAST;

/// What an answer is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A neighbour advertisement.
    Advertisement,
    /// From the border router to another router: what became of a registration.
    Confirmation,
    /// From a router to the border router: an address is not registered any more, and nobody waits for the answer.
    Release,
}

/// An answer that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) kind: Kind,
    /// The neighbour that has asked.
    neighbour: Eui64,
    /// Its address; none if it has none yet.
    pub(super) destination: Ipv6Addr,
    /// The address that it has asked for.
    pub(super) target: Ipv6Addr,
    /// What became of its registration, if that is what it has asked for.
    pub(super) registration: Slot<EncodedRegistration>,
}

impl Reply {
    /// Puts an answer to a neighbour in the first of these places that is free; an error if none is. It is about the address `target`, or
    /// about its registration.
    #[inline(never)]
    pub(super) fn put<'a>(
        places: &'a mut [Slot<Self>],
        neighbour: &Eui64,
        destination: &Ipv6Addr,
        target: &Ipv6Addr,
        registration: Option<(&EncodedRegistration, Status)>,
    ) -> Result<&'a mut Self, Error> {
        let free = places.iter_mut().find(|place| !place.is_full()).ok_or(Error::Busy)?;
        *free = Slot::Full(Self {
            kind: Kind::Advertisement,
            neighbour: *neighbour,
            destination: *destination,
            target: *target,
            registration: Slot::Empty,
        });
        let reply = free.get_mut().ok_or(Error::Busy)?;
        if let Some((registration, status)) = registration {
            reply.registration = Slot::Full(*registration);
            if let Some(registration) = reply.registration.get_mut() {
                registration.set_status(status);
            }
        }
        Ok(reply)
    }

    /// Writes a neighbour advertisement, from `own`: who asks without an address is answered before all
    /// ([RFC 4861 section 7.2.4](https://www.rfc-editor.org/rfc/rfc4861#section-7.2.4)).
    pub(super) fn write(&self, out: &mut [u8], own: &Eui64, router: bool) -> Option<Transmit> {
        let is_to_all = self.destination == Ipv6Addr::UNSPECIFIED;
        let (destination, neighbour) =
            if is_to_all { (&ALL_NODES, BROADCAST) } else { (&self.destination, self.neighbour) };
        let len = output::write(out, (&LINK_LOCAL_PREFIX, own), destination, HOP_LIMIT, |builder| {
            builder.neighbour_advertisement(&NeighbourAdvertisement {
                router,
                solicited: !is_to_all,
                overrides: !self.registration.is_full(),
                target: self.target,
            })?;
            match &self.registration {
                Slot::Full(registration) => builder.address_registration(registration),
                Slot::Empty => builder.target_link_layer_address(&own.0),
            }
        })?;
        Some(Transmit { len, neighbour: Some(neighbour) })
    }
}
