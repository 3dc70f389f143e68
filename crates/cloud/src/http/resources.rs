//! `/users/{user}/resources`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_base::Security;
use utoipa::ToSchema;

use super::access::Owner;
use super::failure::Failure;
use super::{Answer, App, Body};
use crate::secrets::Secret;
use crate::store::{Device, Resource, ResourceId};

/// A user's resources
#[utoipa::path(get, path = "/users/{user}/resources", tag = "resources",
    responses((status = 200, body = [Resource])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<Resource>> {
    Ok(Json(app.store.resources(owner.id).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewResource {
    label: String,
    mode: String,
    identity: Option<String>,
    key: Option<String>,
}

/// A resource just made: the only answer that ever holds its key.
#[derive(Serialize, ToSchema)]
pub(super) struct ResourceWithKey {
    id: ResourceId,
    label: String,
    mode: String,
    identity: Option<String>,
    key: String,
}

/// Adds a resource
#[utoipa::path(post, path = "/users/{user}/resources", tag = "resources", request_body = NewResource,
    responses((status = 201, body = ResourceWithKey)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<NewResource>,
) -> Result<(StatusCode, Json<ResourceWithKey>), Failure> {
    let Json(NewResource { label, mode, identity, key }) = body?;
    let mode: Security = mode.parse().map_err(|error| Failure::invalid(format!("mode: {error}")))?;
    let key = key.map(|key| Secret::new(key.into_bytes()));
    let enrolled = app.store.add_resource(owner.id, Device { label, mode, identity, key }).await?;
    let Resource { id, label, mode, identity } = enrolled.resource;
    // The key was text when it came in, or made of printable characters.
    let key = String::from_utf8_lossy(enrolled.key.bytes()).into_owned();
    Ok((StatusCode::CREATED, Json(ResourceWithKey { id, label, mode, identity, key })))
}

/// A resource
#[utoipa::path(get, path = "/users/{user}/resources/{resource}", tag = "resources",
    responses((status = 200, body = Resource)))]
pub(super) async fn show(Extension(resource): Extension<Resource>) -> Json<Resource> {
    Json(resource)
}
