//! What observers are told.

use std::time::Duration;

use sixlock_coap::Notice;
use sixlock_endpoint::{PeerId, RespondError, Token};

use crate::answer::Answer;
use crate::directory::Directory;
use crate::observation_id::ObservationId;
use crate::observers::PendingQuery;
use crate::service::Service;
use crate::serving::{Changed, Serving};
use crate::shard::Shard;

impl<S: Service, D: Directory> Shard<S, D> {
    /// Sends a notification; an answer that is no success is the last.
    pub(crate) fn on_notification(&mut self, id: ObservationId, answer: &Answer) {
        let now = self.machine.lent.cx().now;
        let Some(Notice { number, confirmable }) = self.serving.observers.notice(now, id) else { return };
        let observe = answer.code.is_success().then_some(number);
        let notification = sixlock_coap::Answer { observe, ..answer.lend() };
        let (endpoint, mut cx) = self.machine.endpoint();
        match endpoint.notify(&mut cx, id.peer, id.token, confirmable, notification) {
            Ok(()) if !answer.code.is_success() => self.serving.observers.end(id),
            Ok(()) if confirmable => {}
            // It has too much under way: the next change is told.
            Ok(()) | Err(RespondError::Full) => self.on_notified(id.peer, id.token),
            Err(_) => self.serving.observers.end(id),
        }
    }

    /// Finds out for observers of topics that have changed what they are to be told.
    pub(crate) fn on_changed(&mut self, changed: Option<Changed<S>>) {
        let (changes, topics) = changed.unzip();
        self.serving.put_changes(changes);
        let topics = topics.unwrap_or_default();
        for due in self.serving.observers.on_changed(self.machine.lent.cx().now, &topics) {
            self.serving.find_out(due);
        }
        self.serving.wait_for_changes();
    }

    /// An observer was told: it may be that there is more by now.
    pub(crate) fn on_notified(&mut self, peer: PeerId, token: Token) {
        if let Some(due) = self.serving.observers.on_notified(self.machine.lent.cx().now, peer, token) {
            self.serving.find_out(due);
        }
    }
}

impl<S: Service> Serving<S> {
    /// Begins to find out what an observer is to be told.
    fn find_out(&mut self, PendingQuery { id, wait, peer, request }: PendingQuery<S::Request>) {
        let service = self.service.clone();
        self.observers.notifications.begin(async move {
            tokio::time::sleep(Duration::from_millis(wait.millis().into())).await;
            (id, service.notification(peer, request).await)
        });
    }
}
