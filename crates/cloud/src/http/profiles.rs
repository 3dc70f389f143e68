//! `/users/{user}/profiles`: what devices of one kind have in common.

use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use sixlock_store::{NamedProfile, Profile};

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::failure::Failure;
use super::paths::named;

/// A user's profiles
#[utoipa::path(get, path = "/users/{user}/profiles", tag = "profiles",
    responses((status = 200, body = [NamedProfile])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<NamedProfile>> {
    Ok(Json(app.store.profiles(owner.id).await?))
}

/// A profile
#[utoipa::path(get, path = "/users/{user}/profiles/{profile}", tag = "profiles",
    responses((status = 200, body = NamedProfile)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Answer<NamedProfile> {
    let profile = app.store.profile(owner.id, named(&names, "profile")).await?;
    profile.map(Json).ok_or(Failure::unknown("profile"))
}

/// Sets a profile
///
/// Resources that are made with it from then on have what it says: `profile` of a new resource, or of one of an import, is its label.
/// Those that are there already stay as they are. A user has at most 100 profiles.
#[utoipa::path(put, path = "/users/{user}/profiles/{profile}", tag = "profiles", request_body = Profile,
    responses((status = 200, description = "Changed", body = NamedProfile),
        (status = 201, description = "Added", body = NamedProfile)))]
pub(super) async fn set(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
    body: Body<Profile>,
) -> Result<(StatusCode, Json<NamedProfile>), Failure> {
    let (Json(profile), label) = (body?, named(&names, "profile").to_owned());
    let is_new = app.store.put_profile(owner.id, &label, &profile).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(NamedProfile { label, profile })))
}

/// Removes a profile
///
/// Resources that were made with it stay as they are.
#[utoipa::path(delete, path = "/users/{user}/profiles/{profile}", tag = "profiles",
    responses((status = 204, description = "Removed")))]
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.remove_profile(owner.id, named(&names, "profile")).await?;
    Ok(StatusCode::NO_CONTENT)
}
