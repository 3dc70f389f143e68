//! `/endpoints` and `/public-keys`: where devices report to, and who it is that they find there.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::app::App;
use super::reach::Endpoints;
use crate::public_keys::{CLOUD_NAME, expires, pem};

/// Where devices report to, each as `address:port`
#[utoipa::path(get, path = "/endpoints", tag = "cloud", responses((status = 200, body = Endpoints)))]
pub(super) async fn show(State(app): State<Arc<App>>) -> Json<Endpoints> {
    Json(app.reach.endpoints)
}

/// By what the cloud proves itself.
#[derive(Serialize, ToSchema)]
pub(super) struct PublicKeys {
    /// The name in its certificate
    name: &'static str,
    /// Its public key, in PEM
    public_key: String,
    /// Its certificate, in PEM
    certificate: String,
    /// When its certificate ends, in milliseconds since 1970
    certificate_expires: Option<i64>,
    /// The certificate of its authority, which signs those of devices, too
    authority: String,
    /// When that ends
    authority_expires: Option<i64>,
}

/// By what the cloud proves itself to devices
#[utoipa::path(get, path = "/public-keys", tag = "cloud", responses((status = 200, body = PublicKeys)))]
pub(super) async fn public_keys(State(app): State<Arc<App>>) -> Json<PublicKeys> {
    let own = app.store.own_keys();
    Json(PublicKeys {
        name: CLOUD_NAME,
        public_key: pem::public_key(own.public_key()),
        certificate: pem::certificate(own.certificate()),
        certificate_expires: expires(own.certificate()),
        authority: pem::certificate(own.authority()),
        authority_expires: expires(own.authority()),
    })
}
