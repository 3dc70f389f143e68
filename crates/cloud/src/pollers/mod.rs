//! Pollers: fetching readings from where a resource says they are, every period.
//!
//! One task owns the schedule and the DTLS sessions that are kept between polls; each poll is a task of its own and
//! gives its session back. A session is closed when its URL leads elsewhere, when its poller or resource goes, when
//! too many are open and it was used longest ago, and when the cloud stops. A session that was lost, or closed for
//! want of room, is resumed; a full handshake is made only if there is no other way. Where the device is to tell what
//! changes, a task listens in the session between polls.

mod coap;
mod connect;
mod failure;
mod guard;
mod http;
mod payload;
mod resolve;
mod resumption;
mod schedule;
mod secured;
mod sessions;
mod target;
mod watch;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use sixlock_base::ASKED_IDENTITY;
use sixlock_dtls::MAX_IDENTITY;
use sixlock_endpoint::AuthenticationMethod;
use sixlock_store::{
    CommandOutcome, Idempotency, KnownKey, NewPoller, PollCredential, Polled, ResourceId, Store, Stored,
    Turn, UserId, now_ms, secrets,
};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::{mpsc, watch as watched};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

pub(crate) use connect::connect;
pub(crate) use failure::Failure;
pub use guard::PollAllow;
pub(crate) use guard::{Guard, Purpose, Refusal};
pub(crate) use http::{Asked, Http};
pub(crate) use target::{BadUrl, Scheme, Target};

use crate::public_keys::KeyRing;
use crate::{Error, StartError, commands, ingest};
use coap::Association;
use payload::Payload;
use resumption::{RESUMABLE, ResumptionStore};
use schedule::{Limits, Schedule};
use secured::{Device, Prover, Trust};
use sessions::{PolledDevice, SessionLimits, Sessions};
use watch::{Notified, Open, Watch};

/// Polls at the same time.
const LIMITS: Limits = Limits { all: 256, one_owner: 64 };
/// DTLS sessions open between polls, each with its socket.
const SESSIONS: SessionLimits = SessionLimits { open: 256, watched: 64 };
/// How long a device may take to answer the commands of a poll.
const COMMAND_PATIENCE: Duration = Duration::from_secs(20);
/// Notifications of devices whose outcome is to be noted, at most; further ones wait.
const NOTIFIED: usize = 256;
/// What a poll needs.
#[derive(Clone)]
struct PollContext {
    store: Store,
    events: Events,
    guard: Guard,
    http: Http,
    prover: Prover,
}

/// A device between polls, and the session with it.
type IdleDevice = PolledDevice<Device, Open>;

/// A poll that has ended.
struct Done {
    result: Result<(), Failure>,
    kept: Option<IdleDevice>,
    /// Whether the device was to tell what changes.
    observes: bool,
}

impl PollContext {
    async fn poll(
        self,
        resource: ResourceId,
        kept: Option<IdleDevice>,
        notified: mpsc::Sender<Notified>,
    ) -> Done {
        let kept = match kept {
            Some(PolledDevice { device, open: Some(open) }) => {
                Some(PolledDevice { device, open: open.end().await })
            }
            kept => kept.map(|PolledDevice { device, .. }| PolledDevice { device, open: None }),
        };
        let (fetched, mut kept) = self.fetch(resource, kept).await;
        let result = match fetched {
            Ok(payload) => self.keep(resource, &payload).await,
            Err(failure) => Err(failure),
        };
        if let Some((target, _, PolledDevice { open: Some(association), .. })) = &mut kept {
            self.command(resource, target, association).await;
        }
        let observes = kept.as_ref().is_some_and(|(_, observes, _)| *observes);
        let kept = kept.map(|(target, _, PolledDevice { device, open })| {
            let watch = |association| {
                let keep = move |payload: Payload| {
                    let context = self.clone();
                    async move { context.keep(resource, &payload).await }
                };
                Open::Watched(Watch::begin(association, target, keep, (resource, notified)))
            };
            let open = open.map(|association| match association.is_notified() {
                true => watch(association),
                false => Open::Idle(Box::new(association)),
            });
            PolledDevice { device, open }
        });
        Done { result, kept, observes }
    }

    /// Tells a device that has just been heard what waits for it, until one command is not answered, or they have taken too long.
    async fn command(&self, resource: ResourceId, target: &Target, association: &mut Association) {
        let (Self { store, events, .. }, end) = (self, Instant::now() + COMMAND_PATIENCE);
        while Instant::now() < end
            && let Some(command) = commands::next(store, events, resource).await
        {
            // This task may be aborted.
            let _under_way = store.command_under_way(command.id);
            let (path, pack) = ([commands::ACTUATORS, &command.actuator], commands::payload(&command));
            let told = association.set(target, path, &pack);
            let outcome = match tokio::time::timeout_at(end, told).await {
                Ok(Ok(code)) => commands::answered(code),
                Ok(Err(Failure::Reset)) => CommandOutcome::Rejected,
                Ok(Err(_)) | Err(_) => CommandOutcome::Unanswered,
            };
            commands::note(store, events, command.id, outcome).await;
            if outcome == CommandOutcome::Unanswered {
                return;
            }
        }
    }

    async fn fetch(
        &self,
        resource: ResourceId,
        kept: Option<PolledDevice<Device, Association>>,
    ) -> (Result<Payload, Failure>, Option<(Target, bool, PolledDevice<Device, Association>)>) {
        let (target, observe, credential) = match self.asked(resource).await {
            Ok(asked) => asked,
            Err(failure) => return (Err(failure), None),
        };
        match target.scheme() {
            Scheme::Http | Scheme::Https => {
                let authorization = match &credential {
                    PollCredential::Authorization(value) => Some(value),
                    _ => None,
                };
                (self.http.get(&self.guard, &target, authorization).await, None)
            }
            Scheme::Coap => (coap::get(&self.guard, &target).await, None),
            Scheme::Mqtt | Scheme::Mqtts => (Err(BadUrl::Scheme.into()), None),
            Scheme::Coaps => match self.trust(resource, credential).await {
                Ok(trust) => {
                    let asked = (&target, observe);
                    let (result, kept) =
                        coap::get_secured(&self.guard, &self.prover, asked, trust, kept).await;
                    (result, Some((target, observe, kept)))
                }
                Err(failure) => (Err(failure), None),
            },
        }
    }

    /// What is asked, whether it is observed, and by which credential.
    async fn asked(&self, resource: ResourceId) -> Result<(Target, bool, PollCredential), Failure> {
        let poller = self.store.to_poll(resource).await?.ok_or(Error::Unknown("poller"))?;
        let NewPoller { url, observe, credential, .. } = poller;
        Ok((Target::parse(&url)?, observe, credential))
    }

    /// By what a device is known that is asked by coaps: a pre-shared key, if the poller has one, or what the resource's own
    /// device is enrolled with.
    async fn trust(&self, resource: ResourceId, credential: PollCredential) -> Result<Trust, Failure> {
        if let PollCredential::Psk { identity, key } = credential {
            return Ok(Trust::Psk { identity, key });
        }
        let known = self.store.own_keys_of(resource, now_ms()).await?;
        match known.first() {
            None => Err(Failure::Unknown),
            Some(KnownKey { method: AuthenticationMethod::PreSharedKey, identity, key, .. }) => {
                let identity = format!("{ASKED_IDENTITY}{identity}");
                // A handshake has room for no more.
                match identity.len() <= MAX_IDENTITY {
                    true => Ok(Trust::Psk { identity, key: key.clone() }),
                    false => Err(Failure::Unknown),
                }
            }
            Some(_) => Ok(Trust::PublicKeys(known)),
        }
    }

    /// Whether it is this device that is asked for the readings of `resource`.
    async fn is_asked(&self, resource: ResourceId, device: &Device) -> bool {
        let Ok((target, _, credential)) = self.asked(resource).await else { return false };
        target.scheme() == Scheme::Coaps
            && self
                .trust(resource, credential)
                .await
                .is_ok_and(|trust| self.prover.is_of(device, &target, &trust))
    }

    /// Stores what was fetched, as if the device had posted it.
    async fn keep(&self, resource: ResourceId, payload: &Payload) -> Result<(), Failure> {
        // No two polls are one and the same.
        let idempotency = Idempotency::unique()?;
        // What a stream does not take is nothing that the device could mend.
        let into = (&self.store, &self.events);
        match ingest::post(into, resource, payload.format, &payload.bytes, idempotency).await {
            Ok(_) => Ok(()),
            Err(Error::LeftOut(left_out)) => {
                ingest::tell_left_out(&self.events, resource, &Stored { left_out });
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A poll that has not been told of yet.
struct UnderWay {
    resource: ResourceId,
    owner: UserId,
    poll: AbortHandle,
    /// Its poller has changed or gone since it began.
    is_called_off: bool,
    /// A command for its device has come since it began.
    is_commanded: bool,
}

/// The pollers of the cloud, at work.
pub(crate) struct Pollers {
    context: PollContext,
    events: Events,
    schedule: Schedule,
    sessions: Sessions<Device, Open>,
    notified: (mpsc::Sender<Notified>, mpsc::Receiver<Notified>),
    keeping: ResumptionStore,
    polls: JoinSet<Done>,
    under_way: HashMap<tokio::task::Id, UnderWay>,
    /// Polls that ended and are not noted in the store yet.
    ended: Vec<Polled>,
}

impl Pollers {
    /// Polls what the store says, where the guard allows it; and the thread that keeps what is left of sessions. It ends after
    /// them.
    pub(crate) fn new(
        store: Store,
        guard: Guard,
        keys: Arc<KeyRing>,
        events: Events,
    ) -> Result<(Self, JoinHandle<()>), StartError> {
        let mut sessions = Sessions::new(SESSIONS, RESUMABLE);
        let (keeping, secret, thread) = ResumptionStore::restore(&store, &mut sessions, events.clone())?;
        let (http, prover) = (Http::trusting_the_system()?, Prover::new(keys, secret));
        let pollers = Self {
            context: PollContext { store, events: events.clone(), guard, http, prover },
            events,
            schedule: Schedule::new(LIMITS),
            sessions,
            notified: mpsc::channel(NOTIFIED),
            keeping,
            polls: JoinSet::new(),
            under_way: HashMap::new(),
            ended: Vec::new(),
        };
        Ok((pollers, thread))
    }

    /// Polls until it is told to stop; then all polls under way end and all sessions are closed.
    pub(crate) async fn run(mut self, mut stopping: watched::Receiver<bool>) {
        match self.context.store.turns(None).await {
            // What failed before may have been the cloud's fault.
            Ok(turns) => turns.into_iter().for_each(|turn| self.go_on(Turn { failures: 0, ..turn })),
            Err(error) => self.fault(&error),
        }
        loop {
            let now = Instant::now();
            while let Some((resource, owner)) = self.schedule.start(now) {
                let kept = self.sessions.take(resource);
                let poll = self.context.clone().poll(resource, kept, self.notified.0.clone());
                let poll = self.polls.spawn(poll);
                let under_way = UnderWay { resource, owner, poll, is_called_off: false, is_commanded: false };
                self.under_way.insert(under_way.poll.id(), under_way);
            }
            let next = self.schedule.next(now);
            tokio::select! {
                Some(ended) = self.polls.join_next_with_id() => self.ended(ended),
                () = tokio::time::sleep_until(next.unwrap_or(now)), if next.is_some() => {}
                changed = self.context.store.changed_pollers() => {
                    for resource in changed {
                        self.changed(resource).await;
                    }
                }
                paused = self.context.store.paused_pollers() => {
                    for resource in paused {
                        self.paused(resource).await;
                    }
                }
                resources = self.context.store.commanded() => {
                    for resource in resources {
                        self.commanded(resource).await;
                    }
                }
                Some(notified) = self.notified.1.recv() => self.notified(notified),
                () = told_to(&mut stopping) => break,
            }
            while let Some(ended) = self.polls.try_join_next_with_id() {
                self.ended(ended);
            }
            while let Ok(notified) = self.notified.1.try_recv() {
                self.notified(notified);
            }
            // What ends while this is written is noted together, the next time.
            if let Err(error) = self.note().await {
                self.fault(&error);
            }
        }
        self.polls.shutdown().await;
        // Who waits to tell of a notification waits no longer.
        self.notified.1.close();
        for PolledDevice { open, .. } in self.sessions.drain() {
            // A device that tells what changes is to know that nobody listens any more.
            if let Some(open) = open {
                drop(open.end().await);
            }
        }
    }

    /// Enters a poller that was there when the cloud started, or is resumed: its rhythm goes on, and what is due since is spread. So are devices
    /// that were observed, which nobody hears until they are asked.
    fn go_on(&mut self, turn: Turn) {
        let Turn { resource, owner, period, observe, last_polled, failures } = turn;
        let last_polled = last_polled.filter(|_| !observe || failures > 0);
        let since =
            last_polled.map(|last| Duration::from_millis(now_ms().saturating_sub(last).max(0) as u64));
        self.schedule.go_on((resource, owner, period), (since, failures), (Instant::now(), random()));
    }

    /// The turn of a poller, unless it is gone or paused.
    async fn turn(&self, resource: ResourceId) -> Option<Turn> {
        match self.context.store.turns(Some(resource)).await {
            Ok(turns) => turns.into_iter().next(),
            Err(error) => {
                self.fault(&error);
                None
            }
        }
    }

    /// Takes notice of a poller that was paused or resumed. Where it is neither by now, it goes on as before.
    async fn paused(&mut self, resource: ResourceId) {
        match self.turn(resource).await {
            Some(turn) if !self.schedule.has(resource) => self.go_on(turn),
            Some(_) => {}
            None => self.changed(resource).await,
        }
    }

    /// Takes notice of a poller that was set, changed or removed.
    async fn changed(&mut self, resource: ResourceId) {
        for under_way in self.under_way.values_mut().filter(|under_way| under_way.resource == resource) {
            // Its session is closed with it. It may have ended already.
            under_way.poll.abort();
            under_way.is_called_off = true;
        }
        self.schedule.remove(resource);
        let turn = self.turn(resource).await;
        let kept = self.sessions.take(resource);
        let Some(Turn { owner, period, .. }) = turn else {
            self.keeping.forget(resource);
            return;
        };
        self.schedule.set(resource, owner, period, Instant::now());
        let Some(kept) = kept else { return };
        // It is asked at once, by then as it is to be from now on.
        if self.context.is_asked(resource, &kept.device).await {
            self.keep(resource, owner, kept);
        } else {
            self.keeping.forget(resource);
        }
    }

    /// A device is to be told something: if it has a session, it is asked at once. Where it is just being asked, it is again after that.
    async fn commanded(&mut self, resource: ResourceId) {
        let Ok((target, ..)) = self.context.asked(resource).await else { return };
        if target.scheme() != Scheme::Coaps {
            return;
        }
        if !self.schedule.advance(resource, Instant::now()) {
            let under_way = self.under_way.values_mut();
            under_way
                .filter(|under_way| under_way.resource == resource)
                .for_each(|under_way| under_way.is_commanded = true);
        }
    }

    fn ended(&mut self, ended: Result<(tokio::task::Id, Done), tokio::task::JoinError>) {
        let (id, done) = match ended {
            Ok((id, done)) => (id, Some(done)),
            Err(error) => (error.id(), None),
        };
        let Some(UnderWay { resource, owner, is_called_off, is_commanded, .. }) = self.under_way.remove(&id)
        else {
            return;
        };
        let success = done.as_ref().is_some_and(|done| done.result.is_ok());
        self.schedule.finished(resource, success, Instant::now(), random());
        if success && is_commanded {
            self.schedule.advance(resource, Instant::now());
        }
        // One that was called off has nothing to say, and its session is closed.
        let Some(Done { result, kept, observes }) = done.filter(|_| !is_called_off) else { return };
        if observes && !success {
            // Until it is asked again, nobody hears it.
            self.schedule.hasten(resource, Instant::now(), random());
        }
        let mut result = result;
        if let Some(mut kept) = kept {
            self.keeping.keep(resource, &mut kept.device);
            if !self.keep(resource, owner, kept) {
                result = result.and(Err(Failure::TooManyObserved));
            }
        }
        let error = result.err().map(|failure| failure.to_string());
        self.events.tell(Event::Polled { resource: resource.0, failure: error.as_deref() });
        self.ended.push(Polled { resource, time: now_ms(), error });
    }

    /// Keeps a device until its next poll. Returns false if it was observed, and there is no room to listen to it.
    fn keep(&mut self, resource: ResourceId, owner: UserId, kept: IdleDevice) -> bool {
        let watched_by = matches!(kept.open, Some(Open::Watched(_))).then_some(owner);
        self.sessions.keep(resource, watched_by, kept) || watched_by.is_none()
    }

    /// Notes what became of a notification. Where there will be no more, the device is asked again soon.
    fn notified(&mut self, (resource, result): Notified) {
        let Err(failure) = result else { return };
        let error = failure.to_string();
        self.events.tell(Event::Polled { resource: resource.0, failure: Some(&error) });
        self.schedule.hasten(resource, Instant::now(), random());
        self.ended.push(Polled { resource, time: now_ms(), error: Some(error) });
    }

    fn fault(&self, error: &Error) {
        self.events.tell(Event::Fault { at: At::Pollers, error });
    }

    async fn note(&mut self) -> Result<(), Error> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let ended = std::mem::take(&mut self.ended);
        self.context.store.polled(&ended).await
    }
}

/// Returns when `stopping` says so.
async fn told_to(stopping: &mut watched::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// A random byte; none of consequence, should the system have none.
fn random() -> u8 {
    let [byte] = secrets::random::<1>().unwrap_or_default();
    byte
}
