//! What goes through a session: CoAP, or datagrams of any kind.

use sixlock_base::{Cx, Entropy, Instant};
use sixlock_coap::{ByteStore, Ended, Exchanges, Request};

use crate::Config;

/// What a peer has to do with the data of its session.
pub(crate) trait Traffic {
    /// What of a record is handed out.
    type Incoming<'d>;

    /// Before the first record.
    fn new() -> Self;

    /// Takes the data of a record.
    fn handle<'d, C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        data: &'d mut [u8],
    ) -> Option<Self::Incoming<'d>>;

    /// Fills `out` with the next data to send.
    fn poll_transmit<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        out: &mut [u8],
    ) -> Option<usize>;

    /// The peer is at another address now: until it is reached, `out` of [`Traffic::poll_transmit`] is as short as what may be sent
    /// there, and what would not leave `reserve` bytes waits.
    fn moved<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, reserve: usize);

    /// Whether the peer has answered something that was sent since it moved.
    fn is_reached(&self) -> bool;

    /// Whether something waits for that.
    fn is_held_back(&self) -> bool;

    /// What has become of a message that was sent unasked.
    fn poll_ended(&mut self) -> Option<Ended>;

    /// Whether [`Traffic::poll_ended`] has something to tell.
    fn has_ended(&self) -> bool;

    /// When to call [`Traffic::handle_timeout`].
    fn poll_timeout(&self) -> Option<Instant>;

    /// Does what is due by now.
    fn handle_timeout<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>);
}

impl<S: ByteStore, const RING: usize> Traffic for Exchanges<S, RING> {
    type Incoming<'d> = Request<'d>;

    fn new() -> Self {
        Self::new()
    }

    fn handle<'d, C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        data: &'d mut [u8],
    ) -> Option<Request<'d>> {
        self.handle(cx, &config.coap, data)
    }

    fn poll_transmit<C, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        out: &mut [u8],
    ) -> Option<usize> {
        self.poll_transmit(cx, &config.coap, out)
    }

    fn moved<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, reserve: usize) {
        self.moved(cx, reserve);
    }

    fn is_reached(&self) -> bool {
        self.is_reached()
    }

    fn is_held_back(&self) -> bool {
        self.is_held_back()
    }

    fn poll_ended(&mut self) -> Option<Ended> {
        self.poll_ended()
    }

    fn has_ended(&self) -> bool {
        self.has_ended()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn handle_timeout<C, E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.handle_timeout(cx);
    }
}

/// Data that is handed out as it is, and sent as soon as it is there: nothing is kept.
pub(crate) struct Opaque;

impl Traffic for Opaque {
    type Incoming<'d> = &'d mut [u8];

    fn new() -> Self {
        Self
    }

    fn handle<'d, C, E: Entropy, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &Config,
        data: &'d mut [u8],
    ) -> Option<&'d mut [u8]> {
        Some(data)
    }

    fn poll_transmit<C, E: Entropy, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &Config,
        _: &mut [u8],
    ) -> Option<usize> {
        None
    }

    // Nothing in such data could show it: sessions that carry it stay where they are.
    fn moved<C, E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>, _: usize) {}

    fn is_reached(&self) -> bool {
        false
    }

    fn is_held_back(&self) -> bool {
        false
    }

    fn poll_ended(&mut self) -> Option<Ended> {
        None
    }

    fn has_ended(&self) -> bool {
        false
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout<C, E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}
}
