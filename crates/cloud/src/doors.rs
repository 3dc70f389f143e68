//! The CoAP doors: sockets, and the endpoint between them and [`Devices`].
//!
//! One task owns the endpoint and never waits for the database: looking a key up and storing a reading are futures
//! beside it, and the handshake or request goes on when they are done.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use sixlock_base::{Counters, Cx, Entropy, Instant};
use sixlock_coap_msg::Code;
use sixlock_crypto::Soft;
use sixlock_dtls::Failure;
use sixlock_endpoint::{Door, Endpoint, Event, OnHeap, Request, RequestId, SessionId};
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, oneshot, watch};

use crate::audit::{self, Refused};
use crate::coap::{self, Answer, Devices, Peer};
use crate::store::{CredentialId, Psk, ResourceId, Revocation};
use crate::{Error, events, secrets};

/// The longest response kept: an answer's payload and what CoAP adds to it.
const LONGEST_RESPONSE: usize = coap::LONGEST_ANSWER + 64;
/// The longest datagram sent: a response and what DTLS adds to it.
const LONGEST_SENT: usize = LONGEST_RESPONSE + 64;
/// The longest datagram there is.
const LONGEST_RECEIVED: usize = 65_535;
/// Requests of one peer that are remembered.
const RING: usize = 4;
/// DTLS sessions, and peers of the plain door.
const PEERS: u32 = 10_000;
/// Datagrams taken from a socket before the others get their turn.
const TURN: usize = 64;
/// Requests being answered at the same time; beyond, the answer is 5.03.
const UNDER_WAY: usize = 2048;
/// Keys being looked up at the same time, for handshakes that may be over meanwhile. Beyond, a handshake that needs a
/// key is given up, and its client begins anew.
const LOOK_UPS: usize = 2048;

type Server = Endpoint<Soft, SocketAddr, OnHeap<LONGEST_RESPONSE>, RING>;

/// The sockets and what is behind them.
pub(crate) struct Doors {
    secure: UdpSocket,
    plain: Option<UdpSocket>,
    endpoint: Server,
    lent: Lent,
    sessions: Sessions,
    work: Work,
    look_ups: usize,
    revocations: mpsc::Receiver<Revocation>,
    /// How many there have been: what was looked up before the latest may be gone.
    revoked: u64,
    devices: Devices,
}

/// What is being answered and looked up. It is polled by the task of the doors, which saves a task and a change of
/// threads for each request; what computes for long goes to a thread of its own.
#[derive(Default)]
struct Work(FuturesUnordered<Pin<Box<dyn Future<Output = Option<Done>> + Send>>>);

impl Work {
    /// Begins something; if it panics, only it ends.
    fn begin(&mut self, work: impl Future<Output = Done> + Send + 'static) {
        let result = AssertUnwindSafe(work).catch_unwind();
        self.0.push(Box::pin(result.map(Result::ok)));
    }

    /// Waits for something to be done; for ever, if nothing was begun.
    async fn next(&mut self) -> Option<Done> {
        match self.0.next().await {
            Some(done) => done,
            None => std::future::pending().await,
        }
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Work that was done.
enum Done {
    Answered(RequestId, Answer),
    LookedUp { session: SessionId, identity: Vec<u8>, psk: Option<Psk>, revoked: u64 },
}

impl Doors {
    pub(crate) fn new(secure: UdpSocket, plain: Option<UdpSocket>, devices: Devices) -> Result<Self, Error> {
        let mut lent = Lent::new();
        let config = sixlock_endpoint::Config {
            max_sessions: PEERS,
            max_plain: if plain.is_some() { PEERS } else { 0 },
            ..Default::default()
        };
        let endpoint = Endpoint::new(&mut lent.cx(), config);
        let sessions = Sessions { run: secrets::random()?, known: HashMap::new(), begun: 0, open: 0 };
        let revocations = devices.revocations();
        Ok(Self {
            secure,
            plain,
            endpoint,
            lent,
            sessions,
            work: Work::default(),
            look_ups: 0,
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
                done = self.work.next() => {
                    self.go_on(done);
                    // Posts that were stored together are answered together.
                    while let Some(done) = self.work.next().now_or_never() {
                        self.go_on(done);
                    }
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
            self.devices.events().state(self.sessions.open, self.work.len(), &self.lent.counters);
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

    async fn finish(&mut self) {
        while self.work.len() > 0 {
            let done = self.work.next().await;
            self.go_on(done);
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
                    ask(&mut self.work, &self.devices, &self.sessions, request);
                }
            }
            // The endpoint keeps one answer to strangers: it goes before the next stranger is heard.
            self.drain().await;
        }
    }

    /// Hands the endpoint what it was waiting for.
    fn go_on(&mut self, done: Option<Done>) {
        match done {
            Some(Done::Answered(id, Answer { code, content_format, payload })) => {
                // If the peer is gone, so is the one that waits for the answer.
                let _ = self.endpoint.respond(&mut self.lent.cx(), id, code, content_format, &payload);
            }
            Some(Done::LookedUp { session, identity, psk, revoked }) => {
                self.look_ups -= 1;
                if psk.is_some() && revoked != self.revoked {
                    return self.look_up(session, identity);
                }
                let whose = psk.as_ref().map(|psk| (psk.resource, psk.credential));
                for crowded_out in self.sessions.insert(session, whose) {
                    self.endpoint.close(&mut self.lent.cx(), crowded_out);
                }
                let key = psk.as_ref().map(|psk| psk.key.bytes());
                // If the handshake is over meanwhile, nobody waits for the key.
                let _ = self.endpoint.resume(&mut self.lent.cx(), session, key);
            }
            // It panicked: its client asks again, or its handshake times out.
            None => {}
        }
    }

    /// Sets a task to look the key of `identity` up.
    fn look_up(&mut self, session: SessionId, identity: Vec<u8>) {
        if self.look_ups >= LOOK_UPS {
            return self.endpoint.close(&mut self.lent.cx(), session);
        }
        self.look_ups += 1;
        let (devices, revoked) = (self.devices.clone(), self.revoked);
        self.work.begin(async move {
            let psk = devices.psk(&identity).await;
            Done::LookedUp { session, identity, psk, revoked }
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

    /// Does what the endpoint asks for and sends what it has to send.
    async fn drain(&mut self) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Work { session, identity } => {
                    let identity = identity.to_vec();
                    self.look_up(session, identity);
                }
                Event::Connected { session, .. } => {
                    self.devices.events().tell(events::Event::Connected);
                    if !self.sessions.connected(session) {
                        // Its credential ended while it proved that it knows the key.
                        self.endpoint.close(&mut self.lent.cx(), session);
                    }
                }
                Event::Closed { session, .. } => self.sessions.remove(session),
                Event::Failed { session, from, identity, failure } => {
                    self.devices.events().tell(events::Event::HandshakeFailed);
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
                        self.devices.events().tell(events::Event::Refused(refused));
                    }
                    self.sessions.remove(session);
                }
            }
        }
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
    work: &mut Work,
    devices: &Devices,
    sessions: &Sessions,
    Request { id, from, message }: Request<'_, SocketAddr>,
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
    let refuse = |code| Answer { code, content_format: None, payload: Vec::new() };
    let Some(peer) = peer else {
        work.begin(std::future::ready(Done::Answered(id, refuse(Code::UNAUTHORIZED))));
        return;
    };
    if work.len() >= UNDER_WAY {
        work.begin(std::future::ready(Done::Answered(id, refuse(Code::SERVICE_UNAVAILABLE))));
        return;
    }
    let (devices, request) = (devices.clone(), coap::Request::read(&message));
    work.begin(async move { Done::Answered(id, devices.answer(peer, request).await) });
}

/// When the socket can be read; never, if there is none.
async fn readable(socket: Option<&UdpSocket>) -> io::Result<()> {
    match socket {
        Some(socket) => socket.readable().await,
        None => std::future::pending().await,
    }
}

/// Whose each session is, as its key said when it began; nobody's, if its identity is unknown.
///
/// The endpoint does not tell of sessions that give way to others, so at twice the sessions there can be, the older
/// half is forgotten.
struct Sessions {
    /// Tells sessions of this run from those of others.
    run: [u8; 16],
    known: HashMap<SessionId, Known>,
    begun: u64,
    /// How many are connected.
    open: usize,
}

/// What is known of a session.
struct Known {
    begun: u64,
    whose: Option<(ResourceId, CredentialId)>,
    connected: bool,
}

impl Sessions {
    const MOST: usize = 2 * PEERS as usize;

    /// Adds a session and returns those that are forgotten for it.
    fn insert(&mut self, session: SessionId, whose: Option<(ResourceId, CredentialId)>) -> Vec<SessionId> {
        self.begun += 1;
        self.known.insert(session, Known { begun: self.begun, whose, connected: false });
        if self.known.len() <= Self::MOST {
            return Vec::new();
        }
        let young = self.begun - Self::MOST as u64 / 2;
        let old = self.known.extract_if(|_, known| known.begun <= young);
        let forgotten: Vec<(SessionId, bool)> =
            old.map(|(session, known)| (session, known.connected)).collect();
        self.open -= forgotten.iter().filter(|(_, connected)| *connected).count();
        forgotten.into_iter().map(|(session, _)| session).collect()
    }

    /// Takes note that `session` is connected, unless it is nobody's any more.
    fn connected(&mut self, session: SessionId) -> bool {
        let Some(known) = self.known.get_mut(&session).filter(|known| known.whose.is_some()) else {
            return false;
        };
        self.open += usize::from(!std::mem::replace(&mut known.connected, true));
        true
    }

    /// Makes the sessions that rest on `credentials` nobody's and returns those that are connected.
    fn revoke(&mut self, credentials: &HashSet<CredentialId>) -> Vec<SessionId> {
        let mut connected = Vec::new();
        for (session, known) in &mut self.known {
            if known.whose.take_if(|(_, credential)| credentials.contains(credential)).is_some()
                && known.connected
            {
                connected.push(*session);
            }
        }
        connected
    }

    /// Whose `session` is, if it is known, and a name that no session had or will have.
    fn of(&self, session: SessionId) -> Option<(Option<ResourceId>, Vec<u8>)> {
        let Known { begun, whose, .. } = self.known.get(&session)?;
        Some((whose.map(|(resource, _)| resource), [&self.run[..], &begun.to_be_bytes()].concat()))
    }

    fn remove(&mut self, session: SessionId) {
        let known = self.known.remove(&session);
        self.open -= usize::from(known.is_some_and(|known| known.connected));
    }

    fn ids(&self) -> Vec<SessionId> {
        self.known.keys().copied().collect()
    }
}

/// What machines are lent.
pub(crate) struct Lent {
    crypto: Soft,
    entropy: System,
    counters: Counters,
    started: std::time::Instant,
    nv: (),
}

impl Lent {
    /// Time begins now.
    pub(crate) fn new() -> Self {
        Self {
            crypto: Soft,
            entropy: System,
            counters: Counters::new(),
            started: std::time::Instant::now(),
            nv: (),
        }
    }

    fn now(&self) -> Instant {
        // Wraps every 49.7 days, as instants do.
        Instant::from_millis(self.started.elapsed().as_millis() as u32)
    }

    /// What a machine is lent for one call.
    pub(crate) fn cx(&mut self) -> Cx<'_, Soft, System, ()> {
        Cx {
            now: self.now(),
            crypto: &mut self.crypto,
            entropy: &mut self.entropy,
            nv: &mut self.nv,
            counters: &mut self.counters,
        }
    }

    /// How long it is until `deadline`.
    pub(crate) fn until(&self, deadline: Instant) -> Duration {
        let now = self.now();
        if now.has_reached(deadline) {
            return Duration::ZERO;
        }
        Duration::from_millis(deadline.since(now).millis().into())
    }
}

/// The random bytes of the system.
pub(crate) struct System;

impl Entropy for System {
    fn fill(&mut self, out: &mut [u8]) {
        // The start has drawn random bytes, and a system that once gave them goes on giving them. Keys and
        // cookies made without would be worse than an end.
        if getrandom::fill(out).is_err() {
            std::process::abort();
        }
    }
}
