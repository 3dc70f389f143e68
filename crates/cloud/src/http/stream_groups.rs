//! `…/streams/{stream}/groups`: the groups that a single stream is given to, which read it and nothing else of its resource.

use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use sixlock_store::{GroupOfResource, Resource, Stream, now_ms};

use super::app::{Answer, App};
use super::failure::Failure;
use super::paths::named;
use super::recorded::AuditDetails;
use crate::Error;

/// The groups that a stream alone is given to
///
/// Those that its whole resource is given to are not among them.
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/groups", tag = "groups",
    responses((status = 200, body = [GroupOfResource])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
) -> Answer<Vec<GroupOfResource>> {
    let given = app.store.groups_of_streams(resource.id).await?.into_iter();
    Ok(Json(given.filter(|(of, _)| *of == stream.id).map(|(_, group)| group).collect()))
}

/// Gives a stream to a group that its owner is in
///
/// The members of the group read it at `/shared/streams/{shared}`, as if it were public to them, and nothing else of its resource, whatever
/// their right there. At most 1000 single streams are given to a group (409).
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/streams/{stream}/groups/{membership}", tag = "groups",
    responses((status = 200, body = GroupOfResource)))]
pub(super) async fn give(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
    names: RawPathParams,
) -> Result<(Extension<AuditDetails>, Json<GroupOfResource>), Failure> {
    let (of, group) = ((resource.id, stream.id), named(&names, "membership"));
    let given = app.store.give_stream_to_group(of, group, now_ms()).await?;
    Ok((Extension(AuditDetails::actions(vec!["stream_given"])), Json(given)))
}

/// Takes a stream back from a group
///
/// Its members read it by that no more when this answers, and the live feeds that rested on it end.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/streams/{stream}/groups/{membership}", tag = "groups",
    responses((status = 204, description = "It is given to the group no more")))]
pub(super) async fn take(
    State(app): State<Arc<App>>,
    Extension(stream): Extension<Stream>,
    names: RawPathParams,
) -> Result<(StatusCode, Extension<AuditDetails>), Failure> {
    let group = named(&names, "membership");
    let taken = app.store.take_stream_from_group(group, &stream.id.0.to_string()).await;
    taken.map_err(|error| match error {
        // The same whether there is such a group, or the stream is not in it.
        Error::Unknown(_) => Failure::unknown("group that it is given to"),
        error => error.into(),
    })?;
    Ok((StatusCode::NO_CONTENT, Extension(AuditDetails::actions(vec!["stream_taken_back"]))))
}
