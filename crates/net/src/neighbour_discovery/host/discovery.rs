//! What routers tell: the router, the prefix and the contexts of a host.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{EncodedCapabilities, EncodedMessage, Options, RouterAdvertisement};

use super::{Host, Registered};
use crate::neighbour_discovery::attempt::Which;
use crate::neighbour_discovery::contexts::LearntContext;
use crate::neighbour_discovery::default_routers::DefaultRouter;
use crate::neighbour_discovery::error::Error;
use crate::neighbour_discovery::event::Event;

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
        (from, header): (&Eui64, &Header),
        message: &EncodedMessage<'_>,
    ) -> Result<(), Error> {
        let (advertisement, options) = (message.router_advertisement(), message.options());
        self.learn_border_router(cx.now, options)?;
        self.learn_router(cx.now, (from, &header.source), &advertisement, options)?;
        self.routers.choose();
        let is_router = self.own_router().is_some_and(|router| router.neighbour == *from);
        self.learn_prefix(cx.now, is_router, options);
        let mut has_room = true;
        for context in options.contexts() {
            match self.contexts.learn(cx.now, &context) {
                Some(true) => self.events.push(Event::ContextsChanged),
                Some(false) => {}
                None => has_room = false,
            }
        }
        if is_router {
            self.solicitation.stop();
            let mut least = self.contexts.least_left(cx.now).unwrap_or(u32::MAX);
            least = least.min(advertisement.lifetime.into());
            if self.prefix.expiry.runs() {
                least = least.min(self.prefix.expiry.left(cx.now));
            }
            self.refresh.begin(cx.now, (least / 2).max(1));
            if header.destination.is_multicast() {
                self.renew(cx);
            }
        }
        if has_room { Ok(()) } else { Err(Error::Full) }
    }

    /// Takes in whether, and for how long, a router is one to send to; what it tells besides holds either way
    /// ([RFC 4861 section 4.2](https://www.rfc-editor.org/rfc/rfc4861#section-4.2)). An error if there is no room.
    fn learn_router(
        &mut self,
        now: Instant,
        (from, address): (&Eui64, &Ipv6Addr),
        advertisement: &RouterAdvertisement,
        options: Options<'_>,
    ) -> Result<(), Error> {
        if advertisement.lifetime == 0 {
            if self.routers.remove(from) {
                self.lose_router();
            }
            return Ok(());
        }
        let router = self.routers.place(from).ok_or(Error::Full)?;
        router.address = *address;
        router.capabilities = options.capabilities();
        router.retransmission_time = match advertisement.retransmission_time {
            0 => RETRANSMISSION_TIME,
            told => told.min(MAX_RETRANSMISSION_TIME),
        };
        router.expiry.begin(now, advertisement.lifetime.into());
        Ok(())
    }

    /// Takes in which border router an advertisement comes from. An error if a newer one is known of it, or if a router that is to tell it
    /// on is not told ([RFC 6775 section 8.1.3](https://www.rfc-editor.org/rfc/rfc6775#section-8.1.3)).
    fn learn_border_router(&mut self, now: Instant, options: Options<'_>) -> Result<(), Error> {
        let Some(told) = options.border_router() else {
            return if self.capabilities.has(EncodedCapabilities::ROUTER) {
                Err(Error::NotForUs)
            } else {
                Ok(())
            };
        };
        let known = &mut self.border_router;
        if known.expiry.runs()
            && known.address.octets() == *told.octets()
            && told.version().wrapping_sub(known.version) >= 1 << 31
        {
            return Err(Error::Stale);
        }
        let lifetime = if told.lifetime() == 0 { BORDER_ROUTER_LIFETIME } else { told.lifetime() };
        (known.address, known.version) = ((*told.octets()).into(), told.version());
        known.expiry.begin_minutes(now, lifetime);
        Ok(())
    }

    /// Takes in the prefix that a router tells, its own router or another.
    fn learn_prefix(&mut self, now: Instant, is_router: bool, options: Options<'_>) {
        let of = |prefix: &[u8; 8]| {
            let mut prefixes = options.prefixes();
            prefixes.find(|told| told.address_prefix() == Some(prefix)).map(|told| told.valid())
        };
        let known = &mut self.prefix;
        if known.expiry.runs()
            && let Some(valid) = of(&known.prefix)
        {
            // Nobody ends an address by a lifetime that it has invented (RFC 4862 section 5.5.3).
            let left = known.expiry.left(now);
            if valid > TWO_HOURS || valid > left {
                known.expiry.begin(now, valid);
            } else if left > TWO_HOURS {
                known.expiry.begin(now, TWO_HOURS);
            }
            return;
        }
        if !is_router && known.expiry.runs() {
            return;
        }
        let mut usable = options.prefixes().filter(|told| told.valid() > 0);
        if let Some((prefix, valid)) = usable.find_map(|told| Some((told.address_prefix()?, told.valid()))) {
            self.forget_prefix();
            self.prefix.prefix = *prefix;
            self.prefix.expiry.begin(now, valid);
        }
    }

    /// Removes all that the border router has told, which nothing has renewed
    /// ([RFC 6775 section 8.1.2](https://www.rfc-editor.org/rfc/rfc6775#section-8.1.2)).
    pub(super) fn forget_border_router(&mut self) {
        self.border_router.expiry.stop();
        self.forget_prefix();
        if self.contexts.clear() {
            self.events.push(Event::ContextsChanged);
        }
    }

    /// Gives the prefix up, and the address with it.
    pub(super) fn forget_prefix(&mut self) {
        if self.global.expiry.runs() {
            self.events.push(Event::Lost);
        }
        self.end_attempt(Which::Global);
        self.prefix.expiry.stop();
        self.global = Registered::NEW;
    }

    /// Gives its router up: nothing is registered any more.
    pub(super) fn lose_router(&mut self) {
        self.routers.give_up();
        if self.global.expiry.runs() {
            self.events.push(Event::Lost);
        }
        for registered in [&mut self.link_local, &mut self.global] {
            registered.expiry.stop();
            registered.renewal.stop();
        }
        self.refresh.stop();
        (self.attempt, self.setbacks) = (Slot::Empty, 0);
    }
}
