//! The node's own CoAP server behind DTLS: its latest reading, and those that other devices post.

use core::mem::take;
use core::net::Ipv6Addr;

use heapless::Vec;
use sixlock_base::{Counter, Cx, Duration, Entropy, Eui64, Instant, Packet, Slot};
use sixlock_coap::{Responder, Response};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, Message};
use sixlock_crypto::Crypto;
use sixlock_dtls::{
    Config, CookieSecrets, Event, Handshake, Listen, Plain, RECORD_FRONT, ServerSession, Work,
    is_client_hello, listen,
};
use sixlock_interface::Datagram;
use sixlock_senml::DeviceName;

use crate::application::Application;
use crate::channel::PreSharedKey;
use crate::config::{COAPS_PORT, Cloud, Identity, MAX_NAME, TooLong};
use crate::sensor::{Event as NodeEvent, Measurement, next_after};
use crate::service::{KNOWN, answer};

/// How long a session is to be unused before another may take its place.
const IDLE: Duration = Duration::from_secs(60);
/// After how long the secret that cookies are made with is replaced.
const COOKIE_ROTATION: Duration = Duration::from_secs(600);
/// The longest reading that is taken in, in bytes.
const LONGEST_READING: usize = 192;

/// What there is, in the link format ([RFC 6690](https://www.rfc-editor.org/rfc/rfc6690)).
const LINKS: &[u8] = b"</sensors>;ct=110,</resources/data>;ct=110";

/// Who talks to the server, and from which port.
pub(crate) type Peer = (Ipv6Addr, u16);

/// A server of coaps with one pre-shared key, for at most `SESSIONS` sessions at a time, handshakes under way included.
///
/// A client that begins anew gets the place that it has. When there is no other place, another's session that was unused
/// for a minute is dropped without a word, and its client finds out when it is not answered; if there is none, the hello
/// is dropped and counted. Of a datagram with several requests the first is answered.
///
/// `POST /resources/data` takes in a reading in SenML, of at most 192 bytes; `GET /resources/data` tells the one that came
/// last. `GET /sensors` tells the node's own latest reading, of at most `READINGS` quantities; if that is none, the node
/// makes no readings, and what tells of them is not linked.
pub struct Server<C: Crypto, const SESSIONS: usize, const READINGS: usize> {
    identity: Vec<u8, MAX_NAME>,
    key: PreSharedKey,
    /// None before the first hello.
    secrets: Slot<CookieSecrets>,
    secrets_since: Instant,
    clients: [Client<C>; SESSIONS],
    responder: Responder,
    latest: Vec<Measurement, READINGS>,
    received: Vec<u8, LONGEST_READING>,
    /// Who posted it, until that was told.
    author: Slot<Eui64>,
    /// A session is there that was not told of.
    connected: bool,
    period: Duration,
    /// None before it was told its part: then it takes nothing.
    next_sample: Option<Instant>,
}

/// The place of a client.
struct Client<C: Crypto> {
    peer: Peer,
    /// When it was last heard.
    used: Instant,
    /// The message id of the reading that it posted last: one that comes again is not a new one.
    posted: Option<u16>,
    session: ServerSession<C, Handshake<C>, Plain>,
}

impl<C: Crypto> Client<C> {
    const NONE: Self = Self {
        peer: (Ipv6Addr::UNSPECIFIED, 0),
        used: Instant::from_millis(0),
        posted: None,
        session: ServerSession::new(Handshake::new()),
    };

    /// Gives the session the key, if it is for that that its client asks; whether it has connected.
    fn settle<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, identity: &[u8], key: &[u8]) -> bool {
        let mut connected = false;
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Work(Work::Psk { identity: given }) => {
                    let known = given == identity;
                    // It has just asked.
                    let _ = self.session.resume(cx, known.then_some(key));
                }
                Event::Connected => connected = true,
                _ => {}
            }
        }
        connected
    }
}

impl<C: Crypto, const SESSIONS: usize, const READINGS: usize> Server<C, SESSIONS, READINGS> {
    /// Takes in a datagram of `peer`, and writes what answers it at once; returns the length of that.
    fn answer<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        peer: Peer,
        datagram: &mut [u8],
        out: &mut [u8],
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
            return None;
        };
        client.used = cx.now;
        let mut answer_len = None;
        let mut rest = datagram;
        while !rest.is_empty() {
            let record = client.session.handle(cx, rest);
            if let Some(request) = record.data.filter(|_| answer_len.is_none()) {
                let end = out.len().checked_sub(client.session.overhead() - RECORD_FRONT)?;
                let Self { responder, latest, received, author, .. } = self;
                let posted = &mut client.posted;
                let name = &DeviceName::new(address);
                let mut resources = Resources::<READINGS> { name, latest, received, posted };
                let room = out.get_mut(RECORD_FRONT..end)?;
                answer_len = responder.handle(cx, KNOWN, request, room, |request, response| {
                    let (answer, is_new) = resources.answer(request, response);
                    if is_new {
                        *author = Slot::Full(Eui64::of_address(peer.0));
                    }
                    answer
                });
            }
            rest = record.rest;
            self.connected |= client.settle(cx, &self.identity, &self.key.0);
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
            Listen::Drop => return Err(None),
        };
        let place = match self.place(peer) {
            Some(place)
                if self.clients.get(place).is_some_and(|client| client.session.began_with(&hello)) =>
            {
                return Ok(place);
            }
            place => place.or_else(|| self.room(cx.now)),
        };
        let Some(client) = place.and_then(|place| self.clients.get_mut(place)) else {
            cx.counters.count(Counter::DtlsSessionsFull);
            return Err(None);
        };
        (client.peer, client.used, client.posted) = (peer, cx.now, None);
        client.session.accept(cx, &hello, &Config::MESH);
        self.connected |= client.settle(cx, &self.identity, &self.key.0);
        Err(None)
    }

    /// Where the client at `peer` has its place.
    fn place(&self, peer: Peer) -> Option<usize> {
        self.clients.iter().position(|client| !client.session.is_over() && client.peer == peer)
    }

    /// A place for another client.
    fn room(&self, now: Instant) -> Option<usize> {
        self.clients.iter().position(|client| client.session.is_over()).or_else(|| {
            let idle = |client: &Client<C>| now.since(client.used);
            let oldest = self.clients.iter().enumerate().max_by_key(|(_, client)| idle(client));
            oldest.filter(|(_, client)| idle(client) > IDLE).map(|(place, _)| place)
        })
    }
}

impl<C: Crypto, const SESSIONS: usize, const READINGS: usize> Application<C>
    for Server<C, SESSIONS, READINGS>
{
    type Access<'a> = Identity<'a>;

    const NEW: Self = Self {
        identity: Vec::new(),
        key: PreSharedKey(Vec::new()),
        secrets: Slot::Empty,
        secrets_since: Instant::from_millis(0),
        clients: [const { Client::NONE }; SESSIONS],
        responder: Responder::new(),
        latest: Vec::new(),
        received: Vec::new(),
        author: Slot::Empty,
        connected: false,
        period: Duration::from_millis(0),
        next_sample: None,
    };

    fn start(&mut self, now: Instant, cloud: &Cloud<Identity<'_>>) -> Result<(), TooLong> {
        let Identity { name, key } = cloud.access;
        self.identity.extend_from_slice(name).map_err(|_| TooLong)?;
        self.key.0.extend_from_slice(key).map_err(|_| TooLong)?;
        (self.period, self.next_sample) = (cloud.period, Some(now + cloud.first));
        Ok(())
    }

    fn report<E: Entropy, N>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        _: &DeviceName,
        measurements: &[Measurement],
    ) {
        self.latest = measurements.iter().copied().take(READINGS).collect();
    }

    fn port(&self) -> u16 {
        COAPS_PORT
    }

    fn takes(&self, datagram: &Datagram<'_>) -> bool {
        // One hello to all nodes would call forth an answer of every one.
        datagram.destination_port == COAPS_PORT
            && !datagram.destination.is_multicast()
            && self.next_sample.is_some()
    }

    fn handle<E: Entropy, N, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        datagram: Datagram<'_>,
        answer: &mut Packet<M>,
    ) -> bool {
        let peer = (datagram.source, datagram.source_port);
        let length = self.answer(cx, address, peer, datagram.payload, answer.tail_mut());
        length.is_some_and(|length| answer.push_back(length).is_ok())
    }

    fn poll_transmit<E: Entropy, N, const M: usize>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<M>,
    ) -> Option<Peer> {
        let out = packet.tail_mut();
        let transmit = |client: &mut Client<C>| Some((client.peer, client.session.poll_transmit(cx, out)?));
        let (peer, length) = self.clients.iter_mut().find_map(transmit)?;
        packet.push_back(length).ok()?;
        Some(peer)
    }

    fn poll_event(&mut self, now: Instant) -> Option<NodeEvent> {
        if take(&mut self.connected) {
            return Some(NodeEvent::Connected);
        }
        if let Some(author) = self.author.take() {
            return Some(NodeEvent::ReadingReceived(author));
        }
        let due = self.next_sample.filter(|&due| READINGS > 0 && now.has_reached(due))?;
        self.next_sample = Some(next_after(due, self.period, now));
        Some(NodeEvent::Sample)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        let timeouts = self.clients.iter().map(|client| client.session.poll_timeout());
        timeouts.fold(self.next_sample.filter(|_| READINGS > 0), Instant::earliest)
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        for client in &mut self.clients {
            client.session.handle_timeout(cx);
            self.connected |= client.settle(cx, &self.identity, &self.key.0);
        }
    }
}

/// What requests of one client are answered from.
struct Resources<'a, const READINGS: usize> {
    name: &'a DeviceName,
    latest: &'a [Measurement],
    received: &'a mut Vec<u8, LONGEST_READING>,
    posted: &'a mut Option<u16>,
}

impl<const READINGS: usize> Resources<'_, READINGS> {
    /// Answers a request; whether it brought a new reading.
    fn answer(&mut self, request: &Message<'_>, response: Response<'_>) -> (Result<usize, BuildError>, bool) {
        if !request.path_is(&["resources", "data"]) {
            if READINGS == 0 {
                return (response.with_code(Code::NOT_FOUND).map(Builder::finish), false);
            }
            return (answer(request, response, self.name, self.latest, LINKS), false);
        }
        let is_reading = request.content_format() == Some(ContentFormat::SENML_JSON);
        let code = match request.code() {
            Code::GET if self.received.is_empty() => Code::SERVICE_UNAVAILABLE,
            Code::GET => {
                let content = response.with_code(Code::CONTENT).and_then(|mut content| {
                    content.content_format(ContentFormat::SENML_JSON)?;
                    content.finish_with(self.received)
                });
                return (content, false);
            }
            Code::POST if !is_reading => Code::UNSUPPORTED_CONTENT_FORMAT,
            Code::POST if *self.posted == Some(request.id()) => Code::CHANGED,
            Code::POST if request.payload().len() > LONGEST_READING => Code::REQUEST_ENTITY_TOO_LARGE,
            Code::POST => {
                self.received.clear();
                // There is room for it.
                let _ = self.received.extend_from_slice(request.payload());
                *self.posted = Some(request.id());
                return (response.with_code(Code::CHANGED).map(Builder::finish), true);
            }
            _ => Code::METHOD_NOT_ALLOWED,
        };
        (response.with_code(code).map(Builder::finish), false)
    }
}

fn to_bytes((address, port): Peer) -> [u8; 18] {
    let mut bytes = [0; 18];
    bytes[..16].copy_from_slice(&address.octets());
    bytes[16..].copy_from_slice(&port.to_be_bytes());
    bytes
}
