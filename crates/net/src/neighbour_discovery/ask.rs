use core::net::Ipv6Addr;

use sixlock_base::{Eui64, Instant};
use sixlock_ipv6::nd::{EncodedCapabilities, EncodedMessage, EncodedRegistration, Options, Status};

use super::error::Error;
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
    pub(super) registration: EncodedRegistration,
    /// Whether its node reads payloads that are compressed by GHC (RFC 7400).
    pub(super) generic_compression: bool,
}

impl Ask {
    /// A solicitation of which the options were not read yet.
    pub(super) fn new(neighbour: &Eui64, source: &Ipv6Addr, message: &EncodedMessage<'_>) -> Self {
        Self {
            neighbour: *neighbour,
            source: *source,
            target: message.target(),
            names_target: false,
            registration: EncodedRegistration::NONE,
            generic_compression: false,
        }
    }

    /// Reads the registration in a solicitation of the router's own address, or of another; whether there is one. There is none where the
    /// sender does not say its addresses; a solicitation with one that is not as it has to be is ignored as a whole
    /// ([RFC 6775 section 6.5](https://www.rfc-editor.org/rfc/rfc6775#section-6.5)).
    pub(super) fn read(&mut self, options: Options<'_>, is_own: bool) -> Result<bool, Error> {
        let registration = &mut self.registration;
        if !options.address_registration(registration).map_err(|_| Error::Malformed)? {
            return Ok(false);
        }
        if registration.status() != Status::SUCCESS {
            return Err(Error::Malformed);
        }
        if self.source == Ipv6Addr::UNSPECIFIED || !options.has_source_link_layer_address() {
            return Ok(false);
        }
        // Who does not know that its router is one of RFC 8505 solicits the router, and has a transaction id nevertheless (its section 6.3).
        let solicits_router = is_own && !is_link_local(&self.source);
        self.names_target = registration.transaction().is_some() && !solicits_router;
        self.generic_compression = options.capabilities().has(EncodedCapabilities::GENERIC_COMPRESSION);
        Ok(true)
    }

    /// The address that is registered.
    pub(super) fn address(&self) -> &Ipv6Addr {
        if self.names_target { &self.target } else { &self.source }
    }
}
