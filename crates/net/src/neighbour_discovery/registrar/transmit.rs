//! What a router sends.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Eui64, Instant, Slot};
use sixlock_ipv6::nd::{
    ALL_NODES, Capabilities, Context, HOP_LIMIT, Message, NdOption, PrefixInformation, RouterAdvertisement,
};

use super::{Answer, Registrar};
use crate::BROADCAST;
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::output::{self, MULTIHOP_HOP_LIMIT, Transmit};
use crate::neighbour_discovery::registrations::Registration;

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Registrar<R, C> {
    /// Lets an answer wait.
    pub(super) fn answer(&mut self, answer: Answer) -> Result<(), Error> {
        let free = self.answers.iter_mut().find(|place| !place.is_full()).ok_or(Error::Busy)?;
        *free = Slot::Full(answer);
        Ok(())
    }

    /// Whether there is something for [`Registrar::poll_transmit`].
    pub fn has_output(&self) -> bool {
        self.solicitors.has_output()
            || self.answers.iter().any(Slot::is_full)
            || self.registrations.all().any(|known| known.request.get().is_some_and(|request| request.is_due))
    }

    /// Writes the next packet to `out`. One for which there is no room is lost.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        if let Some(answer) = self.answers.iter_mut().find_map(Slot::take) {
            return match answer {
                Answer::Neighbour(reply) => reply.write(out, self.address, true),
                Answer::Confirmation { router, message } => {
                    self.write_multihop(out, router, &Message::DuplicateAddressConfirmation(message))
                }
                Answer::Release(message) => {
                    let border_router = self.network.get()?.border_router.address;
                    self.write_multihop(out, border_router, &Message::DuplicateAddressRequest(message))
                }
            };
        }
        if let Some(who) = self.solicitors.poll(now) {
            return self.write_advertisement(out, who);
        }
        let network = self.network.get()?;
        let request = self.registrations.all_mut().find_map(|known| {
            let request = known.request.get_mut()?;
            core::mem::take(&mut request.is_due).then(|| request.ask.request(network))
        })?;
        let border_router = network.border_router.address;
        self.write_multihop(out, border_router, &Message::DuplicateAddressRequest(request))
    }

    fn write_multihop(&self, out: &mut [u8], to: Ipv6Addr, message: &Message) -> Option<Transmit> {
        let addresses = (self.global_address()?, to);
        let len = output::write(out, addresses, MULTIHOP_HOP_LIMIT, message, |_| Ok(()))?;
        Some(Transmit { len, neighbour: None })
    }

    /// Writes an advertisement to a neighbour, or to all.
    fn write_advertisement(&self, out: &mut [u8], who: Option<(Eui64, Ipv6Addr)>) -> Option<Transmit> {
        let network = self.network.get()?;
        let message = Message::RouterAdvertisement(RouterAdvertisement {
            hop_limit: 64,
            managed: false,
            other_configuration: false,
            lifetime: network.router_lifetime,
            reachable_time: 0,
            retransmission_time: 0,
        });
        let capabilities = Capabilities {
            extended_duplicate_address: network.is_border_router || network.reads_extended,
            router: true,
            border_router: network.is_border_router,
            routing_registrar: network.is_routing_registrar,
            extended_registration: true,
            generic_compression: network.generic_compression,
        };
        let (neighbour, destination) = who.unwrap_or((BROADCAST, ALL_NODES));
        let addresses = (self.link_local_address(), destination);
        let len = output::write(out, addresses, HOP_LIMIT, &message, |builder| {
            let address = output::link_layer_address(self.address);
            builder.option(&NdOption::SourceLinkLayerAddress(address))?;
            builder.option(&NdOption::Capabilities(capabilities))?;
            builder.option(&NdOption::BorderRouter(network.border_router))?;
            if let Some(prefix) = network.prefix {
                // No address is on the link but those of neighbours (RFC 6775 section 6.1).
                builder
                    .option(&NdOption::PrefixInformation(PrefixInformation { on_link: false, ..prefix }))?;
            }
            self.contexts
                .as_ref()
                .iter()
                .filter_map(Slot::get)
                .try_for_each(|context| builder.option(&NdOption::Context(*context)))
        })?;
        Some(Transmit { len, neighbour: Some(neighbour) })
    }
}
