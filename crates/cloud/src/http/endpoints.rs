//! `/endpoints`: where devices report to.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::App;

/// Where each door listens.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Endpoints {
    /// The HTTP API
    #[schema(value_type = String)]
    pub(crate) http: SocketAddr,
    /// CoAP without security, if it is switched on
    #[schema(value_type = Option<String>)]
    pub(crate) coap: Option<SocketAddr>,
    /// CoAP over DTLS
    #[schema(value_type = String)]
    pub(crate) coaps: SocketAddr,
}

/// Where devices report to, each as `address:port`
#[utoipa::path(get, path = "/endpoints", tag = "cloud", responses((status = 200, body = Endpoints)))]
pub(super) async fn show(State(app): State<Arc<App>>) -> Json<Endpoints> {
    Json(app.reach.endpoints)
}
