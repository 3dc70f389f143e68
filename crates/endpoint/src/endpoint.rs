use sixlock_base::{Cx, Duration, Entropy, Instant};
use sixlock_coap::{Answer, Exchanges, OutgoingRequest, RespondError, Token};
use sixlock_coap_msg::{Code, Message};
use sixlock_crypto::Crypto;
use sixlock_dtls::{Error, OptionalPart, SESSION_ID};

use crate::id::{AuthenticationMethod, PeerId, RequestId, SessionId, Transport};
use crate::plain::Plain;
use crate::secure::{AMPLIFICATION, Secure, Taken};
use crate::session_event::Event;
use crate::session_record::{FINGERPRINT_SECRET, MAX_SESSION_RECORD, Malformed, SessionUpdate};
use crate::tickets::TicketKeys;
use crate::{Address, Config, Storage, UnderWay};

/// A request to be answered by [`Endpoint::respond`], now or later.
#[derive(Clone, Copy, Debug)]
pub struct Request<'d, A> {
    /// What to answer to; [`Endpoint::identity`] tells whose it is.
    pub id: RequestId,
    /// Where it came from.
    pub from: A,
    /// The request itself.
    pub message: Message<'d>,
    /// How long a message its client takes.
    pub longest_answer: usize,
    /// How long a message an address that did not show yet that it is its client's may be sent
    /// ([RFC 9175 section 2.4](https://www.rfc-editor.org/rfc/rfc9175#section-2.4)); nothing if it did, and in a session: there,
    /// what is too long for such an address waits until the client has answered a ping.
    pub unverified: Option<usize>,
}

/// What a datagram held.
#[derive(Debug)]
pub struct Received<'d, A> {
    /// A request that was not received before.
    pub request: Option<Request<'d, A>>,
    /// Whose `rest` is, if it is another [shard](crate::Shard)'s.
    pub elsewhere: Option<u16>,
    /// What was not looked at yet: hand it in again, there or here, unless it is empty.
    pub rest: &'d mut [u8],
}

/// A datagram to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<A> {
    /// The transport that it takes.
    pub transport: Transport,
    /// Where to.
    pub to: A,
    /// Its length.
    pub len: usize,
}

/// A CoAP server of many peers with addresses `A`, kept in a storage `S`, of each of whose peers the last `RING` requests
/// are remembered.
pub struct Endpoint<C: Crypto, A: Address, S: Storage<C, A>, const RING: usize> {
    config: Config,
    pub(crate) secure: Secure<C, A, S, Exchanges<S::Response, RING>>,
    plain: Plain<C, A, S, RING>,
}

impl<C: Crypto, A: Address, S: Storage<C, A>, const RING: usize> Endpoint<C, A, S, RING> {
    /// An endpoint without peers.
    pub fn new<E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, config: Config) -> Self {
        Self { config, secure: Secure::new(cx, &config), plain: Plain::new(&config) }
    }

    /// Takes a datagram up to its first request, which it decrypts in place and lends.
    ///
    /// Nothing in a datagram is an error: what cannot be used is answered as its protocol says, or dropped and counted.
    pub fn handle<'d, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        transport: Transport,
        from: A,
        datagram: &'d mut [u8],
    ) -> Received<'d, A> {
        match transport {
            Transport::Dtls => {
                let Taken { incoming, elsewhere, rest } =
                    self.secure.handle(cx, &self.config, from, datagram);
                let request = incoming.map(|(session, request)| {
                    let SessionId { slot, serial } = session;
                    let id = RequestId { transport, slot, serial, exchange: request.id };
                    let longest_answer = self.secure.longest_answer(session);
                    Request { id, from, message: request.message, longest_answer, unverified: None }
                });
                Received { request, elsewhere, rest }
            }
            Transport::Udp => {
                let most = AMPLIFICATION * datagram.len();
                let request =
                    self.plain.handle(cx, &self.config, from, datagram).map(|(slot, serial, request)| {
                        let id = RequestId { transport, slot, serial, exchange: request.id };
                        let unverified = (!self.plain.is_verified(slot)).then_some(most);
                        Request { id, from, message: request.message, longest_answer: usize::MAX, unverified }
                    });
                Received { request, elsewhere: None, rest: Default::default() }
            }
        }
    }

    /// The identity that the client of a session proved; `None` over plain CoAP, or if the session is gone.
    pub fn identity(&self, id: RequestId) -> Option<&[u8]> {
        self.secure.identity(id.session()?)
    }

    /// Answers a request. A client that takes shorter records only is answered by 5.00.
    pub fn respond<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: RequestId,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        match id.session() {
            Some(session) => self.secure.respond(cx, session, id.exchange, answer),
            None => self.plain.respond(cx, id.slot, id.serial, id.exchange, answer),
        }
    }

    /// Answers a request that changes nothing by asking its client to show that it is where it says: it repeats it with what
    /// this answer says. To ask a session is to answer it with 5.00: it shows that by other means. `diagnostic` is for people.
    pub fn challenge<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: RequestId,
        diagnostic: &[u8],
    ) -> Result<(), RespondError> {
        match id.transport {
            Transport::Dtls => self.respond(cx, id, Code::INTERNAL_SERVER_ERROR.into()),
            Transport::Udp => self.plain.challenge(cx, id.slot, id.serial, id.exchange, diagnostic),
        }
    }

    /// Tells a peer that observes by `token` what it observes now. [`RespondError::NotWaiting`] if it is gone.
    pub fn notify<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        peer: PeerId,
        token: Token,
        confirmable: bool,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let PeerId { transport, slot, serial } = peer;
        match transport {
            Transport::Dtls => {
                let session = SessionId { slot, serial };
                self.secure.notify(cx, &self.config, session, token, confirmable, answer)
            }
            Transport::Udp => self.plain.notify(cx, &self.config, (slot, serial), token, confirmable, answer),
        }
    }

    /// Asks the client of a session for something, by a confirmable message with this token; [`Event::Ended`] tells what came of it.
    /// [`RespondError::NotWaiting`] if it is gone.
    pub fn request<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        session: SessionId,
        token: Token,
        request: OutgoingRequest<'_>,
    ) -> Result<(), RespondError> {
        self.secure.request(cx, &self.config, session, token, request)
    }

    /// Goes on with a handshake after [`Event::Work`], with the key of the identity, or with none if there is no such
    /// identity. A session that its client wants to resume is resumed only if the key is still the one it was made with; else what is left of it is
    /// forgotten. [`Error::NoWork`] if the session is gone.
    pub fn provide_key<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        session: SessionId,
        key: Option<&[u8]>,
    ) -> Result<(), Error> {
        self.secure.provide_key(cx, session, key)
    }

    /// Goes on with a handshake after [`Event::Work`] if nobody can say at present whether there is a key: nothing is forgotten
    /// for that. To a client that gave its identity it looks as if there were none
    /// ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)). The handshake of one that wants to resume a
    /// session ends without a word, and its next hello begins another. [`Error::NoWork`] if the session is gone.
    pub fn look_up_failed<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        session: SessionId,
    ) -> Result<(), Error> {
        self.secure.look_up_failed(cx, session)
    }

    /// Whether the client of a session has given the identity of the last [`Event::Work`], or its session is resumed. Not so if
    /// its hello named a session which is not resumed: then nobody knows yet who it is.
    pub fn has_identity(&self, session: SessionId) -> bool {
        self.secure.has_identity(session)
    }

    /// Says whose the public key is that the client of a handshake shows: before [`Endpoint::complete`] with the answer that
    /// the key is taken. What is left of the session is resumed only if `key` is the same when its client comes back:
    /// anything that is another if the client is not to be let in any more.
    pub fn identify<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        session: SessionId,
        (identity, method): (&[u8], AuthenticationMethod),
        key: &[u8],
    ) {
        self.secure.identify(cx, session, (identity, method), key);
    }

    /// Goes on with a handshake after [`Event::Task`]. [`Error::NoWork`] if the session is gone.
    pub fn complete<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        session: SessionId,
        answer: &sixlock_dtls::Answer,
    ) -> Result<(), Error> {
        self.secure.complete(cx, session, answer)
    }

    /// Gives tickets from now on to the clients that take any, sealed by the current one of these keys, and takes those that were
    /// sealed by either; nothing is kept of their sessions. Does nothing in a [`Storage`] without tickets.
    ///
    /// Now it is so many seconds after 1970. To be called again at least every 24 days, and with another key, the one before being
    /// the previous one, as often as [`Config::resumable_for`] has passed: so each ticket is taken for its whole time. A ticket is
    /// good at any endpoint that has the key and the secret of [`Endpoint::keep`].
    pub fn give_tickets<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, keys: &TicketKeys, unix_seconds: u32) {
        if let Some(tickets) = self.secure.tickets.get_mut() {
            tickets.set_keys(cx, keys, unix_seconds);
        }
    }

    /// Has [`Endpoint::poll_session_update`] tell from now on what is left of sessions. What is [restored](Endpoint::restore) can be
    /// resumed only if `secret` is the one that it was kept with: by it, keys are told apart.
    pub fn keep(&mut self, secret: &[u8; FINGERPRINT_SECRET]) {
        self.secure.session_cache.tell(secret);
    }

    /// What is to be kept now of the sessions that can be resumed, so that their clients can resume them also with the endpoint
    /// that comes after this one; nothing unless [`Endpoint::keep`] was called. It stands in `out`, and is as secret as the
    /// keys of its session. Of those that make room, or whose time is up, nothing is told.
    pub fn poll_session_update<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8; MAX_SESSION_RECORD],
    ) -> Option<SessionUpdate> {
        self.secure.session_cache.poll_session_update(cx.now, out)
    }

    /// Takes back what [`Endpoint::poll_session_update`] wrote, by which a session can be resumed for what is `left` of its time. It has
    /// to be the newest that was kept of it. The one put in or used longest ago makes room.
    pub fn restore<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        kept: &[u8],
        left: Duration,
    ) -> Result<(), Malformed> {
        self.secure.session_cache.restore(cx.now, kept, left)
    }

    /// Forgets what is left of the session with this id; whether there was anything.
    pub fn forget(&mut self, id: &[u8; SESSION_ID]) -> bool {
        self.secure.session_cache.remove(id)
    }

    /// Writes to `out` what is left of the session with this id, for another [shard](crate::Shard) whose client wants to resume
    /// it, and tells how many bytes that is, and for how long it can be resumed. It is kept here all the same.
    pub fn lend<E, N>(
        &self,
        cx: &mut Cx<'_, C, E, N>,
        id: &[u8; SESSION_ID],
        out: &mut [u8; MAX_SESSION_RECORD],
    ) -> Option<(usize, Duration)> {
        self.secure.session_cache.lend(cx.now, id, out)
    }

    /// Goes on with a handshake after [`Event::Elsewhere`] with what the other shard lends, or with nothing: then it is a full
    /// one. It is kept here as well from now on. [`Error::NoWork`] if the session is gone.
    pub fn borrow<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        session: SessionId,
        lent: Option<(&[u8], Duration)>,
    ) -> Result<(), Error> {
        self.secure.borrow(cx, session, lent)
    }

    /// Closes a session and says so to its client.
    pub fn close<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, session: SessionId) {
        self.secure.close(cx, session);
    }

    /// Fills `out` with the next datagram to send. `out` is to hold the longest response and what DTLS adds to it.
    pub fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<Transmit<A>> {
        if let Some((to, len)) = self.secure.poll_transmit(cx, &self.config, out) {
            return Some(Transmit { transport: Transport::Dtls, to, len });
        }
        let (to, len) = self.plain.poll_transmit(cx, &self.config, out)?;
        Some(Transmit { transport: Transport::Udp, to, len })
    }

    /// What it has under way. It looks at all peers.
    pub fn under_way(&self) -> UnderWay {
        let UnderWay { handshakes, buffers, exchanges } = self.secure.under_way();
        UnderWay { handshakes, buffers, exchanges: exchanges + self.plain.exchanges_under_way() }
    }

    /// The next event. Sessions that are over go only when their end was told.
    pub fn poll_event(&mut self) -> Option<Event<'_, A>> {
        if let Some((peer, ended)) = self.plain.poll_ended() {
            return Some(Event::Ended { peer, ended });
        }
        self.secure.poll_event(&self.config)
    }

    /// When to call [`Endpoint::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.secure.poll_timeout(), self.plain.poll_timeout())
    }

    /// Does what is due by now.
    pub fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.secure.handle_timeout(cx);
        self.plain.handle_timeout(cx);
    }
}
