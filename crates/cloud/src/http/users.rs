//! `/users` and `/me`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::{Role, User};
use sixlock_telemetry::Client;
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner, for_policy};
use super::failure::Failure;
use super::listing::{self, ListQuery};
use super::present_password::check_present_password;
use super::recorded::AuditDetails;
use crate::access::{Action, Target, decide};
use crate::role_names::role_changed_to;

/// Who you are
#[utoipa::path(get, path = "/me", tag = "users", responses((status = 200, body = User)))]
pub(super) async fn me(Extension(caller): Extension<Caller>) -> Json<User> {
    Json(caller.user)
}

/// All users
#[utoipa::path(get, path = "/users", tag = "users", params(ListQuery), responses((status = 200, body = [User])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Answer<Vec<User>> {
    Ok(Json(app.store.users(listing::page(query)?).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    /// Unique, whatever the case of its letters.
    #[schema(min_length = 1, max_length = 64, pattern = "^[+-]*([0-9]+[^/0-9][^/]*|[^/0-9+-][^/]*)?$")]
    username: String,
    /// 8 to 256 bytes in UTF-8, which may be fewer characters; not among the commonest, and not the username.
    #[schema(max_length = 256)]
    password: String,
    #[serde(default)]
    #[schema(max_length = 254)]
    email: String,
    /// What the user may do; without it, a member.
    role: Option<Role>,
    /// `true` is the role `administrator`, `false` is `member`: as earlier clients say it.
    admin: Option<bool>,
}

/// Adds a user
///
/// There are at most 10000.
#[utoipa::path(post, path = "/users", tag = "users", request_body = NewUser,
    responses((status = 201, body = User)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    body: Body<NewUser>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<User>), Failure> {
    let Json(NewUser { username, password, email, role, admin }) = body?;
    let role = role_of(role, admin)?.unwrap_or(Role::Member);
    let user = app.store.add_user(&username, &email, password, role).await?;
    Ok((StatusCode::CREATED, Extension(AuditDetails::made(username)), Json(user)))
}

/// A user
#[utoipa::path(get, path = "/users/{user}", tag = "users", responses((status = 200, body = User)))]
pub(super) async fn show(Extension(Owner(owner)): Extension<Owner>) -> Json<User> {
    Json(owner)
}

/// What is to change: what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UserChange {
    #[schema(max_length = 254)]
    email: Option<String>,
    /// How the user wants to be called beside the user name, which members of their groups see. An empty one is none.
    #[schema(max_length = 64)]
    display_name: Option<String>,
    /// The new password: 8 to 256 bytes in UTF-8, which may be fewer characters; not among the commonest, and not the username.
    #[schema(max_length = 256)]
    password: Option<String>,
    /// The present password, which whoever changes their own must give.
    #[schema(max_length = 256)]
    current_password: Option<String>,
    /// What the user may do; an administrator says so.
    role: Option<Role>,
    /// Whether the account is disabled; an administrator says so, of others.
    disabled: Option<bool>,
    /// `true` is the role `administrator`, `false` is `member`: as earlier clients say it.
    admin: Option<bool>,
}

/// The role that a request names by either of its fields.
fn role_of(role: Option<Role>, admin: Option<bool>) -> Result<Option<Role>, Failure> {
    match (role, admin.map(Role::from)) {
        (Some(role), Some(other)) if role != other => {
            Err(Failure::invalid("role and admin say different things; leave admin out"))
        }
        (role, other) => Ok(role.or(other)),
    }
}

/// Changes a user's email address, display name, password or role, or disables the account
///
/// All that is given is changed or, if some of it cannot be, nothing.
/// A new password ends all sessions of the user but the one that asks, and their live feeds. Tokens for programs stay. A new
/// role ends all live feeds of the user, and so does disabling the account, after which neither the user nor a token of theirs is let in
/// until it is enabled; what is theirs stays, and their devices go on. The administrator of the first start stays one. Whoever has the token in the file
/// `admin-token` need not know the administrator's present password.
#[utoipa::path(put, path = "/users/{user}", tag = "users", request_body = UserChange,
    responses((status = 200, body = User)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(client): Extension<Client>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<UserChange>,
) -> Result<(Extension<AuditDetails>, Json<User>), Failure> {
    let Json(UserChange { email, display_name, password, current_password, role, disabled, admin }) = body?;
    let role = role_of(role, admin)?;
    if role.is_some() || disabled.is_some() {
        decide(for_policy(&caller), Action::ChangeRole, Target::User(owner.id))
            .map_err(|_| Failure::forbidden())?;
    }
    if disabled == Some(true) && caller.user.id == owner.id {
        return Err(Failure::invalid("nobody disables their own account"));
    }
    if password.is_some() {
        check_present_password(&app, &caller, client, &owner, current_password).await?;
    }
    let role = role.filter(|role| *role != owner.role);
    let disabled = disabled.filter(|disabled| *disabled != owner.disabled);
    let done = [
        password.as_ref().map(|_| "password_changed"),
        email.as_ref().map(|_| "email_changed"),
        display_name.as_ref().map(|_| "display_name_changed"),
        role.map(role_changed_to),
        disabled.map(|disabled| if disabled { "account_disabled" } else { "account_enabled" }),
    ];
    let change = sixlock_store::UserChange { email, display_name, password, role, disabled };
    let changed = app.store.change_user(&owner, change, Some(caller.token)).await?;
    Ok((Extension(AuditDetails::actions(done.into_iter().flatten().collect())), Json(changed)))
}

/// Deletes a user with all that is theirs
///
/// Their sessions, live feeds and tokens end, and those of their devices. The administrator of the first start stays. The record
/// keeps what was done by them, and backups keep what they hold.
#[utoipa::path(delete, path = "/users/{user}", tag = "users",
    responses((status = 204, description = "The user is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Result<StatusCode, Failure> {
    app.store.delete_user(owner).await?;
    Ok(StatusCode::NO_CONTENT)
}
