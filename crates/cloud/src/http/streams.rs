//! `…/resources/{resource}/streams`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{ChangedStream, Latest, Resource, Sharing, Stream, ValueType};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Given;
use super::failure::Failure;
use super::recorded::AuditDetails;

/// A stream, and its latest reading.
#[derive(Serialize, ToSchema)]
pub(super) struct LatestStream {
    #[serde(flatten)]
    stream: Stream,
    #[serde(flatten)]
    sharing: Sharing,
    /// The reading that arrived last; null if the stream has none
    latest: Option<Latest>,
}

impl LatestStream {
    async fn of(app: &App, resource: &Resource, stream: Stream) -> Answer<Self> {
        let latest = app.store.latest(resource.id).await?.remove(&stream.id);
        let sharing = app.store.sharing(resource.id).await?.remove(&stream.id).unwrap_or_default();
        Ok(Json(Self { stream, sharing, latest }))
    }
}

/// A resource's streams
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams", tag = "streams",
    responses((status = 200, body = [LatestStream])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<LatestStream>> {
    let mut latest = app.store.latest(resource.id).await?;
    let mut sharing = app.store.sharing(resource.id).await?;
    let streams = app.store.streams(resource.id).await?.into_iter();
    let with = |stream: Stream| LatestStream {
        latest: latest.remove(&stream.id),
        sharing: sharing.remove(&stream.id).unwrap_or_default(),
        stream,
    };
    Ok(Json(streams.map(with).collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewStream {
    /// What devices call it: 1 to 128 bytes, unique in the resource.
    #[schema(min_length = 1, max_length = 128)]
    label: String,
    /// 1 to 32 characters. An empty one is none.
    #[schema(max_length = 32)]
    unit: Option<String>,
    #[serde(default)]
    #[schema(max_length = 256)]
    description: String,
    /// What its values are: `number`, which is so unless this says otherwise, `text` or `boolean`. It stays so.
    #[serde(default)]
    #[schema(schema_with = sixlock_store::type_schema)]
    value_type: ValueType,
}

/// Adds a stream
///
/// A device need not wait for this: its first reading of a name makes the stream, of the type of that reading. A resource has at most 64.
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/streams", tag = "streams",
    request_body = NewStream, responses((status = 201, body = LatestStream)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    body: Body<NewStream>,
) -> Result<(StatusCode, Json<LatestStream>), Failure> {
    let Json(NewStream { label, unit, description, value_type }) = body?;
    let stream =
        app.store.add_stream(resource.id, (&label, unit.as_deref(), &description), value_type).await?;
    Ok((StatusCode::CREATED, Json(LatestStream { stream, sharing: Sharing::default(), latest: None })))
}

/// A stream
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}", tag = "streams",
    responses((status = 200, body = LatestStream)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
) -> Answer<LatestStream> {
    LatestStream::of(&app, &resource, stream).await
}

/// What is to change: what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamChange {
    /// 1 to 32 characters. An empty one is none.
    #[schema(max_length = 32)]
    unit: Option<String>,
    #[schema(max_length = 256)]
    description: Option<String>,
    /// Whether anyone may read the stream, also without signing in. With `false` nobody finds it any more.
    public_access: Option<bool>,
    /// Whether whoever looks for streams finds it, which needs `public_access`.
    public_search: Option<bool>,
}

/// Changes a stream's unit or description, and whether it is public
///
/// Of a public stream, everybody may know the label, unit and description, the label of its device and your user name, and read
/// its points. Live feeds of others end when it is public no more. Others find at most 1000 streams of a user. Members of groups do not say
/// whether it is public.
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/streams/{stream}", tag = "streams",
    request_body = StreamChange, responses((status = 200, body = LatestStream)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
    given: Option<Extension<Given>>,
    body: Body<StreamChange>,
) -> Result<(Extension<AuditDetails>, Json<LatestStream>), Failure> {
    let Json(StreamChange { unit, description, public_access, public_search }) = body?;
    if given.is_some() && (public_access.is_some() || public_search.is_some()) {
        return Err(Failure::is_owners());
    }
    let change = sixlock_store::StreamChange {
        unit: unit.as_deref(),
        description: description.as_deref(),
        public_access,
        public_search,
    };
    let ChangedStream { stream, before, sharing } = app.store.change_stream(stream.id, change, None).await?;
    let done = AuditDetails::actions(sharing_changed(before, sharing));
    Ok((Extension(done), LatestStream::of(&app, &resource, stream).await?))
}

/// What the record says of a stream that is shared otherwise than before.
fn sharing_changed(before: Sharing, now: Sharing) -> Vec<&'static str> {
    let access = match (before.public_access, now.public_access) {
        (false, true) => Some("stream_made_public"),
        (true, false) => Some("stream_made_private"),
        _ => None,
    };
    let search = match (before.public_search, now.public_search) {
        (false, true) => Some("stream_made_findable"),
        (true, false) => Some("stream_made_unfindable"),
        _ => None,
    };
    access.into_iter().chain(search).collect()
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
