//! Tells the operator of certificates that end soon: at the start, and once a day.

use std::time::Duration;

use sixlock_store::{SOON_MS, Store, now_ms};
use sixlock_telemetry::{At, CertificateExpiry, Event, Events};
use tokio::sync::watch;

use crate::public_keys::expires;

const DAILY: Duration = Duration::from_secs(24 * 60 * 60);

/// Tells of them until the cloud stops.
pub(crate) async fn tell_of_expiry(store: Store, events: Events, mut stopping: watch::Receiver<bool>) {
    loop {
        tell(&store, &events, now_ms()).await;
        tokio::select! {
            () = tokio::time::sleep(DAILY) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
    }
}

async fn tell(store: &Store, events: &Events, now: i64) {
    match store.certificate_expiry(now).await {
        Ok(CertificateExpiry { next, expired, soon, .. }) if expired + soon > 0 => {
            events.tell(Event::Expiring { certificates: "devices", expired, soon, next });
        }
        Ok(_) => {}
        Err(error) => events.tell(Event::Fault { at: At::Credentials, error: &error }),
    }
    let own = store.own_keys();
    for (certificates, der) in [("cloud", own.certificate()), ("authority", own.authority())] {
        let Some(end) = expires(der).filter(|end| *end <= now.saturating_add(SOON_MS)) else { continue };
        let expired = i64::from(end <= now);
        events.tell(Event::Expiring { certificates, expired, soon: 1 - expired, next: Some(end) });
    }
}
