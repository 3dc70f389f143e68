//! The requests and observations of a shard.

use std::collections::BTreeSet;
use std::sync::Arc;

use sixlock_endpoint::RequestId;
use sixlock_telemetry::Scheme;

use crate::answer::Answer;
use crate::ids::{Holder, Topic};
use crate::observation_id::ObservationId;
use crate::observers::Observers;
use crate::service::{Changes, Service};
use crate::work::Work;

/// The requests that are being answered, and the observers.
pub(crate) struct Serving<S: Service> {
    /// Each goes on while the others wait.
    pub(crate) answers: Work<(Pending, Answer)>,
    /// How many there may be.
    pub(crate) most_under_way: usize,
    pub(crate) observers: Observers<S::Request>,
    /// Waits for topics to change, if anybody observes.
    waiting: Work<Changed<S>>,
    /// The changes, while nobody waits for the next.
    changes: Option<S::Changes>,
    pub(crate) service: Arc<S>,
}

/// The topics that have changed, and where the next changes come from.
pub(crate) type Changed<S> = (<S as Service>::Changes, BTreeSet<Topic>);

/// A request that is being answered.
pub(crate) struct Pending {
    pub(crate) id: RequestId,
    /// By which scheme it came, if the service answers it.
    pub(crate) scheme: Option<Scheme>,
    /// What it begins to observe.
    pub(crate) observes: Option<ObservationId>,
    /// How long an answer may be, if its client is not known to be where it says and may be asked.
    pub(crate) longest: Option<usize>,
}

/// What there is for peers. Of work that panicked there is `None`.
pub(crate) enum ServingEvent<S: Service> {
    /// A request can be answered.
    Answered(Option<(Pending, Answer)>),
    /// An observer can be notified.
    Notification(Option<(ObservationId, Answer)>),
    /// Topics have changed.
    Changed(Option<Changed<S>>),
}

impl<S: Service> Serving<S> {
    /// At most `most_under_way` requests are answered at the same time.
    pub(crate) fn new(service: Arc<S>, most_under_way: usize, observers: Observers<S::Request>) -> Self {
        let (answers, waiting, changes) = (Work::new(), Work::new(), Some(service.changes()));
        Self { answers, most_under_way, observers, waiting, changes, service }
    }

    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> ServingEvent<S> {
        tokio::select! {
            answer = self.answers.next() => ServingEvent::Answered(answer),
            notification = self.observers.notifications.next() => ServingEvent::Notification(notification),
            changed = self.waiting.next() => ServingEvent::Changed(changed),
        }
    }

    /// Returns how many requests are being answered.
    pub(crate) fn under_way(&self) -> usize {
        self.answers.len()
    }

    /// Passes over the changes up to now, if nobody observes yet: observers are told of what is newer than the answer that they get
    /// first.
    pub(crate) fn skip_changes(&mut self) {
        if self.observers.is_empty() {
            self.changes.iter_mut().for_each(Changes::skip);
        }
    }

    /// Begins to wait for changes, if anybody observes and nobody waits.
    pub(crate) fn wait_for_changes(&mut self) {
        if self.observers.is_empty() {
            return;
        }
        let Some(mut changes) = self.changes.take() else { return };
        let observed = self.observers.topics().clone();
        self.waiting.begin(async move {
            let topics = changes.next(&observed).await;
            (changes, topics)
        });
    }

    /// Takes back where changes come from; if waiting for them panicked, from now on others.
    pub(crate) fn put_changes(&mut self, changes: Option<S::Changes>) {
        self.changes = Some(changes.unwrap_or_else(|| self.service.changes()));
    }

    /// Admits the observation that a request began, or ends it, as its first answer says. Returns the number in the order of
    /// notifications that the answer gets, if it is one.
    pub(crate) fn settle(
        &mut self,
        observes: Option<ObservationId>,
        is_observed: bool,
        holder: Option<Holder>,
    ) -> Option<u32> {
        let id = observes?;
        if !is_observed {
            self.observers.end(id);
            return None;
        }
        self.observers.admit(id, holder);
        Some(0)
    }
}
