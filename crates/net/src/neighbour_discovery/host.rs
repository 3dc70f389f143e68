use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Entropy, Eui64, Instant, LINK_LOCAL_PREFIX, New, Slot, lollipop};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{
    ALL_ROUTERS, AddressRegistration, Capabilities, Context, HOP_LIMIT, Message, NdOption,
    NeighbourAdvertisement, Options, PrefixInformation, RouterAdvertisement, Rovr, Status,
};

use super::attempt::{Attempt, Which};
use super::contexts::{Contexts, LearntContext};
use super::default_routers::{DefaultRouter, DefaultRouters};
use super::error::Error;
use super::event::{Event, Events};
use super::expiry::Expiry;
use super::output::{self, Transmit};
use super::reply::Reply;
use super::solicitation::Solicitation;
use super::timer;
use crate::BROADCAST;

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

/// How long a router is not asked, or an address not tried, that was refused, and the exponent of the milliseconds beyond.
const REST: (u32, u8) = (300_000, 17);

/// How often a router may make it begin anew at once: who reboots is behind by two transaction ids that count.
const MAX_SETBACKS: u8 = 3;

/// `RETRANS_TIMER`, if the router does not say.
const RETRANSMISSION_TIME: u32 = 1_000;

/// The longest retransmission time that is believed.
const MAX_RETRANSMISSION_TIME: u32 = 60_000;

/// Contexts that are over decompress for as many router lifetimes more.
const CONTEXT_HOLD: u32 = 2;

/// The default router lifetime ([RFC 4861 section 6.2.1](https://www.rfc-editor.org/rfc/rfc4861#section-6.2.1)).
const ROUTER_LIFETIME: u32 = 1_800;

/// The lifetime, in minutes, of a border router that tells none.
const BORDER_ROUTER_LIFETIME: u16 = 10_000;

/// A lifetime that is shorter shortens another to no less, in seconds.
const TWO_HOURS: u32 = 7_200;

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Host<R, C> {
    /// A host without an address.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            lifetime: 0,
            wants_reachability: false,
            capabilities: Capabilities::NONE,
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

    /// The address of the border router, if one was told.
    pub fn border_router(&self) -> Option<Ipv6Addr> {
        self.border_router.get().map(|known| known.address)
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

    fn handle_router<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        (from, address): (Eui64, Ipv6Addr),
        advertisement: &RouterAdvertisement,
        options: Options<'_>,
    ) -> Result<(), Error> {
        self.learn_border_router(cx.now, options)?;
        if advertisement.lifetime == 0 {
            self.routers.remove(from);
            if self.router == Some(from) {
                self.lose_router();
            }
            return Ok(());
        }
        let learnt = self.routers.learn(DefaultRouter {
            neighbour: from,
            address,
            is_extended: options
                .capabilities()
                .is_some_and(|capabilities| capabilities.extended_registration),
            retransmission_time: match advertisement.retransmission_time {
                0 => RETRANSMISSION_TIME,
                told => told.min(MAX_RETRANSMISSION_TIME),
            },
            expiry: Expiry::after_seconds(cx.now, advertisement.lifetime.into()),
            rests_until: None,
        });
        if !learnt {
            return Err(Error::Full);
        }
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

    /// Takes in which border router an advertisement comes from; an error if a newer one is known of it
    /// ([RFC 6775 section 8.1.3](https://www.rfc-editor.org/rfc/rfc6775#section-8.1.3)).
    fn learn_border_router(&mut self, now: Instant, options: Options<'_>) -> Result<(), Error> {
        let Some(told) = options.border_router() else { return Ok(()) };
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

    /// Gives the prefix up, and the address with it.
    fn forget_prefix(&mut self) {
        if self.global.expiry.is_full() {
            self.events.push(Event::Lost);
        }
        self.end_attempt(Which::Global);
        (self.prefix, self.global) = (Slot::Empty, Registered::NEW);
    }

    /// Chooses a router, if there is none yet.
    fn choose_router(&mut self) {
        if self.router.is_none() {
            self.router = self.routers.best().map(|router| router.neighbour);
        }
    }

    /// Gives its router up: nothing is registered any more.
    fn lose_router(&mut self) {
        if self.router.take().is_some() {
            self.events.push(Event::Lost);
        }
        for registered in [&mut self.link_local, &mut self.global] {
            (registered.expiry, registered.renewal) = (Slot::Empty, Slot::Empty);
        }
        (self.attempt, self.refresh, self.setbacks) = (Slot::Empty, Slot::Empty, 0);
    }

    fn end_attempt(&mut self, which: Which) {
        if self.attempt.get().is_some_and(|attempt| attempt.which == which) {
            self.attempt = Slot::Empty;
        }
    }

    fn handle_answer<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        from: Eui64,
        advertisement: &NeighbourAdvertisement,
        options: Options<'_>,
    ) -> Result<(), Error> {
        // Of what the advertisement of a neighbour says besides, a host needs nothing.
        let registration = options.address_registration().ok_or(Error::NotForUs)?;
        let router = self.router.and_then(|router| self.routers.get(router)).ok_or(Error::Unasked)?;
        if registration.rovr != Rovr(self.address.0) || router.neighbour != from {
            return Err(Error::Unasked);
        }
        let asked = self.attempt.get().map(|attempt| attempt.which);
        let (which, transaction) = if router.is_extended {
            let all = [Which::LinkLocal, Which::Global];
            let named = all.into_iter().find(|&which| self.own(which) == Some(advertisement.target));
            (named, Some(self.transaction))
        } else {
            // It answers for the address that the solicitation came from (RFC 6775 section 5.5.2).
            (Some(Which::Global).filter(|_| advertisement.target == router.address), None)
        };
        let which = which.ok_or(Error::Unasked)?;
        let is_answer = asked == Some(which) && registration.transaction == transaction;
        if registration.status == Status::SUCCESS {
            return if is_answer {
                self.registered(cx, which, registration.lifetime)
            } else {
                Err(Error::Unasked)
            };
        }
        // A router may also say later that a registration is no more (RFC 8505 section 4.1).
        if !is_answer && (asked == Some(which) || !self.registered_mut(which).expiry.is_full()) {
            return Err(Error::Unasked);
        }
        self.refused(cx, (from, which), registration.status);
        Ok(())
    }

    /// An address is registered.
    fn registered<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        which: Which,
        lifetime: u16,
    ) -> Result<(), Error> {
        // A router may give less time than it was asked for, and none is no registration.
        let lifetime = lifetime.min(self.lifetime);
        if lifetime == 0 {
            return Err(Error::Malformed);
        }
        // Half of the time, and up to a quarter more: then there is time to try again.
        let quarter = u32::from(lifetime) * 15;
        let spread = (quarter + 1).next_power_of_two() / 2;
        let renewal = quarter * 2 + (cx.entropy.next_u32() & (spread - 1));
        self.end_attempt(which);
        let is_new = which == Which::Global && !self.global.expiry.is_full();
        *self.registered_mut(which) = Registered {
            expiry: Slot::Full(Expiry::after_minutes(cx.now, lifetime)),
            renewal: Slot::Full(Expiry::after_seconds(cx.now, renewal)),
            rests_until: None,
        };
        if which == Which::Global {
            self.setbacks = 0;
        }
        if is_new {
            self.events.push(Event::Registered);
        }
        Ok(())
    }

    /// A registration was refused, or has ended.
    fn refused<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        (from, which): (Eui64, Which),
        status: Status,
    ) {
        self.end_attempt(which);
        self.setbacks = self.setbacks.saturating_add(1);
        let was_registered = self.global.expiry.is_full();
        let registered = self.registered_mut(which);
        (registered.expiry, registered.renewal) = (Slot::Empty, Slot::Empty);
        let rests_until = timer::after(cx.now, cx.entropy, REST.0, REST.1);
        match status {
            Status::DUPLICATE_ADDRESS => {
                self.registered_mut(which).rests_until = Some(rests_until);
                self.events.push(Event::Duplicate);
            }
            Status::DUPLICATE_SOURCE_ADDRESS => {
                self.link_local = Registered { rests_until: Some(rests_until), ..Registered::NEW };
                self.events.push(Event::Duplicate);
            }
            // Whatever is wrong, it does not get better.
            Status::MOVED
            | Status::REMOVED
            | Status::INVALID_SOURCE_ADDRESS
            | Status::TOPOLOGICALLY_INCORRECT
                if self.setbacks > MAX_SETBACKS =>
            {
                self.give_up(from, rests_until);
            }
            // It is from before a reboot: every value of a counter that has begun anew is older than 0, and those that are newer lie
            // within a window of it.
            Status::MOVED => {
                self.transaction = match self.transaction {
                    128.. => 127,
                    gone_round => gone_round.wrapping_add(lollipop::WINDOW - 1) & 127,
                };
            }
            // It is registered anew, at once.
            Status::REMOVED => {}
            // The router has forgotten the address on the link, which is registered first.
            Status::INVALID_SOURCE_ADDRESS => self.link_local = Registered::NEW,
            Status::TOPOLOGICALLY_INCORRECT => {
                self.forget_prefix();
                self.solicitation.refresh(cx.now, cx.entropy);
            }
            // Full, saturated, a proof that is wanted, or what is not known: another router may do it.
            _ => self.give_up(from, rests_until),
        }
        if was_registered && !self.global.expiry.is_full() {
            self.events.push(Event::Lost);
        }
    }

    /// Turns to another router for a while.
    fn give_up(&mut self, router: Eui64, until: Instant) {
        self.routers.rest(router, until);
        self.lose_router();
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

    /// Begins what is to be done next, if nothing is under way.
    fn advance<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        self.choose_router();
        let Some(router) = self.router.and_then(|router| self.routers.get(router)) else {
            self.solicitation.start(cx.now, cx.entropy);
            return;
        };
        let is_due =
            |registered: &Registered| !registered.renewal.is_full() && registered.rests_until.is_none();
        let which = if router.is_extended && is_due(&self.link_local) {
            Which::LinkLocal
        } else if self.prefix.is_full() && is_due(&self.global) {
            // Without an address on the link it has nothing to register from (RFC 8505 section 5.6).
            if router.is_extended && !self.link_local.expiry.is_full() {
                return;
            }
            Which::Global
        } else {
            return;
        };
        if !self.attempt.is_full() {
            self.transaction = lollipop::next(self.transaction);
            let attempt = Attempt::new(cx.now, cx.entropy, which, router.retransmission_time);
            self.attempt = Slot::Full(attempt);
        }
    }

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
    /// ([RFC 6775 section 5.5.1](https://www.rfc-editor.org/rfc/rfc6775#section-5.5.1)).
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
            wants_reachability: router.is_extended && self.wants_reachability && which == Which::Global,
            transaction: router.is_extended.then_some(self.transaction),
            lifetime: self.lifetime,
            rovr: Rovr(self.address.0),
        };
        let message = Message::NeighbourSolicitation { target };
        let len = output::write(out, (source, router.address), HOP_LIMIT, &message, |builder| {
            let address = output::link_layer_address(self.address);
            builder.option(&NdOption::SourceLinkLayerAddress(address))?;
            builder.option(&NdOption::AddressRegistration(registration))
        })?;
        Some(Transmit { len, neighbour: Some(router.neighbour) })
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
            self.border_router = Slot::Empty;
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

    fn handle_attempt<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        let router = self.router.and_then(|router| self.routers.get(router));
        let (Some(attempt), Some(router)) = (self.attempt.get_mut(), router) else { return };
        let is_unreachable = attempt.handle_timeout(cx.now, cx.entropy, router.retransmission_time);
        if is_unreachable {
            // It has answered none of them (RFC 6775 section 5.5.3).
            let neighbour = router.neighbour;
            self.routers.remove(neighbour);
            self.lose_router();
        }
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
