//! The registrations at a router, and what it answers; it is lent what the router tells of its network.

mod duplicate_address;
mod registration;
mod transmit;

use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Duration, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{
    DUPLICATE_ADDRESS_CONFIRMATION, DUPLICATE_ADDRESS_REQUEST, EncodedMessage, HOP_LIMIT,
    NEIGHBOUR_SOLICITATION, ROUTER_SOLICITATION, RegisteredAddress,
};

use super::ask::Ask;
use super::error::Error;
use super::event::{Event, Events};
use super::network::Tells;
use super::output;
use super::registrations::{Registration, Registrations};
use super::reply::Reply;
use super::solicitors::Solicitors;

/// The registrations, with room for as many as in `R`.
pub(super) struct Registry<R> {
    address: Eui64,
    registrations: Registrations<R>,
    solicitors: Solicitors,
    answers: [Slot<Reply>; ANSWERS],
    events: Events,
}

/// How many answers may wait.
const ANSWERS: usize = 4;

/// After how many milliseconds the border router is asked again, and how often at most.
const REQUEST_AGAIN: Duration = Duration::from_millis(4_000);
const MAX_REQUESTS: u8 = 4;

impl<R: Array<Slot<Registration>>> Registry<R> {
    pub(super) const fn new() -> Self {
        Self {
            address: Eui64([0; 8]),
            registrations: Registrations::new(),
            solicitors: Solicitors::NEW,
            answers: [const { Slot::Empty }; ANSWERS],
            events: Events::NEW,
        }
    }

    pub(super) fn start(&mut self, address: Eui64) {
        self.address = address;
    }

    /// Tells all that this router has begun.
    pub(super) fn announce(&mut self) {
        self.solicitors.announce();
    }

    /// Those that are registered.
    pub(super) fn registrations(&self) -> impl Iterator<Item = &Registration> {
        self.registrations.iter()
    }

    /// The neighbour to which packets for `address` go whatever a routing protocol says.
    pub(super) fn direct_neighbour<T: Tells>(&self, network: &T, address: &Ipv6Addr) -> Option<Eui64> {
        let known = self.registrations.get(address)?;
        let is_direct = known.is_confirmed && (!network.is_routing_registrar() || known.wants_reachability());
        known.neighbour().filter(|_| is_direct)
    }

    /// Whether payloads to a neighbour may be compressed by GHC.
    pub(super) fn compresses_generically<T: Tells>(&self, network: &T, neighbour: Eui64) -> bool {
        network.generic_compression()
            && self
                .registrations
                .iter()
                .any(|known| known.generic_compression && known.neighbour() == Some(neighbour))
    }

    /// Whether a registration was renewed, or has come, changed or gone, since this was last called.
    pub(super) fn poll_registered(&mut self) -> bool {
        self.events.take_registered()
    }

    /// The addresses that neighbours have registered and want to be reached at from elsewhere.
    pub(super) fn registered(&self, now: Instant) -> impl Iterator<Item = RegisteredAddress> + '_ {
        let wanted = self.registrations.iter().filter(|known| known.wants_reachability());
        wanted.filter_map(move |known| {
            known.neighbour()?;
            let lifetime = known.expiry.left(now).div_ceil(60).min(u16::MAX.into()) as u16;
            let transaction = known.registration.transaction()?;
            Some(RegisteredAddress { address: known.address, transaction, lifetime })
        })
    }

    /// What has changed, once.
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    fn link_local_address(&self) -> Ipv6Addr {
        output::link_local(self.address)
    }

    /// Whether an address is one of the router's own; the border router may have another that it is known by.
    fn is_own<T: Tells>(&self, network: &T, address: &Ipv6Addr) -> bool {
        self.address.is_of(address) && (output::is_link_local(address) || network.has_prefix_of(address))
            || T::MAY_BE_BORDER_ROUTER
                && network.is_border_router()
                && network.border_router_address() == address
    }

    /// Takes in a message, which came in a packet with the header `header` from the neighbour `from`.
    pub(super) fn handle<X, E: Entropy, N, T: Tells>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        network: Option<&T>,
        (from, header): (&Eui64, &Header),
        message: &EncodedMessage<'_>,
    ) -> Result<(), Error> {
        let network = network.ok_or(Error::NotConfigured)?;
        match message.kind() {
            // Only what is about duplicate addresses may have been sent on by routers.
            DUPLICATE_ADDRESS_REQUEST if T::MAY_BE_BORDER_ROUTER && network.is_border_router() => {
                self.handle_request(cx.now, network, header, message)
            }
            DUPLICATE_ADDRESS_CONFIRMATION if !network.is_border_router() => {
                self.handle_confirmation(cx.now, network, header, message)
            }
            DUPLICATE_ADDRESS_REQUEST | DUPLICATE_ADDRESS_CONFIRMATION => Err(Error::NotForUs),
            _ if header.hop_limit != HOP_LIMIT => Err(Error::Malformed),
            ROUTER_SOLICITATION => match self.solicitors.ask(cx.now, cx.entropy, from, &header.source) {
                true => Ok(()),
                false => Err(Error::Busy),
            },
            NEIGHBOUR_SOLICITATION => {
                let mut ask = Ask::new(from, &header.source, message);
                let is_own = self.is_own(network, &ask.target);
                if ask.read(message.options(), is_own)? {
                    return self.register(cx.now, network, &ask, is_own);
                }
                if !is_own {
                    return Err(Error::NotForUs);
                }
                Reply::put(&mut self.answers, from, &ask.source, &ask.target, None).map(|_| ())
            }
            _ => Err(Error::NotForUs),
        }
    }

    /// Brings `due` forward to when to call [`Registry::handle_timeout`].
    pub(super) fn bring_forward(&self, due: &mut Option<Instant>) {
        self.solicitors.bring_forward(due);
        for known in self.registrations.all() {
            known.expiry.bring_forward(due);
            Instant::bring_forward(due, known.request.get().map(|request| request.at));
        }
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.solicitors.handle_timeout(now);
        if self.registrations.handle_timeout(now) {
            self.events.registrations_changed();
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
