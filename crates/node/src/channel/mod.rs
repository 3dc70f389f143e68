//! The ways to the cloud, of which a node's type says which are linked.

mod any;
mod dtls_psk;
mod plain;

use core::convert::Infallible;

use sixlock_base::{Cx, Entropy, Instant};
use sixlock_crypto::Crypto;
use sixlock_dtls::Config as DtlsConfig;

pub use any::AnyChannel;
pub use dtls_psk::{DtlsPsk, SessionKeys};
pub use plain::Plain;

use crate::config::Resource;

/// What became of the way to the cloud.
pub enum ChannelEvent {
    /// It is open, newly.
    Opened(SessionKeys),
    /// It was open and no longer is.
    Lost,
}

/// A way to the cloud. Of a node whose way is [`Infallible`], which there is none of, nothing is linked that makes readings.
pub trait Channel<C: Crypto>: Sized {
    /// How the node proves whose readings they are.
    type Access;

    /// The way, on which nothing has been sent.
    fn new(access: Self::Access, dtls: DtlsConfig) -> Self;

    /// What each request says in the clear about whose it is.
    fn resource(&self) -> Option<&Resource> {
        None
    }

    /// Whether messages can be sent.
    fn is_open(&self) -> bool;

    /// Begins a handshake if there is no session and the pause after a failure is over.
    fn open<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}

    /// Gives the session up, which the cloud seems to have forgotten, and begins a new one.
    fn reopen<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}

    /// The room that protection needs before a message.
    fn front(&self) -> usize {
        0
    }

    /// Protects the message of `length` bytes at `buffer[self.front()..]` in place; returns the datagram's length.
    fn seal<E, N>(&mut self, _: &mut Cx<'_, C, E, N>, _buffer: &mut [u8], length: usize) -> Option<usize> {
        Some(length)
    }

    /// The length of the datagram that carries a message of `length` bytes.
    fn sealed_len(&self, length: usize) -> usize {
        length
    }

    /// Takes a datagram and gives each message in it to `message`.
    fn handle<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        datagram: &mut [u8],
        mut message: impl FnMut(&mut Cx<'_, C, E, N>, &[u8]),
    ) {
        message(cx, datagram);
    }

    /// Writes the next datagram of a handshake, or an alert; returns its length.
    fn poll_transmit<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>, _out: &mut [u8]) -> Option<usize> {
        None
    }

    /// Whether there is a new session, told once.
    fn poll_renewed(&mut self) -> bool {
        false
    }

    /// What became of the session.
    fn poll_event(&mut self) -> Option<ChannelEvent> {
        None
    }

    /// When to call [`Channel::handle_timeout`].
    fn poll_timeout(&mut self) -> Option<Instant> {
        None
    }

    /// Does what is due.
    fn handle_timeout<E, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}
}

impl<C: Crypto> Channel<C> for Infallible {
    type Access = Self;

    fn new(access: Self, _: DtlsConfig) -> Self {
        access
    }

    fn is_open(&self) -> bool {
        match *self {}
    }
}
