//! Keeps what happens to resources where those who have them read it.

use std::time::Duration;

use sixlock_store::Store;
use sixlock_telemetry::{At, Event, Events, LogEntry, ResourceLog};
use tokio::sync::watch;

/// How long what happens gathers: the same again costs nothing more, and readings wait for one short commit in that time.
const GATHERING: Duration = Duration::from_secs(2);
/// What strangers did is entered every so many times: a commit makes the writer of readings look up again what it knows of streams, and
/// strangers choose when there is something to enter.
const STRANGERS_EVERY: u32 = 5;
/// The most lines of a commit. What is left waits for the next.
const AT_ONCE: usize = 128;

/// Enters what `log` gathers in the logs of resources until the cloud stops. What is left then, [`keep_all`] enters.
pub(crate) async fn keep_resource_logs(
    store: Store,
    log: ResourceLog,
    events: Events,
    mut stopping: watch::Receiver<bool>,
) {
    for number in (0..STRANGERS_EVERY).cycle() {
        tokio::select! {
            () = tokio::time::sleep(GATHERING) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        keep(&store, &log.take(AT_ONCE, number == 0), &events).await;
    }
}

/// Enters all that `log` has gathered in the logs of resources.
pub(crate) async fn keep_all(store: &Store, log: &ResourceLog, events: &Events) {
    loop {
        let entries = log.take(AT_ONCE, true);
        if entries.is_empty() {
            return;
        }
        keep(store, &entries, events).await;
    }
}

/// What cannot be entered is lost, which is a fault.
async fn keep(store: &Store, entries: &[LogEntry], events: &Events) {
    if let Err(error) = store.note_in_logs(entries).await {
        events.tell(Event::Fault { at: At::ResourceLogs, error: &error });
    }
}
