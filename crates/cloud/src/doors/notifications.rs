//! What observers are told.

use std::time::Duration;

use sixlock_coap::Notice;
use sixlock_endpoint::{PeerId, RespondError, Token};
use sixlock_store::Changed;

use super::observers::{self, Due};
use super::serving::Serving;
use super::shard::Shard;
use crate::coap::Answer;

/// How long points are waited for before observers are told of them.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

impl Shard {
    /// Sends a notification; an answer that is no success is the last.
    pub(super) fn on_notification(&mut self, id: observers::Id, answer: &Answer) {
        let now = self.machine.lent.cx().now;
        let Some(Notice { number, confirmable }) = self.serving.observers.notice(now, id) else { return };
        let observe = answer.code.is_success().then_some(number);
        let notification = sixlock_coap::Answer { observe, ..answer.lend() };
        let (endpoint, mut cx) = self.machine.endpoint();
        match endpoint.notify(&mut cx, id.peer, id.token, confirmable, notification) {
            Ok(()) if !answer.code.is_success() => self.serving.observers.end(id),
            Ok(()) if confirmable => {}
            // It has too much under way: the next change is told.
            Ok(()) | Err(RespondError::Full) => self.on_told(id.peer, id.token),
            Err(_) => self.serving.observers.end(id),
        }
    }

    /// Finds out for observers of `streams` what they are to be told.
    pub(super) fn on_streams_changed(&mut self, changed: &Changed) {
        self.serving.last = changed.upto;
        let streams = changed.streams.iter().map(|change| change.stream).collect();
        for due in self.serving.observers.changed(self.machine.lent.cx().now, &streams) {
            self.serving.find_out(due);
        }
    }

    /// An observer was told: it may be that there is more by now.
    pub(super) fn on_told(&mut self, peer: PeerId, token: Token) {
        if let Some(due) = self.serving.observers.told(self.machine.lent.cx().now, peer, token) {
            self.serving.find_out(due);
        }
    }
}

impl Serving {
    /// Begins to find out what an observer is to be told.
    fn find_out(&mut self, Due { id, wait, peer, request }: Due) {
        let devices = self.devices.clone();
        self.observers.notifications.begin(async move {
            tokio::time::sleep(Duration::from_millis(wait.millis().into())).await;
            (id, devices.notification(peer, request).await)
        });
    }

    /// Begins to find out which streams have new points.
    pub(super) fn look_for_changes(&mut self) {
        let (devices, last) = (self.devices.clone(), self.last);
        self.changes.begin(async move {
            // However fast points come, observers are not looked through more often than this.
            tokio::time::sleep(BETWEEN_LOOKS).await;
            devices.changes_since(last).await
        });
    }
}
