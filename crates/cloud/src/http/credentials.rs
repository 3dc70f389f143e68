//! `/users/{user}/resources/{resource}/credentials`: who may say to be a device.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{
    CertificateTerms, Credential, HeldCredential, Resource, Rotated, Rotation, Secret, now_ms,
};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::listing::{self, ListQuery};
use super::other_authorities::check_authority;
use super::resources::{Made, security};

/// How long a credential stays good beside the one that replaces it, unless it is said: a day.
const OVERLAP_S: u32 = 24 * 3600;

/// The credentials of all of a user's resources
#[utoipa::path(get, path = "/users/{user}/credentials", tag = "credentials", params(ListQuery),
    responses((status = 200, body = [HeldCredential])))]
pub(super) async fn all(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Answer<Vec<HeldCredential>> {
    Ok(Json(app.store.credentials_of(owner.id, listing::page(query)?, now_ms()).await?))
}

/// A resource's credentials
///
/// The current one first; keys are never told.
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/credentials", tag = "credentials",
    responses((status = 200, body = [Credential])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<Credential>> {
    Ok(Json(app.store.credentials(resource.id, now_ms()).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewCredential {
    #[schema(min_length = 1, max_length = 128)]
    identity: Option<String>,
    /// As that of a new resource, with the same rule for certificates of other authorities
    key: Option<String>,
    /// For how many seconds a certificate is good that is made; without it, two years
    valid_s: Option<u32>,
    /// Whether a certificate that is made is a server's, too, as the device needs it to be polled
    #[serde(default)]
    server: bool,
    /// For how many seconds the present credential stays good; without it, a day.
    overlap_s: Option<u32>,
}

/// A credential just made: the only answer that ever holds its key.
#[derive(Serialize, ToSchema)]
pub(super) struct CredentialWithKey {
    identity: String,
    #[serde(flatten)]
    made: Made,
    /// The credential that it replaces, if that stays good for a while.
    replaced: Option<Credential>,
}

/// Replaces a resource's credential
///
/// The present one stays good for the overlap. One that was being replaced already ends at once.
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/credentials", tag = "credentials",
    request_body = NewCredential, responses((status = 201, body = CredentialWithKey)))]
pub(super) async fn rotate(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(resource): Extension<Resource>,
    body: Body<NewCredential>,
) -> Result<(StatusCode, Json<CredentialWithKey>), Failure> {
    let Json(NewCredential { identity, key, valid_s, server, overlap_s }) = body?;
    check_authority(&caller, security(&resource.mode).map_err(Failure::invalid)?, key.is_some())?;
    let now = now_ms();
    let until = now + 1000 * i64::from(overlap_s.unwrap_or(OVERLAP_S));
    let key = key.map(|key| Secret::new(key.into_bytes()));
    let certificate = CertificateTerms { valid_s, server };
    let Rotated { identity, key, certificate, replaced } =
        app.store.rotate(resource.id, Rotation { identity, key, certificate, until }, now).await?;
    let made = Made::new(key.as_ref(), certificate.as_deref());
    Ok((StatusCode::CREATED, Json(CredentialWithKey { identity, made, replaced })))
}

/// Ends all credentials of a resource
///
/// Its device cannot come in until it is given another. What it has sent is kept.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/credentials", tag = "credentials",
    responses((status = 204)))]
pub(super) async fn remove_all(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Result<StatusCode, Failure> {
    app.store.remove_credentials(resource.id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends a credential of a resource
///
/// Sessions that rest on it are closed when this is answered.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/credentials/{identity}", tag = "credentials",
    responses((status = 204)))]
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    Path((_, _, identity)): Path<(String, String, String)>,
) -> Result<StatusCode, Failure> {
    app.store.remove_credentials(resource.id, Some(identity)).await?;
    Ok(StatusCode::NO_CONTENT)
}
