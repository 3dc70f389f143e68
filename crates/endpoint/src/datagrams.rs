use sixlock_base::{Cx, Entropy, Instant};
use sixlock_crypto::Crypto;
use sixlock_dtls::Error;

use crate::id::SessionId;
use crate::secure::{Secure, Taken};
use crate::session_event::Event;
use crate::traffic::Opaque;
use crate::{Address, Config, Storage};

/// What a datagram held.
#[derive(Debug)]
pub struct Opened<'d> {
    /// What a peer says.
    pub data: Option<&'d mut [u8]>,
    /// What was not looked at yet: hand it in again, unless it is empty.
    pub rest: &'d mut [u8],
}

/// A DTLS server of many peers whose sessions carry datagrams of any kind, for who passes them on. Clients prove themselves by
/// pre-shared keys: of the configuration, neither credentials nor shards nor connection ids nor what is about CoAP matter to it. A session
/// keeps to the address that it began at, as nothing in such datagrams shows that a client receives at another. Peers with addresses `A` are kept in a storage `S`.
pub struct Datagrams<C: Crypto, A: Address, S: Storage<C, A>> {
    config: Config,
    secure: Secure<C, A, S, Opaque>,
}

impl<C: Crypto, A: Address, S: Storage<C, A>> Datagrams<C, A, S> {
    /// One without peers.
    pub fn new<E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, config: Config) -> Self {
        let config = Config { credentials: None, shard: None, connection_ids: false, ..config };
        Self { config, secure: Secure::new(cx, &config) }
    }

    /// Takes a datagram up to the first data in it, which it decrypts in place and lends.
    ///
    /// Nothing in a datagram is an error: what cannot be used is answered as DTLS says, or dropped and counted.
    pub fn handle<'d, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: A,
        datagram: &'d mut [u8],
    ) -> Opened<'d> {
        let Taken { incoming, rest, .. } = self.secure.handle(cx, &self.config, from, datagram);
        Opened { data: incoming.map(|(_, data)| data), rest }
    }

    /// Protects data for the peer at `to` in place: `length` bytes that stand at
    /// `buffer[`[`RECORD_FRONT`](sixlock_dtls::RECORD_FRONT)`..]`, with room behind them. Returns the length of the datagram in
    /// `buffer`. [`Error::NotConnected`] if that peer has no session.
    pub fn seal<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        to: A,
        buffer: &mut [u8],
        length: usize,
    ) -> Result<usize, Error> {
        self.secure.seal(cx, to, buffer, length)
    }

    /// Goes on with a handshake after [`Event::Work`], as [`Endpoint::provide_key`](crate::Endpoint::provide_key) does.
    pub fn provide_key<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        session: SessionId,
        key: Option<&[u8]>,
    ) -> Result<(), Error> {
        self.secure.provide_key(cx, session, key)
    }

    /// Fills `out` with the next datagram of a handshake to send; whom it is for, and its length.
    pub fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<(A, usize)> {
        self.secure.poll_transmit(cx, &self.config, out)
    }

    /// The next event. Sessions that are over go only when their end was told.
    pub fn poll_event(&mut self) -> Option<Event<'_, A>> {
        self.secure.poll_event(&self.config)
    }

    /// When to call [`Datagrams::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.secure.poll_timeout()
    }

    /// Does what is due by now.
    pub fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.secure.handle_timeout(cx);
    }
}
