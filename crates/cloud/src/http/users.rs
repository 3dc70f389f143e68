//! `/users` and `/me`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;

use super::access::{Caller, Owner};
use super::failure::Failure;
use super::listing::{self, ListQuery};
use super::{Answer, App, Body};
use crate::store::User;

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
    username: String,
    /// 8 to 256 bytes.
    password: String,
    #[serde(default)]
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
) -> Result<(StatusCode, Json<User>), Failure> {
    let Json(NewUser { username, password, email, admin }) = body?;
    let user = app.store.add_user(&username, &email, password, admin).await?;
    Ok((StatusCode::CREATED, Json(user)))
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
    email: Option<String>,
    /// The new password.
    password: Option<String>,
    /// The present password, which whoever changes their own must give.
    current_password: Option<String>,
}

/// Changes a user's email address or password
///
/// A new password ends all sessions of the user but the one that asks. Tokens for programs stay.
#[utoipa::path(put, path = "/users/{user}", tag = "users", request_body = UserChange,
    responses((status = 200, body = User)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<UserChange>,
) -> Answer<User> {
    let Json(UserChange { email, password, current_password }) = body?;
    if let Some(password) = password {
        let current = current_password.unwrap_or_default();
        let known = caller.user.id != owner.id
            || app.store.user_by_password(&owner.username, current).await?.is_some();
        if !known {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                "wrong_password",
                "The current password is another.",
                "Send it as current_password.",
            ));
        }
        app.store.change_password(owner.id, password, &caller.token).await?;
    }
    if let Some(email) = &email {
        app.store.change_email(owner.id, email).await?;
    }
    Ok(Json(User { email: email.unwrap_or(owner.email), ..owner }))
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
