//! The CoAP doors: sockets, and the endpoint between them and [`Devices`].
//!
//! There are several shards, a thread each, of which each has its own sockets and endpoint: what comes from one address comes to
//! one of them. It never waits for the database: looking a key up and storing a reading are futures
//! beside it, and the handshake or request goes on when they are done.

mod datagrams;
mod handover;
mod handshakes;
mod kept;
mod lent;
mod look_ups;
mod notifications;
mod observed;
mod observers;
mod public_keys;
mod requests;
mod sessions;
mod shards;
mod share;
mod sockets;
mod suspended;
mod ticket_keys;
mod work;

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use sixlock_base::Counter;
use sixlock_coap_msg::OptionNumber;
use sixlock_crypto::SmallKeys;
use sixlock_dtls::{Failure, is_client_hello};
use sixlock_endpoint::{
    Door, Endpoint, Event, LONGEST_KEPT, Notified, OnHeap, Outcome, SessionId, TicketKeys,
};
use sixlock_store::{KnownKeys, PointId, Revocation, Secret, StreamId, now_ms, suspended::Suspending};
use sixlock_telemetry::{self as events, Refused, Scheme};
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};

use crate::Error;
use crate::coap::{self, Answer, Devices};
use crate::public_keys::KeyRing;
use datagrams::{BATCH, Incoming, Outgoing};
use handover::{Busy, Handover, Left, Parcel};
use handshakes::LookedUp;
use kept::Keeping;
pub(crate) use lent::Lent;
pub use lent::SystemEntropy;
use look_ups::{Claim, LookUps};
use observed::Observed;
use observers::Observers;
use public_keys::PublicKeys;
use requests::Asked;
use sessions::Sessions;
pub(crate) use shards::{Shards, Sockets};
use share::Share;
pub(crate) use sockets::bind_all;
use work::Work;
use zeroize::Zeroizing;

/// The longest response kept: an answer's payload and what CoAP adds to it.
const LONGEST_RESPONSE: usize = coap::LONGEST_PAYLOAD + 64;
/// The longest datagram sent: a response and what DTLS adds to it.
const LONGEST_SENT: usize = LONGEST_RESPONSE + 64;
/// Requests of one peer that are remembered.
const RING: usize = 4;
/// Peers of the plain door. Of this and what follows, each shard has an equal part.
const PLAIN_PEERS: u32 = 10_000;
/// Requests being answered at the same time; beyond, the answer is 5.03.
const UNDER_WAY: usize = 2048;
/// Identities whose keys are being looked up at the same time.
const LOOK_UPS: usize = 2048;
/// Observations.
const OBSERVATIONS: usize = 4096;

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

type Server = Endpoint<SmallKeys, SocketAddr, OnHeap<LONGEST_RESPONSE>, RING>;

/// What is the same for all shards.
#[derive(Clone)]
struct Shared {
    /// How many there are.
    count: usize,
    keys: Arc<KeyRing>,
    /// Where sessions go in the end.
    suspending: Arc<Suspending>,
    /// How many observations there are of each resource.
    observed: Observed,
    /// By which their tickets are sealed: whoever was given one may come back to another.
    ticket_keys: watch::Receiver<Arc<TicketKeys>>,
}

impl Shared {
    /// The part of `limit` that each has.
    const fn part(&self, limit: usize) -> usize {
        limit.div_ceil(self.count)
    }
}

/// What knows of a shard's sessions.
struct Place {
    endpoint: Server,
    lent: Lent,
    sessions: Sessions,
}

/// The sockets of a shard and what is behind them.
struct Doors {
    secure: UdpSocket,
    plain: Option<UdpSocket>,
    outgoing: Outgoing,
    share: Share,
    handover: Handover,
    /// What other shards are asked for: no more than may wait for them.
    asked: Work<(SessionId, Result<Option<Left>, Busy>)>,
    endpoint: Server,
    lent: Lent,
    keeping: Keeping,
    suspending: Arc<Suspending>,
    sessions: Sessions,
    /// The requests that are being answered: each goes on while the others wait.
    answers: Work<(Asked, Answer)>,
    /// How many there may be.
    most_under_way: usize,
    observers: Observers,
    /// Which streams have new points: it is looked for once at a time.
    changes: Work<(PointId, BTreeSet<StreamId>)>,
    newest: watch::Receiver<PointId>,
    /// The newest point that observers know of.
    last: PointId,
    /// The keys that are being looked up, and for which handshakes.
    keys: Work<LookedUp>,
    look_ups: LookUps<SessionId>,
    known_keys: KnownKeys<Claim>,
    public_keys: PublicKeys,
    ticket_keys: watch::Receiver<Arc<TicketKeys>>,
    revocations: mpsc::Receiver<Revocation>,
    devices: Arc<Devices>,
}

impl Doors {
    /// Doors that serve nobody yet.
    fn new(
        sockets: Sockets,
        Place { endpoint, lent, sessions }: Place,
        keeping: Keeping,
        handover: Handover,
        revocations: mpsc::Receiver<Revocation>,
        devices: Devices,
        shared: Shared,
    ) -> Result<Self, Error> {
        let socket =
            |socket| UdpSocket::from_std(socket).map_err(|error| Error::file(devices.directory(), error));
        let (secure, plain) = (socket(sockets.secure)?, sockets.plain.map(socket).transpose()?);
        let newest = devices.newest();
        let last = *newest.borrow();
        let mut doors = Self {
            secure,
            plain,
            outgoing: Outgoing::default(),
            share: Share::new(Instant::now()),
            handover,
            asked: Work::new(),
            endpoint,
            lent,
            keeping,
            suspending: shared.suspending.clone(),
            sessions,
            answers: Work::new(),
            most_under_way: shared.part(UNDER_WAY),
            observers: Observers::new(shared.part(OBSERVATIONS), shared.observed.clone()),
            changes: Work::new(),
            newest,
            last,
            keys: Work::new(),
            look_ups: LookUps::new(shared.part(LOOK_UPS)),
            known_keys: KnownKeys::default(),
            public_keys: PublicKeys::new(shared.keys),
            ticket_keys: shared.ticket_keys,
            revocations,
            devices: Arc::new(devices),
        };
        doors.take_ticket_keys();
        Ok(doors)
    }

    /// Has the endpoint give tickets by the keys that there are now.
    fn take_ticket_keys(&mut self) {
        let keys = Arc::clone(&self.ticket_keys.borrow_and_update());
        let seconds = u32::try_from(now_ms() / 1000).unwrap_or_default();
        self.endpoint.give_tickets(&mut self.lent.cx(), &keys, seconds);
    }

    /// Serves until it is told to stop; then finishes what is under way, within `patience`, and suspends all sessions. If whoever could tell it
    /// is gone, nobody would note what was suspended: then it ends as if it were killed.
    async fn run(mut self, mut stopping: watch::Receiver<bool>, patience: Duration) {
        let mut incoming = Incoming::new();
        self.tell_state();
        let (mut alarm, mut set_for) = (Box::pin(tokio::time::sleep(Duration::ZERO)), None);
        let told = loop {
            let deadline = self.endpoint.poll_timeout();
            if deadline != set_for {
                set_for = deadline;
                let wait = deadline.map(|deadline| self.lent.until(deadline)).unwrap_or_default();
                alarm.as_mut().reset(tokio::time::Instant::now() + wait);
            }
            let (mut closed, mut nothing_else) = (None, false);
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
                notice = self.observers.notices.next() => {
                    self.noticed(notice);
                    Ok(None)
                }
                changes = self.changes.next() => {
                    self.changed(changes);
                    Ok(None)
                }
                // The sender lives as long as the store.
                _ = self.newest.changed(), if !self.observers.is_empty() && self.changes.len() == 0 => {
                    self.look_for_changes();
                    Ok(None)
                }
                looked_up = self.keys.next() => {
                    self.looked_up(looked_up);
                    Ok(None)
                }
                parcel = self.handover.next() => {
                    if let Some(parcel) = parcel {
                        self.arrived(parcel).await;
                    }
                    Ok(None)
                }
                lent = self.asked.next() => {
                    self.lend(lent);
                    Ok(None)
                }
                Ok(()) = self.ticket_keys.changed() => {
                    self.take_ticket_keys();
                    Ok(None)
                }
                Some(revocation) = self.revocations.recv() => {
                    closed = Some(self.revoke(revocation));
                    Ok(None)
                }
                () = &mut alarm, if set_for.is_some() => {
                    set_for = None;
                    self.endpoint.handle_timeout(&mut self.lent.cx());
                    Ok(None)
                }
                // Whatever else is ready comes before the next task with public keys.
                () = tokio::task::yield_now(), if self.public_keys.is_asked() => {
                    nothing_else = true;
                    Ok(None)
                }
                told = stopping.wait_for(|stopping| *stopping) => break told.is_ok(),
            };
            match ready {
                Ok(Some(door)) => self.receive(door, &mut incoming).await,
                Ok(None) => {}
                // What is wrong with a socket may pass; meanwhile the others are served.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
            if self.public_keys.is_asked() {
                self.perform(nothing_else);
            }
            self.drain().await;
            self.lent.release_clock();
            self.tell_state();
            if let Some(closed) = closed {
                // Whoever revoked may have gone away meanwhile.
                let _ = closed.send(());
            }
        };
        if !told {
            return;
        }
        let _ = tokio::time::timeout(patience, self.finish()).await;
        self.suspend();
        // What cannot be suspended, as it is not connected yet.
        for session in self.sessions.ids() {
            self.endpoint.close(&mut self.lent.cx(), session);
            self.drain().await;
        }
        let Self { keeping, mut endpoint, mut lent, .. } = self;
        keeping.finish(&mut endpoint, &mut lent).await;
    }

    /// Tells how it is doing.
    fn tell_state(&self) {
        let (open, under_way, look_ups) = (self.sessions.open(), self.answers.len(), self.look_ups.len());
        self.devices.events().state(open, under_way, look_ups, &self.lent.counters);
    }

    /// Answers what was asked. Handshakes that are not done by now are begun anew with the next cloud.
    async fn finish(&mut self) {
        while self.answers.len() > 0 {
            let answer = self.answers.next().await;
            self.answered(answer);
            self.drain().await;
        }
    }

    /// Takes what waits at a door, as much as one call of the system gives: then the others get their turn.
    async fn receive(&mut self, door: Door, incoming: &mut Incoming) {
        let socket = match door {
            Door::Secure => Some(&self.secure),
            Door::Plain => self.plain.as_ref(),
        };
        if socket.is_none_or(|socket| incoming.receive(socket).is_err()) {
            return;
        }
        self.lent.hold_clock();
        let is_hello = |incoming: &mut Incoming, n| {
            door == Door::Secure && incoming.get(n).is_some_and(|(datagram, _)| is_client_hello(datagram))
        };
        // Sessions come before those who want one.
        for n in 0..incoming.len() {
            if !is_hello(incoming, n) {
                self.take(door, incoming.get(n)).await;
            }
        }
        let more_waits = incoming.len() == BATCH;
        for n in 0..incoming.len() {
            if !is_hello(incoming, n) {
                continue;
            }
            let now = Instant::now();
            if self.share.admits(now, more_waits) {
                self.take(door, incoming.get(n)).await;
                self.share.took(now.elapsed());
            } else {
                self.lent.counters.count(Counter::DtlsSessionsFull);
            }
        }
    }

    /// Takes a datagram.
    async fn take(&mut self, door: Door, datagram: Option<(&mut [u8], SocketAddr)>) {
        let Some((mut rest, from)) = datagram else { return };
        while !rest.is_empty() {
            let received = self.endpoint.handle(&mut self.lent.cx(), door, from, rest);
            rest = received.rest;
            if let Some(shard) = received.elsewhere {
                let passed = self.handover.pass(shard, from, rest);
                self.devices.events().tell(events::Event::HandedOver { passed });
                break;
            }
            if let Some(request) = received.request {
                let now = self.lent.cx().now;
                if request.message.value(OptionNumber::OBSERVE).is_some() && self.observers.is_empty() {
                    // Observers are told of what is newer than the answer that they get now.
                    self.last = *self.newest.borrow_and_update();
                }
                let Self { answers, most_under_way, devices, sessions, observers, .. } = self;
                let answers = (answers, *most_under_way);
                let answer = requests::ask(answers, devices, sessions, observers, now, request);
                self.answered(answer);
            }
            self.take_note();
        }
        // The endpoint keeps one answer to strangers: it goes before the next stranger is heard.
        self.queue();
        if self.outgoing.is_full() {
            self.send().await;
        }
    }

    /// Takes what another shard hands over.
    async fn arrived(&mut self, parcel: Parcel) {
        match parcel {
            Parcel::Datagram { from, mut bytes } => self.take(Door::Secure, Some((&mut bytes, from))).await,
            Parcel::Ask { id, answer } => {
                let mut kept = Zeroizing::new([0; LONGEST_KEPT]);
                let left = self.endpoint.lend(&mut self.lent.cx(), &id, &mut kept);
                let left =
                    left.and_then(|(length, left)| Some((Secret::new(kept.get(..length)?.to_vec()), left)));
                // Its client may have given up.
                let _ = answer.send(left);
            }
            Parcel::Forget { id } => {
                self.endpoint.forget(&id);
            }
        }
    }

    /// Does what the endpoint asks for.
    fn take_note(&mut self) {
        while let Some(event) = self.endpoint.poll_event() {
            match event {
                Event::Elsewhere { session, id, shard } => {
                    let asked = self.handover.ask(shard, id);
                    self.asked.begin(async move { (session, asked.await) });
                }
                Event::Task { session, task } => {
                    if let Some(done) = self.public_keys.ask(session, task) {
                        self.performed(session, done);
                    }
                }
                Event::Work { session, identity, proof } => {
                    let claim = (proof, identity.to_vec());
                    self.ask(session, claim);
                }
                Event::Connected { session, from, identity, .. } => {
                    if let Some(end) = self.public_keys.certificate_expires(session) {
                        self.devices.note_certificate(identity, end);
                    }
                    self.public_keys.forget(session);
                    self.devices.events().tell(events::Event::Connected { from, identity });
                    if !self.sessions.connected(session) {
                        // Its credential ended while it proved that it knows the key.
                        self.endpoint.close(&mut self.lent.cx(), session);
                    }
                }
                Event::Closed { session, from, identity } => {
                    self.devices.events().tell(events::Event::Closed { from, identity });
                    self.look_ups.leave(session);
                    self.public_keys.forget(session);
                    self.observers.forget(session.into());
                    self.sessions.remove(session);
                }
                Event::Notified { peer, notified: Notified { token, outcome } } => match outcome {
                    Outcome::Acknowledged => self.told(peer, token),
                    Outcome::Rejected | Outcome::TimedOut => self.observers.remove(peer, token),
                },
                Event::Failed { session, from, identity, failure } => {
                    self.look_ups.leave(session);
                    self.devices.events().tell(events::Event::Failed { from, identity, failure });
                    let owner = self.sessions.of(session).map(|(resource, _)| resource);
                    let who = String::from_utf8_lossy(identity).into_owned();
                    let refusal = match (self.public_keys.forget(session), owner, failure) {
                        (Some(refusal), ..) => Some(refusal),
                        (_, Some(None), _) => Some((who, "unknown_identity")),
                        (_, Some(Some(_)), Failure::Authentication) => Some((who, "wrong_key")),
                        // A session that was lost, or a client that never got to its key, is not a refusal.
                        _ => None,
                    };
                    if let Some((who, reason)) = refusal {
                        let refused = Refused::new(Scheme::Coaps, from, reason).who(who);
                        self.devices.events().tell(events::Event::Refused(&refused));
                    }
                    self.observers.forget(session.into());
                    self.sessions.remove(session);
                }
            }
        }
    }

    /// Does what the endpoint asks for and sends what it has to send.
    async fn drain(&mut self) {
        self.take_note();
        let Self { endpoint, lent, keeping, handover, .. } = self;
        keeping.keep(endpoint, lent, handover);
        self.queue();
        self.send().await;
    }

    /// Takes what the endpoint has to send.
    fn queue(&mut self) {
        let Self { endpoint, lent, outgoing, .. } = self;
        while outgoing.push(LONGEST_SENT, |room| {
            let transmit = endpoint.poll_transmit(&mut lent.cx(), room)?;
            Some((transmit.door, transmit.to, transmit.len))
        }) {}
    }

    /// Sends what was taken.
    async fn send(&mut self) {
        self.outgoing.send(Door::Secure, &self.secure).await;
        if let Some(plain) = &self.plain {
            self.outgoing.send(Door::Plain, plain).await;
        }
        self.outgoing.clear();
    }
}

/// When the socket can be read; never, if there is none.
async fn readable(socket: Option<&UdpSocket>) -> io::Result<()> {
    match socket {
        Some(socket) => socket.readable().await,
        None => std::future::pending().await,
    }
}
