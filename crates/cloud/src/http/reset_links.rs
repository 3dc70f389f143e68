//! Passwords that are set by a one-time link: `/users/{user}/reset-link`, `/reset-password`, and a page for browsers.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Form, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{User, now_ms};
use utoipa::ToSchema;

use super::app::{App, Body};
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::pages::{instead, page as shown_as};
use super::paths::reset_path;
use super::recorded::AuditDetails;

/// A link just made: the only answer that ever holds it.
#[derive(Serialize, ToSchema)]
pub(super) struct ResetLink {
    /// The path of the page on which the password is set, at the address of this cloud
    path: String,
    /// When it ends, in milliseconds since 1970
    expires: i64,
}

/// The only place where a link leaves the cloud: it is told to whoever asked for it, to be handed to the user.
fn hand_over(_user: &User, token: &str, expires: i64) -> Json<ResetLink> {
    Json(ResetLink { path: reset_path(token), expires })
}

/// Makes a one-time link by which the user sets a new password
///
/// It is good for an hour, and the one before ends. Nothing is sent to the user: hand it over. Administrators make links for
/// others; for themselves only with the token in the file `admin-token`.
#[utoipa::path(post, path = "/users/{user}/reset-link", tag = "users",
    responses((status = 201, body = ResetLink)))]
pub(super) async fn make(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Result<(StatusCode, Json<ResetLink>), Failure> {
    // Else a session that somebody left open would be enough to take the account over.
    if caller.user.id == owner.id && !caller.is_operators {
        return Err(Failure::new(
            StatusCode::FORBIDDEN,
            "own_password",
            "Nobody makes a link for themselves.",
            "Change your password with the present one, or ask another administrator.",
        ));
    }
    let (token, expires) = app.store.make_reset_link(owner.id, now_ms()).await?;
    Ok((StatusCode::CREATED, hand_over(&owner, &token, expires)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewPassword {
    /// The token of the link.
    #[schema(max_length = 64)]
    token: String,
    /// 8 to 256 bytes in UTF-8, which may be fewer characters; not among the commonest, and not the username.
    #[schema(max_length = 256)]
    password: String,
}

/// Sets a password by a one-time link
///
/// All sessions of the user end, and the link is used up. A second factor is asked for as before.
#[utoipa::path(post, path = "/reset-password", tag = "sessions", request_body = NewPassword,
    responses((status = 204, description = "The password is set")))]
pub(super) async fn reset(
    State(app): State<Arc<App>>,
    body: Body<NewPassword>,
) -> Result<(StatusCode, Extension<AuditDetails>), Failure> {
    let Json(NewPassword { token, password }) = body?;
    let deed = set(&app, &token, password).await?;
    Ok((StatusCode::NO_CONTENT, Extension(deed)))
}

async fn set(app: &App, token: &str, password: String) -> Result<AuditDetails, Failure> {
    match app.store.reset_password(token, password, now_ms()).await? {
        Some(user) => Ok(AuditDetails::actions(vec!["password_reset"]).who(user.username)),
        None => Err(Failure::new(
            StatusCode::FORBIDDEN,
            "wrong_link",
            "This link was used already, is older than an hour, or is none.",
            "Ask an administrator for a new one, or the operator: sixlock users reset-link.",
        )),
    }
}

#[derive(Deserialize)]
pub(super) struct Link {
    #[serde(default)]
    token: String,
}

/// The page of a link. Looking at it does not use the link up.
pub(super) async fn page(Query(Link { token }): Query<Link>) -> Response {
    form(StatusCode::OK, &token, "")
}

/// What the page sends.
pub(super) async fn send(
    State(app): State<Arc<App>>,
    body: Result<Form<NewPassword>, FormRejection>,
) -> Result<Response, Failure> {
    let Form(NewPassword { token, password }) =
        body.map_err(|_| Failure::invalid("the form has token and password"))?;
    match set(&app, &token, password).await {
        Ok(deed) => {
            let done = "<p>Your password is set, and all your sessions have ended. <a href=\"/\">Sign in</a>";
            Ok((Extension(deed), shown(StatusCode::OK, done)).into_response())
        }
        Err(refused) if refused.status == StatusCode::BAD_REQUEST => {
            Ok(form(StatusCode::BAD_REQUEST, &token, refused.message()))
        }
        Err(refused) => {
            let said = format!("<p>{}", refused.message());
            Ok(instead(refused, SUBJECT, &said))
        }
    }
}

/// What the page is about.
const SUBJECT: &str = "New password";

fn form(status: StatusCode, token: &str, said: &str) -> Response {
    // What is no token must not become a part of the page.
    let token = if token.bytes().all(|byte| byte.is_ascii_hexdigit()) { token } else { "" };
    let form = format!(
        "<form method=\"post\"><input type=\"hidden\" name=\"token\" value=\"{token}\">\
         <p><label>New password, of at least 8 characters <input type=\"password\" name=\"password\" \
         autocomplete=\"new-password\" minlength=\"8\" maxlength=\"256\" required autofocus></label> \
         <button>Set the password</button><p role=\"alert\">{said}</form>"
    );
    shown(status, &form)
}

fn shown(status: StatusCode, content: &str) -> Response {
    shown_as(status, SUBJECT, content)
}
