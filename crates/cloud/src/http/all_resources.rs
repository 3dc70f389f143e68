//! `/resources`: the resources of all users.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Serialize;
use sixlock_store::UserId;
use utoipa::ToSchema;

use super::app::{Answer, App};
use super::listing::{self, ListQuery};
use super::resources::HeardResource;

/// A resource, and whose it is.
#[derive(Serialize, ToSchema)]
pub(super) struct OwnedResource {
    #[serde(flatten)]
    resource: HeardResource,
    owner: ResourceOwner,
}

#[derive(Serialize, ToSchema)]
pub(super) struct ResourceOwner {
    pub(super) id: UserId,
    pub(super) username: String,
}

/// The resources of all users
#[utoipa::path(get, path = "/resources", tag = "resources", params(ListQuery),
    responses((status = 200, body = [OwnedResource])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Answer<Vec<OwnedResource>> {
    let resources = app.store.all_resources(listing::page(query)?).await?;
    let [Some((first, ..)), Some((last, ..))] = [resources.first(), resources.last()] else {
        return Ok(Json(Vec::new()));
    };
    let heard = app.store.heard_of_all((first.id, last.id)).await?;
    let owned = resources.into_iter().map(|(resource, id, username)| OwnedResource {
        resource: HeardResource { heard: heard.get(&resource.id).copied(), resource },
        owner: ResourceOwner { id, username },
    });
    Ok(Json(owned.collect()))
}
