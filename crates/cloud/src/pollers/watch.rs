//! Listening for what a device tells between two polls.

use std::future::Future;

use sixlock_store::ResourceId;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::coap::Association;
use super::failure::Failure;
use super::payload::Payload;
use super::target::Target;

/// What became of a notification, or why there will be no more.
pub(super) type Notified = (ResourceId, Result<(), Failure>);

/// A session that is kept between polls.
pub(super) enum Open {
    /// Nothing is expected.
    Idle(Box<Association>),
    /// The device tells what changes.
    Watched(Watch),
}

impl Open {
    /// The session, for the next poll; `None` if it has ended meanwhile.
    pub(super) async fn end(self) -> Option<Association> {
        match self {
            Self::Idle(association) => Some(*association),
            Self::Watched(Watch { stop, task }) => {
                drop(stop);
                task.await.ok().flatten()
            }
        }
    }
}

/// A task that listens in a session, until this is dropped; then the session is closed.
pub(super) struct Watch {
    /// Nothing is sent: its end says that it is time.
    stop: oneshot::Sender<()>,
    task: JoinHandle<Option<Association>>,
}

impl Watch {
    /// Listens in `association` for what its device tells of `target`, hands it to `keep`, and says what became of it as a notification of that
    /// resource.
    pub(super) fn begin<F>(
        association: Association,
        target: Target,
        keep: impl FnMut(Payload) -> F + Send + 'static,
        outcomes: (ResourceId, mpsc::Sender<Notified>),
    ) -> Self
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(watch(association, target, keep, outcomes, stopped));
        Self { stop, task }
    }
}

async fn watch<F: Future<Output = Result<(), Failure>>>(
    mut association: Association,
    target: Target,
    mut keep: impl FnMut(Payload) -> F,
    (resource, outcomes): (ResourceId, mpsc::Sender<Notified>),
    mut stopped: oneshot::Receiver<()>,
) -> Option<Association> {
    loop {
        let notified = tokio::select! {
            _ = &mut stopped => return Some(association),
            notified = association.notified(&target) => notified,
        };
        let (result, is_over) = match notified {
            Ok(payload) => {
                let result = keep(payload).await;
                // What cannot be stored for now comes again, as nobody acknowledges it.
                if !result.as_ref().is_err_and(Failure::is_of_cloud) {
                    association.acknowledge().await;
                }
                (result, !association.is_notified())
            }
            Err(failure) => (Err(failure), true),
        };
        let is_last = is_over && result.is_ok();
        // The pollers end before those who listen.
        let _ = outcomes.send((resource, result)).await;
        if is_last {
            let _ = outcomes.send((resource, Err(Failure::Unobserved))).await;
        }
        if is_over {
            return association.is_connected().then_some(association);
        }
    }
}
