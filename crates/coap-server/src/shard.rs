//! A shard: a thread with its own sockets, sessions and timers.
//!
//! It never waits for the database: looking a key up and storing a reading are futures beside it, and the handshake or request goes
//! on when they are done.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};

use sixlock_base::Counter;
use sixlock_dtls::Refusal;
use sixlock_endpoint::{Ended, Event, Notified, Outcome, SessionId, Transport};
use tokio::sync::watch;
use tokio::time::Sleep;

use crate::authentication::Authentication;
use crate::commands::Commands;
use crate::datagrams::{BATCH, Incoming};
use crate::directory::Directory;
use crate::machine::Machine;
use crate::service::Service;
use crate::serving::Serving;
use crate::session_store::SessionStore;
use crate::shard_io::ShardIo;
use sixlock_telemetry::{self as telemetry, Events, Refused, Scheme};

/// How long a socket that failed is left alone: its error may pass, and meanwhile the others are served.
const AFTER_ERROR: Duration = Duration::from_millis(10);

/// A shard.
pub(crate) struct Shard<S: Service, D: Directory> {
    pub(crate) machine: Machine,
    pub(crate) io: ShardIo,
    pub(crate) session_store: SessionStore,
    pub(crate) authentication: Authentication<D>,
    pub(crate) serving: Serving<S>,
    pub(crate) commands: Commands,
    pub(crate) events: Events,
}

impl<S: Service, D: Directory> Shard<S, D> {
    /// Serves until it is told to stop; then finishes the requests under way, within `patience`, and suspends all sessions. If the
    /// sender of `stopping` is gone, nobody would note what was suspended: then it ends as if it were killed.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>, patience: Duration) {
        let (mut incoming, mut alarm) = (Incoming::new(), Alarm::new());
        self.authentication.give_tickets(&mut self.machine);
        self.report_state();
        let told = loop {
            alarm.set(&self.machine);
            let mut idle = false;
            tokio::select! {
                ready = self.io.readable() => self.on_readable(ready, &mut incoming).await,
                event = self.serving.next() => self.on_serving(event),
                event = self.commands.work.next() => self.on_command(event),
                event = self.authentication.next() => self.on_authentication(event).await,
                message = self.session_store.next() => self.on_session_store(message).await,
                () = alarm.rings() => self.machine.handle_timeout(),
                // Whatever else is ready comes before the next operation with a public key.
                () = tokio::task::yield_now(), if self.authentication.operations.is_waiting() => idle = true,
                told = stopping.wait_for(|stopping| *stopping) => break told.is_ok(),
            }
            if self.authentication.operations.is_waiting() {
                self.perform_operation(idle);
            }
            self.drain().await;
            self.machine.lent.release_clock();
            self.report_state();
        };
        if told {
            self.stop(patience).await;
        }
    }

    /// Finishes the requests under way, within `patience`, suspends the sessions and closes those that cannot be suspended, as they
    /// are not connected yet.
    async fn stop(mut self, patience: Duration) {
        let _ = tokio::time::timeout(patience, self.finish_requests()).await;
        self.suspend_sessions();
        for session in self.machine.sessions.ids() {
            self.machine.close(session);
            self.drain().await;
        }
        let Self { session_store, mut machine, authentication, .. } = self;
        // Whoever ends credentials waits for no shard that has no session.
        drop(authentication);
        session_store.finish(&mut machine).await;
    }

    /// Reports how many sessions, requests and look-ups there are, and what was counted.
    pub(crate) fn report_state(&self) {
        let (open, look_ups) = (self.machine.sessions.open(), self.authentication.look_ups.len());
        self.events.state(open, self.serving.under_way(), look_ups, &self.machine.lent.counters);
    }

    /// Receives what waits at a socket, as much as one call of the system gives: then the other sockets get their turn.
    async fn on_readable(&mut self, ready: io::Result<Transport>, incoming: &mut Incoming) {
        let Ok(transport) = ready else { return tokio::time::sleep(AFTER_ERROR).await };
        if self.io.receive(transport, incoming).is_err() {
            return;
        }
        self.machine.lent.hold_clock();
        // Sessions come before clients that want one.
        for n in 0..incoming.len() {
            if !incoming.is_hello(transport, n) {
                self.on_datagram(transport, incoming.get(n)).await;
            }
        }
        let more_waits = incoming.len() == BATCH;
        for n in 0..incoming.len() {
            if incoming.is_hello(transport, n) {
                self.on_hello(transport, incoming.get(n), more_waits).await;
            }
        }
    }

    /// Takes a ClientHello if there is time for it.
    async fn on_hello(
        &mut self,
        transport: Transport,
        datagram: Option<(&mut [u8], SocketAddr)>,
        more_waits: bool,
    ) {
        let now = Instant::now();
        if self.authentication.share.admits(now, more_waits) {
            self.on_datagram(transport, datagram).await;
            self.authentication.share.took(now.elapsed());
        } else {
            self.machine.lent.counters.count(Counter::DtlsSessionsFull);
            if let Some((_, from)) = datagram {
                self.events.tell(telemetry::Event::Dropped { from, refusal: Refusal::SessionsFull });
            }
        }
    }

    /// Takes a datagram.
    pub(crate) async fn on_datagram(
        &mut self,
        transport: Transport,
        datagram: Option<(&mut [u8], SocketAddr)>,
    ) {
        let Some((mut rest, from)) = datagram else { return };
        while !rest.is_empty() {
            let (endpoint, mut cx) = self.machine.endpoint();
            let received = endpoint.handle(&mut cx, transport, from, rest);
            rest = received.rest;
            if let Some(shard) = received.elsewhere {
                let passed = self.session_store.channel.forward(shard, from, rest);
                self.events.tell(telemetry::Event::HandedOver { passed });
                break;
            }
            if let Some(request) = received.request {
                self.on_request(request);
            }
            self.handle_events();
        }
        // The endpoint keeps one answer to strangers: it goes before the next stranger is heard.
        self.io.queue(&mut self.machine);
        if self.io.is_full() {
            self.io.send().await;
        }
    }

    /// Does what the endpoint asks for, saves the session states that can be resumed, and sends what is to be sent.
    pub(crate) async fn drain(&mut self) {
        self.handle_events();
        self.session_store.save(&mut self.machine);
        self.io.queue(&mut self.machine);
        self.io.send().await;
    }

    /// Does what the endpoint asks for.
    fn handle_events(&mut self) {
        while let Some(event) = self.machine.endpoint.poll_event() {
            match event {
                Event::Elsewhere { session, id, shard } => self.session_store.fetch(session, id, shard),
                Event::Task { session, task } => {
                    if let Some(done) = self.authentication.operations.begin(session, task) {
                        self.on_operation_done(session, done);
                    }
                }
                Event::Work { session, identity, method } => {
                    let claim = (method, identity.to_vec());
                    self.on_identity(session, claim);
                }
                Event::Connected { session, from, identity, .. } => {
                    self.authentication.on_connected(session, identity);
                    self.events.tell(telemetry::Event::Connected { from, identity });
                    if !self.machine.sessions.connected(session) {
                        // Its credential ended while it proved that it knows the key.
                        self.machine.close(session);
                    }
                }
                Event::Closed { session, from, identity } => {
                    self.events.tell(telemetry::Event::Closed { from, identity });
                    self.forget(session);
                }
                Event::Ended { peer, ended: Ended::Notification(Notified { token, outcome }) } => {
                    match outcome {
                        Outcome::Acknowledged => self.on_notified(peer, token),
                        Outcome::Rejected | Outcome::TimedOut => self.serving.observers.remove(peer, token),
                    }
                }
                Event::Ended { peer, ended: Ended::Request(answered) } => {
                    self.on_command_ended(peer, answered)
                }
                Event::Refused { from, refusal } => {
                    self.events.tell(telemetry::Event::Dropped { from, refusal });
                }
                Event::Failed { session, from, identity, failure } => {
                    let whose = self.machine.sessions.holder(session);
                    let refused = self.authentication.refusal(session, identity, whose, failure);
                    self.events.tell(telemetry::Event::Failed { from, identity, failure });
                    if let Some((who, reason)) = refused {
                        let refused = Refused::new(Scheme::Coaps, from, reason).who(who);
                        self.events.tell(telemetry::Event::Refused(&refused));
                    }
                    self.forget(session);
                }
            }
        }
    }

    /// Forgets all that belongs to a session that is over.
    fn forget(&mut self, session: SessionId) {
        self.authentication.forget(session);
        self.serving.observers.forget(session.into());
        self.forget_command(session);
        self.machine.sessions.remove(session);
    }
}

/// The timer of a shard's endpoint.
struct Alarm {
    sleep: Pin<Box<Sleep>>,
    set_for: Option<sixlock_base::Instant>,
}

impl Alarm {
    fn new() -> Self {
        Self { sleep: Box::pin(tokio::time::sleep(Duration::ZERO)), set_for: None }
    }

    /// Sets it to when the endpoint wants to be called.
    fn set(&mut self, machine: &Machine) {
        let deadline = machine.endpoint.poll_timeout();
        if deadline != self.set_for {
            self.set_for = deadline;
            let wait = deadline.map(|deadline| machine.lent.until(deadline)).unwrap_or_default();
            self.sleep.as_mut().reset(tokio::time::Instant::now() + wait);
        }
    }

    /// Waits until it rings: for ever, if it is not set.
    async fn rings(&mut self) {
        if self.set_for.is_none() {
            std::future::pending::<()>().await;
        }
        self.sleep.as_mut().await;
        self.set_for = None;
    }
}
