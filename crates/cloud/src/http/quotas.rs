//! `/users/{user}/quotas`: how much a user may have, and has.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{OwnQuotas, Quotas, Usage, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;

/// How much a user may have, and has.
#[derive(Serialize, ToSchema)]
pub(super) struct QuotasAndUsage {
    /// Null of an administrator, who has no quotas
    quotas: Option<Quotas>,
    used: Usage,
}

/// A user's quotas, and how much of them is used
#[utoipa::path(get, path = "/users/{user}/quotas", tag = "users",
    responses((status = 200, body = QuotasAndUsage)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<QuotasAndUsage> {
    let quotas = app.store.quotas(owner.id).await?;
    Ok(Json(QuotasAndUsage { quotas, used: app.store.usage(owner.id, now_ms()).await? }))
}

/// The quotas of a user from now on: what is not given is as for all.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewQuotas {
    /// Resources
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    resources: Option<i64>,
    /// Streams of all resources together
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    streams: Option<i64>,
    /// Points that arrive from midnight to midnight UTC
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    points_a_day: Option<i64>,
}

/// Sets a user's quotas
///
/// What the user has already stays, if it is more. A further resource or stream is refused (403, and 4.03 by CoAP), and points
/// beyond those of the day (429 with Retry-After, and 4.29 with Max-Age).
#[utoipa::path(put, path = "/users/{user}/quotas", tag = "users", request_body = NewQuotas,
    responses((status = 200, body = QuotasAndUsage)))]
pub(super) async fn set(
    State(app): State<Arc<App>>,
    owner: Extension<Owner>,
    body: Body<NewQuotas>,
) -> Answer<QuotasAndUsage> {
    let Json(NewQuotas { resources, streams, points_a_day }) = body?;
    app.store.set_quotas(owner.0.0.id, OwnQuotas { resources, streams, points_a_day }).await?;
    show(State(app), owner).await
}
