//! `/users/{user}/resources/{resource}/groups`: the groups that a resource is given to.

use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use sixlock_store::{GroupOfResource, Resource, now_ms};

use super::app::{Answer, App};
use super::failure::Failure;
use super::paths::named;
use crate::Error;

/// The groups that a resource is given to
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/groups", tag = "groups",
    responses((status = 200, body = [GroupOfResource])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<GroupOfResource>> {
    Ok(Json(app.store.groups_of_resource(resource.id).await?))
}

/// Gives a resource to a group that its owner is in
///
/// The members of the group read it, and those with the right `change` change it. At most 1000 devices are given to a group (409).
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/groups/{membership}", tag = "groups",
    responses((status = 200, body = GroupOfResource)))]
pub(super) async fn give(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    names: RawPathParams,
) -> Answer<GroupOfResource> {
    Ok(Json(app.store.give_to_group(resource.id, named(&names, "membership"), now_ms()).await?))
}

/// Takes a resource back from a group
///
/// What its members could do with the resource by it ends before this answers, and so do the live feeds that rested on it.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/groups/{membership}", tag = "groups",
    responses((status = 204, description = "It is given to the group no more")))]
pub(super) async fn take(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    let taken = app.store.take_from_group(named(&names, "membership"), &resource.id.0.to_string()).await;
    taken.map(|()| StatusCode::NO_CONTENT).map_err(|error| match error {
        // The same whether there is such a group, or the resource is not in it.
        Error::Unknown(_) => Failure::unknown("group that it is given to"),
        error => error.into(),
    })
}
