//! `/metrics`: what happened since the start, for Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use sixlock_store::{last_backup, now_ms};

use super::app::App;
use crate::public_keys::expires;

/// What the text of metrics is.
pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(super) async fn show(State(app): State<Arc<App>>) -> Response {
    let (feeds, brokers) = (app.live_feeds.count(), app.brokers.states.connected());
    if let Ok(devices) = app.store.certificate_expiry(now_ms()).await {
        let own = app.store.own_keys();
        app.events.certificates(devices, expires(own.certificate()), expires(own.authority()));
    }
    let backup = last_backup(app.store.directory()).await;
    let kind = HeaderValue::from_static(OPEN_METRICS);
    ([(header::CONTENT_TYPE, kind)], app.events.metrics(feeds, brokers, backup)).into_response()
}
