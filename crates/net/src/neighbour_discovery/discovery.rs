//! What the IPv6 layer asks of a host and of a router.

use core::net::Ipv6Addr;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, New, Slot};
use sixlock_ipv6::Header;
use sixlock_ipv6::nd::{Context, RegisteredAddress};

use super::contexts::LearntContext;
use super::default_routers::DefaultRouter;
use super::host::Host;
use super::output::Transmit;
use super::registrar::Registrar;
use super::registrations::Registration;
use super::router::Router;
use crate::discovery::Discovery;

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> New for Host<R, C> {
    const NEW: Self = Self::new();
}

impl<R: Array<Slot<DefaultRouter>>, C: Array<Slot<LearntContext>>> Discovery for Host<R, C> {
    const DISCOVERS: bool = true;

    fn prefix(&self) -> Option<[u8; 8]> {
        self.prefix()
    }

    fn usable_prefix(&self) -> Option<[u8; 8]> {
        self.usable_prefix().copied()
    }

    fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        self.contexts()
    }

    fn default_router(&self) -> Option<Eui64> {
        self.usable_prefix().and_then(|_| self.router())
    }

    fn compresses_generically(&self, neighbour: Eui64) -> bool {
        self.compresses_generically(neighbour)
    }

    fn handle<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        from: Eui64,
        header: &Header,
        message: &[u8],
    ) {
        // A refused message was counted.
        let _ = self.handle(cx, from, header, message);
    }

    fn has_output(&self) -> bool {
        self.has_output()
    }

    fn poll_transmit(&mut self, _: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.poll_transmit(out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn handle_timeout<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        self.handle_timeout(cx);
    }
}

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> New for Registrar<R, C> {
    const NEW: Self = Self::new();
}

impl<R: Array<Slot<Registration>>, C: Array<Slot<Context>>> Discovery for Registrar<R, C> {
    const DISCOVERS: bool = true;

    fn prefix(&self) -> Option<[u8; 8]> {
        self.prefix()
    }

    fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        self.contexts()
    }

    fn neighbour(&self, destination: Ipv6Addr) -> Option<Eui64> {
        self.direct_neighbour(destination)
    }

    fn compresses_generically(&self, neighbour: Eui64) -> bool {
        self.compresses_generically(neighbour)
    }

    fn handle<X, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, X, E, N>,
        from: Eui64,
        header: &Header,
        message: &[u8],
    ) {
        // A refused message was counted.
        let _ = self.handle(cx, from, header, message);
    }

    fn has_output(&self) -> bool {
        self.has_output()
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn handle_timeout<X, E: Entropy, N>(&mut self, cx: &mut Cx<'_, X, E, N>) {
        self.handle_timeout(cx.now);
    }
}

impl<R, L, N> Discovery for Router<R, L, N>
where
    R: Array<Slot<DefaultRouter>>,
    L: Array<Slot<LearntContext>>,
    N: Array<Slot<Registration>>,
{
    const DISCOVERS: bool = true;

    fn prefix(&self) -> Option<[u8; 8]> {
        self.prefix()
    }

    fn usable_prefix(&self) -> Option<[u8; 8]> {
        self.host().usable_prefix().copied()
    }

    fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        self.host().contexts()
    }

    fn neighbour(&self, destination: Ipv6Addr) -> Option<Eui64> {
        self.neighbour(destination)
    }

    fn compresses_generically(&self, neighbour: Eui64) -> bool {
        self.compresses_generically(neighbour)
    }

    fn poll_registered(&mut self) -> bool {
        self.poll_registered()
    }

    fn registered(&self, now: Instant) -> impl Iterator<Item = RegisteredAddress> + '_ {
        self.registered(now)
    }

    fn handle<X, E: Entropy, M>(
        &mut self,
        cx: &mut Cx<'_, X, E, M>,
        from: Eui64,
        header: &Header,
        message: &[u8],
    ) {
        self.handle(cx, from, header, message);
    }

    fn has_output(&self) -> bool {
        self.has_output()
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut [u8]) -> Option<Transmit> {
        self.poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn handle_timeout<X, E: Entropy, M>(&mut self, cx: &mut Cx<'_, X, E, M>) {
        self.handle_timeout(cx);
    }
}
