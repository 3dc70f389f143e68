//! `/users/{user}/resources`.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_base::Security;
use sixlock_store::{
    CertificateTerms, Device, Enrolled, Location, Resource, ResourceChange, ResourceId, Secret,
};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Given, Owner};
use super::failure::Failure;
use super::listing::{self, ListQuery};
use super::other_authorities::{check_authority, is_proved_elsewhere};
use super::query::given;
use super::recorded::AuditDetails;
use crate::public_keys::pem;

/// A resource, and when it was heard.
#[derive(Serialize, ToSchema)]
pub(super) struct HeardResource {
    #[serde(flatten)]
    pub(super) resource: Resource,
    /// When the last post with readings arrived that was accepted, in milliseconds since 1970; null if none ever was
    pub(super) heard: Option<i64>,
}

/// A user's resources
#[utoipa::path(get, path = "/users/{user}/resources", tag = "resources",
    params(ListQuery), responses((status = 200, body = [HeardResource])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Answer<Vec<HeardResource>> {
    let resources = app.store.resources(owner.id, listing::page(query)?).await?;
    let [Some(first), Some(last)] = [resources.first(), resources.last()] else {
        return Ok(Json(Vec::new()));
    };
    let heard = app.store.heard(owner.id, (first.id, last.id)).await?;
    let with = |resource: Resource| HeardResource { heard: heard.get(&resource.id).copied(), resource };
    Ok(Json(resources.into_iter().map(with).collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewResource {
    #[schema(min_length = 1, max_length = 64, pattern = "^[+-]*([0-9]+[^/0-9][^/]*|[^/0-9+-][^/]*)?$")]
    label: String,
    /// `dtls-psk`, `dtls-rpk` or `dtls-x509`, with what else protects the device joined by `+`; without it `none`, as for a resource
    /// that is polled
    #[schema(pattern = "^([a-z0-9:@-]+)([+][a-z0-9:@-]+)*$")]
    #[serde(default)]
    mode: Option<String>,
    /// What the device proves; without it the label, or with `dtls-rpk` SHA-256 of its public key in hexadecimal digits
    #[schema(min_length = 1, max_length = 128)]
    identity: Option<String>,
    /// The pre-shared key, made if it is not stated. With `dtls-rpk` the public key, in PEM. With `dtls-x509` the public key,
    /// for which a certificate is made, or the certificate; without either, any certificate with the stated identity is taken that
    /// one of the authorities signed which the cloud was told of: only an administrator may add such a resource (403).
    key: Option<String>,
    /// For how many seconds a certificate is good that is made; without it, two years
    valid_s: Option<u32>,
    /// Whether a certificate that is made is a server's, too, as the device needs it to be polled
    #[serde(default)]
    server: bool,
    /// Words of 1 to 40 characters without commas, kept in small letters
    #[serde(default)]
    #[schema(max_items = 16)]
    tags: Vec<String>,
    /// 1 to 8 names with a `/` between two, or nothing
    #[serde(default)]
    #[schema(max_length = 256)]
    folder: String,
    /// How often the device reports, in seconds
    #[schema(minimum = 1, maximum = 31_622_400)]
    period_s: Option<i64>,
    /// Where the device is, in degrees
    place: Option<Location>,
    /// The label of the profile that says the rest, and which streams and parsers it has
    profile: Option<String>,
}

impl NewResource {
    /// The device that is described, or what is wrong with the description.
    pub(crate) fn read(self) -> Result<Device, String> {
        let Self { label, mode, identity, key, valid_s, server, tags, folder, period_s, place, profile } =
            self;
        let mode = mode.as_deref().map(security).transpose()?.unwrap_or_default();
        let key = key.map(|key| Secret::new(key.into_bytes()));
        let certificate = CertificateTerms { valid_s, server };
        Ok(Device { label, mode, identity, key, certificate, tags, folder, period_s, place, profile })
    }

    /// Refuses what `caller` may not claim.
    pub(super) fn check_authority(&self, caller: &Caller) -> Result<(), Failure> {
        match self.mode.as_deref().map(security) {
            Some(Ok(mode)) => check_authority(caller, mode, self.key.is_some()),
            // What is no mode is refused as that.
            _ => Ok(()),
        }
    }

    /// Whether its identity is one that another authority proves: only an administrator says whose such a one is.
    pub(crate) fn is_proved_elsewhere(&self) -> bool {
        let mode = self.mode.as_deref().and_then(|mode| security(mode).ok());
        mode.is_some_and(|mode| is_proved_elsewhere(mode, self.key.is_some()))
    }

    /// Whether its key is to be made.
    pub(super) fn has_no_key(&self) -> bool {
        self.key.is_none()
    }
}

/// A resource just made: the only answer that ever holds its key.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResourceWithKey {
    id: ResourceId,
    label: String,
    mode: String,
    identity: Option<String>,
    #[serde(flatten)]
    made: Made,
}

impl ResourceWithKey {
    pub(crate) fn new(Enrolled { resource, key, certificate }: Enrolled) -> Self {
        let made = Made::new(key.as_ref(), certificate.as_deref());
        let Resource { id, label, mode, identity, .. } = resource;
        Self { id, label, mode, identity, made }
    }
}

/// What proves an identity and is told once.
#[derive(Serialize, ToSchema)]
pub(crate) struct Made {
    /// The pre-shared key
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The certificate, if one was made, in PEM
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<String>,
}

impl Made {
    /// Of a pre-shared key, which there is none of with public keys, and a certificate.
    pub(super) fn new(key: Option<&Secret>, certificate: Option<&[u8]>) -> Self {
        // The key was text when it came in, or made of printable characters.
        let text = |key: &Secret| String::from_utf8_lossy(key.bytes()).into_owned();
        Self { key: key.map(text), certificate: certificate.map(pem::certificate) }
    }
}

/// Adds a resource
#[utoipa::path(post, path = "/users/{user}/resources", tag = "resources", request_body = NewResource,
    responses((status = 201, body = ResourceWithKey)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<NewResource>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<ResourceWithKey>), Failure> {
    let Json(device) = body?;
    device.check_authority(&caller)?;
    let enrolled = app.store.add_resource(owner.id, device.read().map_err(Failure::invalid)?).await?;
    let deed = Extension(AuditDetails::made(enrolled.resource.label.clone()));
    Ok((StatusCode::CREATED, deed, Json(ResourceWithKey::new(enrolled))))
}

/// A resource
#[utoipa::path(get, path = "/users/{user}/resources/{resource}", tag = "resources",
    responses((status = 200, body = HeardResource)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(resource): Extension<Resource>,
) -> Answer<HeardResource> {
    let heard = app.store.heard_of(owner.id, resource.id).await?;
    Ok(Json(HeardResource { resource, heard }))
}

pub(super) fn security(mode: &str) -> Result<Security, String> {
    mode.parse().map_err(|error| format!("mode: {error}"))
}

/// What is to change: what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDetails {
    #[schema(min_length = 1, max_length = 64, pattern = "^[+-]*([0-9]+[^/0-9][^/]*|[^/0-9+-][^/]*)?$")]
    label: Option<String>,
    #[schema(pattern = "^([a-z0-9:@-]+)([+][a-z0-9:@-]+)*$")]
    mode: Option<String>,
    #[schema(max_length = 256)]
    description: Option<String>,
    /// All tags that it is to have: words of 1 to 40 characters without commas, kept in small letters
    #[schema(max_items = 16)]
    tags: Option<Vec<String>>,
    /// 1 to 8 names with a `/` between two, or nothing
    #[schema(max_length = 256)]
    folder: Option<String>,
    /// How often the device reports, in seconds; null: that is not said
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 31_622_400)]
    period_s: Option<Option<i64>>,
    /// Where the device is, in degrees; null: that is not said
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Location>)]
    place: Option<Option<Location>>,
}

impl NewDetails {
    /// Whether some of it is for the owner alone, and not for members of a group that has the resource.
    pub(crate) const fn is_for_owner(&self) -> bool {
        self.label.is_some() || self.mode.is_some() || self.folder.is_some()
    }

    /// What is to change, or what is wrong with it.
    pub(crate) fn read(&self) -> Result<ResourceChange<'_>, String> {
        let Self { label, mode, description, tags, folder, period_s, place } = self;
        Ok(ResourceChange {
            label: label.as_deref(),
            mode: mode.as_deref().map(security).transpose()?,
            description: description.as_deref(),
            tags: tags.as_deref(),
            folder: folder.as_deref(),
            period_s: *period_s,
            place: *place,
        })
    }
}

/// Changes a resource's label, mode, description, tags, folder, period or place
///
/// Its identity and key stay. Devices change nothing of it but label and description, and members of groups neither label nor mode nor folder.
#[utoipa::path(put, path = "/users/{user}/resources/{resource}", tag = "resources",
    request_body = NewDetails, responses((status = 200, body = HeardResource)))]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(resource): Extension<Resource>,
    given: Option<Extension<Given>>,
    body: Body<NewDetails>,
) -> Answer<HeardResource> {
    let Json(details) = body?;
    if given.is_some() && details.is_for_owner() {
        return Err(Failure::is_owners());
    }
    let change = details.read().map_err(Failure::invalid)?;
    let heard = app.store.heard_of(owner.id, resource.id).await?;
    app.store.change_resource(resource.id, change, None).await?;
    let resource = app.store.resource_by_id(resource.id).await?.ok_or(Failure::unknown("resource"))?;
    Ok(Json(HeardResource { resource, heard }))
}

/// Deletes a resource with its streams and points
///
/// Its keys are good no more, and the sessions that rest on them are closed before this answers.
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}", tag = "resources",
    responses((status = 204, description = "The resource is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Result<StatusCode, Failure> {
    app.store.delete_resource(resource.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
