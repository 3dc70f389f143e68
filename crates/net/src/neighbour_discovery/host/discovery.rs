//! What routers tell: the router, the prefix and the contexts of a host.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, LINK_LOCAL_PREFIX, New, Slot};
use sixlock_ipv6::nd::{Capabilities, NdOption, Options, PrefixInformation, RouterAdvertisement};

use super::{Host, KnownBorderRouter, LearntPrefix, ROUTER_LIFETIME, Registered};
use crate::neighbour_discovery::attempt::Which;
use crate::neighbour_discovery::contexts::LearntContext;
use crate::neighbour_discovery::default_routers::DefaultRouter;
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::event::Event;
use crate::neighbour_discovery::expiry::Expiry;

/// `RETRANS_TIMER`, if the router does not say.
const RETRANSMISSION_TIME: u32 = 1_000;

/// The longest retransmission time that is believed.
const MAX_RETRANSMISSION_TIME: u32 = 60_000;

/// The lifetime, in minutes, of a border router that tells none.
const BORDER_ROUTER_LIFETIME: u16 = 10_000;

/// A lifetime that is shorter shortens another to no less, in seconds.
const TWO_HOURS: u32 = 7_200;

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Host<R, C> {
    pub(super) fn handle_router<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        (from, address): (Eui64, Ipv6Addr),
        advertisement: &RouterAdvertisement,
        options: Options<'_>,
    ) -> Result<(), Error> {
        self.learn_border_router(cx.now, options)?;
        self.learn_router(cx.now, (from, address), advertisement, options)?;
        self.choose_router();
        let is_router = self.router == Some(from);
        self.learn_prefix(cx.now, is_router, options);
        let mut has_room = true;
        for option in options.iter() {
            if let NdOption::Context(context) = option {
                match self.contexts.learn(cx.now, context) {
                    Some(true) => self.events.push(Event::ContextsChanged),
                    Some(false) => {}
                    None => has_room = false,
                }
            }
        }
        if is_router {
            self.solicitation.stop();
            let prefix = self.prefix.get().map(|learnt| learnt.expiry.left(cx.now));
            let times = [Some(advertisement.lifetime.into()), prefix, self.contexts.least_left(cx.now)];
            let least = times.into_iter().flatten().min().unwrap_or(ROUTER_LIFETIME);
            self.refresh = Slot::Full(Expiry::after_seconds(cx.now, (least / 2).max(1)));
        }
        if has_room { Ok(()) } else { Err(Error::Full) }
    }

    /// Takes in whether, and for how long, a router is one to send to; what it tells besides holds either way
    /// ([RFC 4861 section 4.2](https://www.rfc-editor.org/rfc/rfc4861#section-4.2)). An error if there is no room.
    fn learn_router(
        &mut self,
        now: Instant,
        (from, address): (Eui64, Ipv6Addr),
        advertisement: &RouterAdvertisement,
        options: Options<'_>,
    ) -> Result<(), Error> {
        if advertisement.lifetime == 0 {
            self.routers.remove(from);
            if self.router == Some(from) {
                self.lose_router();
            }
            return Ok(());
        }
        let capabilities = options.capabilities().unwrap_or(Capabilities::NONE);
        let learnt = self.routers.learn(DefaultRouter {
            neighbour: from,
            address,
            is_extended: capabilities.extended_registration,
            reads_extended: capabilities.extended_duplicate_address,
            generic_compression: capabilities.generic_compression,
            retransmission_time: match advertisement.retransmission_time {
                0 => RETRANSMISSION_TIME,
                told => told.min(MAX_RETRANSMISSION_TIME),
            },
            expiry: Expiry::after_seconds(now, advertisement.lifetime.into()),
            rests_until: None,
        });
        if learnt { Ok(()) } else { Err(Error::Full) }
    }

    /// Takes in which border router an advertisement comes from. An error if a newer one is known of it, or if a router that is to tell it
    /// on is not told ([RFC 6775 section 8.1.3](https://www.rfc-editor.org/rfc/rfc6775#section-8.1.3)).
    fn learn_border_router(&mut self, now: Instant, options: Options<'_>) -> Result<(), Error> {
        let Some(told) = options.border_router() else {
            return if self.capabilities.router { Err(Error::NotForUs) } else { Ok(()) };
        };
        if let Some(known) = self.border_router.get()
            && known.address == told.address
            && told.version.wrapping_sub(known.version) >= 1 << 31
        {
            return Err(Error::Stale);
        }
        let lifetime = if told.lifetime == 0 { BORDER_ROUTER_LIFETIME } else { told.lifetime };
        let expiry = Expiry::after_minutes(now, lifetime);
        self.border_router =
            Slot::Full(KnownBorderRouter { address: told.address, version: told.version, expiry });
        Ok(())
    }

    /// Takes in the prefix that a router tells, its own router or another.
    fn learn_prefix(&mut self, now: Instant, is_router: bool, options: Options<'_>) {
        let prefixes = options.iter().filter_map(|option| match option {
            NdOption::PrefixInformation(information) => usable(&information),
            _ => None,
        });
        if let Some(known) = self.prefix.get_mut()
            && let Some((_, valid)) = prefixes.clone().find(|(prefix, _)| *prefix == known.prefix)
        {
            // Nobody ends an address by a lifetime that it has invented (RFC 4862 section 5.5.3).
            let left = known.expiry.left(now);
            if valid > TWO_HOURS || valid > left {
                known.expiry = Expiry::after_seconds(now, valid);
            } else if left > TWO_HOURS {
                known.expiry = Expiry::after_seconds(now, TWO_HOURS);
            }
            return;
        }
        if let Some((prefix, valid)) = prefixes.clone().find(|(_, valid)| *valid > 0)
            && (is_router || !self.prefix.is_full())
        {
            self.forget_prefix();
            self.prefix = Slot::Full(LearntPrefix { prefix, expiry: Expiry::after_seconds(now, valid) });
        }
    }

    /// Removes all that the border router has told, which nothing has renewed
    /// ([RFC 6775 section 8.1.2](https://www.rfc-editor.org/rfc/rfc6775#section-8.1.2)).
    pub(super) fn forget_border_router(&mut self) {
        self.border_router = Slot::Empty;
        self.forget_prefix();
        if self.contexts.clear() {
            self.events.push(Event::ContextsChanged);
        }
    }

    /// Gives the prefix up, and the address with it.
    pub(super) fn forget_prefix(&mut self) {
        if self.global.expiry.is_full() {
            self.events.push(Event::Lost);
        }
        self.end_attempt(Which::Global);
        (self.prefix, self.global) = (Slot::Empty, Registered::NEW);
    }

    /// Chooses a router, if there is none yet.
    pub(super) fn choose_router(&mut self) {
        if self.router.is_none() {
            self.router = self.routers.best().map(|router| router.neighbour);
        }
    }

    /// Gives its router up: nothing is registered any more.
    pub(super) fn lose_router(&mut self) {
        if self.router.take().is_some() {
            self.events.push(Event::Lost);
        }
        for registered in [&mut self.link_local, &mut self.global] {
            (registered.expiry, registered.renewal) = (Slot::Empty, Slot::Empty);
        }
        (self.attempt, self.refresh, self.setbacks) = (Slot::Empty, Slot::Empty, 0);
    }
}

/// The prefix that an address may be made of, and for how many seconds it is valid. One that is said to be on the link is ignored
/// ([RFC 6775 section 5.4](https://www.rfc-editor.org/rfc/rfc6775#section-5.4)).
fn usable(information: &PrefixInformation) -> Option<([u8; 8], u32)> {
    let [prefix @ .., _, _, _, _, _, _, _, _] = information.address.octets();
    let is_usable = information.autonomous
        && !information.on_link
        && information.length == 64
        && information.preferred <= information.valid
        && prefix != LINK_LOCAL_PREFIX
        && !information.address.is_multicast();
    is_usable.then_some((prefix, information.valid))
}
