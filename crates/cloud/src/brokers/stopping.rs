//! When the cloud stops.

use tokio::sync::watch;

/// Waits until the cloud stops.
pub(super) async fn told_to_stop(stopping: &mut watch::Receiver<bool>) {
    // An error: nobody is left who could tell.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
