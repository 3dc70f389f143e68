use core::ops::Range;

use sixlock_base::{Array, Cx, Entropy, Eui64, Instant, Nv};
use sixlock_mac::Outcome;
use sixlock_net::{Route, Router, Routes, SendError};

/// Where packets go, what a routing protocol does to them, and what it learns and sends. Where routes are listed, that is nothing.
pub trait Routing: Router {
    /// Whether it does anything.
    const ROUTES: bool;

    /// Whether [`Routing::encapsulate`] does anything.
    const ENCAPSULATES: bool = Self::ROUTES;

    /// Whether packets of this host that leave the link have a way.
    fn has_way(&self) -> bool {
        true
    }

    /// The neighbour to which packets go that leave the network, if a routing protocol has found it.
    fn preferred_parent(&self) -> Option<Eui64> {
        None
    }

    /// How far from the root this node is, as beacons of TSCH tell it, if a routing protocol knows
    /// ([RFC 8180 section 5.1.2](https://www.rfc-editor.org/rfc/rfc8180#section-5.1.2)).
    fn join_metric(&self) -> Option<u8> {
        None
    }

    /// What neighbours have to know of this router that hear nothing it sends to all, as they sleep: a number that changes when that does.
    fn advertised(&self) -> Option<u32> {
        None
    }

    /// Tells such a neighbour of it; whether there is room for that.
    fn advertise_to(&mut self, _: &Eui64) -> bool {
        false
    }

    /// Puts into a packet of this host, the first `len` bytes of `buffer`, what routers read, before IPsec protects it. Returns its
    /// length then.
    ///
    /// # Errors
    /// [`SendError::NoRoute`] or [`SendError::NoRoom`].
    fn originate(&self, _: &mut [u8], len: usize) -> Result<usize, SendError> {
        Ok(len)
    }

    /// Puts around a packet that is to go to a neighbour, the first `len` bytes of `buffer`, a header with what routers read, if the
    /// packet has none and needs one. Returns its length then.
    ///
    /// # Errors
    /// [`SendError::NoRoute`] or [`SendError::NoRoom`].
    fn encapsulate(&self, _: &mut [u8], len: usize) -> Result<usize, SendError> {
        Ok(len)
    }

    /// Where in a packet for this host the one is that [`Routing::encapsulate`] put a header around.
    fn encapsulated(&self, _: &[u8]) -> Option<Range<usize>> {
        None
    }

    /// Learns what became of a frame, and may change routes.
    fn handle_outcome<C, E: Entropy, N: Nv>(&mut self, _: &mut Cx<'_, C, E, N>, _: &FrameOutcome) {}

    /// Whether there is something for [`Routing::poll_transmit`].
    fn has_output(&self) -> bool {
        false
    }

    /// Writes the next packet of this host to `out`; its length, if there was one.
    fn poll_transmit<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &mut [u8],
    ) -> Option<usize> {
        None
    }

    /// When to call [`Routing::handle_timeout`].
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Does what is due, and may change routes.
    fn handle_timeout<C, E: Entropy, N: Nv>(&mut self, _: &mut Cx<'_, C, E, N>) {}
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

impl<A: Array<Route>> Routing for Routes<A> {
    const ROUTES: bool = false;
}
