use core::net::Ipv6Addr;

use sixlock_base::{Eui64, Instant};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{AddressRegistration, DuplicateAddress, Options, Status};

use super::network::Network;

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
    pub(super) registration: AddressRegistration,
}

impl Ask {
    /// Whether it is in the form of RFC 8505, in which the target is the address that is registered.
    pub(super) fn is_extended(&self) -> bool {
        self.registration.transaction.is_some()
    }

    /// The address that is registered.
    pub(super) fn address(&self) -> Ipv6Addr {
        if self.is_extended() { self.target } else { self.source }
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

/// The registration in a solicitation. It is ignored where it has a status, and where its sender does not say its addresses
/// ([RFC 6775 section 6.5](https://www.rfc-editor.org/rfc/rfc6775#section-6.5)).
pub(super) fn registration_in(header: &Header, options: Options<'_>) -> Option<AddressRegistration> {
    let registration = options.address_registration()?;
    let is_good = registration.status == Status::SUCCESS
        && !header.source.is_unspecified()
        && options.source_link_layer_address().is_some();
    is_good.then_some(registration)
}
