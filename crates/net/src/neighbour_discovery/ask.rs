use core::net::Ipv6Addr;

use sixlock_base::{Eui64, Instant};
use sixlock_ipv6::nd::{AddressRegistration, DuplicateAddress, Options, Status};

use super::error::Error;
use super::network::Network;
use super::output::is_link_local;

/// What a node asks for, kept while the border router is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) ask: Ask,
    pub(super) is_due: bool,
    pub(super) sent: u8,
    pub(super) at: Instant,
}

/// A solicitation that registers an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) neighbour: Eui64,
    pub(super) source: Ipv6Addr,
    pub(super) target: Ipv6Addr,
    /// Whether it registers its target, in the form of RFC 8505; in that of RFC 6775 it registers its source.
    pub(super) names_target: bool,
    pub(super) registration: AddressRegistration,
    /// Whether its node reads payloads that are compressed by GHC (RFC 7400).
    pub(super) generic_compression: bool,
}

impl Ask {
    /// The registration in a solicitation of `target`, which is the router's own address or not. There is none where the sender does not
    /// say its addresses; a solicitation with one that is not as it has to be is ignored as a whole
    /// ([RFC 6775 section 6.5](https://www.rfc-editor.org/rfc/rfc6775#section-6.5)).
    pub(super) fn read(
        neighbour: Eui64,
        source: Ipv6Addr,
        (target, is_own): (Ipv6Addr, bool),
        options: Options<'_>,
    ) -> Result<Option<Self>, Error> {
        let registration = options.address_registration().map_err(|_| Error::Malformed)?;
        let Some(registration) = registration else { return Ok(None) };
        if registration.status != Status::SUCCESS {
            return Err(Error::Malformed);
        }
        if source.is_unspecified() || options.source_link_layer_address().is_none() {
            return Ok(None);
        }
        // Who does not know that its router is one of RFC 8505 solicits the router, and has a transaction id nevertheless (its section 6.3).
        let solicits_router = is_own && !is_link_local(source);
        let names_target = registration.transaction.is_some() && !solicits_router;
        let generic_compression =
            options.capabilities().is_some_and(|capabilities| capabilities.generic_compression);
        Ok(Some(Self { neighbour, source, target, names_target, registration, generic_compression }))
    }

    /// The address that is registered.
    pub(super) fn address(&self) -> Ipv6Addr {
        if self.names_target { self.target } else { self.source }
    }

    /// What the border router is asked.
    pub(super) fn request(&self, network: &Network) -> DuplicateAddress {
        DuplicateAddress {
            status: Status::SUCCESS,
            transaction: self.registration.transaction.filter(|_| network.reads_extended),
            lifetime: self.registration.lifetime,
            rovr: self.registration.rovr,
            address: self.address(),
        }
    }
}
