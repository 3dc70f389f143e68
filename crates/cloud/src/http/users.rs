//! `/users` and `/me`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Deserialize;

use super::access::Caller;
use super::failure::Failure;
use super::{App, Body};
use crate::store::User;

pub(super) async fn me(Extension(caller): Extension<Caller>) -> Json<User> {
    Json(caller.user)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    username: String,
    password: String,
    #[serde(default)]
    email: String,
}

pub(super) async fn add(
    State(app): State<Arc<App>>,
    body: Body<NewUser>,
) -> Result<(StatusCode, Json<User>), Failure> {
    let Json(NewUser { username, password, email }) = body?;
    let user = app.store.add_user(&username, &email, password, false).await?;
    Ok((StatusCode::CREATED, Json(user)))
}
