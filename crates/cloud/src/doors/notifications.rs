//! What observers are told.

use std::collections::BTreeSet;
use std::time::Duration;

use sixlock_coap::Notice;
use sixlock_endpoint::{PeerId, RespondError, Token};
use sixlock_store::{PointId, StreamId};

use super::Doors;
use super::observers::{self, Due};
use crate::coap::Answer;

/// How long points are waited for before observers are told of them.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

impl Doors {
    /// Sends a notification; an answer that is no success is the last.
    pub(super) fn noticed(&mut self, notice: Option<(observers::Id, Answer)>) {
        let Some((id, answer)) = notice else { return };
        let Some(Notice { number, confirmable }) = self.observers.notice(self.lent.cx().now, id) else {
            return;
        };
        let observe = answer.code.is_success().then_some(number);
        let notification = sixlock_coap::Answer { observe, ..answer.lend() };
        let cx = &mut self.lent.cx();
        match self.endpoint.notify(cx, id.peer, id.token, confirmable, notification) {
            Ok(()) if !answer.code.is_success() => self.observers.end(id),
            Ok(()) if confirmable => {}
            // It has too much under way: the next change is told.
            Ok(()) | Err(RespondError::Full) => self.told(id.peer, id.token),
            Err(_) => self.observers.end(id),
        }
    }

    /// Finds out for observers of `streams` what they are to be told.
    pub(super) fn changed(&mut self, changes: Option<(PointId, BTreeSet<StreamId>)>) {
        let Some((last, streams)) = changes else { return };
        self.last = last;
        for due in self.observers.changed(self.lent.cx().now, &streams) {
            self.find_out(due);
        }
    }

    /// An observer was told: it may be that there is more by now.
    pub(super) fn told(&mut self, peer: PeerId, token: Token) {
        if let Some(due) = self.observers.told(self.lent.cx().now, peer, token) {
            self.find_out(due);
        }
    }

    fn find_out(&mut self, Due { id, wait, peer, request }: Due) {
        let devices = self.devices.clone();
        self.observers.notices.begin(async move {
            tokio::time::sleep(Duration::from_millis(wait.millis().into())).await;
            (id, devices.notification(peer, request).await)
        });
    }

    pub(super) fn look_for_changes(&mut self) {
        let (devices, last) = (self.devices.clone(), self.last);
        self.changes.begin(async move {
            // However fast points come, the database is not asked more often than this.
            tokio::time::sleep(BETWEEN_LOOKS).await;
            devices.streams_since(last).await
        });
    }
}
