//! Keeps what happens to resources where those who have them read it.

use std::time::Duration;

use sixlock_store::Store;
use sixlock_telemetry::{At, Event, Events, ResourceLog};
use tokio::sync::watch;

/// How long what happens gathers: the same again costs nothing more, and readings wait for one commit in that time.
const GATHERING: Duration = Duration::from_secs(2);

/// Enters what `log` gathers in the logs of resources until the cloud stops. What is left then, [`keep`] enters.
pub(crate) async fn keep_resource_logs(
    store: Store,
    log: ResourceLog,
    events: Events,
    mut stopping: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(GATHERING) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        keep(&store, &log, &events).await;
    }
}

/// Enters what `log` has gathered in the logs of resources. What cannot be entered is lost, which is a fault.
pub(crate) async fn keep(store: &Store, log: &ResourceLog, events: &Events) {
    if let Err(error) = store.note_in_logs(&log.take()).await {
        events.tell(Event::Fault { at: At::ResourceLogs, error: &error });
    }
}
