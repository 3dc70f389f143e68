use core::net::Ipv6Addr;
use core::ops::Range;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, New, Packet};
use sixlock_mac::Outcome;
use sixlock_net::{Net, Route, rpl};

/// A routing protocol: what it does to packets, and what it learns and sends; nothing for `()`.
pub trait Routing: New {
    /// Whether it does anything.
    const ROUTES: bool;

    /// Bytes that [`Routing::originate`] adds to a packet at most.
    fn room(&self) -> usize;

    /// Puts into a packet of this host, the first `len` bytes of `buffer`, what routers read. Returns its length then, or `None`
    /// if there is not enough room.
    fn originate(&self, buffer: &mut [u8], len: usize) -> Option<usize>;

    /// Puts around a packet of another, the first `len` bytes of `buffer`, a header of this border router at `address` with what
    /// routers read. Returns its length then, or `None` if there is not enough room.
    fn encapsulate(&self, buffer: &mut [u8], len: usize, address: Ipv6Addr) -> Option<usize>;

    /// Where in a packet for this host the one is that [`Routing::encapsulate`] put a header around.
    fn encapsulated(&self, packet: &[u8]) -> Option<Range<usize>>;

    /// Learns what became of a frame, and may change routes.
    fn handle_outcome<R: Array<Route>>(&mut self, _: &mut Net<R>, _: &FrameOutcome) {}

    /// Whether there is something for [`Routing::poll_transmit`].
    fn has_output(&self) -> bool {
        false
    }

    /// Writes the next packet of this host behind what `packet` holds, its IPv6 header first; whether there was one.
    fn poll_transmit<C, E: Entropy, N, R: Array<Route>, B: Array<u8>>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &Net<R>,
        _: &mut Packet<B>,
    ) -> bool {
        false
    }

    /// When to call [`Routing::handle_timeout`].
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Does what is due, and may change routes.
    fn handle_timeout<C, E: Entropy, N, R: Array<Route>>(&mut self, _: &mut Cx<'_, C, E, N>, _: &mut Net<R>) {
    }
}

/// What became of a frame that was sent to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameOutcome {
    /// The neighbour, or all of them.
    pub neighbour: Eui64,
    /// What became of it.
    pub outcome: Outcome,
    /// How often it was sent.
    pub attempts: u8,
}

impl Routing for () {
    const ROUTES: bool = false;

    fn room(&self) -> usize {
        0
    }

    fn originate(&self, _: &mut [u8], len: usize) -> Option<usize> {
        Some(len)
    }

    fn encapsulate(&self, _: &mut [u8], len: usize, _: Ipv6Addr) -> Option<usize> {
        Some(len)
    }

    fn encapsulated(&self, _: &[u8]) -> Option<Range<usize>> {
        None
    }
}

/// The headers of a network whose routers read RPL's option in each packet, which this host tells them if it is on
/// ([RFC 9008](https://www.rfc-editor.org/rfc/rfc9008)).
#[derive(Clone, Copy, Debug, Default)]
pub struct RplHeaders {
    /// Whether it is on.
    pub is_on: bool,
}

impl New for RplHeaders {
    const NEW: Self = Self { is_on: false };
}

impl Routing for RplHeaders {
    const ROUTES: bool = true;

    fn room(&self) -> usize {
        if self.is_on { rpl::OPTION } else { 0 }
    }

    fn originate(&self, buffer: &mut [u8], len: usize) -> Option<usize> {
        if self.is_on { rpl::mark(buffer, len) } else { Some(len) }
    }

    fn encapsulate(&self, buffer: &mut [u8], len: usize, address: Ipv6Addr) -> Option<usize> {
        if self.is_on { rpl::wrap(buffer, len, address) } else { Some(len) }
    }

    fn encapsulated(&self, packet: &[u8]) -> Option<Range<usize>> {
        if self.is_on { rpl::wrapped(packet) } else { None }
    }
}
