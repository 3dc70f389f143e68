//! `/audit`: the record of refusals.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::failure::Failure;
use super::{Answer, App};

/// The most lines of one answer.
const MOST_LINES: usize = 1000;

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditQuery {
    /// At most so many lines, 1 to 1000; without it, 100
    #[serde(default = "usual")]
    limit: usize,
}

const fn usual() -> usize {
    100
}

/// Who was refused, newest first
///
/// Each line is `{"time","door","from","reason","who"?,"what"?}`, or `{"time","lost"}` where lines came faster than
/// they could be written.
#[utoipa::path(get, path = "/audit", tag = "cloud", params(AuditQuery), responses((status = 200, body = [Object])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Answer<Vec<serde_json::Value>> {
    let Query(AuditQuery { limit }) = query?;
    if !(1..=MOST_LINES).contains(&limit) {
        return Err(Failure::invalid(format!("limit is not between 1 and {MOST_LINES}")));
    }
    Ok(Json(app.events.newest_refusals(limit).await?))
}
