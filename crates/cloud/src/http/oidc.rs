//! `/sign-in/oidc`: where a browser goes to sign in by an OpenID provider, and where the provider sends it back to.
//!
//! These are pages, not a part of the API: the provider adds parameters of its own to the callback. What the browser has to bring back is in
//! a cookie that other sites' pages do not send but by leading it here (`SameSite=Lax`), and that no script reads. The session itself has
//! the same cookie as after a password: a browser that comes back from the provider does not show it, so whoever links an account confirms
//! that on a page of this cloud, and the session shows itself then.

use std::sync::Arc;

use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use serde::Deserialize;
use sixlock_store::{TokenDigest, User, now_ms};
use sixlock_telemetry::Client;

use super::app::App;
use super::caller::COOKIE as SESSION_COOKIE;
use super::cookies::{cookie_of, is_secure};
use super::failure::Failure;
use super::one_time_codes;
use super::pages::{escaped, instead, page};
use super::paths::{OIDC_CALLBACK, OIDC_CODE, OIDC_LINK, OIDC_SIGN_IN};
use super::recorded::AuditDetails;
use super::sign_in::{disabled, session_cookie};
use crate::Error;
use crate::oidc::{Answered, Linking, Oidc, OidcFailure, PATIENCE_MS, Pending, Proved};

/// The cookie of a sign-in that is under way.
pub(super) const COOKIE: &str = "sixlock_oidc";
/// The one that removes it.
const NO_COOKIE: &str = "sixlock_oidc=; Path=/sign-in/oidc; Max-Age=0; HttpOnly; SameSite=Lax";
/// What the pages are about.
const SUBJECT: &str = "Sign in";
const LINKING: &str = "Link an account";

#[derive(Deserialize)]
pub(super) struct Begin {
    /// Whether an account is to be linked to the user who has shown the password.
    #[serde(default)]
    link: bool,
}

/// Sends a browser to the provider.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<Begin>, QueryRejection>,
) -> Response {
    let begun = async {
        let Query(Begin { link }) = query?;
        let oidc = provider(&app)?;
        let linking = match (link, oidc.open(cookie_of(&headers, COOKIE), now_ms())) {
            (false, _) => None,
            (true, Some(Pending::Linking(linking))) => Some(linking),
            (true, _) => return Err(refusal(&OidcFailure::State)),
        };
        let callback = format!("{}{OIDC_CALLBACK}", address(&app, oidc, &headers));
        let (url, cookie) = oidc.begin(callback, linking, now_ms()).await.map_err(|why| refusal(&why))?;
        Ok::<_, Failure>((
            AppendHeaders([(header::SET_COOKIE, kept(&app, &cookie))]),
            Redirect::to(url.as_str()),
        ))
    };
    match begun.await {
        Ok(sent) => sent.into_response(),
        Err(refused) => refused_page(refused),
    }
}

/// Where the provider sends a browser back to.
pub(super) async fn callback(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    answered: Result<Query<Answered>, QueryRejection>,
) -> Response {
    let response = match finish(&app, client, &headers, answered).await {
        Ok(response) => response,
        Err(refused) => refused_page(refused),
    };
    ending(response)
}

/// An answer that takes the cookie back, unless it gives another.
fn ending(mut response: Response) -> Response {
    if !sets_cookie(&response) {
        response.headers_mut().append(header::SET_COOKIE, HeaderValue::from_static(NO_COOKIE));
    }
    response
}

/// Whether an answer says already what becomes of the cookie.
fn sets_cookie(response: &Response) -> bool {
    let begin = format!("{COOKIE}=");
    let mut cookies = response.headers().get_all(header::SET_COOKIE).iter();
    cookies.any(|cookie| cookie.as_bytes().starts_with(begin.as_bytes()))
}

async fn finish(
    app: &App,
    client: Client,
    headers: &HeaderMap,
    answered: Result<Query<Answered>, QueryRejection>,
) -> Result<Response, Failure> {
    let Query(answered) = answered?;
    let oidc = provider(app)?;
    let too_many = |wait_s| {
        Failure::too_many(
            "too_many_sign_ins",
            format!("Too many sign-ins from your address came to nothing; wait {wait_s} s."),
            "Then begin again.",
            wait_s,
        )
    };
    let begun = app.oidc_tries.begin(answered.state(), client.network());
    let begun = begun.map_err(|wait| Failure::wait(wait, too_many))?;
    let now = now_ms();
    let proved = match oidc.finish(cookie_of(headers, COOKIE), answered, now).await {
        Ok(proved) => proved,
        Err(why) => {
            // The provider was asked for nothing.
            if matches!(why, OidcFailure::Code | OidcFailure::Token(_)) {
                begun.wrong();
            }
            return Err(refusal(&why));
        }
    };
    begun.right();
    match proved.linking {
        Some(linking) => confirm_link(app, oidc, linking, &proved, now).await,
        None => sign_in(app, oidc, &proved, now).await,
    }
}

/// The user who wants to link an account, if the session in which that was asked for is good still.
async fn linking_user(app: &App, linking: Linking, now: i64) -> Result<User, Failure> {
    let access = app.store.access(linking.token(), now).await?;
    if access.is_none_or(|access| access.user != linking.user()) {
        return Err(Failure::unauthenticated());
    }
    app.store.user(&linking.user().0.to_string()).await?.ok_or_else(Failure::unauthenticated)
}

/// Asks whether the account is to be linked.
async fn confirm_link(
    app: &App,
    oidc: &Oidc,
    linking: Linking,
    Proved { subject, name, .. }: &Proved,
    now: i64,
) -> Result<Response, Failure> {
    let user = linking_user(app, linking, now).await?;
    let cookie = oidc.seal(Pending::Link { linking, subject: subject.clone() }, now)?;
    let form = format!(
        "<form method=\"post\" action=\"{OIDC_LINK}\"><p>Your account at {} is {}. Whoever signs in by it is {} here from now on. \
         <p><button autofocus>Link it</button> <a href=\"/\">Leave it</a></form>",
        escaped(oidc.settings().label()),
        escaped(if name.is_empty() { subject } else { name }),
        escaped(&user.username),
    );
    let cookies = AppendHeaders([(header::SET_COOKIE, kept(app, &cookie))]);
    Ok((cookies, page(StatusCode::OK, LINKING, &form)).into_response())
}

/// Lets the user who asked for it sign in by this account from now on, if it is the session in which they did that confirms it.
pub(super) async fn link(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let linked = async {
        let oidc = provider(&app)?;
        let now = now_ms();
        let Some(Pending::Link { linking, subject }) = oidc.open(cookie_of(&headers, COOKIE), now) else {
            return Err(refusal(&OidcFailure::State));
        };
        let session = cookie_of(&headers, SESSION_COOKIE).map(TokenDigest::of);
        if session != Some(linking.token()) {
            return Err(refusal(&OidcFailure::Session));
        }
        let user = linking_user(&app, linking, now).await?;
        match app.store.link_oidc(user.id, (oidc.issuer(), &subject), now).await {
            Ok(()) => {}
            Err(Error::Taken(_)) => {
                return Err(Failure::new(
                    StatusCode::FORBIDDEN,
                    "oidc_taken",
                    "This account at the provider is linked to another user here.",
                    "Sign in there with another account, or ask an administrator to unlink that one.",
                ));
            }
            Err(error) => return Err(error.into()),
        }
        let deed = Extension(AuditDetails::actions(vec!["oidc_linked"]).who(user.username));
        Ok((deed, Redirect::to("/#/account")).into_response())
    };
    ending(linked.await.unwrap_or_else(refused_page))
}

/// Begins a session of the user whose account this is.
async fn sign_in(app: &App, oidc: &Oidc, proved: &Proved, now: i64) -> Result<Response, Failure> {
    let (issuer, subject) = (oidc.issuer(), &*proved.subject);
    let (user, mut actions) = match app.store.user_by_oidc(issuer, subject).await? {
        Some(user) => (user, vec![]),
        None if oidc.settings().sign_up => {
            let made = app.store.sign_up_by_oidc((issuer, subject), &proved.name, &proved.email, now).await;
            (made?, vec!["signed_up"])
        }
        None => {
            return Err(Failure::new(
                StatusCode::FORBIDDEN,
                "oidc_not_linked",
                format!("Your account at {} is not linked to a user here.", oidc.settings().label()),
                "If you have a user here, sign in with the password, and then choose under Account to sign in so from now on. If not, ask \
                 an administrator for one.",
            ));
        }
    };
    if user.disabled {
        return Err(disabled());
    }
    if app.store.second_factor(user.id).await?.confirmed {
        // The provider stands for the password. Whoever has a second factor here has set it up for what is here.
        let cookie = oidc.seal(Pending::Code { user: user.id.0, subject: subject.to_owned() }, now)?;
        let form = code_page(StatusCode::OK, "");
        return Ok((AppendHeaders([(header::SET_COOKIE, kept(app, &cookie))]), form).into_response());
    }
    actions.push("signed_in");
    session(app, user, actions).await
}

async fn session(app: &App, user: User, actions: Vec<&'static str>) -> Result<Response, Failure> {
    let (token, _) = app.store.begin_session(user.id, now_ms()).await?;
    let deed = Extension(AuditDetails::actions(actions).who(user.username));
    let cookies = AppendHeaders([
        (header::SET_COOKIE, session_cookie(app, &token)),
        (header::SET_COOKIE, NO_COOKIE.into()),
    ]);
    Ok((deed, cookies, Redirect::to("/")).into_response())
}

#[derive(Deserialize)]
pub(super) struct Code {
    code: String,
}

/// The one-time code of a user whom the provider has signed in already.
pub(super) async fn code(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    form: Result<Form<Code>, FormRejection>,
) -> Response {
    let shown = async {
        let Form(Code { code }) = form.map_err(|_| Failure::invalid("the form has code"))?;
        let oidc = provider(&app)?;
        let Some(Pending::Code { user, subject }) = oidc.open(cookie_of(&headers, COOKIE), now_ms()) else {
            return Err(refusal(&OidcFailure::State));
        };
        // The link and the second factor may be gone by now, as when an administrator answers a theft.
        let linked =
            app.store.user_by_oidc(oidc.issuer(), &subject).await?.filter(|linked| linked.id.0 == user);
        let Some(user) = linked else { return Err(refusal(&OidcFailure::State)) };
        if !app.store.second_factor(user.id).await?.confirmed {
            return Err(refusal(&OidcFailure::State));
        }
        let checked = one_time_codes::check(&app, client, &user, Some(&code)).await;
        if let Err(wrong) = checked {
            let form = code_form(wrong.message());
            return Ok(instead(wrong, SUBJECT, &form));
        }
        if user.disabled {
            return Err(disabled());
        }
        session(&app, user, vec!["signed_in"]).await
    };
    match shown.await {
        Ok(response) => response,
        Err(refused) => refused_page(refused),
    }
}

/// The provider, if there is one.
pub(super) fn provider(app: &App) -> Result<&Oidc, Failure> {
    app.oidc.as_deref().ok_or_else(|| {
        Failure::new(
            StatusCode::FORBIDDEN,
            "no_oidc",
            "Nobody signs in here by a provider.",
            "Sign in with the password; the operator names a provider with --oidc.",
        )
    })
}

/// The failure that a request has when nobody is signed in.
fn refusal(why: &OidcFailure) -> Failure {
    match why {
        OidcFailure::Busy => Failure::busy(2),
        OidcFailure::Provider => Failure::new(
            StatusCode::SERVICE_UNAVAILABLE,
            why.code(),
            why.to_string(),
            "Try again later, or sign in with the password; the operator finds the reason in the log.",
        ),
        OidcFailure::Denied(_) => Failure::new(
            StatusCode::FORBIDDEN,
            why.code(),
            why.to_string(),
            "Begin again, or sign in with the password.",
        ),
        OidcFailure::Token(_) => Failure::new(
            StatusCode::FORBIDDEN,
            why.code(),
            why.to_string(),
            "Begin again; if it happens twice, tell the operator, who finds it in the record.",
        ),
        _ => Failure::new(StatusCode::FORBIDDEN, why.code(), why.to_string(), "Begin again."),
    }
}

fn refused_page(refused: Failure) -> Response {
    let said = format!(
        "<p role=\"alert\">{}<p>{}<p><a href=\"/\">To the dashboard</a>, <a href=\"{OIDC_SIGN_IN}\">begin again</a>",
        escaped(refused.message()),
        escaped(refused.hint())
    );
    instead(refused, SUBJECT, &said)
}

fn code_page(status: StatusCode, said: &str) -> Response {
    page(status, SUBJECT, &code_form(said))
}

fn code_form(said: &str) -> String {
    format!(
        "<form method=\"post\" action=\"{OIDC_CODE}\"><p><label>One-time code, or a recovery code <input name=\"code\" \
         autocomplete=\"one-time-code\" autocapitalize=\"none\" spellcheck=\"false\" maxlength=\"32\" required autofocus></label> \
         <button>Sign in</button><p role=\"alert\">{}</form>",
        escaped(said)
    )
}

/// Where the browser finds the dashboard: as the operator says, or as it says itself. The provider sends nobody to an address that it does
/// not know.
fn address(app: &App, oidc: &Oidc, headers: &HeaderMap) -> String {
    if let Some(url) = &oidc.settings().url {
        return url.as_str().to_owned();
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let scheme = if is_secure(app) { "https" } else { "http" };
    format!("{scheme}://{host}")
}

/// The cookie that holds a sign-in that is under way.
pub(super) fn kept(app: &App, sealed: &str) -> String {
    let secure = if is_secure(app) { "; Secure" } else { "" };
    let seconds = PATIENCE_MS / 1000;
    format!("{COOKIE}={sealed}; Path={OIDC_SIGN_IN}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}
