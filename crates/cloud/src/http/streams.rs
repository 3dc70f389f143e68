//! `…/resources/{resource}/streams`.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};

use super::{Answer, App};
use crate::store::{Resource, Stream};

/// A resource's streams
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams", tag = "streams",
    responses((status = 200, body = [Stream])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Vec<Stream>> {
    Ok(Json(app.store.streams(resource.id).await?))
}

/// A stream
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}", tag = "streams",
    responses((status = 200, body = Stream)))]
pub(super) async fn show(Extension(stream): Extension<Stream>) -> Json<Stream> {
    Json(stream)
}
