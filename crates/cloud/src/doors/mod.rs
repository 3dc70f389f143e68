//! The CoAP doors: sockets, and the endpoint between them and [`Devices`].
//!
//! One task owns the endpoint and never waits for the database: looking a key up and storing a reading are futures
//! beside it, and the handshake or request goes on when they are done.

mod lent;
mod look_ups;
mod sessions;

use std::io;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use sixlock_coap::ServerConfig;
use sixlock_coap_msg::{Code, OptionNumber};
use sixlock_crypto::Soft;
use sixlock_dtls::Failure;
use sixlock_endpoint::{Door, Endpoint, Event, OnHeap, Request, RequestId, SessionId};
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, oneshot, watch};

use crate::audit::{self, Refused};
use crate::coap::LookUpFailed;
use crate::coap::{self, Answer, Devices, Peer};
use crate::store::{Psk, Revocation};
use crate::{Error, events, secrets};
pub(crate) use lent::Lent;
pub use lent::SystemEntropy;
use look_ups::{Asked, LookUps};
use sessions::Sessions;

/// The longest response kept: an answer's payload and what CoAP adds to it.
const LONGEST_RESPONSE: usize = coap::LONGEST_PAYLOAD + 64;
/// The longest datagram sent: a response and what DTLS adds to it.
const LONGEST_SENT: usize = LONGEST_RESPONSE + 64;
/// The longest datagram there is.
const LONGEST_RECEIVED: usize = 65_535;
/// Requests of one peer that are remembered.
const RING: usize = 4;
/// Peers of the plain door.
const PLAIN_PEERS: u32 = 10_000;
/// Datagrams taken from a socket before the others get their turn.
const TURN: usize = 64;
/// Requests being answered at the same time; beyond, the answer is 5.03.
const UNDER_WAY: usize = 2048;

/// The critical options that requests may have.
const CRITICAL_OPTIONS: &[OptionNumber] = &[
    OptionNumber::IF_MATCH,
    OptionNumber::URI_HOST,
    OptionNumber::IF_NONE_MATCH,
    OptionNumber::URI_PORT,
    OptionNumber::URI_PATH,
    OptionNumber::URI_QUERY,
    OptionNumber::ACCEPT,
    OptionNumber::BLOCK2,
    OptionNumber::BLOCK1,
];

type Server = Endpoint<Soft, SocketAddr, OnHeap<LONGEST_RESPONSE>, RING>;

/// The sockets and what is behind them.
pub(crate) struct Doors {
    secure: UdpSocket,
    plain: Option<UdpSocket>,
    endpoint: Server,
    lent: Lent,
    sessions: Sessions,
    /// The requests that are being answered, and the keys that are being looked up: each goes on while the others wait.
    answers: Work<(RequestId, Answer)>,
    keys: Work<LookedUp>,
    look_ups: LookUps<SessionId>,
    revocations: mpsc::Receiver<Revocation>,
    /// How many there have been: what was looked up before the latest may be gone.
    revoked: u64,
    devices: Devices,
}

/// Work under way. It is polled by the task of the doors, which saves a task and a change of threads for each request;
/// what computes for long goes to a thread of its own.
struct Work<T>(FuturesUnordered<Pin<Box<dyn Future<Output = Option<T>> + Send>>>);

impl<T: 'static> Work<T> {
    fn new() -> Self {
        Self(FuturesUnordered::new())
    }

    /// Begins something; if it panics, only it ends.
    fn begin(&mut self, work: impl Future<Output = T> + Send + 'static) {
        let result = AssertUnwindSafe(work).catch_unwind();
        self.0.push(Box::pin(result.map(Result::ok)));
    }

    /// Waits for something to be done, for ever if nothing was begun. Nothing if it panicked.
    async fn next(&mut self) -> Option<T> {
        match self.0.next().await {
            Some(done) => done,
            None => std::future::pending().await,
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// What became of a look-up.
struct LookedUp {
    identity: Vec<u8>,
    /// Nothing if there is no such identity.
    psk: Result<Option<Psk>, LookUpFailed>,
    /// How many revocations there had been when it began.
    revoked: u64,
}

impl Doors {
    pub(crate) fn new(
        secure: UdpSocket,
        plain: Option<UdpSocket>,
        devices: Devices,
        max_sessions: u32,
    ) -> Result<Self, Error> {
        let mut lent = Lent::new();
        let config = sixlock_endpoint::Config {
            max_sessions,
            max_resumable: max_sessions,
            max_plain: if plain.is_some() { PLAIN_PEERS } else { 0 },
            coap: ServerConfig { critical_options: CRITICAL_OPTIONS, ..Default::default() },
            ..Default::default()
        };
        let endpoint = Endpoint::new(&mut lent.cx(), config);
        let sessions = Sessions::new(max_sessions as usize, secrets::random()?);
        let revocations = devices.revocations();
        Ok(Self {
            secure,
            plain,
            endpoint,
            lent,
            sessions,
            answers: Work::new(),
            keys: Work::new(),
            look_ups: LookUps::new(),
            revocations,
            revoked: 0,
            devices,
        })
    }

    /// Serves until it is told to stop; then finishes what is under way, within `patience`, and closes all sessions.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>, patience: Duration) {
        let mut datagram = vec![0; LONGEST_RECEIVED];
        loop {
            let timer = self.endpoint.poll_timeout().map(|deadline| self.lent.until(deadline));
            let mut closed = None;
            let ready = tokio::select! {
                readable = self.secure.readable() => readable.map(|()| Some(Door::Secure)),
                readable = readable(self.plain.as_ref()) => readable.map(|()| Some(Door::Plain)),
                answer = self.answers.next() => {
                    self.answered(answer);
                    // Posts that were stored together are answered together.
                    while let Some(answer) = self.answers.next().now_or_never() {
                        self.answered(answer);
                    }
                    Ok(None)
                }
                looked_up = self.keys.next() => {
                    self.looked_up(looked_up);
                    Ok(None)
                }
                Some(revocation) = self.revocations.recv() => {
                    closed = Some(self.revoke(revocation));
                    Ok(None)
                }
                () = tokio::time::sleep(timer.unwrap_or_default()), if timer.is_some() => {
                    self.endpoint.handle_timeout(&mut self.lent.cx());
                    Ok(None)
                }
                _ = stopping.wait_for(|stopping| *stopping) => break,
            };
            match ready {
                Ok(Some(door)) => self.receive(door, &mut datagram).await,
                Ok(None) => {}
                // What is wrong with a socket may pass; meanwhile the others are served.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
            self.drain().await;
            let (open, under_way, look_ups) = (self.sessions.open(), self.answers.len(), self.look_ups.len());
            self.devices.events().state(open, under_way, look_ups, &self.lent.counters);
            if let Some(closed) = closed {
                // Whoever revoked may have gone away meanwhile.
                let _ = closed.send(());
            }
        }
        let _ = tokio::time::timeout(patience, self.finish()).await;
        for session in self.sessions.ids() {
            self.endpoint.close(&mut self.lent.cx(), session);
            self.drain().await;
        }
    }

    /// Answers what was asked. Handshakes that are not done by now are begun anew with the next cloud.
    async fn finish(&mut self) {
        while self.answers.len() > 0 {
            let answer = self.answers.next().await;
            self.answered(answer);
            self.drain().await;
        }
    }

    /// Takes what waits at a door.
    async fn receive(&mut self, door: Door, datagram: &mut [u8]) {
        for _ in 0..TURN {
            let socket = match door {
                Door::Secure => Some(&self.secure),
                Door::Plain => self.plain.as_ref(),
            };
            let Some(Ok((len, from))) = socket.map(|socket| socket.try_recv_from(datagram)) else { return };
            let mut rest = &mut datagram[..len];
            while !rest.is_empty() {
                let received = self.endpoint.handle(&mut self.lent.cx(), door, from, rest);
                rest = received.rest;
                if let Some(request) = received.request {
                    ask(&mut self.answers, &self.devices, &self.sessions, request);
                }
                self.take_note();
            }
            // The endpoint keeps one answer to strangers: it goes before the next stranger is heard.
            self.drain().await;
        }
    }

    /// Hands the endpoint an answer; nothing, if finding it panicked: then its client asks again.
    fn answered(&mut self, answer: Option<(RequestId, Answer)>) {
        if let Some((id, answer)) = answer {
            // If the peer is gone, so is the one that waits for the answer.
            let _ = self.endpoint.respond(&mut self.lent.cx(), id, answer.lend());
        }
    }

    /// Lets the handshakes go on that wait for a key.
    fn looked_up(&mut self, looked_up: Option<LookedUp>) {
        let Some(LookedUp { identity, psk, revoked }) = looked_up else { return };
        if matches!(psk, Ok(Some(_))) && revoked != self.revoked {
            self.look_ups.again(&identity);
            return self.look_up(identity);
        }
        let (sessions, again) = self.look_ups.ended(&identity);
        for session in sessions {
            let key = match &psk {
                Ok(psk) => {
                    let whose = psk.as_ref().map(|psk| (psk.resource, psk.credential));
                    for crowded_out in self.sessions.insert(session, whose) {
                        self.endpoint.close(&mut self.lent.cx(), crowded_out);
                    }
                    psk.as_ref().map(|psk| psk.key.bytes())
                }
                // To its client that looks as if it were not known, but it was not refused.
                Err(LookUpFailed) => None,
            };
            // It waits: had it ended, it would have left.
            let _ = self.endpoint.resume(&mut self.lent.cx(), session, key);
        }
        if again {
            self.look_up(identity);
        }
    }

    /// Begins to look the key of `identity` up.
    fn look_up(&mut self, identity: Vec<u8>) {
        let (devices, revoked) = (self.devices.clone(), self.revoked);
        self.keys.begin(async move {
            let psk = AssertUnwindSafe(devices.psk(&identity)).catch_unwind().await;
            LookedUp { identity, psk: psk.unwrap_or(Err(LookUpFailed)), revoked }
        });
    }

    /// Closes the sessions that rest on credentials that have ended and returns whom to tell when that is sent.
    fn revoke(&mut self, Revocation { credentials, closed }: Revocation) -> oneshot::Sender<()> {
        self.revoked += 1;
        for session in self.sessions.revoke(&credentials) {
            self.endpoint.close(&mut self.lent.cx(), session);
        }
        closed
    }

    /// Does what the endpoint asks for.
    fn take_note(&mut self) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Work { session, identity } => {
                    let asked = self.look_ups.ask(session, identity);
                    let identity = identity.to_vec();
                    match asked {
                        Asked::Begin => self.look_up(identity),
                        Asked::Wait => {}
                        Asked::Full => self.endpoint.close(&mut self.lent.cx(), session),
                    }
                }
                Event::Connected { session, from, identity, .. } => {
                    self.devices.events().tell(events::Event::Connected { from, identity });
                    if !self.sessions.connected(session) {
                        // Its credential ended while it proved that it knows the key.
                        self.endpoint.close(&mut self.lent.cx(), session);
                    }
                }
                Event::Closed { session, from, identity } => {
                    self.devices.events().tell(events::Event::Closed { from, identity });
                    self.look_ups.leave(session, identity);
                    self.sessions.remove(session);
                }
                Event::Failed { session, from, identity, failure } => {
                    self.look_ups.leave(session, identity);
                    self.devices.events().tell(events::Event::Failed { from, identity, failure });
                    let owner = self.sessions.of(session).map(|(resource, _)| resource);
                    let reason = match (owner, failure) {
                        (Some(None), _) => Some("unknown_identity"),
                        (Some(Some(_)), Failure::Authentication) => Some("wrong_key"),
                        // A session that was lost, or a client that never got to its key, is not a refusal.
                        _ => None,
                    };
                    if let Some(reason) = reason {
                        let who = String::from_utf8_lossy(identity);
                        let refused = Refused::new(audit::Door::Coaps, from, reason).who(who);
                        self.devices.events().tell(events::Event::Refused(&refused));
                    }
                    self.sessions.remove(session);
                }
            }
        }
    }

    /// Does what the endpoint asks for and sends what it has to send.
    async fn drain(&mut self) {
        self.take_note();
        let mut out = [0; LONGEST_SENT];
        while let Some(transmit) = self.endpoint.poll_transmit(&mut self.lent.cx(), &mut out) {
            let socket = match transmit.door {
                Door::Secure => Some(&self.secure),
                Door::Plain => self.plain.as_ref(),
            };
            if let Some(socket) = socket {
                // A datagram that cannot be sent is one that was lost: whoever needs it asks again.
                let _ = socket.send_to(&out[..transmit.len], transmit.to).await;
            }
        }
    }
}

/// Begins to answer `request`.
fn ask(
    answers: &mut Work<(RequestId, Answer)>,
    devices: &Devices,
    sessions: &Sessions,
    Request { id, from, message, longest_answer }: Request<'_, SocketAddr>,
) {
    let peer = match id.session() {
        None => {
            let association = from.to_string().into_bytes();
            Some(Peer { door: audit::Door::Coap, from, resource: None, association })
        }
        Some(session) => sessions.of(session).and_then(|(resource, association)| {
            Some(Peer { door: audit::Door::Coaps, from, resource: Some(resource?), association })
        }),
    };
    let Some(peer) = peer else {
        return answers.begin(std::future::ready((id, Answer::bare(Code::UNAUTHORIZED))));
    };
    if answers.len() >= UNDER_WAY {
        return answers.begin(std::future::ready((id, Answer::bare(Code::SERVICE_UNAVAILABLE))));
    }
    let (devices, request) = (devices.clone(), coap::Request::read(&message, longest_answer));
    answers.begin(async move { (id, devices.answer(peer, request).await) });
}

/// When the socket can be read; never, if there is none.
async fn readable(socket: Option<&UdpSocket>) -> io::Result<()> {
    match socket {
        Some(socket) => socket.readable().await,
        None => std::future::pending().await,
    }
}
