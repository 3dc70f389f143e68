//! The requests and observations of a shard.

use std::sync::Arc;

use super::observers::{self, Observers};
use super::requests::Pending;
use super::work::Work;
use crate::coap::{Answer, Devices};
use sixlock_store::{Changed, Changes, Cursor, ResourceId};

/// The requests that are being answered, and the observers.
pub(super) struct Serving {
    /// Each goes on while the others wait.
    pub(super) answers: Work<(Pending, Answer)>,
    /// How many there may be.
    pub(super) most_under_way: usize,
    pub(super) observers: Observers,
    /// Which streams have new points: it is looked for once at a time.
    pub(super) changes: Work<Changed>,
    /// The feed of changes.
    pub(super) feed: Changes,
    /// The position up to which observers know of points.
    pub(super) last: Cursor,
    pub(super) devices: Arc<Devices>,
}

/// What there is for peers. Of work that panicked there is `None`.
pub(super) enum ServingEvent {
    /// A request can be answered.
    Answered(Option<(Pending, Answer)>),
    /// An observer can be notified.
    Notification(Option<(observers::Id, Answer)>),
    /// There are new points.
    PointsAdded,
    /// Which streams have new points.
    StreamsChanged(Option<Changed>),
}

impl Serving {
    /// At most `most_under_way` requests are answered at the same time.
    pub(super) fn new(devices: Arc<Devices>, most_under_way: usize, observers: Observers) -> Self {
        let feed = devices.changes();
        let last = feed.end();
        let (answers, changes) = (Work::new(), Work::new());
        Self { answers, most_under_way, observers, changes, feed, last, devices }
    }

    /// Waits for the next event.
    pub(super) async fn next(&mut self) -> ServingEvent {
        let looks_for_changes = !self.observers.is_empty() && self.changes.len() == 0;
        tokio::select! {
            answer = self.answers.next() => ServingEvent::Answered(answer),
            notification = self.observers.notifications.next() => ServingEvent::Notification(notification),
            changes = self.changes.next() => ServingEvent::StreamsChanged(changes),
            // The sender lives as long as the store.
            _ = self.feed.changed(), if looks_for_changes => ServingEvent::PointsAdded,
        }
    }

    /// Returns how many requests are being answered.
    pub(super) fn under_way(&self) -> usize {
        self.answers.len()
    }

    /// From now on, observers are told of newer points only.
    pub(super) fn skip_changes(&mut self) {
        self.last = self.feed.see_end();
    }

    /// Admits the observation that a request began, or ends it, as its first answer says. Returns the number in the order of
    /// notifications that the answer gets, if it is one.
    pub(super) fn settle(
        &mut self,
        observes: Option<observers::Id>,
        is_observed: bool,
        about: Option<ResourceId>,
    ) -> Option<u32> {
        let id = observes?;
        if !is_observed {
            self.observers.end(id);
            return None;
        }
        about.into_iter().for_each(|resource| self.observers.admit(id, resource));
        Some(0)
    }
}
