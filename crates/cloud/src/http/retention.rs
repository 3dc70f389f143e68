//! `…/resources/{resource}/retention` and `…/streams/{stream}/retention`: how long points are kept, and whether new ones are taken.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::{Resource, Retention, RetentionChange, Stream, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::failure::Failure;
use super::query::given;

/// What is to change: what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewRetention {
    /// How many seconds points are kept; null: for ever
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>, minimum = 3_600, maximum = 3_162_240_000_i64)]
    keep_s: Option<Option<i64>>,
    /// How many points are kept, with the others of the hour of the oldest of them; null: all
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 1_000_000)]
    history_size: Option<Option<i64>>,
    /// How many seconds rollups are kept whose points are not; null: for ever
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>, minimum = 3_600, maximum = 3_162_240_000_i64)]
    keep_rollups_s: Option<Option<i64>>,
    /// Whether the stream takes no points
    frozen: Option<bool>,
    /// Whether points and rollups may be discarded that there are already
    #[serde(default)]
    discard: bool,
}

/// How long the points of each stream of a resource are kept, and which streams take none
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/retention", tag = "retention",
    responses((status = 200, body = [Retention])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<Retention>> {
    Ok(Json(app.store.retention_of(resource.id).await?))
}

/// How long the points of a stream are kept, and whether it takes any
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/retention", tag = "retention",
    responses((status = 200, body = Retention)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
) -> Answer<Retention> {
    Ok(Json(app.store.retention(stream.id).await?.ok_or(Failure::unknown("stream"))?))
}

/// Changes how long the points of a stream are kept, or whether it takes any
///
/// If there are points, or rollups, that are not kept then, this is refused (409, `discards`) and tells how many, unless `discard` is true:
/// then they are discarded after this is answered, a part at a time.
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/streams/{stream}/retention", tag = "retention",
    request_body = NewRetention, responses((status = 200, body = Retention)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    body: Body<NewRetention>,
) -> Answer<Retention> {
    let Json(NewRetention { keep_s, history_size, keep_rollups_s, frozen, discard }) = body?;
    let change = RetentionChange { keep_s, history_size, keep_rollups_s, is_frozen: frozen, discard };
    Ok(Json(app.store.change_retention(stream.id, change, now_ms()).await?))
}
