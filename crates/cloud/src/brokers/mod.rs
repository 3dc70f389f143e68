//! Brokers of MQTT, to which the readings of their owners' devices are published.
//!
//! The points are followed by their place in the database: what a commit does is no more than what wakes those who follow. A task for each broker
//! publishes what is behind its cursor; how far it has come is noted in the store once a second, for all together. A cloud that was killed goes on from
//! there, so that what was published within that second is published again.

mod backlog;
mod current;
mod message;
mod packets;
mod publisher;
mod session;
mod settings;
mod states;
mod stopping;
mod test_message;
#[cfg(test)]
mod tests;
mod topic;
mod windows;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sixlock_store::{BrokerId, BrokerProgress, BrokerToServe, Store};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::watch;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout};

pub(crate) use session::Dialer;
pub(crate) use settings::{BadBroker, BrokerText, check};
pub(crate) use states::{BrokerState, States};
pub(crate) use test_message::{Tested, Tester};

use crate::Error;
use crate::pollers::Guard;
use current::Current;
use publisher::Publisher;
use stopping::told_to_stop;
use windows::Windows;

/// How often it is noted how far brokers have come.
const NOTED: Duration = Duration::from_secs(1);
/// When the database fails, or a task died.
const AGAIN: Duration = Duration::from_secs(10);
/// How long the sessions may take to end when the cloud stops.
const ENDING: Duration = Duration::from_secs(2);

/// What whoever asks for brokers, and sets them up, needs. Clones share it.
#[derive(Clone)]
pub(crate) struct BrokerAccess {
    pub(crate) guard: Guard,
    pub(crate) states: States,
    pub(crate) tester: Tester,
}

impl BrokerAccess {
    /// Of the brokers that are connected to so.
    pub(crate) fn new(dialer: &Dialer) -> Self {
        let (guard, states, tester) = (dialer.guard.clone(), States::default(), Tester::new(dialer.clone()));
        Self { guard, states, tester }
    }
}

/// A broker that is served.
struct Served {
    broker: BrokerToServe,
    task: AbortHandle,
}

/// What serves all brokers.
pub(crate) struct Brokers {
    store: Store,
    events: Events,
    dialer: Dialer,
    states: States,
    windows: Arc<Windows>,
    served: HashMap<BrokerId, Served>,
    tasks: JoinSet<()>,
    /// How often something had changed when the brokers were read last.
    read: watch::Sender<u64>,
}

impl Brokers {
    pub(crate) fn new(store: Store, events: Events, dialer: Dialer, states: States) -> Self {
        let windows = Windows::new(store.clone());
        let (served, tasks, read) = Default::default();
        Self { store, events, dialer, states, windows, served, tasks, read }
    }

    /// Publishes until the cloud stops; then it is noted how far each broker has come.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>) {
        let windows = self.windows.clone().run(self.events.clone(), stopping.clone());
        let windows = tokio::spawn(windows);
        let (mut reload, mut changes) = (Some(Instant::now()), self.store.broker_changes());
        let mut note = tokio::time::interval(NOTED);
        note.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            if reload.is_some_and(|at| at <= Instant::now()) {
                reload = match self.reload(&stopping).await {
                    Ok(()) => None,
                    Err(error) => Some(self.fault(&error)),
                };
            }
            tokio::select! {
                // The sender lives as long as the store.
                Ok(()) = changes.changed() => reload = Some(Instant::now()),
                _ = note.tick() => self.note(false).await,
                Some(ended) = self.tasks.join_next_with_id() => {
                    // When the cloud stops, they end by themselves.
                    let is_stopping = *stopping.borrow() || stopping.has_changed().is_err();
                    if !is_stopping && let Some(again) = self.ended(ended) {
                        reload = reload.or(Some(again));
                    }
                }
                () = told_to_stop(&mut stopping) => break,
            }
        }
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        // A broker that does not let go does not hold up the stop.
        let _ = timeout(ENDING, ended).await;
        self.tasks.shutdown().await;
        self.note(true).await;
        let _ = windows.await;
    }

    fn fault(&self, error: &Error) -> Instant {
        self.events.tell(Event::Fault { at: At::Brokers, error });
        Instant::now() + AGAIN
    }

    /// A task has ended that was not told to: it is begun again later.
    fn ended(&mut self, ended: Result<(Id, ()), JoinError>) -> Option<Instant> {
        let id = match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        let broker =
            self.served.iter().find(|(_, served)| served.task.id() == id).map(|(broker, _)| *broker)?;
        self.served.remove(&broker);
        self.states.end(broker);
        Some(self.fault(&Error::Died("publishing to a broker")))
    }

    /// Begins, ends and begins anew what has changed.
    async fn reload(&mut self, stopping: &watch::Receiver<bool>) -> Result<(), Error> {
        let changes = *self.store.broker_changes().borrow();
        let (brokers, unread) = self.store.brokers_to_serve(None).await?;
        let mut gone = std::mem::take(&mut self.served);
        for (broker, noted) in brokers {
            let before = gone.remove(&broker.id);
            match before {
                Some(served) if served.broker == broker => {
                    self.served.insert(broker.id, served);
                }
                before => self.begin(broker, noted, before, stopping),
            }
        }
        for (broker, served) in gone {
            served.task.abort();
            self.states.end(broker);
        }
        self.read.send_replace(changes);
        // It is no reason to leave the others out.
        unread.map_or(Ok(()), Err)
    }

    /// Publishes to `broker` from now on, in place of what did with other settings. At the same place, it goes on where that has come, which may
    /// not be noted yet.
    fn begin(
        &mut self,
        broker: BrokerToServe,
        noted: BrokerProgress,
        before: Option<Served>,
        stopping: &watch::Receiver<bool>,
    ) {
        let mut progress = noted;
        if let Some(before) = before {
            before.task.abort();
            if before.broker.settings.url == broker.settings.url
                && let Some(state) = self.states.get(broker.id)
            {
                progress = state.progress;
            }
        }
        self.states.begin(broker.id, broker.revision, (progress, noted));
        let current = Current { changes: self.store.broker_changes(), read: self.read.subscribe() };
        let of = (self.dialer.clone(), self.windows.watcher(), current);
        let to = (self.states.clone(), self.events.clone());
        let publisher = Publisher::new(broker.clone(), progress, of, to);
        let task = self.tasks.spawn(publisher.run(stopping.clone()));
        self.served.insert(broker.id, Served { broker, task });
    }

    /// Notes how far brokers have come. What cannot be noted is, the next time.
    async fn note(&self, is_end: bool) {
        let unnoted = self.states.unnoted(is_end);
        if unnoted.is_empty() {
            return;
        }
        let progress: Vec<_> = unnoted.iter().map(|of| (of.broker, of.revision, of.progress)).collect();
        if let Err(error) = self.store.note_broker_progress(&progress).await {
            self.fault(&error);
            return;
        }
        for of in &unnoted {
            self.states.noted(of);
            if of.published + of.dropped > 0 {
                let (published, dropped) = (of.published, of.dropped);
                self.events.tell(Event::BrokerServed { broker: of.broker.0, published, dropped });
            }
        }
    }
}
