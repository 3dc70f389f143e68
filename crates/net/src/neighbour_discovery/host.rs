mod discovery;
mod registration;
mod transmit;

use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, New, Slot, lollipop};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{
    BorderRouter, Builder, Capabilities, Context, EncodedCapabilities, EncodedMessage, EncodedRegistration,
    HOP_LIMIT, NEIGHBOUR_ADVERTISEMENT, NEIGHBOUR_SOLICITATION, ROUTER_ADVERTISEMENT, Rovr,
};

use super::attempt::{Attempt, Which};
use super::contexts::{Contexts, LearntContext};
use super::default_routers::{DefaultRouter, DefaultRouters};
use super::error::Error;
use super::event::{Event, Events};
use super::expiry::Expiry;
use super::network::Tells;
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
/// A router that tells all of itself without being asked has begun to be one, and may have forgotten who was registered: then the host
/// registers again, but not if it has within 30 seconds.
///
/// The transaction id is not durable. A router that knows an older registration, from before a reboot, says that the address has moved:
/// then the host goes on with an id that is newer than any that it may have used.
pub struct Host<R, C> {
    address: Eui64,
    /// How it registers an address, by the transaction id of the last time.
    registration: EncodedRegistration,
    capabilities: EncodedCapabilities,
    solicitation: Solicitation,
    routers: DefaultRouters<R>,
    contexts: Contexts<C>,
    border_router: KnownBorderRouter,
    prefix: LearntPrefix,
    /// When the router is asked again for what it has told.
    refresh: Expiry,
    link_local: Registered,
    global: Registered,
    attempt: Slot<Attempt>,
    /// As long as this runs, its router knows it: it was registered just now.
    fresh: Expiry,
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
    expiry: Expiry,
    /// When it is to be renewed.
    renewal: Expiry,
    /// Before this time it is not tried again: the address is another's.
    rests_until: Option<Instant>,
}

impl New for Registered {
    const NEW: Self = Self { expiry: Expiry::NEW, renewal: Expiry::NEW, rests_until: None };
}

/// Contexts that are over decompress for as many router lifetimes more.
const CONTEXT_HOLD: u32 = 2;

/// The default router lifetime ([RFC 4861 section 6.2.1](https://www.rfc-editor.org/rfc/rfc4861#section-6.2.1)).
const ROUTER_LIFETIME: u16 = 1_800;

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Host<R, C> {
    /// A host without an address.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            registration: EncodedRegistration::NONE,
            capabilities: EncodedCapabilities::NONE,
            solicitation: Solicitation::NEW,
            routers: DefaultRouters::new(),
            contexts: Contexts::new(),
            border_router: KnownBorderRouter {
                address: Ipv6Addr::UNSPECIFIED,
                version: 0,
                expiry: Expiry::NEW,
            },
            prefix: LearntPrefix { prefix: [0; 8], expiry: Expiry::NEW },
            refresh: Expiry::NEW,
            link_local: Registered::NEW,
            global: Registered::NEW,
            attempt: Slot::Empty,
            fresh: Expiry::NEW,
            setbacks: 0,
            reply: Slot::Empty,
            events: Events::NEW,
        }
    }

    /// Gives it its link-layer address and begins to look for a router; to be called first.
    pub fn start<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>, address: Eui64, settings: &Settings) {
        self.address = address;
        self.registration = EncodedRegistration::new(settings.lifetime.max(1), &settings.rovr);
        self.registration.set_transaction(Some(lollipop::FIRST));
        if settings.wants_reachability {
            self.registration.set_wants_reachability();
        }
        self.capabilities = settings.capabilities.encode();
        self.solicitation.start(cx.now, cx.entropy);
    }

    /// The address with the prefix, while it is registered: it may be used.
    pub fn address(&self) -> Option<Ipv6Addr> {
        self.usable_prefix().map(|prefix| self.address.with_prefix(*prefix))
    }

    /// The prefix, while the address with it is registered.
    pub(super) fn usable_prefix(&self) -> Option<&[u8; 8]> {
        self.known_prefix().filter(|_| self.global.expiry.runs())
    }

    /// Whether others may register at it, if it is a router: as long as its address is registered, and it knows the border router.
    pub(super) fn is_router(&self) -> bool {
        self.usable_prefix().is_some() && self.border_router.expiry.runs()
    }

    /// The address on the link.
    pub fn link_local_address(&self) -> Ipv6Addr {
        output::link_local(self.address)
    }

    /// The router that it registers at, to which it sends what is for others.
    pub fn router(&self) -> Option<Eui64> {
        self.own_router().map(|router| router.neighbour)
    }

    /// The prefix that its router tells.
    pub fn prefix(&self) -> Option<[u8; 8]> {
        self.known_prefix().copied()
    }

    /// The contexts of header compression that its routers tell.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        self.contexts.iter().copied()
    }

    /// Whether it is told that a router reads payloads that are compressed by GHC, and reads them itself.
    pub fn compresses_generically(&self, router: Eui64) -> bool {
        self.capabilities.has(EncodedCapabilities::GENERIC_COMPRESSION)
            && self
                .routers
                .get(&router)
                .is_some_and(|router| router.capabilities.has(EncodedCapabilities::GENERIC_COMPRESSION))
    }

    /// The border router, if one was told, and for how long from `now` what it tells is valid: so a router tells it on.
    pub fn border_router(&self, now: Instant) -> Option<BorderRouter> {
        let KnownBorderRouter { address, version, expiry } = &self.border_router;
        // Zero would stand for the default.
        let lifetime = expiry.minutes_left(now);
        expiry.runs().then_some(BorderRouter { address: *address, version: *version, lifetime })
    }

    /// What has changed, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    fn known_prefix(&self) -> Option<&[u8; 8]> {
        self.prefix.expiry.runs().then_some(&self.prefix.prefix)
    }

    /// Which of its addresses this one is.
    fn which(&self, address: &Ipv6Addr) -> Option<Which> {
        if !self.address.is_of(address) {
            None
        } else if output::is_link_local(address) {
            Some(Which::LinkLocal)
        } else {
            let has = |prefix: &&[u8; 8]| **prefix == address.octets()[..8];
            self.known_prefix().filter(has).map(|_| Which::Global)
        }
    }

    /// The router that it registers at.
    fn own_router(&self) -> Option<&DefaultRouter> {
        self.routers.own()
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
        let taken = EncodedMessage::parse(header.source, header.destination, message)
            .map_err(|_| Error::Malformed)
            .and_then(|message| self.take(cx, (&from, header), &message));
        taken.inspect_err(|error| error.count(cx.counters))
    }

    /// Takes in a message, which came in a packet with the header `header` from the neighbour `from`.
    pub(super) fn take<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        (from, header): (&Eui64, &Header),
        message: &EncodedMessage<'_>,
    ) -> Result<(), Error> {
        let taken = match message.kind() {
            // Nothing that a router has sent on (RFC 4861 sections 6.1 and 7.1).
            _ if header.hop_limit != HOP_LIMIT => Err(Error::Malformed),
            ROUTER_ADVERTISEMENT => self.handle_router(cx, (from, header), message),
            NEIGHBOUR_ADVERTISEMENT => self.handle_answer(cx, from, message),
            NEIGHBOUR_SOLICITATION => self.handle_solicitation(from, &header.source, message.target()),
            _ => Err(Error::NotForUs),
        };
        self.advance(cx);
        taken
    }

    fn handle_solicitation(
        &mut self,
        from: &Eui64,
        source: &Ipv6Addr,
        target: Ipv6Addr,
    ) -> Result<(), Error> {
        let is_usable = match self.which(&target) {
            Some(Which::LinkLocal) => true,
            Some(Which::Global) => self.global.expiry.runs(),
            None => false,
        };
        if !is_usable {
            return Err(Error::NotForUs);
        }
        let place = core::slice::from_mut(&mut self.reply);
        Reply::put(place, from, source, &target, None).map(|_| ())
    }

    /// When to call [`Host::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut due = self.solicitation.poll_timeout();
        self.routers.bring_forward(&mut due);
        self.contexts.bring_forward(&mut due);
        Instant::bring_forward(&mut due, self.attempt.get().map(Attempt::poll_timeout));
        self.prefix.expiry.bring_forward(&mut due);
        self.border_router.expiry.bring_forward(&mut due);
        self.refresh.bring_forward(&mut due);
        self.fresh.bring_forward(&mut due);
        for registered in [&self.link_local, &self.global] {
            registered.expiry.bring_forward(&mut due);
            registered.renewal.bring_forward(&mut due);
            Instant::bring_forward(&mut due, registered.rests_until);
        }
        due
    }

    /// Does what is due.
    pub fn handle_timeout<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        let now = cx.now;
        self.solicitation.handle_timeout(now, cx.entropy);
        if self.routers.handle_timeout(now) {
            self.lose_router();
        }
        if self.prefix.expiry.take_over(now) {
            self.forget_prefix();
        }
        if self.border_router.expiry.take_over(now) {
            self.forget_border_router();
        }
        if self.contexts.handle_timeout(now, CONTEXT_HOLD * u32::from(ROUTER_LIFETIME)) {
            self.events.push(Event::ContextsChanged);
        }
        if self.refresh.take_over(now) {
            self.solicitation.refresh(now, cx.entropy);
        }
        self.fresh.take_over(now);
        for registered in [&mut self.link_local, &mut self.global] {
            Instant::take_due(&mut registered.rests_until, now);
            registered.renewal.take_over(now);
        }
        self.link_local.expiry.take_over(now);
        if self.global.expiry.take_over(now) {
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

/// A router tells on what it was told, for as long as that is valid still.
impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Tells for Host<R, C> {
    const MAY_BE_BORDER_ROUTER: bool = false;

    fn is_border_router(&self) -> bool {
        false
    }

    fn address_prefix(&self) -> Option<&[u8; 8]> {
        self.known_prefix()
    }

    fn border_router_address(&self) -> &Ipv6Addr {
        &self.border_router.address
    }

    fn router_lifetime(&self) -> u16 {
        ROUTER_LIFETIME
    }

    fn reads_extended(&self) -> bool {
        self.own_router()
            .is_some_and(|router| router.capabilities.has(EncodedCapabilities::EXTENDED_DUPLICATE_ADDRESS))
    }

    fn is_routing_registrar(&self) -> bool {
        true
    }

    fn generic_compression(&self) -> bool {
        self.capabilities.has(EncodedCapabilities::GENERIC_COMPRESSION)
    }

    fn write(&self, now: Instant, builder: &mut Builder<'_>) -> Result<(), sixlock_ipv6::Error> {
        if let Some(border_router) = self.border_router(now) {
            builder.border_router(&border_router)?;
        }
        if let Some(prefix) = self.known_prefix() {
            builder.address_prefix(prefix, self.prefix.expiry.left(now))?;
        }
        self.contexts.iter_left(now).try_for_each(|context| builder.context(&context))
    }
}
