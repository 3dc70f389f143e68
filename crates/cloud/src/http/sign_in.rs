//! Sessions, and the one-time link that opens the first of them.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{ADMINISTRATOR, SESSION_MS, SIGN_IN_LINK, User, now_ms, remove_sign_in_file};
use sixlock_telemetry::{Client, Event, Refused, Scheme};
use utoipa::ToSchema;

use super::app::{App, Body};
use super::caller::{COOKIE, Caller};
use super::cookies::is_secure;
use super::failure::{Failure, Refusal};
use super::one_time_codes;
use super::recorded::AuditDetails;

/// The longest name of a user, in characters.
const LONGEST_USERNAME: usize = 64;

#[derive(Deserialize)]
pub(super) struct SignIn {
    #[serde(default)]
    token: String,
}

pub(super) async fn sign_in(
    State(app): State<Arc<App>>,
    Query(SignIn { token }): Query<SignIn>,
) -> Result<Response, Failure> {
    // A used link is no error to the person who opens it again: the dashboard asks them to sign in if need be.
    if !app.link.take(&token) {
        return Ok((Extension(Refusal("wrong_link")), Redirect::to("/")).into_response());
    }
    remove_sign_in_file(app.store.directory(), SIGN_IN_LINK)?;
    let (token, _) = app.store.begin_session(app.link.user, now_ms()).await?;
    let deed = Extension(AuditDetails::actions(vec!["signed_in"]).who(ADMINISTRATOR));
    Ok((deed, [(header::SET_COOKIE, session_cookie(&app, &token))], Redirect::to("/")).into_response())
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    #[schema(max_length = 64)]
    username: String,
    #[schema(max_length = 256)]
    password: String,
    /// The one-time code, or a recovery code, of whoever has a second factor.
    #[schema(max_length = 32)]
    code: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct Session {
    token: String,
    /// When it ends if it is not used: 12 hours after its last use, and 7 days after it began in any case.
    expires: i64,
}

/// Begins a session, by username and password
///
/// After the third wrong password for a user from an address, or /64 of IPv6, the next try waits 1 s, and twice as long after
/// each further one, up to 60 s; after the thirtieth from an address, whatever the users, likewise. Who does not wait is
/// answered 429, with Retry-After, and when too many passwords are being tried, for the user from the address, from the network
/// (/24 of IPv4, /56 of IPv6: four wait) or in all (32), 503, likewise: such a try is not counted. Networks take turns, and the
/// one that has most waiting gives way to others. Whoever has a second factor and sends no code is answered 401 with the error
/// `code_needed`; wrong codes make the next one wait as wrong passwords do, from whatever address. 503 is the answer, too, when the session cannot be stored, as with a full disk.
#[utoipa::path(post, path = "/login", tag = "sessions", request_body = Login,
    responses((status = 200, description = "A session, and its cookie", body = Session)))]
pub(super) async fn login(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    body: Body<Login>,
) -> Result<Response, Failure> {
    let Json(Login { username, password, code }) = body?;
    if username.chars().count() > LONGEST_USERNAME {
        return Err(Failure::invalid(format!("username has more than {LONGEST_USERNAME} characters")));
    }
    let Some(user) = user_by_password(&app, client, &username, password).await? else {
        return Err(Failure::new(
            StatusCode::UNAUTHORIZED,
            "wrong_password",
            "Username and password do not belong together.",
            "Check both; nothing says which of them is wrong.",
        )
        .recorded());
    };
    one_time_codes::check(&app, client, &user, code.as_deref()).await?;
    if user.disabled {
        return Err(disabled());
    }
    let (token, expires) = app.store.begin_session(user.id, now_ms()).await?;
    let cookie = session_cookie(&app, &token);
    let deed = Extension(AuditDetails::actions(vec!["signed_in"]).who(user.username));
    Ok((deed, [(header::SET_COOKIE, cookie)], Json(Session { token, expires })).into_response())
}

/// The answer to somebody who has proved to be a user who is disabled.
pub(super) fn disabled() -> Failure {
    Failure::new(
        StatusCode::FORBIDDEN,
        "account_disabled",
        "This account is disabled.",
        "Ask an administrator.",
    )
}

/// The user whose name and password these are, tried by `client`. Who has tried too many wrong ones has to wait.
pub(super) async fn user_by_password(
    app: &App,
    client: Client,
    username: &str,
    password: String,
) -> Result<Option<User>, Failure> {
    // What is no user's name may be a password that was typed in the wrong place.
    let known = app.store.has_username(username).await?;
    let refuse = |reason| {
        let refused = Refused::new(Scheme::Http, client, reason);
        let refused = if known { refused.who(username) } else { refused };
        app.events.tell(Event::Refused(&refused));
    };
    let too_many = |wait_s| {
        refuse("too_many_passwords");
        Failure::too_many(
            "too_many_passwords",
            format!("Too many wrong passwords were tried from your address; wait {wait_s} s."),
            "Who has forgotten it asks an administrator, or the operator: sixlock users passwd.",
            wait_s,
        )
    };
    let begun = app.backoff.begin(username, client.network());
    let begun = begun.map_err(|wait| Failure::wait(wait, too_many))?;
    let user = app.store.user_by_password(username, password, client.network()).await?;
    match &user {
        Some(_) => begun.right(),
        None => {
            begun.wrong();
            refuse("wrong_password");
        }
    }
    Ok(user)
}

/// Ends the session
#[utoipa::path(post, path = "/logout", tag = "sessions", responses((status = 204, description = "It is over")))]
pub(super) async fn logout(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Failure> {
    app.store.end_token(caller.token).await?;
    Ok(([(header::SET_COOKIE, no_cookie())], StatusCode::NO_CONTENT).into_response())
}

/// The cookie that carries a session's `token`: no script reads it, no other site's page sends it.
pub(super) fn session_cookie(app: &App, token: &str) -> String {
    let secure = if is_secure(app) { "; Secure" } else { "" };
    let seconds = SESSION_MS / 1000;
    format!("{COOKIE}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

/// The cookie that removes the session's.
fn no_cookie() -> String {
    format!("{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
}
