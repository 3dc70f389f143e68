//! The node's own CoAP server behind DTLS: its latest reading, and those that other devices post.

use heapless::Vec;
use sixlock_base::{Array, Cx, Duration, Entropy, Eui64, Instant, Packet, Slot};
use sixlock_coap::{Responder, Response};
use sixlock_coap_msg::{BuildError, Builder, Code, ContentFormat, Message};
use sixlock_crypto::Crypto;
use sixlock_dtls::{KeyFeature, Refusal};
use sixlock_interface::Datagram;
use sixlock_senml::DeviceName;

use crate::application::{Application, UnderWay};
use crate::channel::Authenticator;
use crate::config::{COAPS_PORT, Cloud, TooLong};
use crate::event::Event as NodeEvent;
use crate::measurement::Measurement;
use crate::schedule::next_after;
use crate::service::{KNOWN, Observed, answer, tell};
use crate::sessions::{Memory, Peer, Sessions};

/// The longest reading that is taken in, in bytes.
const LONGEST_READING: usize = 192;

/// What there is, in the link format ([RFC 6690](https://www.rfc-editor.org/rfc/rfc6690)).
const LINKS: &[u8] = b"</sensors>;ct=110,</resources/data>;ct=110";
/// What there is, where the node's own readings can be observed.
const OBSERVABLE_LINKS: &[u8] = b"</sensors>;ct=110;obs,</resources/data>;ct=110";

/// A server of coaps for at most `SESSIONS` sessions at a time, handshakes under way included; `P` says by what it and its
/// clients know each other.
///
/// A client that begins anew gets the place that it has. When there is no other place, another's session that was unused
/// for a minute is dropped without a word, and its client finds out when it is not answered; if there is none, the hello
/// is dropped and counted. Of a datagram with several requests the first is answered.
///
/// `POST /resources/data` takes in a reading in SenML, of at most 192 bytes; `GET /resources/data` tells the one that came
/// last. `GET /sensors` tells the node's own latest reading, of at most `READINGS` quantities; if that is none, the node
/// makes no readings, and what tells of them is not linked. In each session, it is observed at most `OBSERVERS` times: what is
/// observed is told in that session, and no longer than that lasts.
pub struct Server<
    C: Crypto,
    P: Authenticator<C>,
    const SESSIONS: usize,
    const READINGS: usize,
    const OBSERVERS: usize = 0,
> {
    sessions: Sessions<C, P, SESSIONS, OBSERVERS>,
    responder: Responder,
    latest: Vec<Measurement, READINGS>,
    received: Vec<u8, LONGEST_READING>,
    /// Who posted it, until that was told.
    author: Slot<Eui64>,
    period: Duration,
    /// None before it was told its part: then it takes nothing.
    next_sample: Option<Instant>,
}

impl<C: Crypto, P: Authenticator<C>, const SESSIONS: usize, const READINGS: usize, const OBSERVERS: usize>
    Application<C> for Server<C, P, SESSIONS, READINGS, OBSERVERS>
{
    type Access<'a> = P::Access<'a>;

    const NEW: Self = Self {
        sessions: Sessions::NEW,
        responder: Responder::new(),
        latest: Vec::new(),
        received: Vec::new(),
        author: Slot::Empty,
        period: Duration::from_millis(0),
        next_sample: None,
    };

    fn start(&mut self, now: Instant, cloud: &Cloud<P::Access<'_>>) -> Result<(), TooLong> {
        self.sessions.start(&cloud.access)?;
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
        if OBSERVERS > 0 {
            self.sessions.changed();
        }
    }

    fn is_secured(&self) -> bool {
        true
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

    fn handle<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        datagram: Datagram<'_>,
        answer: &mut Packet<B>,
    ) -> bool {
        let Self { sessions, responder, latest, received, author, period, .. } = self;
        let (now, period) = (cx.now, *period);
        let peer = (datagram.source, datagram.source_port);
        let name = &DeviceName::new(address);
        let length =
            sessions.handle(cx, peer, datagram.payload, answer.tail_mut(), |cx, memory, request, room| {
                if OBSERVERS > 0 && memory.observers.handle((), request) {
                    return None;
                }
                let mut resources =
                    Resources::<READINGS, OBSERVERS> { name, latest, received, memory, now, period };
                responder.handle(cx, KNOWN, request, room, |request, response| {
                    let (answer, is_new) = resources.answer(request, response);
                    if is_new {
                        *author = Slot::Full(Eui64::of_address(peer.0));
                    }
                    answer
                })
            });
        length.is_some_and(|length| answer.push_back(length).is_ok())
    }

    fn poll_transmit<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        packet: &mut Packet<B>,
    ) -> Option<Peer> {
        self.sessions.poll_transmit(cx, packet)
    }

    fn poll_notification<E: Entropy, N, B: Array<u8>>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        address: Eui64,
        packet: &mut Packet<B>,
    ) -> Option<Peer> {
        if OBSERVERS == 0 {
            return None;
        }
        let Self { sessions, responder, latest, period, .. } = self;
        let name = &DeviceName::new(address);
        sessions.poll_notification(cx, responder, packet, |response, number| {
            tell::<OBSERVERS>(response, name, latest, || Some(Observed { number, period: *period }))
        })
    }

    fn has_flights(&self) -> bool {
        P::Keys::SUITE.has_public_keys()
    }

    fn under_way(&self) -> UnderWay {
        UnderWay { requests: 0, handshakes: self.sessions.handshakes() }
    }

    fn poll_event(&mut self, now: Instant) -> Option<NodeEvent> {
        if self.sessions.poll_connected() {
            return Some(NodeEvent::Connected);
        }
        if let Some(author) = self.author.take() {
            return Some(NodeEvent::ReadingReceived(author));
        }
        let due = self.next_sample.filter(|&due| READINGS > 0 && now.has_reached(due))?;
        self.next_sample = Some(next_after(due, self.period, now));
        Some(NodeEvent::Sample)
    }

    fn poll_refusal(&mut self) -> Option<Refusal> {
        self.sessions.poll_refusal()
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        Instant::earliest(self.sessions.poll_timeout(), self.next_sample.filter(|_| READINGS > 0))
    }

    fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.sessions.handle_timeout(cx);
    }
}

/// What requests of one client are answered from.
struct Resources<'a, const READINGS: usize, const OBSERVERS: usize> {
    name: &'a DeviceName,
    latest: &'a [Measurement],
    received: &'a mut Vec<u8, LONGEST_READING>,
    memory: &'a mut Memory<OBSERVERS>,
    now: Instant,
    period: Duration,
}

impl<const READINGS: usize, const OBSERVERS: usize> Resources<'_, READINGS, OBSERVERS> {
    /// Answers a request; whether it brought a new reading.
    fn answer(&mut self, request: &Message<'_>, response: Response<'_>) -> (Result<usize, BuildError>, bool) {
        if !request.path_is(&["resources", "data"]) {
            if READINGS == 0 {
                return (response.with_code(Code::NOT_FOUND).map(Builder::finish), false);
            }
            let links = if OBSERVERS > 0 { OBSERVABLE_LINKS } else { LINKS };
            let observe = || {
                let number = self.memory.observers.request(self.now, (), request)?;
                Some(Observed { number, period: self.period })
            };
            return (answer::<OBSERVERS>(request, response, self.name, self.latest, links, observe), false);
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
            Code::POST if self.memory.posted == Some(request.id()) => Code::CHANGED,
            Code::POST if request.payload().len() > LONGEST_READING => Code::REQUEST_ENTITY_TOO_LARGE,
            Code::POST => {
                self.received.clear();
                // There is room for it.
                let _ = self.received.extend_from_slice(request.payload());
                self.memory.posted = Some(request.id());
                return (response.with_code(Code::CHANGED).map(Builder::finish), true);
            }
            _ => Code::METHOD_NOT_ALLOWED,
        };
        (response.with_code(code).map(Builder::finish), false)
    }
}
