//! What a router sends.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, Instant, LINK_LOCAL_PREFIX, Slot};
use sixlock_ipv6::nd::{Builder, EncodedCapabilities, HOP_LIMIT, RouterAdvertisement};

use super::Registry;
use super::registration::asked;
use crate::neighbour_discovery::network::Tells;
use crate::neighbour_discovery::output::{self, MULTIHOP_HOP_LIMIT, Transmit};
use crate::neighbour_discovery::registrations::Registration;
use crate::neighbour_discovery::reply::{Kind, Reply};

impl<R: Array<Slot<Registration>>> Registry<R> {
    /// Whether there is something for [`Registry::poll_transmit`].
    pub(crate) fn has_output(&self) -> bool {
        self.solicitors.has_output()
            || self.answers.iter().any(Slot::is_full)
            || self.registrations.all().any(|known| known.request.get().is_some_and(|request| request.is_due))
    }

    /// Writes the next packet to `out`. One for which there is no room is lost.
    pub(crate) fn poll_transmit<T: Tells>(
        &mut self,
        network: &T,
        now: Instant,
        out: &mut [u8],
    ) -> Option<Transmit> {
        if let Some(place) = self.answers.iter_mut().find(|place| place.is_full()) {
            let transmit = match place {
                Slot::Full(reply) => write_answer(&self.address, network, out, reply),
                Slot::Empty => None,
            };
            *place = Slot::Empty;
            return transmit;
        }
        if let Some((neighbour, destination)) = self.solicitors.poll(now) {
            return self.write_advertisement(network, now, out, neighbour, &destination);
        }
        let ask = self.registrations.all_mut().find_map(|known| {
            let request = known.request.get_mut()?;
            core::mem::take(&mut request.is_due).then_some(&request.ask)
        })?;
        let (registration, to) = (asked(network, &ask.registration), network.border_router_address());
        write_multihop(&self.address, network, out, to, |builder| {
            builder.duplicate_address_request(&registration, &ask.address().octets())
        })
    }

    /// Writes an advertisement to a neighbour, or to all.
    fn write_advertisement<T: Tells>(
        &self,
        network: &T,
        now: Instant,
        out: &mut [u8],
        neighbour: Eui64,
        destination: &Ipv6Addr,
    ) -> Option<Transmit> {
        let is_border_router = network.is_border_router();
        let source = (&LINK_LOCAL_PREFIX, &self.address);
        let len = output::write(out, source, destination, HOP_LIMIT, |builder| {
            builder.router_advertisement(&RouterAdvertisement {
                hop_limit: 64,
                managed: false,
                other_configuration: false,
                lifetime: network.router_lifetime(),
                reachable_time: 0,
                retransmission_time: 0,
            })?;
            builder.source_link_layer_address(&self.address.0)?;
            const ALWAYS: EncodedCapabilities =
                EncodedCapabilities::ROUTER.with(EncodedCapabilities::EXTENDED_REGISTRATION, true);
            let reads_extended = is_border_router || network.reads_extended();
            builder.capabilities(
                ALWAYS
                    .with(EncodedCapabilities::EXTENDED_DUPLICATE_ADDRESS, reads_extended)
                    .with(EncodedCapabilities::BORDER_ROUTER, is_border_router)
                    .with(EncodedCapabilities::ROUTING_REGISTRAR, network.is_routing_registrar())
                    .with(EncodedCapabilities::GENERIC_COMPRESSION, network.generic_compression()),
            )?;
            network.write(now, builder)
        })?;
        Some(Transmit { len, neighbour: Some(neighbour) })
    }
}

fn write_answer<T: Tells>(own: &Eui64, network: &T, out: &mut [u8], reply: &Reply) -> Option<Transmit> {
    let Slot::Full(registration) = &reply.registration else { return reply.write(out, own, true) };
    match reply.kind {
        Kind::Advertisement => reply.write(out, own, true),
        Kind::Confirmation if !T::MAY_BE_BORDER_ROUTER => None,
        kind => write_multihop(own, network, out, &reply.destination, |builder| match kind {
            Kind::Confirmation if T::MAY_BE_BORDER_ROUTER => {
                builder.duplicate_address_confirmation(registration, &reply.target.octets())
            }
            _ => builder.duplicate_address_request(registration, &reply.target.octets()),
        }),
    }
}

/// From the address with the network's prefix; of the border router, the one that it is known by.
fn write_multihop<T: Tells>(
    own: &Eui64,
    network: &T,
    out: &mut [u8],
    to: &Ipv6Addr,
    message: impl FnOnce(&mut Builder<'_>) -> Result<(), sixlock_ipv6::Error>,
) -> Option<Transmit> {
    let len = if T::MAY_BE_BORDER_ROUTER && network.is_border_router() {
        let own = network.border_router_address();
        let [prefix @ .., _, _, _, _, _, _, _, _] = own.octets();
        output::write(out, (&prefix, &Eui64::of_address(*own)), to, MULTIHOP_HOP_LIMIT, message)?
    } else {
        output::write(out, (network.address_prefix()?, own), to, MULTIHOP_HOP_LIMIT, message)?
    };
    Some(Transmit { len, neighbour: None })
}
