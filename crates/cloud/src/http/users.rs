//! `/users` and `/me`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::ToSchema;

use super::access::Caller;
use super::failure::Failure;
use super::{App, Body};
use crate::store::User;

/// Who you are
#[utoipa::path(get, path = "/me", tag = "users", responses((status = 200, body = User)))]
pub(super) async fn me(Extension(caller): Extension<Caller>) -> Json<User> {
    Json(caller.user)
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    username: String,
    password: String,
    #[serde(default)]
    email: String,
}

/// Adds a user
#[utoipa::path(post, path = "/users", tag = "users", request_body = NewUser,
    responses((status = 201, body = User)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    body: Body<NewUser>,
) -> Result<(StatusCode, Json<User>), Failure> {
    let Json(NewUser { username, password, email }) = body?;
    let user = app.store.add_user(&username, &email, password, false).await?;
    Ok((StatusCode::CREATED, Json(user)))
}
