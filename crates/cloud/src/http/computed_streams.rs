//! `…/resources/{resource}/computed-streams`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::{Computation, ComputedStream, InputReference, Resource, Stream};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::failure::Failure;

/// A stream that a computed one is to be computed from.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewInput {
    /// The id or label of its resource, which belongs to the same user; without it, that of the computed stream
    resource: Option<String>,
    /// The id or label of the stream
    stream: String,
}

impl From<NewInput> for InputReference {
    fn from(NewInput { resource, stream }: NewInput) -> Self {
        Self { resource, stream }
    }
}

/// What is to compute a stream.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewComputation {
    /// As `mean(t, "10m") - outside`
    #[schema(min_length = 1, max_length = 1024)]
    expression: String,
    /// The streams that it is over, by their names in it: 1 to 16
    inputs: BTreeMap<String, NewInput>,
    /// In which days begin: `UTC`, a difference such as `+02:00`, or a name such as `Europe/Stockholm`; without it, `UTC`
    #[serde(default = "utc")]
    time_zone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

impl From<NewComputation> for Computation {
    fn from(NewComputation { expression, inputs, time_zone }: NewComputation) -> Self {
        let inputs = inputs.into_iter().map(|(name, input)| (name, input.into())).collect();
        Self { expression, time_zone, inputs }
    }
}

/// What a computed stream is to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewComputedStream {
    /// 1 to 128 bytes, unique among the streams of the resource
    #[schema(min_length = 1, max_length = 128)]
    label: String,
    /// 1 to 32 characters. An empty one is none
    #[schema(max_length = 32)]
    unit: Option<String>,
    #[serde(default)]
    #[schema(max_length = 256)]
    description: String,
    /// As `mean(t, "10m") - outside`
    #[schema(min_length = 1, max_length = 1024)]
    expression: String,
    /// The streams that it is over, by their names in it: 1 to 16
    inputs: BTreeMap<String, NewInput>,
    /// In which days begin: `UTC`, a difference such as `+02:00`, or a name such as `Europe/Stockholm`; without it, `UTC`
    #[serde(default = "utc")]
    time_zone: String,
}

/// A resource's computed streams
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/computed-streams", tag = "computed streams",
    responses((status = 200, body = [ComputedStream])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<ComputedStream>> {
    Ok(Json(app.store.computed_streams(resource.id).await?))
}

/// Adds a stream that is computed from others
///
/// Each post to one of its inputs computes it. What is made of points that are there already is computed after this is answered;
/// `backfill` tells how far that has come. A user has at most 1,000 of them; one is computed from at most 64 streams, and at most 64 from
/// one, also by way of others (409).
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/computed-streams", tag = "computed streams",
    request_body = NewComputedStream, responses((status = 201, body = ComputedStream)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(resource): Extension<Resource>,
    body: Body<NewComputedStream>,
) -> Result<(StatusCode, Json<ComputedStream>), Failure> {
    let Json(new) = body?;
    let NewComputedStream { label, unit, description, expression, inputs, time_zone } = new;
    let computation = NewComputation { expression, inputs, time_zone }.into();
    let labels = (&*label, unit.as_deref(), &*description);
    let added = app.store.add_computed_stream((owner.id, resource.id), labels, &computation).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

/// Tries what is to compute a stream, without making one
///
/// What is no expression, and an input that is not there, are refused as by a stream that is added. Labels, limits and cycles are not
/// looked at.
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/expressions/test", tag = "computed streams",
    request_body = NewComputation, responses((status = 204, description = "It can compute a stream")))]
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(resource): Extension<Resource>,
    body: Body<NewComputation>,
) -> Result<StatusCode, Failure> {
    app.store.check_computation((owner.id, resource.id), &body?.0.into()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A computed stream, and how far computing it from old points has come
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/computed-streams/{stream}", tag = "computed streams",
    responses((status = 200, body = ComputedStream)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
) -> Answer<ComputedStream> {
    Ok(Json(app.store.computed_stream(stream.id).await?.ok_or(Failure::unknown("computed stream"))?))
}

/// Has a stream computed otherwise
///
/// All its points are computed anew after this is answered; `backfill` tells how far that has come. Unit and description are changed at
/// `…/streams/{stream}`, as those of any stream.
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/computed-streams/{stream}", tag = "computed streams",
    request_body = NewComputation, responses((status = 200, body = ComputedStream)))]
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
    body: Body<NewComputation>,
) -> Answer<ComputedStream> {
    let computation = body?.0.into();
    Ok(Json(app.store.replace_computation((owner.id, resource.id), stream.id, &computation).await?))
}

/// Deletes a computed stream and its points
///
/// What is computed from it is computed no more.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/computed-streams/{stream}", tag = "computed streams",
    responses((status = 204, description = "The stream is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
) -> Result<StatusCode, Failure> {
    if app.store.computed_stream(stream.id).await?.is_none() {
        return Err(Failure::unknown("computed stream"));
    }
    app.store.delete_stream(stream.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
