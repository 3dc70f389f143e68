//! What a host sends.

use sixlock_base::{Array, LINK_LOCAL_PREFIX, Slot};
use sixlock_ipv6::nd::{ALL_ROUTERS, EncodedCapabilities, HOP_LIMIT};

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
        if let Slot::Full(reply) = &self.reply {
            let transmit = reply.write(out, &self.address, false);
            self.reply = Slot::Empty;
            return transmit;
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
        let router = self.own_router().filter(|_| asks_router);
        let (destination, neighbour) =
            router.map_or((&ALL_ROUTERS, BROADCAST), |router| (&router.address, router.neighbour));
        let source = (&LINK_LOCAL_PREFIX, &self.address);
        let len = output::write(out, source, destination, HOP_LIMIT, |builder| {
            builder.router_solicitation()?;
            builder.source_link_layer_address(&self.address.0)?;
            builder.capabilities(self.capabilities)
        })?;
        Some(Transmit { len, neighbour: Some(neighbour) })
    }

    /// Writes the solicitation that registers an address: of a router that takes the extended form, the address is its target
    /// ([RFC 8505 section 5.5](https://www.rfc-editor.org/rfc/rfc8505#section-5.5)), else its source
    /// ([RFC 6775 section 5.5.1](https://www.rfc-editor.org/rfc/rfc6775#section-5.5.1)). The option has the extended form always
    /// ([RFC 8505 section 6.3](https://www.rfc-editor.org/rfc/rfc8505#section-6.3)).
    fn write_registration(&self, out: &mut [u8], which: Which) -> Option<Transmit> {
        let router = self.own_router()?;
        let prefix = match which {
            Which::LinkLocal => &LINK_LOCAL_PREFIX,
            Which::Global => self.known_prefix()?,
        };
        let source = if router.is_extended() { &LINK_LOCAL_PREFIX } else { prefix };
        let len = output::write(out, (source, &self.address), &router.address, HOP_LIMIT, |builder| {
            let mut target = router.address.octets();
            if router.is_extended() {
                self.address.put_address(prefix, &mut target);
            }
            builder.neighbour_solicitation(&target)?;
            builder.source_link_layer_address(&self.address.0)?;
            builder.address_registration(&self.registration)?;
            // A router keeps it with the registration, and not with a solicitation of routers.
            match self.capabilities.has(EncodedCapabilities::GENERIC_COMPRESSION) {
                true => builder.capabilities(self.capabilities),
                false => Ok(()),
            }
        })?;
        Some(Transmit { len, neighbour: Some(router.neighbour) })
    }
}
