//! `/users/{user}/oidc`: the accounts at OpenID providers by which a user signs in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json};
use serde::Serialize;
use sixlock_store::{OidcLinks, now_ms};
use sixlock_telemetry::Client;
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::oidc::{kept, provider};
use super::paths::OIDC_SIGN_IN;
use super::present_password::check_present_password;
use super::second_factors::PresentPassword;
use crate::oidc::{Linking, Pending};

/// By which accounts at OpenID providers a user signs in, and whether there is a password
#[utoipa::path(get, path = "/users/{user}/oidc", tag = "users", responses((status = 200, body = OidcLinks)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<OidcLinks> {
    Ok(Json(app.store.oidc_links(owner.id).await?))
}

/// Where the browser goes that is to link an account.
#[derive(Serialize, ToSchema)]
pub(super) struct LinkBegun {
    /// The path, at the address of this cloud
    path: String,
}

/// Begins to link an account at the provider to oneself
///
/// The browser that asks gets a cookie, goes to the path within ten minutes and from there to the provider. When it comes back, it is asked once
/// more whether the account with which it has signed in there is to be linked. That is done if the browser has the cookie of the very session
/// in which this was asked. Without a provider the answer is 403.
#[utoipa::path(post, path = "/users/{user}/oidc", tag = "users", request_body = PresentPassword,
    responses((status = 201, body = LinkBegun)))]
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(client): Extension<Client>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<PresentPassword>,
) -> Result<Response, Failure> {
    let Json(PresentPassword { current_password }) = body?;
    let oidc = provider(&app)?;
    check_present_password(&app, &caller, client, &owner, current_password).await?;
    let cookie = oidc.seal(Pending::Linking(Linking::new(owner.id, caller.token)), now_ms())?;
    let cookie = AppendHeaders([(header::SET_COOKIE, kept(&app, &cookie))]);
    let begun = Json(LinkBegun { path: format!("{OIDC_SIGN_IN}?link=true") });
    Ok((StatusCode::CREATED, cookie, begun).into_response())
}

/// Unlinks all accounts at OpenID providers from a user
///
/// All sessions of the user end but the one that asks. Whoever unlinks their own gives the present password. Administrators unlink those of
/// others.
#[utoipa::path(delete, path = "/users/{user}/oidc", tag = "users", request_body = Option<PresentPassword>,
    responses((status = 204, description = "Nobody signs in as this user by a provider any more")))]
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(client): Extension<Client>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Option<Json<PresentPassword>>,
) -> Result<StatusCode, Failure> {
    let present = body.and_then(|Json(PresentPassword { current_password })| current_password);
    check_present_password(&app, &caller, client, &owner, present).await?;
    app.store.unlink_oidc(owner.id, Some(caller.token)).await?;
    Ok(StatusCode::NO_CONTENT)
}
