//! `/sign-up`: accounts that people make for themselves, where the operator allows it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{User, now_ms};
use sixlock_telemetry::Client;
use utoipa::ToSchema;

use super::app::{App, Body};
use super::failure::Failure;
use super::paths::OIDC_SIGN_IN;
use super::recorded::AuditDetails;
use crate::Error;
use crate::oidc::Oidc;

/// After how many seconds to come again when too many accounts wait for their first sign-in.
const PENDING_WAIT_S: u32 = 600;

/// Whether people make accounts for themselves, and by which provider they sign in.
#[derive(Serialize, ToSchema)]
pub(super) struct SignUpAllowed {
    allowed: bool,
    /// The OpenID provider by which people sign in beside their password, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    oidc: Option<ProviderOffered>,
}

/// A provider by which people sign in.
#[derive(Serialize, ToSchema)]
struct ProviderOffered {
    /// What people call it
    label: String,
    /// Where the browser goes to sign in by it, at the address of this cloud
    path: &'static str,
}

/// Whether people make accounts for themselves, and by which provider they sign in, which the operator decides
#[utoipa::path(get, path = "/sign-up", tag = "sessions", responses((status = 200, body = SignUpAllowed)))]
pub(super) async fn show(State(app): State<Arc<App>>) -> Json<SignUpAllowed> {
    let offered =
        |oidc: &Oidc| ProviderOffered { label: oidc.settings().label().to_owned(), path: OIDC_SIGN_IN };
    Json(SignUpAllowed { allowed: app.reach.sign_up, oidc: app.oidc.as_deref().map(offered) })
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignUp {
    /// Letters of the English alphabet, digits and `._-`; not a number. Unique, whatever the case of its letters.
    #[schema(min_length = 1, max_length = 64, pattern = "^[0-9]*[A-Za-z._-][A-Za-z0-9._-]*$")]
    username: String,
    /// 8 to 256 bytes in UTF-8, which may be fewer characters; not among the commonest, and not the username.
    #[schema(max_length = 256)]
    password: String,
    #[serde(default)]
    #[schema(max_length = 254)]
    email: String,
}

/// Makes an account of one's own, if the operator allows it: a member's
///
/// Where sign-up is off, the answer is 403. After the third account or taken name from an address, or /64 of IPv6, the next try waits 1 s, and twice
/// as long after each further one, up to 60 s (429, with Retry-After). 100 accounts may wait for their first sign-in, each for a
/// day, or for ten minutes where others need the room; beyond that the answer is 429.
#[utoipa::path(post, path = "/sign-up", tag = "sessions", request_body = SignUp,
    responses((status = 201, body = User)))]
pub(super) async fn sign_up(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    body: Body<SignUp>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<User>), Failure> {
    let Json(SignUp { username, password, email }) = body?;
    let too_many = |wait_s| {
        Failure::too_many(
            "too_many_sign_ups",
            format!("Too many accounts were asked for from your address; wait {wait_s} s."),
            "Sign in, if you have an account.",
            wait_s,
        )
    };
    let begun = app.sign_ups.begin("", client.network());
    let begun = begun.map_err(|wait| Failure::wait(wait, too_many))?;
    let made = app.store.sign_up((&username, &email), password, client.network(), now_ms()).await;
    match made {
        Ok(user) => {
            begun.count();
            let deed = AuditDetails::actions(vec!["signed_up"]).who(username);
            Ok((StatusCode::CREATED, Extension(deed), Json(user)))
        }
        // Else names could be tried as fast as one likes.
        Err(error @ Error::Taken(_)) => {
            begun.count();
            Err(error.into())
        }
        Err(Error::Full(why)) => Err(Failure::too_many(
            "accounts_full",
            format!("No more accounts are made at present: {why}."),
            "Try again later, or ask the operator.",
            PENDING_WAIT_S,
        )),
        Err(error) => Err(error.into()),
    }
}
