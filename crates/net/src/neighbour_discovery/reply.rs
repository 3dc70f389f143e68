use core::net::Ipv6Addr;

use sixlock_base::Eui64;
use sixlock_ipv6::nd::{
    ALL_NODES, AddressRegistration, HOP_LIMIT, Message, NdOption, NeighbourAdvertisement,
};

use super::output::{self, Transmit};
use crate::BROADCAST;

/// A neighbour advertisement that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    /// The neighbour that has asked.
    pub(super) neighbour: Eui64,
    /// Its address; none if it has none yet.
    pub(super) destination: Ipv6Addr,
    /// The address that it has asked for.
    pub(super) target: Ipv6Addr,
    /// What became of its registration, if that is what it has asked for.
    pub(super) registration: Option<AddressRegistration>,
}

impl Reply {
    /// Writes it, from `own`: who asks without an address is answered before all
    /// ([RFC 4861 section 7.2.4](https://www.rfc-editor.org/rfc/rfc4861#section-7.2.4)).
    pub(super) fn write(&self, out: &mut [u8], own: Eui64, router: bool) -> Option<Transmit> {
        let is_to_all = self.destination.is_unspecified();
        let (destination, neighbour) =
            if is_to_all { (ALL_NODES, BROADCAST) } else { (self.destination, self.neighbour) };
        let message = Message::NeighbourAdvertisement(NeighbourAdvertisement {
            router,
            solicited: !is_to_all,
            overrides: self.registration.is_none(),
            target: self.target,
        });
        let addresses = (output::link_local(own), destination);
        let len = output::write(out, addresses, HOP_LIMIT, &message, |builder| match self.registration {
            Some(registration) => builder.option(&NdOption::AddressRegistration(registration)),
            None => builder.option(&NdOption::TargetLinkLayerAddress(output::link_layer_address(own))),
        })?;
        Some(Transmit { len, neighbour: Some(neighbour) })
    }
}
