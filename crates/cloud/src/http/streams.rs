//! `…/resources/{resource}/streams`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;

use super::failure::Failure;
use super::{Answer, App, Body};
use crate::store::{Resource, Stream};

/// A resource's streams
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams", tag = "streams",
    responses((status = 200, body = [Stream])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<Stream>> {
    Ok(Json(app.store.streams(resource.id).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewStream {
    /// What devices call it: 1 to 128 bytes, unique in the resource.
    label: String,
    unit: Option<String>,
    #[serde(default)]
    description: String,
}

/// Adds a stream
///
/// A device need not wait for this: its first reading of a name makes the stream. A resource has at most 64.
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/streams", tag = "streams",
    request_body = NewStream, responses((status = 201, body = Stream)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    body: Body<NewStream>,
) -> Result<(StatusCode, Json<Stream>), Failure> {
    let Json(NewStream { label, unit, description }) = body?;
    let stream = app.store.add_stream(resource.id, &label, unit.as_deref(), &description).await?;
    Ok((StatusCode::CREATED, Json(stream)))
}

/// A stream
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}", tag = "streams",
    responses((status = 200, body = Stream)))]
pub(super) async fn show(Extension(stream): Extension<Stream>) -> Json<Stream> {
    Json(stream)
}

/// What is to change: what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamChange {
    /// An empty one is none.
    unit: Option<String>,
    description: Option<String>,
}

/// Changes a stream's unit or description
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/streams/{stream}", tag = "streams",
    request_body = StreamChange, responses((status = 200, body = Stream)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    body: Body<StreamChange>,
) -> Answer<Stream> {
    let Json(StreamChange { unit, description }) = body?;
    Ok(Json(app.store.change_stream(stream.id, unit.as_deref(), description.as_deref(), None).await?))
}

/// Deletes a stream and its points
///
/// If its device goes on, that makes a new one.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/streams/{stream}", tag = "streams",
    responses((status = 204, description = "The stream is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
) -> Result<StatusCode, Failure> {
    app.store.delete_stream(stream.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
