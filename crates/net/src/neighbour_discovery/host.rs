mod discovery;
mod registration;
mod transmit;

use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Entropy, Eui64, Instant, New, Slot, lollipop};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{
    BorderRouter, Capabilities, Context, HOP_LIMIT, Message, Prefix, PrefixInformation, Rovr,
};

use super::attempt::{Attempt, Which};
use super::contexts::{Contexts, LearntContext};
use super::default_routers::{DefaultRouter, DefaultRouters};
use super::error::Error;
use super::event::{Event, Events};
use super::expiry::Expiry;
use super::output;
use super::reply::Reply;
use super::solicitation::Solicitation;

/// What a host asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// For how many minutes it registers its address, at least 1; it registers it again well before they are over.
    pub lifetime: u16,
    /// Whether its router is to make its address reachable from elsewhere
    /// ([RFC 9010](https://www.rfc-editor.org/rfc/rfc9010)).
    pub wants_reachability: bool,
    /// What it tells routers that it can do.
    pub capabilities: Capabilities,
    /// By what routers know it from another that has the same address
    /// ([RFC 8505 section 5.3](https://www.rfc-editor.org/rfc/rfc8505#section-5.3)): its EUI-64, or what else no other has.
    pub rovr: Rovr,
}

/// A host that finds a router, makes its address of the prefix that the router tells and of its EUI-64, and registers it there. There is
/// room for as many routers as in `R`, and as many contexts as in `C`.
///
/// While it has no router it solicits all, ever more rarely. A router that does not answer a registration is unreachable, and the next
/// one is asked: so registrations are what detects that neighbours are unreachable. Of the prefixes that its router tells it has the
/// first; it gives it up for another when the router does not tell it any more, or when its lifetime is over. What a router has told it
/// asks for again when half of its time is over.
///
/// The transaction id is not durable. A router that knows an older registration, from before a reboot, says that the address has moved:
/// then the host goes on with an id that is newer than any that it may have used.
pub struct Host<R, C> {
    address: Eui64,
    lifetime: u16,
    wants_reachability: bool,
    capabilities: Capabilities,
    rovr: Rovr,
    solicitation: Solicitation,
    routers: DefaultRouters<R>,
    /// The router that it registers at.
    router: Option<Eui64>,
    contexts: Contexts<C>,
    border_router: Slot<KnownBorderRouter>,
    prefix: Slot<LearntPrefix>,
    /// When the router is asked again for what it has told.
    refresh: Slot<Expiry>,
    transaction: u8,
    link_local: Registered,
    global: Registered,
    attempt: Slot<Attempt>,
    /// How often its router has made it begin anew, since its address was registered.
    setbacks: u8,
    reply: Slot<Reply>,
    events: Events,
}

/// A prefix that addresses are made of.
#[derive(Clone, Copy)]
struct LearntPrefix {
    prefix: [u8; 8],
    expiry: Expiry,
}

/// The newest that was heard of a border router.
#[derive(Clone, Copy)]
struct KnownBorderRouter {
    address: Ipv6Addr,
    version: u32,
    expiry: Expiry,
}

/// What became of the registration of an address.
#[derive(Clone, Copy)]
struct Registered {
    /// When the registration is over; nothing without one.
    expiry: Slot<Expiry>,
    /// When it is to be renewed.
    renewal: Slot<Expiry>,
    /// Before this time it is not tried again: the address is another's.
    rests_until: Option<Instant>,
}

impl New for Registered {
    const NEW: Self = Self { expiry: Slot::Empty, renewal: Slot::Empty, rests_until: None };
}

/// Contexts that are over decompress for as many router lifetimes more.
const CONTEXT_HOLD: u32 = 2;

/// The default router lifetime ([RFC 4861 section 6.2.1](https://www.rfc-editor.org/rfc/rfc4861#section-6.2.1)).
const ROUTER_LIFETIME: u32 = 1_800;

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Host<R, C> {
    /// A host without an address.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            lifetime: 0,
            wants_reachability: false,
            capabilities: Capabilities::NONE,
            rovr: Rovr([0; 8]),
            solicitation: Solicitation::NEW,
            routers: DefaultRouters::new(),
            router: None,
            contexts: Contexts::new(),
            border_router: Slot::Empty,
            prefix: Slot::Empty,
            refresh: Slot::Empty,
            transaction: 0,
            link_local: Registered::NEW,
            global: Registered::NEW,
            attempt: Slot::Empty,
            setbacks: 0,
            reply: Slot::Empty,
            events: Events::NEW,
        }
    }

    /// Gives it its link-layer address and begins to look for a router; to be called first.
    pub fn start<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>, address: Eui64, settings: &Settings) {
        self.address = address;
        self.lifetime = settings.lifetime.max(1);
        self.wants_reachability = settings.wants_reachability;
        self.capabilities = settings.capabilities;
        self.rovr = settings.rovr;
        self.transaction = lollipop::FIRST;
        self.solicitation.start(cx.now, cx.entropy);
    }

    /// The address with the prefix, while it is registered: it may be used.
    pub fn address(&self) -> Option<Ipv6Addr> {
        self.global_address().filter(|_| self.global.expiry.is_full())
    }

    /// The address on the link.
    pub fn link_local_address(&self) -> Ipv6Addr {
        output::link_local(self.address)
    }

    /// The router that it registers at, to which it sends what is for others.
    pub fn router(&self) -> Option<Eui64> {
        self.router
    }

    /// The prefix that its router tells.
    pub fn prefix(&self) -> Option<[u8; 8]> {
        self.prefix.get().map(|learnt| learnt.prefix)
    }

    /// The contexts of header compression that its routers tell.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        self.contexts.iter()
    }

    /// The same, with how many minutes each is valid for from `now`: so a router tells them on.
    pub(super) fn contexts_left(&self, now: Instant) -> impl Iterator<Item = Context> + '_ {
        self.contexts.iter_left(now)
    }

    /// The prefix, and for how long from `now` it is valid: so a router tells it on.
    pub(super) fn prefix_information(&self, now: Instant) -> Option<PrefixInformation> {
        let LearntPrefix { prefix, expiry } = self.prefix.get()?;
        let left = expiry.left(now);
        Some(PrefixInformation {
            length: 64,
            on_link: false,
            autonomous: true,
            is_router_address: false,
            valid: left,
            preferred: left,
            address: Prefix::of_64_bits(*prefix).address(),
        })
    }

    /// Whether the border router reads extended duplicate address messages, as the own router says.
    pub(super) fn border_router_is_extended(&self) -> bool {
        self.router.and_then(|router| self.routers.get(router)).is_some_and(|router| router.reads_extended)
    }

    /// Whether it is told that a router reads payloads that are compressed by GHC, and reads them itself.
    pub fn compresses_generically(&self, router: Eui64) -> bool {
        self.capabilities.generic_compression
            && self.routers.get(router).is_some_and(|router| router.generic_compression)
    }

    /// Whether it reads payloads that are compressed by GHC itself.
    pub(super) fn reads_generic_compression(&self) -> bool {
        self.capabilities.generic_compression
    }

    /// The border router, if one was told, and for how long from `now` what it tells is valid: so a router tells it on.
    pub fn border_router(&self, now: Instant) -> Option<BorderRouter> {
        let KnownBorderRouter { address, version, expiry } = self.border_router.get()?;
        // Zero would stand for the default.
        let lifetime = expiry.left(now).div_ceil(60).max(1) as u16;
        Some(BorderRouter { address: *address, version: *version, lifetime })
    }

    /// What has changed, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    fn global_address(&self) -> Option<Ipv6Addr> {
        self.prefix().map(|prefix| self.address.with_prefix(prefix))
    }

    fn own(&self, which: Which) -> Option<Ipv6Addr> {
        match which {
            Which::LinkLocal => Some(self.link_local_address()),
            Which::Global => self.global_address(),
        }
    }

    fn registered_mut(&mut self, which: Which) -> &mut Registered {
        match which {
            Which::LinkLocal => &mut self.link_local,
            Which::Global => &mut self.global,
        }
    }

    /// Takes in the ICMPv6 message `message`, which came in a packet with the header `header` from the neighbour `from`.
    pub fn handle<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        from: Eui64,
        header: &Header,
        message: &[u8],
    ) -> Result<(), Error> {
        let parsed = Message::parse(header.source, header.destination, message);
        // Nothing that a router has sent on (RFC 4861 sections 6.1 and 7.1).
        let Ok((message, options)) = parsed else {
            cx.counters.count(Counter::NdMalformed);
            return Err(Error::Malformed);
        };
        let taken = match message {
            _ if header.hop_limit != HOP_LIMIT => Err(Error::Malformed),
            Message::RouterAdvertisement(advertisement) => {
                self.handle_router(cx, (from, header.source), &advertisement, options)
            }
            Message::NeighbourAdvertisement(advertisement) => {
                self.handle_answer(cx, from, &advertisement, options)
            }
            Message::NeighbourSolicitation { target } => {
                self.handle_solicitation(from, header.source, target)
            }
            _ => Err(Error::NotForUs),
        };
        self.advance(cx);
        taken.inspect_err(|error| {
            cx.counters.count(match error {
                Error::Malformed => Counter::NdMalformed,
                Error::Full | Error::Busy => Counter::NdFull,
                _ => Counter::NdRefused,
            });
        })
    }

    fn handle_solicitation(&mut self, from: Eui64, source: Ipv6Addr, target: Ipv6Addr) -> Result<(), Error> {
        if target != self.link_local_address() && self.address() != Some(target) {
            return Err(Error::NotForUs);
        }
        if self.reply.is_full() {
            return Err(Error::Busy);
        }
        self.reply = Slot::Full(Reply { neighbour: from, destination: source, target, registration: None });
        Ok(())
    }

    /// When to call [`Host::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let of = |expiry: &Slot<Expiry>| expiry.get().map(Expiry::timeout);
        let prefix = self.prefix.get().map(|learnt| learnt.expiry.timeout());
        let border_router = self.border_router.get().map(|known| known.expiry.timeout());
        [
            self.solicitation.poll_timeout(),
            self.routers.poll_timeout(),
            self.contexts.poll_timeout(),
            self.attempt.get().map(Attempt::poll_timeout),
            prefix,
            border_router,
            of(&self.refresh),
            of(&self.link_local.expiry),
            of(&self.link_local.renewal),
            self.link_local.rests_until,
            of(&self.global.expiry),
            of(&self.global.renewal),
            self.global.rests_until,
        ]
        .into_iter()
        .fold(None, Instant::earliest)
    }

    /// Does what is due.
    pub fn handle_timeout<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        let now = cx.now;
        self.solicitation.handle_timeout(now, cx.entropy);
        self.routers.handle_timeout(now);
        if self.router.is_some_and(|router| self.routers.get(router).is_none()) {
            self.lose_router();
        }
        if self.prefix.get_mut().is_some_and(|learnt| learnt.expiry.is_over(now)) {
            self.forget_prefix();
        }
        if self.border_router.get_mut().is_some_and(|known| known.expiry.is_over(now)) {
            self.forget_border_router();
        }
        if self.contexts.handle_timeout(now, CONTEXT_HOLD * ROUTER_LIFETIME) {
            self.events.push(Event::ContextsChanged);
        }
        if take_over(&mut self.refresh, now) {
            self.solicitation.refresh(now, cx.entropy);
        }
        for registered in [&mut self.link_local, &mut self.global] {
            Instant::take_due(&mut registered.rests_until, now);
            take_over(&mut registered.renewal, now);
        }
        take_over(&mut self.link_local.expiry, now);
        if take_over(&mut self.global.expiry, now) {
            self.events.push(Event::Lost);
        }
        self.handle_attempt(cx);
        self.advance(cx);
    }
}

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Default for Host<R, C> {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether what ends then is over; if so, it is taken away.
fn take_over(expiry: &mut Slot<Expiry>, now: Instant) -> bool {
    let is_over = expiry.get_mut().is_some_and(|expiry| expiry.is_over(now));
    if is_over {
        *expiry = Slot::Empty;
    }
    is_over
}
