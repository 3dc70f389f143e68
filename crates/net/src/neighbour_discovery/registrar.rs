use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Duration, Entropy, Eui64, Instant, LINK_LOCAL_PREFIX, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{
    ALL_NODES, AddressRegistration, Capabilities, Context, DuplicateAddress, HOP_LIMIT, Message, NdOption,
    Options, PrefixInformation, RouterAdvertisement, Status,
};

use super::error::Error;
use super::event::{Event, Events};
use super::expiry::Expiry;
use super::network::Network;
use super::output::{self, MULTIHOP_HOP_LIMIT, Transmit};
use super::registrations::{Ask, Denial, Registration, Registrations, Request, Through};
use super::reply::Reply;
use super::solicitors::Solicitors;
use crate::BROADCAST;

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

/// `TENTATIVE_NCE_LIFETIME`, in seconds.
const TENTATIVE: u32 = 20;

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
        self.network = Slot::Full(network);
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

    /// The prefix that it tells.
    pub fn prefix(&self) -> Option<[u8; 8]> {
        self.network.get()?.prefix.as_ref().map(prefix_of)
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
                let who = (!header.source.is_unspecified()).then_some(from);
                if self.solicitors.ask(cx.now, cx.entropy, who) { Ok(()) } else { Err(Error::Busy) }
            }
            (Message::NeighbourSolicitation { target }, Some(network)) => {
                match registration_in(header, options) {
                    Some(registration) => {
                        let ask = Ask { neighbour: from, source: header.source, target, registration };
                        self.register(cx, &network, ask)
                    }
                    None => self.handle_solicitation(from, header.source, target),
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

    /// Lets an answer wait.
    fn answer(&mut self, answer: Answer) -> Result<(), Error> {
        let free = self.answers.iter_mut().find(|place| !place.is_full()).ok_or(Error::Busy)?;
        *free = Slot::Full(answer);
        Ok(())
    }

    /// Tells a neighbour what became of its registration.
    ///
    /// Who has asked from an address that is another's is answered at the one on the link
    /// ([RFC 6775 section 6.5.2](https://www.rfc-editor.org/rfc/rfc6775#section-6.5.2)).
    fn tell(&mut self, ask: &Ask, status: Status) -> Result<(), Error> {
        let is_of_another = status != Status::SUCCESS && ask.source == ask.address();
        let destination = if is_of_another { output::link_local(ask.neighbour) } else { ask.source };
        self.answer(Answer::Neighbour(Reply {
            neighbour: ask.neighbour,
            destination,
            target: ask.target,
            registration: Some(AddressRegistration { status, ..ask.registration }),
        }))
    }

    fn deny(&mut self, ask: &Ask, status: Status) -> Result<(), Error> {
        self.tell(ask, status)?;
        Err(if status == Status::NEIGHBOUR_CACHE_FULL { Error::Full } else { Error::Refused })
    }

    /// Registers an address, or asks the border router whether it may
    /// ([RFC 6775 section 6.5](https://www.rfc-editor.org/rfc/rfc6775#section-6.5),
    /// [RFC 8505 section 5.6](https://www.rfc-editor.org/rfc/rfc8505#section-5.6)).
    fn register<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        network: &Network,
        ask: Ask,
    ) -> Result<(), Error> {
        let Ask { neighbour, registration, target, .. } = ask;
        // In the form of RFC 6775 it is the router that is solicited.
        if !ask.is_extended() && !self.is_own(target) {
            return Err(Error::NotForUs);
        }
        let address = ask.address();
        if let Err(status) = self.check_ask(network, &ask) {
            return self.deny(&ask, status);
        }
        match self.registrations.check(address, registration.rovr, registration.transaction) {
            Ok(()) => {}
            Err(Denial::Status(status)) => return self.deny(&ask, status),
            Err(Denial::Undecided) => return Err(Error::Busy),
        }
        if registration.lifetime == 0 {
            return self.release(network, &ask);
        }
        let asks_border_router = !network.is_border_router && !is_link_local(address);
        if !asks_border_router {
            self.tell(&ask, Status::SUCCESS)?;
            self.keep(cx.now, &ask);
            return Ok(());
        }
        let request = Request { ask, is_due: true, sent: 1, at: cx.now + REQUEST_AGAIN };
        let known = self.registrations.get_mut(address);
        // One that waits for its answer already waits on: its node has only sent it again.
        if known.as_ref().is_some_and(|known| known.waits_for(&ask)) {
            return Ok(());
        }
        match known {
            Some(known) => known.request = Slot::Full(request),
            None => {
                self.registrations.put(Registration {
                    address,
                    rovr: registration.rovr,
                    transaction: registration.transaction,
                    through: Through::Neighbour(neighbour),
                    wants_reachability: registration.wants_reachability,
                    expiry: Expiry::after_seconds(cx.now, TENTATIVE),
                    is_confirmed: false,
                    request: Slot::Full(request),
                });
            }
        }
        Ok(())
    }

    /// Whether an address may be registered here, and from that source, as far as other registrations do not matter.
    fn check_ask(&self, network: &Network, ask: &Ask) -> Result<(), Status> {
        let address = ask.address();
        if ask.is_extended() && ask.source != address {
            if !is_link_local(ask.source) {
                return Err(Status::INVALID_SOURCE_ADDRESS);
            }
            let owner = self.registrations.get(ask.source).map(|known| known.rovr);
            if self.is_own(ask.source) || owner.is_some_and(|owner| owner != ask.registration.rovr) {
                return Err(Status::DUPLICATE_SOURCE_ADDRESS);
            }
        }
        if self.is_own(address) {
            return Err(Status::DUPLICATE_ADDRESS);
        }
        let prefix = network.prefix.as_ref().map(prefix_of);
        let is_of_network = address.octets().first_chunk() == prefix.as_ref();
        if is_link_local(address) || is_of_network { Ok(()) } else { Err(Status::TOPOLOGICALLY_INCORRECT) }
    }

    /// Ends a registration, as its node wants it.
    fn release(&mut self, network: &Network, ask: &Ask) -> Result<(), Error> {
        let address = ask.address();
        self.tell(ask, Status::SUCCESS)?;
        if self.registrations.remove(address) {
            self.events.push(Event::RegistrationsChanged);
        }
        if !network.is_border_router && !is_link_local(address) {
            // If it is lost, the border router's lifetime ends it.
            return self.answer(Answer::Release(ask.request(network)));
        }
        Ok(())
    }

    /// Keeps what was registered.
    fn keep(&mut self, now: Instant, ask: &Ask) {
        let before = self.registrations.get(ask.address()).filter(|known| known.is_confirmed).copied();
        let through = Through::Neighbour(ask.neighbour);
        let registration = Registration {
            address: ask.address(),
            rovr: ask.registration.rovr,
            transaction: ask.registration.transaction,
            through,
            wants_reachability: ask.registration.wants_reachability,
            expiry: Expiry::after_minutes(now, ask.registration.lifetime),
            is_confirmed: true,
            request: Slot::Empty,
        };
        self.put(registration, before);
    }

    /// Keeps a registration in the place of the one before, and tells the router that this one was registered at
    /// ([RFC 8505 section 4.1](https://www.rfc-editor.org/rfc/rfc8505#section-4.1)).
    fn put(&mut self, registration: Registration, before: Option<Registration>) {
        self.registrations.put(registration);
        let is_same = before.is_some_and(|before| {
            before.through == registration.through
                && before.wants_reachability == registration.wants_reachability
        });
        if !is_same {
            self.events.push(Event::RegistrationsChanged);
        }
        if let Some(before) = before
            && let Through::Router(router) = before.through
            && before.through != registration.through
        {
            let message = DuplicateAddress {
                status: Status::MOVED,
                transaction: registration.transaction,
                lifetime: 0,
                rovr: before.rovr,
                address: before.address,
            };
            // It is a courtesy: without it, the registration there is over after its lifetime.
            let _ = self.answer(Answer::Confirmation { router, message });
        }
    }

    /// At the border router: another router asks for an address
    /// ([RFC 6775 section 8.2.3](https://www.rfc-editor.org/rfc/rfc6775#section-8.2.3)).
    fn handle_request<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        network: &Network,
        header: &Header,
        request: &DuplicateAddress,
    ) -> Result<(), Error> {
        if !network.is_border_router || !self.is_own(header.destination) || request.status != Status::SUCCESS
        {
            return Err(Error::NotForUs);
        }
        let DuplicateAddress { transaction, lifetime, rovr, address, .. } = *request;
        let prefix = network.prefix.as_ref().map(prefix_of);
        let denial = if self.is_own(address) {
            Some(Status::DUPLICATE_ADDRESS)
        } else if address.octets().first_chunk() != prefix.as_ref() {
            Some(Status::TOPOLOGICALLY_INCORRECT)
        } else {
            match self.registrations.check(address, rovr, transaction) {
                Ok(()) => None,
                // In the form of RFC 6775 there is no other word for it.
                Err(Denial::Status(Status::NEIGHBOUR_CACHE_FULL)) if transaction.is_some() => {
                    Some(Status::REGISTRY_SATURATED)
                }
                Err(Denial::Status(status)) => Some(status),
                Err(Denial::Undecided) => return Err(Error::Busy),
            }
        };
        let status = denial.unwrap_or(Status::SUCCESS);
        let message = DuplicateAddress { status, ..*request };
        self.answer(Answer::Confirmation { router: header.source, message })?;
        if denial.is_some() {
            return Err(if matches!(status, Status::REGISTRY_SATURATED | Status::NEIGHBOUR_CACHE_FULL) {
                Error::Full
            } else {
                Error::Refused
            });
        }
        if lifetime == 0 {
            if self.registrations.remove(address) {
                self.events.push(Event::RegistrationsChanged);
            }
            return Ok(());
        }
        let before = self.registrations.get(address).copied();
        let registration = Registration {
            address,
            rovr,
            transaction,
            through: Through::Router(header.source),
            wants_reachability: false,
            expiry: Expiry::after_minutes(cx.now, lifetime),
            is_confirmed: true,
            request: Slot::Empty,
        };
        self.put(registration, before);
        Ok(())
    }

    /// The border router has answered, or says that a registration is no more
    /// ([RFC 6775 section 8.2.4](https://www.rfc-editor.org/rfc/rfc6775#section-8.2.4)).
    fn handle_confirmation<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        network: &Network,
        header: &Header,
        confirmation: &DuplicateAddress,
    ) -> Result<(), Error> {
        if network.is_border_router || !self.is_own(header.destination) {
            return Err(Error::NotForUs);
        }
        if header.source != network.border_router.address {
            return Err(Error::Unasked);
        }
        let address = confirmation.address;
        let known = self.registrations.get_mut(address).ok_or(Error::Unasked)?;
        let request = known.request.get().filter(|request| {
            let asked = request.ask.registration;
            confirmation.rovr == asked.rovr
                && (confirmation.transaction.is_none() || confirmation.transaction == asked.transaction)
        });
        if let Some(request) = request {
            let ask = request.ask;
            // Who cannot be told now asks again.
            self.tell(&ask, confirmation.status)?;
            if confirmation.status == Status::SUCCESS {
                self.keep(cx.now, &ask);
                return Ok(());
            }
            if self.registrations.remove(address) {
                self.events.push(Event::RegistrationsChanged);
            }
            return Ok(());
        }
        if confirmation.status == Status::SUCCESS || confirmation.rovr != known.rovr || !known.is_confirmed {
            return Err(Error::Unasked);
        }
        let told = *known;
        if self.registrations.remove(address) {
            self.events.push(Event::RegistrationsChanged);
        }
        let Through::Neighbour(neighbour) = told.through else { return Ok(()) };
        let registration = AddressRegistration {
            status: confirmation.status,
            opaque: 0,
            opaque_kind: 0,
            wants_reachability: told.wants_reachability,
            transaction: told.transaction,
            lifetime: 0,
            rovr: told.rovr,
        };
        // In the form of RFC 6775 nothing names the address but the packet's destination.
        let (destination, target) = match told.transaction {
            Some(_) => (output::link_local(neighbour), address),
            None => (address, self.link_local_address()),
        };
        let registration = Some(registration);
        self.answer(Answer::Neighbour(Reply { neighbour, destination, target, registration }))
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
    fn write_advertisement(&self, out: &mut [u8], who: Option<Eui64>) -> Option<Transmit> {
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
            extended_duplicate_address: network.reads_extended,
            router: true,
            border_router: network.is_border_router,
            routing_registrar: network.is_routing_registrar,
            extended_registration: true,
            generic_compression: network.generic_compression,
        };
        let destination = who.map_or(ALL_NODES, output::link_local);
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
        Some(Transmit { len, neighbour: Some(who.unwrap_or(BROADCAST)) })
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
            self.events.push(Event::RegistrationsChanged);
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

impl Registration {
    /// Whether the border router is asked for it as `ask` does.
    fn waits_for(&self, ask: &Ask) -> bool {
        self.request.get().is_some_and(|request| request.ask.registration == ask.registration)
    }
}

impl Ask {
    /// Whether it is in the form of RFC 8505, in which the target is the address that is registered.
    fn is_extended(&self) -> bool {
        self.registration.transaction.is_some()
    }

    /// The address that is registered.
    fn address(&self) -> Ipv6Addr {
        if self.is_extended() { self.target } else { self.source }
    }

    /// What the border router is asked.
    fn request(&self, network: &Network) -> DuplicateAddress {
        DuplicateAddress {
            status: Status::SUCCESS,
            transaction: self.registration.transaction.filter(|_| network.reads_extended),
            lifetime: self.registration.lifetime,
            rovr: self.registration.rovr,
            address: self.address(),
        }
    }
}

/// The registration in a solicitation. It is ignored where it has a status, and where its sender does not say its addresses
/// ([RFC 6775 section 6.5](https://www.rfc-editor.org/rfc/rfc6775#section-6.5)).
fn registration_in(header: &Header, options: Options<'_>) -> Option<AddressRegistration> {
    let registration = options.address_registration()?;
    let is_good = registration.status == Status::SUCCESS
        && !header.source.is_unspecified()
        && options.source_link_layer_address().is_some();
    is_good.then_some(registration)
}

fn prefix_of(information: &PrefixInformation) -> [u8; 8] {
    let [prefix @ .., _, _, _, _, _, _, _, _] = information.address.octets();
    prefix
}

fn is_link_local(address: Ipv6Addr) -> bool {
    address.octets()[..8] == LINK_LOCAL_PREFIX
}
