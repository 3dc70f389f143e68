//! The ways to the cloud, of which a node's type says which are linked.

mod any;
mod dtls;
mod key_pair;
mod plain;
mod pre_shared;

use sixlock_base::{Cx, Entropy, Instant};
use sixlock_crypto::Crypto;
use sixlock_dtls::{KeyLogEntry, Refusal};

pub use any::AnyChannel;
pub use dtls::{Authenticator, DeviceSession, Dtls};
pub use key_pair::{DtlsPublicKey, KeyPair};
pub use plain::Plain;
pub(crate) use pre_shared::AskedPreShared;
pub use pre_shared::{DtlsPsk, PreShared};

use crate::config::{Resource, TooLong};

/// What became of the way to the cloud.
#[derive(Clone, Copy)]
pub enum ChannelEvent {
    /// It is open, newly.
    Opened,
    /// It was open and no longer is.
    Lost,
}

/// A way to the cloud.
pub trait Channel<C: Crypto>: Sized {
    /// How the node proves whose readings they are.
    type Access<'a>;

    /// The way before it was told whose readings go it. It is all zero bytes.
    const NEW: Self;

    /// Takes in whose readings go this way; to be called first, and once.
    fn start(&mut self, access: &Self::Access<'_>) -> Result<(), TooLong>;

    /// Whether it is through a DTLS session, as it was told at its start.
    fn is_secured(&self) -> bool {
        false
    }

    /// What each request says in the clear about whose it is.
    fn resource(&self) -> Option<Resource<'_>> {
        None
    }

    /// What opens the session's records, for a key log, when it was told that it is [`Opened`](ChannelEvent::Opened).
    fn key_log(&self) -> Option<KeyLogEntry<'_>> {
        None
    }

    /// Why DTLS has refused something: the first since this was asked last. Small processors keep no reasons.
    fn poll_refusal(&mut self) -> Option<Refusal> {
        None
    }

    /// Whether messages can be sent.
    fn is_open(&self) -> bool;

    /// Whether it holds what only handshakes need.
    fn has_handshake(&self) -> bool {
        false
    }

    /// Begins a handshake if there is no session and the pause after a failure is over.
    fn open<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}

    /// Gives the session up, which the cloud may have forgotten, and begins a new one; whether it does. After one that was begun so it rests
    /// for a while, which gets longer each time: where answers get lost on the way, handshakes do, too.
    fn reopen<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) -> bool {
        false
    }

    /// Gives the session up for another one, as its keys are old enough.
    fn renew<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}

    /// A request was answered: `at_once` if it was sent once alone.
    fn answered(&mut self, _at_once: bool) {}

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
    fn handle<E: Entropy, N>(
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

    /// Whether a flight of its handshakes may take several datagrams.
    fn has_flights(&self) -> bool {
        false
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
    fn handle_timeout<E: Entropy, N>(&mut self, _: &mut Cx<'_, C, E, N>) {}
}
