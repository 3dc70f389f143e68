//! `/users/{user}/alerts`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::{Alert, AlertState, now_ms};

use super::app::{Answer, App};
use super::caller::{Caller, Owner};
use super::listing::check_limit;

/// Which alerts. The next page begins behind the last id of this one.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AlertQuery {
    /// Only those in this state
    state: Option<AlertState>,
    /// At most so many, 1 to 1000; without it, 100
    #[serde(default = "usual")]
    #[param(minimum = 1, maximum = 1000)]
    limit: i64,
    /// Only those that are older: with lesser ids
    #[serde(default)]
    before: i64,
}

const MOST: i64 = 1000;

const fn usual() -> i64 {
    100
}

/// A user's alerts, the newest first
///
/// Those that are cleared are the history; the newest 1,000 are remembered.
#[utoipa::path(get, path = "/users/{user}/alerts", tag = "alerts", params(AlertQuery),
    responses((status = 200, body = [Alert])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<AlertQuery>, QueryRejection>,
) -> Answer<Vec<Alert>> {
    let Query(AlertQuery { state, limit, before }) = query?;
    check_limit(limit, MOST)?;
    Ok(Json(app.store.alerts(owner.id, state, (limit, before)).await?))
}

/// An alert
#[utoipa::path(get, path = "/users/{user}/alerts/{alert}", tag = "alerts", responses((status = 200, body = Alert)))]
pub(super) async fn show(Extension(alert): Extension<Alert>) -> Json<Alert> {
    Json(alert)
}

/// Acknowledges an open alert
///
/// It holds who did so first, and when. One that is cleared is refused (400).
#[utoipa::path(post, path = "/users/{user}/alerts/{alert}/acknowledge", tag = "alerts",
    responses((status = 200, body = Alert)))]
pub(super) async fn acknowledge(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(alert): Extension<Alert>,
) -> Answer<Alert> {
    Ok(Json(app.store.acknowledge(alert.id, &caller.user.username, now_ms()).await?))
}
