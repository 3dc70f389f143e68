//! `/users/{user}/identities`: DTLS identities of users, by which they act over CoAP.

use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_base::{Security, TransportSuite};
use sixlock_store::{MadeIdentity, NewIdentity, Secret, TokenScope, UserIdentity, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::other_authorities::check_authority;
use super::paths::named;
use super::recorded::AuditDetails;
use super::resources::{Made, security};

/// A user's DTLS identities; keys are never told
#[utoipa::path(get, path = "/users/{user}/identities", tag = "identities",
    responses((status = 200, body = [UserIdentity])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<UserIdentity>> {
    Ok(Json(app.store.user_identities(owner.id, now_ms()).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUserIdentity {
    #[schema(min_length = 1, max_length = 64, pattern = "^[+-]*([0-9]+[^/0-9][^/]*|[^/0-9+-][^/]*)?$")]
    label: String,
    /// `dtls-psk`, `dtls-rpk` or `dtls-x509`; without it `dtls-psk`
    #[schema(pattern = "^dtls-(psk|rpk|x509)$")]
    #[serde(default)]
    mode: Option<String>,
    /// What is proved; without it the user's name and the label with a slash between them, or with `dtls-rpk` SHA-256 of the public key in
    /// hexadecimal digits
    #[schema(min_length = 1, max_length = 128)]
    identity: Option<String>,
    /// As that of a new resource, with the same rule for certificates of other authorities
    key: Option<String>,
    /// For how many seconds a certificate is good that is made; without it, two years
    valid_s: Option<u32>,
    /// When it ends; without it, not by itself
    expires: Option<i64>,
    /// Whether it may only read
    #[serde(default)]
    read_only: bool,
    /// The id or label of the only resource that it may be used for; without it, it may be used for all
    #[schema(min_length = 1, max_length = 64)]
    resource: Option<String>,
}

/// An identity just made: the only answer that ever holds its key.
#[derive(Serialize, ToSchema)]
pub(super) struct IdentityWithKey {
    #[serde(flatten)]
    identity: UserIdentity,
    #[serde(flatten)]
    made: Made,
}

/// Makes a DTLS identity that acts for the user over CoAP
///
/// A user has at most 32. An identity is a device's or a user's, and of one of them. One that may only read, or may be used for a resource
/// only, is for no more than a token of that scope; one for a resource goes with it.
#[utoipa::path(post, path = "/users/{user}/identities", tag = "identities", request_body = NewUserIdentity,
    responses((status = 201, body = IdentityWithKey)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<NewUserIdentity>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<IdentityWithKey>), Failure> {
    let Json(NewUserIdentity { label, mode, identity, key, valid_s, expires, read_only, resource }) = body?;
    let mode = match mode {
        Some(mode) => security(&mode).map_err(Failure::invalid)?,
        None => Security { transport: Some(TransportSuite::DtlsPsk), ..Security::default() },
    };
    check_authority(&caller, mode, key.is_some())?;
    let resource = app.resource_named(owner.id, resource.as_deref()).await?;
    let key = key.map(|key| Secret::new(key.into_bytes()));
    let scope = TokenScope { read_only, resource, stream: None };
    let new = NewIdentity { label, mode, identity, key, valid_s, expires, scope };
    let MadeIdentity { identity, key, certificate } =
        app.store.add_user_identity(&owner, new, now_ms()).await?;
    let made = Made::new(key.as_ref(), certificate.as_deref());
    let deed = Extension(AuditDetails::made(identity.label.clone()));
    Ok((StatusCode::CREATED, deed, Json(IdentityWithKey { identity, made })))
}

/// Ends a DTLS identity
///
/// Sessions that rest on it are closed when this is answered, with what is observed in them.
#[utoipa::path(delete, path = "/users/{user}/identities/{identity}", tag = "identities",
    responses((status = 204, description = "It is good no more")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    names: RawPathParams,
) -> Result<StatusCode, Failure> {
    app.store.delete_user_identity(owner.id, named(&names, "identity")).await?;
    Ok(StatusCode::NO_CONTENT)
}
