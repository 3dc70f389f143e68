use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{
    EncodedMessage, NEIGHBOUR_ADVERTISEMENT, NEIGHBOUR_SOLICITATION, ROUTER_ADVERTISEMENT,
    ROUTER_SOLICITATION, RegisteredAddress,
};

use super::contexts::LearntContext;
use super::default_routers::DefaultRouter;
use super::error::Error;
use super::event::Event;
use super::host::{Host, Settings};
use super::output::Transmit;
use super::registrations::Registration;
use super::registry::Registry;

/// A router that is no border router: as a host it finds another router and registers its address there, and as long as it is registered,
/// others register at it
/// ([RFC 6775 section 6.2](https://www.rfc-editor.org/rfc/rfc6775#section-6.2)). It tells them what it was told, for as long as that is
/// valid still. There is room for as many routers as in `R`, contexts as in `L`, and registrations as in `N`.
///
/// When it has become a router it tells all, a few times: those that were registered at it before it has rebooted, register anew.
///
/// Whose addresses are reachable by a routing protocol in which they take part themselves, is no neighbour here.
pub struct Router<R, L, N> {
    host: Host<R, L>,
    registry: Registry<N>,
    /// Whether all were told that it is a router.
    is_announced: bool,
}

impl<R, L, N> Router<R, L, N>
where
    R: Array<Slot<DefaultRouter>>,
    L: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
{
    /// A router without an address.
    pub const fn new() -> Self {
        Self { host: Host::new(), registry: Registry::new(), is_announced: false }
    }

    /// Gives it its link-layer address and begins to look for a router; to be called first. Of its capabilities, that it is a router is
    /// true in any case.
    pub fn start<X, E: Entropy, M>(&mut self, cx: &mut Cx<'_, X, E, M>, address: Eui64, settings: &Settings) {
        let mut settings = *settings;
        settings.capabilities.router = true;
        self.host.start(cx, address, &settings);
        self.registry.start(address);
    }

    /// What it is to other routers.
    pub fn host(&self) -> &Host<R, L> {
        &self.host
    }

    /// Those that are registered here.
    pub fn registrations(&self) -> impl Iterator<Item = &Registration> {
        self.registry.registrations()
    }

    /// What has changed, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.host.poll_event().or_else(|| self.registry.poll_event())
    }

    /// Whether what [`Router::registered`] says has changed since this was last called.
    pub fn poll_registered(&mut self) -> bool {
        self.registry.poll_registered()
    }

    /// The addresses that neighbours have registered and want to be reached at from elsewhere.
    pub fn registered(&self, now: Instant) -> impl Iterator<Item = RegisteredAddress> + '_ {
        self.registry.registered(now)
    }

    /// What others are told, as long as the own address is registered.
    fn network(&self) -> Option<&Host<R, L>> {
        self.host.is_router().then_some(&self.host)
    }

    /// Takes in the ICMPv6 message `message`, which came in a packet with the header `header` from the neighbour `from`. A refused one was
    /// counted.
    pub fn handle<X, E: Entropy, M>(
        &mut self,
        cx: &mut Cx<'_, X, E, M>,
        from: Eui64,
        header: &Header,
        message: &[u8],
    ) {
        let taken = EncodedMessage::parse(header.source, header.destination, message)
            .map_err(|_| Error::Malformed)
            .and_then(|message| {
                let network = self.host.is_router().then_some(&self.host);
                match message.kind() {
                    ROUTER_ADVERTISEMENT | NEIGHBOUR_ADVERTISEMENT => {
                        self.host.take(cx, (&from, header), &message)
                    }
                    // Its own router has rebooted: that does not find the border router over those that have found it over itself.
                    ROUTER_SOLICITATION if self.host.router() == Some(from) => Err(Error::NotForUs),
                    // Until it is a router, it answers as a host.
                    NEIGHBOUR_SOLICITATION if network.is_none() => {
                        self.host.take(cx, (&from, header), &message)
                    }
                    _ => self.registry.handle(cx, network, (&from, header), &message),
                }
            });
        if let Err(error) = taken {
            error.count(cx.counters);
        }
        self.announce();
    }

    /// Tells all that it is a router, if it has just become one.
    fn announce(&mut self) {
        if !self.is_announced && self.host.is_router() {
            self.is_announced = true;
            self.registry.announce();
        }
    }

    /// The prefix that its router tells.
    pub fn prefix(&self) -> Option<[u8; 8]> {
        self.host.prefix()
    }

    /// The neighbour to which packets for `address` go whatever the routing protocol says.
    pub fn neighbour(&self, address: Ipv6Addr) -> Option<Eui64> {
        self.registry.direct_neighbour(self.network()?, &address)
    }

    /// Whether a neighbour has told that it reads payloads that are compressed by GHC, and this router reads them itself.
    pub fn compresses_generically(&self, neighbour: Eui64) -> bool {
        self.host.compresses_generically(neighbour)
            || self.network().is_some_and(|network| self.registry.compresses_generically(network, neighbour))
    }

    /// Whether there is something for [`Router::poll_transmit`].
    pub fn has_output(&self) -> bool {
        // What it has for others waits until it is a router again.
        self.host.has_output() || self.host.is_router() && self.registry.has_output()
    }

    /// Writes the next packet to `out`. One for which there is no room is lost.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        if self.host.has_output() {
            return self.host.poll_transmit(out);
        }
        let network = self.host.is_router().then_some(&self.host)?;
        self.registry.poll_transmit(network, now, out)
    }

    /// When to call [`Router::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut due = self.host.poll_timeout();
        self.registry.bring_forward(&mut due);
        due
    }

    /// Does what is due.
    pub fn handle_timeout<X, E: Entropy, M>(&mut self, cx: &mut Cx<'_, X, E, M>) {
        self.host.handle_timeout(cx);
        self.registry.handle_timeout(cx.now);
        self.announce();
    }
}

impl<R, L, N> New for Router<R, L, N>
where
    R: Array<Slot<DefaultRouter>>,
    L: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
{
    const NEW: Self = Self::new();
}

impl<R, L, N> Default for Router<R, L, N>
where
    R: Array<Slot<DefaultRouter>>,
    L: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
{
    fn default() -> Self {
        Self::new()
    }
}
