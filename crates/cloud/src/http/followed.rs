//! `/users/{user}/followed`: streams that a user follows.

use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use sixlock_store::{FollowedStream, now_ms};

use super::app::{Answer, App};
use super::caller::Owner;
use super::failure::Failure;
use super::paths::named;
use crate::Error;

/// The streams that a user follows, in the order in which that began
///
/// Of one that is public no more, that no group lets the user read any more, or that is gone, `stream` is null.
#[utoipa::path(get, path = "/users/{user}/followed", tag = "shared",
    responses((status = 200, body = [FollowedStream])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<FollowedStream>> {
    Ok(Json(app.store.followed(owner.id).await?))
}

/// Follows a stream: one that is public, that a group lets the user read, or the user's own
///
/// A user follows at most 100.
#[utoipa::path(put, path = "/users/{user}/followed/{shared}", tag = "shared",
    responses((status = 200, body = FollowedStream)))]
pub(super) async fn follow(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Answer<FollowedStream> {
    let followed = app.store.follow(owner.id, named(&names, "shared"), now_ms()).await;
    followed.map(Json).map_err(|error| match error {
        Error::Unknown(_) => Failure::not_shared(),
        error => error.into(),
    })
}

/// Follows a stream no more
#[utoipa::path(delete, path = "/users/{user}/followed/{shared}", tag = "shared",
    responses((status = 204, description = "It is followed no more")))]
pub(super) async fn unfollow(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.unfollow(owner.id, named(&names, "shared")).await?;
    Ok(StatusCode::NO_CONTENT)
}
