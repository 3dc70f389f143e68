//! What a host sends.

use sixlock_base::{Array, Slot};
use sixlock_ipv6::nd::{ALL_ROUTERS, AddressRegistration, HOP_LIMIT, Message, NdOption, Status};

use super::Host;
use crate::BROADCAST;
use crate::neighbour_discovery::attempt::Which;
use crate::neighbour_discovery::contexts::LearntContext;
use crate::neighbour_discovery::default_routers::DefaultRouter;
use crate::neighbour_discovery::output::{self, Transmit};

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Host<R, C> {
    /// Whether there is something for [`Host::poll_transmit`].
    pub fn has_output(&self) -> bool {
        self.reply.is_full()
            || self.solicitation.has_output()
            || self.attempt.get().is_some_and(|attempt| attempt.is_due)
    }

    /// Writes the next packet to `out`. One for which there is no room is lost.
    pub fn poll_transmit(&mut self, out: &mut [u8]) -> Option<Transmit> {
        if let Some(reply) = self.reply.take() {
            return reply.write(out, self.address, false);
        }
        if let Some(asks_router) = self.solicitation.poll() {
            return self.write_solicitation(out, asks_router);
        }
        let attempt = self.attempt.get_mut().filter(|attempt| attempt.is_due)?;
        attempt.is_due = false;
        let which = attempt.which;
        self.write_registration(out, which)
    }

    fn write_solicitation(&self, out: &mut [u8], asks_router: bool) -> Option<Transmit> {
        let router = self.router.and_then(|router| self.routers.get(router)).filter(|_| asks_router);
        let (destination, neighbour) =
            router.map_or((ALL_ROUTERS, BROADCAST), |router| (router.address, router.neighbour));
        let addresses = (self.link_local_address(), destination);
        let len = output::write(out, addresses, HOP_LIMIT, &Message::RouterSolicitation, |builder| {
            let address = output::link_layer_address(self.address);
            builder.option(&NdOption::SourceLinkLayerAddress(address))?;
            builder.option(&NdOption::Capabilities(self.capabilities))
        })?;
        Some(Transmit { len, neighbour: Some(neighbour) })
    }

    /// Writes the solicitation that registers an address: of a router that takes the extended form, the address is its target
    /// ([RFC 8505 section 5.5](https://www.rfc-editor.org/rfc/rfc8505#section-5.5)), else its source
    /// ([RFC 6775 section 5.5.1](https://www.rfc-editor.org/rfc/rfc6775#section-5.5.1)). The option has the extended form always
    /// ([RFC 8505 section 6.3](https://www.rfc-editor.org/rfc/rfc8505#section-6.3)).
    fn write_registration(&self, out: &mut [u8], which: Which) -> Option<Transmit> {
        let router = self.router.and_then(|router| self.routers.get(router))?;
        let address = self.own(which)?;
        let (source, target) = match router.is_extended {
            true => (self.link_local_address(), address),
            false => (address, router.address),
        };
        let registration = AddressRegistration {
            status: Status::SUCCESS,
            opaque: 0,
            opaque_kind: 0,
            wants_reachability: self.wants_reachability,
            transaction: Some(self.transaction),
            lifetime: self.lifetime,
            rovr: self.rovr,
        };
        let message = Message::NeighbourSolicitation { target };
        let len = output::write(out, (source, router.address), HOP_LIMIT, &message, |builder| {
            let address = output::link_layer_address(self.address);
            builder.option(&NdOption::SourceLinkLayerAddress(address))?;
            builder.option(&NdOption::AddressRegistration(registration))?;
            // A router keeps it with the registration, and not with a solicitation of routers.
            match self.capabilities.generic_compression {
                true => builder.option(&NdOption::Capabilities(self.capabilities)),
                false => Ok(()),
            }
        })?;
        Some(Transmit { len, neighbour: Some(router.neighbour) })
    }
}
