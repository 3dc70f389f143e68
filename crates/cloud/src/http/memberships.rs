//! `/users/{user}/memberships`: groups of others that a user is in or is asked to join, and the devices and streams that these let the user see.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Serialize;
use sixlock_store::{GroupAccess, GroupDetails, Membership, SharedStream, now_ms};
use utoipa::ToSchema;

use super::all_resources::ResourceOwner;
use super::app::{Answer, App};
use super::caller::Owner;
use super::failure::Failure;
use super::listing::{self, ListQuery};
use super::paths::named;
use super::resources::HeardResource;

/// The groups of others that a user is in, or is asked to join
#[utoipa::path(get, path = "/users/{user}/memberships", tag = "groups",
    responses((status = 200, body = [Membership])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<Membership>> {
    Ok(Json(app.store.memberships(owner.id).await?))
}

/// A group that a user is in: who else is, and which devices and single streams are given to it
#[utoipa::path(get, path = "/users/{user}/memberships/{membership}", tag = "groups",
    responses((status = 200, body = GroupDetails)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Answer<GroupDetails> {
    let group = app.store.membership(owner.id, named(&names, "membership")).await?;
    group.map(Json).ok_or(Failure::unknown("group"))
}

/// Joins a group that one is asked to join
#[utoipa::path(put, path = "/users/{user}/memberships/{membership}", tag = "groups",
    responses((status = 200, body = Membership)))]
pub(super) async fn join(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Answer<Membership> {
    Ok(Json(app.store.join_group(owner.id, named(&names, "membership"), now_ms()).await?))
}

/// Leaves a group, or says no to an invitation
///
/// Devices and streams that one has given to the group are taken back. Whoever made the invitation is not told of the no.
#[utoipa::path(delete, path = "/users/{user}/memberships/{membership}", tag = "groups",
    responses((status = 204, description = "No member, and not asked to be one")))]
pub(super) async fn leave(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.leave_group(owner.id, named(&names, "membership")).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A resource of somebody else, whose it is, and what the user may do with it.
#[derive(Serialize, ToSchema)]
pub(super) struct GivenResource {
    #[serde(flatten)]
    resource: HeardResource,
    owner: ResourceOwner,
    access: GroupAccess,
}

/// The resources of others that groups let a user see
///
/// Each is at `/users/{user}/resources/{resource}` of its owner.
#[utoipa::path(get, path = "/users/{user}/group-resources", tag = "groups", params(ListQuery),
    responses((status = 200, body = [GivenResource])))]
pub(super) async fn resources(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Answer<Vec<GivenResource>> {
    let given = app.store.group_resources(owner.id, listing::page(query)?).await?;
    let [Some(first), Some(last)] = [given.first(), given.last()] else {
        return Ok(Json(Vec::new()));
    };
    let heard = app.store.heard_by_groups(owner.id, (first.resource.id, last.resource.id)).await?;
    let given = given.into_iter().map(|given| GivenResource {
        resource: HeardResource { heard: heard.get(&given.resource.id).copied(), resource: given.resource },
        owner: ResourceOwner { id: given.owner, username: given.owner_name },
        access: given.access,
    });
    Ok(Json(given.collect()))
}

/// The single streams of others that groups let a user read
///
/// Each is at `/shared/streams/{shared}`. Streams of devices that are given as a whole are not among them.
#[utoipa::path(get, path = "/users/{user}/group-streams", tag = "groups", params(ListQuery),
    responses((status = 200, body = [SharedStream])))]
pub(super) async fn streams(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Answer<Vec<SharedStream>> {
    Ok(Json(app.store.group_streams(owner.id, listing::page(query)?).await?))
}
