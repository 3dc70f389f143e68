//! `/users/{user}/groups`: a user's groups, who is in them, and what is given to them.

use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::{GroupAccess, GroupDetails, GroupMember, UserGroup, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::failure::Failure;
use super::paths::named;
use super::recorded::AuditDetails;

/// A user's groups
#[utoipa::path(get, path = "/users/{user}/groups", tag = "groups", responses((status = 200, body = [UserGroup])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<UserGroup>> {
    Ok(Json(app.store.groups(owner.id).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupLabel {
    #[schema(min_length = 1, max_length = 64, pattern = "^[+-]*([0-9]+[^/0-9][^/]*|[^/0-9+-][^/]*)?$")]
    label: String,
}

/// Makes a group
///
/// Its owner is in it, with the right `change`. A user is in at most 100 groups, their own among them (409).
#[utoipa::path(post, path = "/users/{user}/groups", tag = "groups", request_body = GroupLabel,
    responses((status = 201, body = UserGroup)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<GroupLabel>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<UserGroup>), Failure> {
    let Json(GroupLabel { label }) = body?;
    let group = app.store.add_group(owner.id, &label, now_ms()).await?;
    Ok((StatusCode::CREATED, Extension(AuditDetails::made(label)), Json(group)))
}

/// A group: who is in it, who is asked to join, and which devices and single streams are given to it
#[utoipa::path(get, path = "/users/{user}/groups/{group}", tag = "groups",
    responses((status = 200, body = GroupDetails)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(group): Extension<UserGroup>,
) -> Answer<GroupDetails> {
    Ok(Json(app.store.group_details(owner.id, group).await?))
}

/// Gives a group another label
#[utoipa::path(put, path = "/users/{user}/groups/{group}", tag = "groups", request_body = GroupLabel,
    responses((status = 200, body = UserGroup)))]
pub(super) async fn rename(
    State(app): State<Arc<App>>,
    Extension(group): Extension<UserGroup>,
    body: Body<GroupLabel>,
) -> Answer<UserGroup> {
    let Json(GroupLabel { label }) = body?;
    app.store.rename_group(group.id, &label).await?;
    Ok(Json(UserGroup { label, ..group }))
}

/// Deletes a group
///
/// What its members could do by it ends before this answers, and so do the live feeds that rested on it.
#[utoipa::path(delete, path = "/users/{user}/groups/{group}", tag = "groups",
    responses((status = 204, description = "The group is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(group): Extension<UserGroup>,
) -> Result<StatusCode, Failure> {
    app.store.delete_group(group.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MemberAccess {
    /// What the member may do with the devices of others in the group
    access: GroupAccess,
}

/// Asks a user to join a group, or gives a member another right
///
/// The answer is the same whether there is a user of this name. Who is asked is no member before they join. A group has at most 100 members and
/// invitations (409); the invitations of a user who is asked to join 100 groups already do not reach them.
#[utoipa::path(put, path = "/users/{user}/groups/{group}/members/{member}", tag = "groups",
    request_body = MemberAccess, responses((status = 200, body = GroupMember)))]
pub(super) async fn set_member(
    State(app): State<Arc<App>>,
    Extension(group): Extension<UserGroup>,
    names: RawPathParams,
    body: Body<MemberAccess>,
) -> Answer<GroupMember> {
    let (Json(MemberAccess { access }), username) = (body?, named(&names, "member"));
    Ok(Json(app.store.put_member(group.id, username, access, now_ms()).await?))
}

/// Removes a member of a group, or withdraws an invitation
///
/// Devices and streams that the member has given to the group are taken back.
#[utoipa::path(delete, path = "/users/{user}/groups/{group}/members/{member}", tag = "groups",
    responses((status = 204, description = "No member, and not asked to be one")))]
pub(super) async fn remove_member(
    State(app): State<Arc<App>>,
    Extension(group): Extension<UserGroup>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.remove_member(group.id, named(&names, "member")).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a device out of a group, whosever it is
#[utoipa::path(delete, path = "/users/{user}/groups/{group}/devices/{device}", tag = "groups",
    responses((status = 204, description = "It is given to the group no more")))]
pub(super) async fn remove_device(
    State(app): State<Arc<App>>,
    Extension(group): Extension<UserGroup>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.take_from_group(&group.id.0.to_string(), named(&names, "device")).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a single stream out of a group, whosever it is
#[utoipa::path(delete, path = "/users/{user}/groups/{group}/streams/{shared}", tag = "groups",
    responses((status = 204, description = "It is given to the group no more")))]
pub(super) async fn remove_stream(
    State(app): State<Arc<App>>,
    Extension(group): Extension<UserGroup>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.take_stream_from_group(&group.id.0.to_string(), named(&names, "shared")).await?;
    Ok(StatusCode::NO_CONTENT)
}
