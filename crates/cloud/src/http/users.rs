//! `/users` and `/me`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::User;
use sixlock_telemetry::Client;
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::listing::{self, ListQuery};
use super::recorded::AuditDetails;
use super::sign_in;

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
    /// Whether the user may do everything.
    #[serde(default)]
    admin: bool,
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
    let Json(NewUser { username, password, email, admin }) = body?;
    let user = app.store.add_user(&username, &email, password, admin).await?;
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
    /// The new password: 8 to 256 bytes in UTF-8, which may be fewer characters; not among the commonest, and not the username.
    #[schema(max_length = 256)]
    password: Option<String>,
    /// The present password, which whoever changes their own must give.
    #[schema(max_length = 256)]
    current_password: Option<String>,
    /// Whether the user may do everything; an administrator says so.
    admin: Option<bool>,
}

/// Changes a user's email address, password or role
///
/// All that is given is changed or, if some of it cannot be, nothing.
/// A new password ends all sessions of the user but the one that asks, and their live feeds. Tokens for programs stay. A new
/// role ends all live feeds of the user. The administrator of the first start stays one. Whoever has the token in the file
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
    let Json(UserChange { email, password, current_password, admin }) = body?;
    if admin.is_some() && !caller.user.admin {
        return Err(Failure::forbidden());
    }
    if password.is_some() {
        check_present_password(&app, &caller, client, &owner, current_password).await?;
    }
    let admin = admin.filter(|admin| *admin != owner.admin);
    let done = [
        password.as_ref().map(|_| "password_changed"),
        email.as_ref().map(|_| "email_changed"),
        admin.map(|admin| if admin { "role_changed_to_admin" } else { "role_changed_to_user" }),
    ];
    let change = sixlock_store::UserChange { email, password, admin };
    let changed = app.store.change_user(&owner, change, Some(caller.token)).await?;
    Ok((Extension(AuditDetails::actions(done.into_iter().flatten().collect())), Json(changed)))
}

/// Refuses a change of one's own password by somebody who does not know the present one, but for the operator.
async fn check_present_password(
    app: &App,
    caller: &Caller,
    client: Client,
    owner: &User,
    present: Option<String>,
) -> Result<(), Failure> {
    if caller.user.id != owner.id || caller.is_operators {
        return Ok(());
    }
    let present = present.unwrap_or_default();
    match sign_in::user_by_password(app, client, &owner.username, present).await? {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            StatusCode::FORBIDDEN,
            "wrong_password",
            "The current password is another.",
            "Send it as current_password.",
        )
        .recorded()),
    }
}

/// Deletes a user with all that is theirs
///
/// The sessions of their devices end. The administrator of the first start stays.
#[utoipa::path(delete, path = "/users/{user}", tag = "users",
    responses((status = 204, description = "The user is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Result<StatusCode, Failure> {
    app.store.delete_user(owner).await?;
    Ok(StatusCode::NO_CONTENT)
}
