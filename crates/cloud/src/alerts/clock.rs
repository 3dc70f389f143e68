//! The clock of rules: silence, and thresholds that are to be passed for a time.

use std::time::Duration;

use sixlock_store::{Error, Store, now_ms};
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::watch;

/// How often rules are looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// Opens alerts when their time has come, until the cloud stops.
pub(crate) async fn run(store: Store, events: Events, mut stopping: watch::Receiver<bool>) {
    let mut has_begun = false;
    loop {
        let looked = match has_begun {
            true => store.look_at_clock(now_ms()).await,
            false => store.begin_clock().await,
        };
        match looked {
            Ok(()) => has_begun = true,
            // It has more urgent things to store.
            Err(Error::Busy) => {}
            Err(error) => events.tell(Event::Fault { at: At::Alerts, error: &error }),
        }
        tokio::select! {
            () = tokio::time::sleep(PERIOD) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
    }
}
