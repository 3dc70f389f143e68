mod duplicate_address;
mod registration;
mod transmit;

use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Duration, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{Context, DuplicateAddress, HOP_LIMIT, Message, RegisteredAddress};

use super::ask::Ask;
use super::error::Error;
use super::event::{Event, Events};
use super::network::Network;
use super::output;
use super::registrations::{Registration, Registrations};
use super::reply::Reply;
use super::solicitors::Solicitors;

/// A router that hosts register at, with as many registrations as there is room for in `R` and as many contexts as in `C`.
///
/// It advertises itself to those who ask, and not by itself. An address of the network that it has not heard of it asks the border router
/// for before it answers; that one keeps the registry of all, in the same table. When a table is full, a new address is refused. Messages
/// that are to be answered while four answers wait are dropped, and asked again.
///
/// Hosts that do not register are answered for the router's own addresses; what is for theirs goes where their addresses say.
pub struct Registrar<R, C> {
    address: Eui64,
    network: Slot<Network>,
    contexts: C,
    registrations: Registrations<R>,
    solicitors: Solicitors,
    answers: [Slot<Answer>; ANSWERS],
    events: Events,
}

/// How many answers may wait.
const ANSWERS: usize = 4;

/// What waits to be sent.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// To a neighbour.
    Neighbour(Reply),
    /// From the border router to another router.
    Confirmation {
        /// The router.
        router: Ipv6Addr,
        /// What it is told.
        message: DuplicateAddress,
    },
    /// From a router to the border router: an address is not registered any more, and nobody waits for the answer.
    Release(DuplicateAddress),
}

/// After how many milliseconds the border router is asked again, and how often at most.
const REQUEST_AGAIN: Duration = Duration::from_millis(4_000);
const MAX_REQUESTS: u8 = 4;

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Registrar<R, C> {
    /// A router without an address.
    pub const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            network: Slot::Empty,
            contexts: C::NEW,
            registrations: Registrations::new(),
            solicitors: Solicitors::NEW,
            answers: [const { Slot::Empty }; ANSWERS],
            events: Events::NEW,
        }
    }

    /// Gives it its link-layer address; to be called first. It says nothing before [`Registrar::configure`].
    pub fn start(&mut self, address: Eui64) {
        self.address = address;
    }

    /// Gives it what it tells of the network; its contexts are then those that [`Registrar::add_context`] adds. What is told differently
    /// than before is told by a higher version of [`Network::border_router`].
    pub fn configure(&mut self, network: Network) {
        self.set_network(Some(network));
    }

    /// The same; `None` if it has no network any more, and says nothing.
    pub(super) fn set_network(&mut self, network: Option<Network>) {
        self.network = network.map_or(Slot::Empty, Slot::Full);
        self.contexts.as_mut().fill(Slot::Empty);
    }

    /// Adds a context that it tells, or changes it; whether there was room.
    pub fn add_context(&mut self, context: Context) -> bool {
        let places = self.contexts.as_mut();
        let holds = |place: &Slot<Context>| place.get().is_some_and(|known| known.id == context.id);
        let free = || places.iter().position(|place| !place.is_full());
        let at = places.iter().position(holds).or_else(free);
        match at.and_then(|at| places.get_mut(at)) {
            Some(place) => {
                *place = Slot::Full(context);
                true
            }
            None => false,
        }
    }

    /// Those that are registered: neighbours, and at the border router also others.
    pub fn registrations(&self) -> impl Iterator<Item = &Registration> {
        self.registrations.iter()
    }

    /// The neighbour that has registered `address`.
    pub fn neighbour(&self, address: Ipv6Addr) -> Option<Eui64> {
        self.registrations.iter().find(|known| known.address == address)?.neighbour()
    }

    /// The same, if packets for `address` go there whatever a routing protocol says. Where a router makes addresses reachable by one, those
    /// are not that do not want it: their nodes take part in the protocol themselves, which may know a better way
    /// ([RFC 8505 section 5.1](https://www.rfc-editor.org/rfc/rfc8505#section-5.1)).
    pub fn direct_neighbour(&self, address: Ipv6Addr) -> Option<Eui64> {
        let is_routing_registrar = self.network.get()?.is_routing_registrar;
        let known = self.registrations.iter().find(|known| known.address == address)?;
        known.neighbour().filter(|_| !is_routing_registrar || known.wants_reachability())
    }

    /// Whether a neighbour that is registered has told that it reads payloads that are compressed by GHC, and this router reads them itself.
    pub fn compresses_generically(&self, neighbour: Eui64) -> bool {
        self.network.get().is_some_and(|network| network.generic_compression)
            && self
                .registrations
                .iter()
                .any(|known| known.generic_compression && known.neighbour() == Some(neighbour))
    }

    /// The contexts that it tells.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        self.contexts.as_ref().iter().filter_map(Slot::get).copied()
    }

    /// The prefix that it tells.
    pub fn prefix(&self) -> Option<[u8; 8]> {
        self.network.get()?.address_prefix()
    }

    fn registrations_changed(&mut self) {
        self.events.push(Event::RegistrationsChanged);
        self.events.note_registered();
    }

    /// Whether a registration was renewed, or has come, changed or gone, since this was last called.
    pub fn poll_registered(&mut self) -> bool {
        self.events.take_registered()
    }

    /// The addresses that neighbours have registered and want to be reached at from elsewhere.
    pub fn registered(&self, now: Instant) -> impl Iterator<Item = RegisteredAddress> + '_ {
        let wanted = self.registrations.iter().filter(|known| known.wants_reachability());
        wanted.filter_map(move |known| {
            known.neighbour()?;
            let lifetime = known.expiry.left(now).div_ceil(60).min(u16::MAX.into()) as u16;
            Some(RegisteredAddress { address: known.address, transaction: known.transaction?, lifetime })
        })
    }

    /// What has changed, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    fn link_local_address(&self) -> Ipv6Addr {
        output::link_local(self.address)
    }

    /// The address with the network's prefix; of the border router, the one that it is known by.
    fn global_address(&self) -> Option<Ipv6Addr> {
        let network = self.network.get()?;
        if network.is_border_router {
            return Some(network.border_router.address);
        }
        self.prefix().map(|prefix| self.address.with_prefix(prefix))
    }

    fn is_own(&self, address: Ipv6Addr) -> bool {
        address == self.link_local_address()
            || self.global_address() == Some(address)
            || self.prefix().map(|prefix| self.address.with_prefix(prefix)) == Some(address)
    }

    /// Takes in the ICMPv6 message `message`, which came in a packet with the header `header` from the neighbour `from`.
    pub fn handle<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        from: Eui64,
        header: &Header,
        message: &[u8],
    ) -> Result<(), Error> {
        let Ok((message, options)) = Message::parse(header.source, header.destination, message) else {
            cx.counters.count(Counter::NdMalformed);
            return Err(Error::Malformed);
        };
        let network = self.network.get().copied();
        // Only what is about duplicate addresses may have been sent on by routers.
        let is_near = header.hop_limit == HOP_LIMIT;
        let taken = match (message, network) {
            (_, None) => Err(Error::NotConfigured),
            (Message::DuplicateAddressRequest(request), Some(network)) => {
                self.handle_request(cx, &network, header, &request)
            }
            (Message::DuplicateAddressConfirmation(confirmation), Some(network)) => {
                self.handle_confirmation(cx, &network, header, &confirmation)
            }
            _ if !is_near => Err(Error::Malformed),
            (Message::RouterSolicitation, _) => {
                let who = (!header.source.is_unspecified()).then_some((from, header.source));
                if self.solicitors.ask(cx.now, cx.entropy, who) { Ok(()) } else { Err(Error::Busy) }
            }
            (Message::NeighbourSolicitation { target }, Some(network)) => {
                match Ask::read(from, header.source, (target, self.is_own(target)), options) {
                    Ok(Some(ask)) => self.register(cx, &network, ask),
                    Ok(None) => self.handle_solicitation(from, header.source, target),
                    Err(error) => Err(error),
                }
            }
            _ => Err(Error::NotForUs),
        };
        taken.inspect_err(|error| {
            cx.counters.count(match error {
                Error::Malformed => Counter::NdMalformed,
                Error::Full | Error::Busy => Counter::NdFull,
                _ => Counter::NdRefused,
            });
        })
    }

    /// Answers who asks for an address of the router itself.
    fn handle_solicitation(&mut self, from: Eui64, source: Ipv6Addr, target: Ipv6Addr) -> Result<(), Error> {
        if !self.is_own(target) {
            return Err(Error::NotForUs);
        }
        self.answer(Answer::Neighbour(Reply {
            neighbour: from,
            destination: source,
            target,
            registration: None,
        }))
    }

    /// When to call [`Registrar::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.registrations.all().fold(self.solicitors.poll_timeout(), |due, known| {
            let request = known.request.get().map(|request| request.at);
            Instant::earliest(due, Instant::earliest(Some(known.expiry.timeout()), request))
        })
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.solicitors.handle_timeout(now);
        if self.registrations.handle_timeout(now) {
            self.registrations_changed();
        }
        for known in self.registrations.all_mut() {
            let Some(request) = known.request.get_mut().filter(|request| now.has_reached(request.at)) else {
                continue;
            };
            if request.sent == MAX_REQUESTS {
                // The node is not answered, and finds this router unreachable.
                known.request = Slot::Empty;
            } else {
                request.is_due = true;
                (request.sent, request.at) = (request.sent + 1, now + REQUEST_AGAIN);
            }
        }
    }
}

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Default for Registrar<R, C> {
    fn default() -> Self {
        Self::new()
    }
}
