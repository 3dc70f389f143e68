//! The DTLS sessions of a node that is a server: who talks to it, and how a client gets a place.

use core::mem::take;
use core::net::Ipv6Addr;

use sixlock_base::{Array, Counter, Cx, Duration, Entropy, Instant, Packet, Slot};
use sixlock_coap::{Observers, Responder, Response};
use sixlock_coap_msg::BuildError;
use sixlock_crypto::Crypto;
use sixlock_dtls::{
    Completion, Config, CookieSecrets, Event, Features, Handshake, KeptRefusal, KeyFeature, Listen, Plain,
    RECORD_FRONT, Refusal, ServerSession, Work, is_client_hello, listen,
};

use crate::channel::Authenticator;
use crate::config::TooLong;

/// How long a session is to be unused, or a handshake to last, before another client may take its place.
const IDLE: Duration = Duration::from_secs(60);
/// How long a handshake with a pre-shared key has its place for itself: the first wait of
/// [`Config::MESH`], in which it is complete unless a datagram is lost.
const PROTECTED: Duration = Duration::from_secs(3);
/// The same of a handshake with public keys, for which a device may compute that long.
const PROTECTED_PUBLIC_KEYS: Duration = Duration::from_secs(30);
/// After how long the secret that cookies are made with is replaced.
const COOKIE_ROTATION: Duration = Duration::from_secs(600);

/// Who talks to the server, and from which port.
pub(crate) type Peer = (Ipv6Addr, u16);

/// At most `SESSIONS` sessions at a time with clients that `P` knows, handshakes under way included.
///
/// A client that begins anew gets the place that it has, once it has returned a cookie
/// ([RFC 6347 section 4.2.8](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.8)). The session of before ends then: there is no
/// room for both, so whoever reads the cookie on its way can end the session in its client's name. When there is no other place, another's session that was unused
/// for a minute is dropped without a word, and its client finds out when it is not answered; if there is none, the hello
/// is dropped and counted. Only what authenticates counts as use: the complete handshake, and data.
///
/// Anyone can begin a handshake. One that is not complete after three seconds (with public keys, 30) is dropped for one of four hellos
/// that find no other place. A client that begins anew before its handshake is complete gains no time: that of its first hello
/// counts. As this is random, nobody knows when to send a hello to keep a place taken; to shut others out takes a
/// flood of hellos.
///
/// In each, at most `OBSERVERS` observations of the server's readings last as long as the session, which nobody else gets the place of meanwhile.
pub(crate) struct Sessions<C: Crypto, P: Authenticator<C>, const SESSIONS: usize, const OBSERVERS: usize> {
    own: P,
    /// None before the first hello.
    secrets: Slot<CookieSecrets>,
    secrets_since: Instant,
    clients: [Client<C, P::Keys, OBSERVERS>; SESSIONS],
    /// A session is there that was not told of.
    connected: bool,
    refusal: KeptRefusal,
}

/// What is remembered of what was said in a session.
pub(crate) struct Memory<const OBSERVERS: usize> {
    /// The message id of the reading that the client posted last: one that comes again is not a new one.
    pub(crate) posted: Option<u16>,
    /// What it observes.
    pub(crate) observers: Observers<(), OBSERVERS>,
}

impl<const OBSERVERS: usize> Memory<OBSERVERS> {
    const NEW: Self = Self { posted: None, observers: Observers::new() };
}

/// The place of a client.
struct Client<C: Crypto, K: KeyFeature, const OBSERVERS: usize> {
    peer: Peer,
    /// When its handshake began or, once that is complete, when something of it last authenticated.
    used: Instant,
    memory: Memory<OBSERVERS>,
    refusal: KeptRefusal,
    session: ServerSession<C, Handshake<C, Features<K>>, Plain<Features<K>>>,
}

impl<C: Crypto, K: KeyFeature, const OBSERVERS: usize> Client<C, K, OBSERVERS> {
    const NONE: Self = Self {
        peer: (Ipv6Addr::UNSPECIFIED, 0),
        used: Instant::from_millis(0),
        memory: Memory::NEW,
        refusal: KeptRefusal::NONE,
        session: ServerSession::new(Handshake::new()),
    };

    /// Does what the session waits for, and notes what it refuses; whether it has connected.
    fn settle<E: Entropy, N, P: Authenticator<C, Keys = K>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        own: &P,
    ) -> bool {
        let mut connected = false;
        if let Some(refusal) = self.session.poll_refusal() {
            self.refusal.note((), refusal);
        }
        while let Some(event) = self.session.poll_event() {
            match event {
                // Each asks for what it has a suite for; it has just asked.
                Event::Work(Work::Psk { identity }) if !K::SUITE.has_public_keys() => {
                    let key = own.key(identity);
                    let _ = self.session.complete(cx, Completion::psk(key));
                }
                Event::Work(Work::Task(task)) if K::SUITE.has_public_keys() => {
                    if let Some(answer) = own.perform(cx, task) {
                        let _ = self.session.complete(cx, Completion::Task(&answer));
                    }
                }
                Event::Connected => {
                    self.used = cx.now;
                    connected = true;
                }
                Event::Closed => self.memory.observers.clear(),
                Event::Failed(failure) => {
                    if let Some(refusal) = failure.refusal() {
                        self.refusal.note((), refusal);
                    }
                    self.memory.observers.clear();
                }
                _ => {}
            }
        }
        connected
    }
}

impl<C: Crypto, P: Authenticator<C>, const SESSIONS: usize, const OBSERVERS: usize>
    Sessions<C, P, SESSIONS, OBSERVERS>
{
    /// Those of a server that was not told its keys yet. It is all zero bytes.
    pub(crate) const NEW: Self = Self {
        own: P::NEW,
        secrets: Slot::Empty,
        secrets_since: Instant::from_millis(0),
        clients: [const { Client::NONE }; SESSIONS],
        connected: false,
        refusal: KeptRefusal::NONE,
    };

    /// Takes in who may connect, and its own keys.
    pub(crate) fn start(&mut self, own: &P::Access<'_>) -> Result<(), TooLong> {
        self.own.start(own)?;
        if let Some(credentials) = self.own.credentials() {
            for client in &mut self.clients {
                client.session.set_credentials(credentials);
            }
        }
        Ok(())
    }

    /// How many sessions hold what only handshakes need.
    pub(crate) fn handshakes(&self) -> usize {
        self.clients.iter().filter(|client| client.session.has_handshake()).count()
    }

    /// Takes in a datagram of `peer`, and writes what answers it at once; returns the length of that. Of its messages, the
    /// first that `answer` writes something for is answered: that is lent what is remembered of the session.
    pub(crate) fn handle<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        peer: Peer,
        datagram: &mut [u8],
        out: &mut [u8],
        mut answer: impl FnMut(&mut Cx<'_, C, E, N>, &mut Memory<OBSERVERS>, &[u8], &mut [u8]) -> Option<usize>,
    ) -> Option<usize> {
        let place = match is_client_hello(datagram) {
            true => match self.listen(cx, peer, datagram, out) {
                Ok(place) => Some(place),
                Err(answer) => return answer,
            },
            false => self.place(peer),
        };
        let Some(client) = place.and_then(|place| self.clients.get_mut(place)) else {
            cx.counters.count(Counter::DtlsNoSession);
            self.refusal.note((), Refusal::NoSession);
            return None;
        };
        let mut answer_len = None;
        let mut rest = datagram;
        while !rest.is_empty() {
            let record = client.session.handle(cx, rest);
            if record.data.is_some() {
                client.used = cx.now;
            }
            if let Some(message) = record.data.filter(|_| answer_len.is_none()) {
                let end = out.len().checked_sub(client.session.overhead() - RECORD_FRONT)?;
                answer_len = answer(cx, &mut client.memory, message, out.get_mut(RECORD_FRONT..end)?);
            }
            rest = record.rest;
            self.connected |= client.settle(cx, &self.own);
        }
        client.session.seal(cx, out, answer_len?).ok()
    }

    /// Answers a hello without remembering it, or gives its client a place; whose session it is a repetition for.
    #[inline(never)]
    fn listen<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        peer: Peer,
        datagram: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Option<usize>> {
        if !self.secrets.is_full() {
            (self.secrets, self.secrets_since) = (Slot::Full(CookieSecrets::new(cx.entropy)), cx.now);
        }
        let Some(secrets) = self.secrets.get_mut() else { return Err(None) };
        if cx.now.since(self.secrets_since) >= COOKIE_ROTATION {
            secrets.rotate(cx.entropy);
            self.secrets_since = cx.now;
        }
        let hello = match listen(cx, secrets, &to_bytes(peer), datagram, out) {
            Listen::Accept(hello) => hello,
            Listen::Reply(len) => return Err(Some(len)),
            Listen::Refuse(len, refusal) => {
                self.refusal.note((), refusal);
                return Err(Some(len));
            }
            Listen::Drop(refusal) => {
                self.refusal.note((), refusal);
                return Err(None);
            }
        };
        let (mut place, mut used) = (self.place(peer), cx.now);
        match place.and_then(|place| self.clients.get(place)) {
            Some(client) if client.session.began_with(&hello) => return place.ok_or(None),
            // Otherwise a stranger keeps its place for ever by hellos alone.
            Some(client) if !client.session.is_connected() => used = client.used,
            Some(_) => {}
            None => place = self.room(cx),
        }
        let Some(client) = place.and_then(|place| self.clients.get_mut(place)) else {
            cx.counters.count(Counter::DtlsSessionsFull);
            self.refusal.note((), Refusal::SessionsFull);
            return Err(None);
        };
        (client.peer, client.used, client.memory) = (peer, used, Memory::NEW);
        client.session.accept(cx, &hello, &Config::MESH);
        self.connected |= client.settle(cx, &self.own);
        Err(None)
    }

    /// Where the client at `peer` has its place.
    fn place(&self, peer: Peer) -> Option<usize> {
        self.clients.iter().position(|client| !client.session.is_over() && client.peer == peer)
    }

    /// A place for another client.
    fn room<E: Entropy, N>(&self, cx: &mut Cx<'_, C, E, N>) -> Option<usize> {
        let protected = if P::Keys::SUITE.has_public_keys() { PROTECTED_PUBLIC_KEYS } else { PROTECTED };
        let mut random = [0];
        cx.entropy.fill(&mut random);
        let is_chosen = random[0] % 4 == 0;
        let (mut found, mut longest) = (None, IDLE.millis());
        for (place, client) in self.clients.iter().enumerate() {
            if client.session.is_over() {
                return Some(place);
            }
            // Of who observes, nothing need come: it is told, and who does not acknowledge that observes no more.
            if OBSERVERS > 0 && !client.memory.observers.is_empty() {
                continue;
            }
            let mut unused = cx.now.since(client.used).millis();
            if is_chosen && unused > protected.millis() && !client.session.is_connected() {
                // Before any session, the oldest handshake first.
                unused |= 1 << 31;
            }
            if unused > longest {
                (found, longest) = (Some(place), unused);
            }
        }
        found
    }

    /// Writes the next datagram of a handshake, or an alert, behind what the packet holds; returns whom it is for.
    pub(crate) fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<Peer> {
        let out = packet.tail_mut();
        let transmit = |client: &mut Client<C, P::Keys, OBSERVERS>| {
            Some((client.peer, client.session.poll_transmit(cx, out)?))
        };
        let (peer, length) = self.clients.iter_mut().find_map(transmit)?;
        packet.push_back(length).ok()?;
        Some(peer)
    }

    /// The readings have changed.
    pub(crate) fn changed(&mut self) {
        self.clients.iter_mut().for_each(|client| client.memory.observers.changed());
    }

    /// Writes what the next observer is told, as `notify` has it, behind what the packet holds; returns whom it is for.
    pub(crate) fn poll_notification<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        responder: &mut Responder,
        packet: &mut Packet<B>,
        mut notify: impl FnMut(Response<'_>, u32) -> Result<usize, BuildError>,
    ) -> Option<Peer> {
        for Client { session, memory, peer, .. } in &mut self.clients {
            if !session.is_connected() {
                continue;
            }
            let out = packet.tail_mut();
            let end = out.len().checked_sub(session.overhead() - RECORD_FRONT)?;
            let room = out.get_mut(RECORD_FRONT..end)?;
            let Some(((), length)) = memory.observers.poll_transmit(cx, responder, room, &mut notify) else {
                continue;
            };
            let length = session.seal(cx, out, length).ok()?;
            packet.push_back(length).ok()?;
            return Some(*peer);
        }
        None
    }

    /// Whether there is a new session, told once.
    pub(crate) fn poll_connected(&mut self) -> bool {
        take(&mut self.connected)
    }

    /// Why something was refused: the first since this was asked last.
    pub(crate) fn poll_refusal(&mut self) -> Option<Refusal> {
        let of_clients = || self.clients.iter_mut().find_map(|client| client.refusal.take());
        self.refusal.take().or_else(of_clients).map(|(_, refusal)| refusal)
    }

    /// When to call [`Sessions::handle_timeout`].
    pub(crate) fn poll_timeout(&mut self) -> Option<Instant> {
        let timeouts = self.clients.iter().map(|Client { session, memory, .. }| {
            let due = session.poll_timeout();
            if OBSERVERS > 0 { Instant::earliest(due, memory.observers.poll_timeout()) } else { due }
        });
        timeouts.fold(None, Instant::earliest)
    }

    /// Does what is due.
    pub(crate) fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        for client in &mut self.clients {
            client.session.handle_timeout(cx);
            if OBSERVERS > 0 {
                client.memory.observers.handle_timeout(cx);
            }
            self.connected |= client.settle(cx, &self.own);
        }
    }
}

fn to_bytes((address, port): Peer) -> [u8; 18] {
    let mut bytes = [0; 18];
    bytes[..16].copy_from_slice(&address.octets());
    bytes[16..].copy_from_slice(&port.to_be_bytes());
    bytes
}
