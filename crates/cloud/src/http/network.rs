//! `/network`: the network that runs beside the cloud.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::failure::Failure;

/// The network that runs beside the cloud
#[utoipa::path(get, path = "/network", tag = "cloud", responses((status = 200, body = Object)))]
pub(super) async fn show(State(app): State<Arc<App>>) -> Result<Response, Failure> {
    let network = app.network.as_ref().ok_or(Failure::unknown("network: this cloud runs without one"))?;
    let json = network.borrow().to_string();
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response())
}
