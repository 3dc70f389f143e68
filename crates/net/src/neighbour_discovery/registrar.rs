use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{Context, EncodedMessage, RegisteredAddress};

use super::error::Error;
use super::event::Event;
use super::network::{Configured, Network, Tells};
use super::output::Transmit;
use super::registrations::Registration;
use super::registry::Registry;

/// A router that hosts register at, with as many registrations as there is room for in `R` and as many contexts as in `C`.
///
/// It advertises itself to those who ask, and by itself only when it has begun ([`Registrar::announce`]). An address of the network that it has not heard of it asks the border router
/// for before it answers; that one keeps the registry of all, in the same table. When a table is full, a new address is refused. Messages
/// that are to be answered while four answers wait are dropped, and asked again.
///
/// Hosts that do not register are answered for the router's own addresses; what is for theirs goes where their addresses say.
pub struct Registrar<R, C> {
    network: Slot<Configured<C>>,
    registry: Registry<R>,
}

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Registrar<R, C> {
    /// A router without an address.
    pub const fn new() -> Self {
        Self { network: Slot::Empty, registry: Registry::new() }
    }

    /// Gives it its link-layer address; to be called first. It says nothing before [`Registrar::configure`].
    pub fn start(&mut self, address: Eui64) {
        self.registry.start(address);
    }

    /// Gives it what it tells of the network; its contexts are then those that [`Registrar::add_context`] adds. What is told differently
    /// than before is told by a higher version of [`Network::border_router`].
    pub fn configure(&mut self, network: Network) {
        self.network = Slot::Full(Configured::new(network));
    }

    /// Adds a context that it tells, or changes it; whether there was room, and a network that it is of.
    pub fn add_context(&mut self, context: Context) -> bool {
        self.network.get_mut().is_some_and(|network| network.add_context(context))
    }

    /// Tells all that it is here, three times, once it is configured: those that were registered before it has rebooted, register anew.
    pub fn announce(&mut self) {
        if self.network.is_full() {
            self.registry.announce();
        }
    }

    /// Those that are registered: neighbours, and at the border router also others.
    pub fn registrations(&self) -> impl Iterator<Item = &Registration> {
        self.registry.registrations()
    }

    /// The neighbour that has registered `address`.
    pub fn neighbour(&self, address: Ipv6Addr) -> Option<Eui64> {
        self.registrations().find(|known| known.address == address)?.neighbour()
    }

    /// The same, if packets for `address` go there whatever a routing protocol says. Where a router makes addresses reachable by one, those
    /// are not that do not want it: their nodes take part in the protocol themselves, which may know a better way
    /// ([RFC 8505 section 5.1](https://www.rfc-editor.org/rfc/rfc8505#section-5.1)).
    pub fn direct_neighbour(&self, address: Ipv6Addr) -> Option<Eui64> {
        self.registry.direct_neighbour(self.network.get()?, &address)
    }

    /// Whether a neighbour that is registered has told that it reads payloads that are compressed by GHC, and this router reads them itself.
    pub fn compresses_generically(&self, neighbour: Eui64) -> bool {
        self.network.get().is_some_and(|network| self.registry.compresses_generically(network, neighbour))
    }

    /// The contexts that it tells.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        self.network.get().into_iter().flat_map(Configured::contexts).copied()
    }

    /// The prefix that it tells.
    pub fn prefix(&self) -> Option<[u8; 8]> {
        self.network.get()?.address_prefix().copied()
    }

    /// Whether a registration was renewed, or has come, changed or gone, since this was last called.
    pub fn poll_registered(&mut self) -> bool {
        self.registry.poll_registered()
    }

    /// The addresses that neighbours have registered and want to be reached at from elsewhere.
    pub fn registered(&self, now: Instant) -> impl Iterator<Item = RegisteredAddress> + '_ {
        self.registry.registered(now)
    }

    /// What has changed, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.registry.poll_event()
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
            .and_then(|message| self.registry.handle(cx, self.network.get(), (&from, header), &message));
        taken.inspect_err(|error| error.count(cx.counters))
    }

    /// Whether there is something for [`Registrar::poll_transmit`].
    pub fn has_output(&self) -> bool {
        self.registry.has_output()
    }

    /// Writes the next packet to `out`. One for which there is no room is lost.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.registry.poll_transmit(self.network.get()?, now, out)
    }

    /// When to call [`Registrar::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut due = None;
        self.registry.bring_forward(&mut due);
        due
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.registry.handle_timeout(now);
    }
}

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Default for Registrar<R, C> {
    fn default() -> Self {
        Self::new()
    }
}
