use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{Context, NEIGHBOUR_ADVERTISEMENT, NEIGHBOUR_SOLICITATION, ROUTER_ADVERTISEMENT};

use super::contexts::LearntContext;
use super::default_routers::DefaultRouter;
use super::event::Event;
use super::host::{Host, Settings};
use super::network::Network;
use super::output::Transmit;
use super::registrar::Registrar;
use super::registrations::Registration;

/// A router that is no border router: as a host it finds another router and registers its address there, and as long as it is registered,
/// others register at it
/// ([RFC 6775 section 6.2](https://www.rfc-editor.org/rfc/rfc6775#section-6.2)). It tells them what it was told, for as long as that is
/// valid still. There is room for as many routers as in `R`, contexts as in `L` and `C`, and registrations as in `N`.
///
/// Whose addresses are reachable by a routing protocol in which they take part themselves, is no neighbour here.
pub struct Router<R, L, N, C> {
    host: Host<R, L>,
    registrar: Registrar<N, C>,
}

/// For how many seconds it is a default router: `AdvDefaultLifetime`
/// ([RFC 4861 section 6.2.1](https://www.rfc-editor.org/rfc/rfc4861#section-6.2.1)).
const LIFETIME: u16 = 1_800;

impl<R, L, N, C> Router<R, L, N, C>
where
    R: Array<Slot<DefaultRouter>>,
    L: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
    C: Array<Slot<Context>>,
{
    /// A router without an address.
    pub const fn new() -> Self {
        Self { host: Host::new(), registrar: Registrar::new() }
    }

    /// Gives it its link-layer address and begins to look for a router; to be called first. Of its capabilities, that it is a router is
    /// true in any case.
    pub fn start<X, E: Entropy, M>(&mut self, cx: &mut Cx<'_, X, E, M>, address: Eui64, settings: &Settings) {
        let mut settings = *settings;
        settings.capabilities.router = true;
        self.host.start(cx, address, &settings);
        self.registrar.start(address);
    }

    /// What it is to other routers.
    pub fn host(&self) -> &Host<R, L> {
        &self.host
    }

    /// What it is to those that register here.
    pub fn registrar(&self) -> &Registrar<N, C> {
        &self.registrar
    }

    /// What has changed, once.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.host.poll_event().or_else(|| self.registrar.poll_event())
    }

    /// Whether what [`Registrar::registered`] says has changed since this was last called.
    pub fn poll_registered(&mut self) -> bool {
        self.registrar.poll_registered()
    }

    /// Lets others register as long as the own address is registered, with what was told last.
    fn tell(&mut self, now: Instant) {
        let network = self.network(now);
        self.registrar.set_network(network);
        for context in self.host.contexts_left(now) {
            // What it does not have room for it does not tell.
            self.registrar.add_context(context);
        }
    }

    fn network(&self, now: Instant) -> Option<Network> {
        self.host.address()?;
        Some(Network {
            router_lifetime: LIFETIME,
            prefix: self.host.prefix_information(now),
            border_router: self.host.border_router(now)?,
            is_border_router: false,
            reads_extended: self.host.border_router_is_extended(),
            is_routing_registrar: true,
            generic_compression: self.host.reads_generic_compression(),
        })
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
        let is_for_host = match message.first() {
            Some(&(ROUTER_ADVERTISEMENT | NEIGHBOUR_ADVERTISEMENT)) => true,
            // Until it is a router, it answers as a host.
            Some(&NEIGHBOUR_SOLICITATION) => self.network(cx.now).is_none(),
            _ => false,
        };
        let _ = if is_for_host {
            self.host.handle(cx, from, header, message)
        } else {
            self.tell(cx.now);
            self.registrar.handle(cx, from, header, message)
        };
    }

    /// The prefix that its router tells.
    pub fn prefix(&self) -> Option<[u8; 8]> {
        self.host.prefix()
    }

    /// The neighbour to which packets for `address` go whatever the routing protocol says.
    pub fn neighbour(&self, address: Ipv6Addr) -> Option<Eui64> {
        self.registrar.direct_neighbour(address)
    }

    /// Whether a neighbour has told that it reads payloads that are compressed by GHC, and this router reads them itself.
    pub fn compresses_generically(&self, neighbour: Eui64) -> bool {
        self.host.compresses_generically(neighbour) || self.registrar.compresses_generically(neighbour)
    }

    /// Whether there is something for [`Router::poll_transmit`].
    pub fn has_output(&self) -> bool {
        self.host.has_output() || self.registrar.has_output()
    }

    /// Writes the next packet to `out`. One for which there is no room is lost.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        if self.host.has_output() {
            return self.host.poll_transmit(out);
        }
        self.tell(now);
        self.registrar.poll_transmit(now, out)
    }

    /// When to call [`Router::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.host.poll_timeout(), self.registrar.poll_timeout())
    }

    /// Does what is due.
    pub fn handle_timeout<X, E: Entropy, M>(&mut self, cx: &mut Cx<'_, X, E, M>) {
        self.host.handle_timeout(cx);
        self.registrar.handle_timeout(cx.now);
    }
}

impl<R, L, N, C> New for Router<R, L, N, C>
where
    R: Array<Slot<DefaultRouter>>,
    L: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
    C: Array<Slot<Context>>,
{
    const NEW: Self = Self::new();
}

impl<R, L, N, C> Default for Router<R, L, N, C>
where
    R: Array<Slot<DefaultRouter>>,
    L: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
    C: Array<Slot<Context>>,
{
    fn default() -> Self {
        Self::new()
    }
}
