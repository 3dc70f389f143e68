//! `/users/{user}/totp`: one-time codes as a second factor.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{SecondFactor, now_ms};
use sixlock_telemetry::Client;
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::one_time_codes::{begin_try, wrong_code};
use super::present_password::check_present_password;
use super::uri_text::encoded;

/// Whether a user has a second factor
#[utoipa::path(get, path = "/users/{user}/totp", tag = "users", responses((status = 200, body = SecondFactor)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<SecondFactor> {
    Ok(Json(app.store.second_factor(owner.id).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PresentPassword {
    /// The user's present password.
    #[schema(max_length = 256)]
    pub(super) current_password: Option<String>,
}

/// A secret just made: the only answer that ever holds it.
#[derive(Serialize, ToSchema)]
pub(super) struct NewSecret {
    /// The secret, in base 32
    secret: String,
    /// The same for a program that shows codes, which reads it as a QR code
    uri: String,
}

/// Makes a secret of one-time codes (RFC 6238) for oneself
///
/// Codes are asked for once one was confirmed; until then a further secret takes the place of this one.
#[utoipa::path(post, path = "/users/{user}/totp", tag = "users", request_body = PresentPassword,
    responses((status = 201, body = NewSecret)))]
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(client): Extension<Client>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<PresentPassword>,
) -> Result<(StatusCode, Json<NewSecret>), Failure> {
    let Json(PresentPassword { current_password }) = body?;
    check_present_password(&app, &caller, client, &owner, current_password).await?;
    let secret = app.store.begin_second_factor(owner.id).await?.text();
    let uri = format!("otpauth://totp/Sixlock:{}?secret={secret}&issuer=Sixlock", encoded(&owner.username));
    Ok((StatusCode::CREATED, Json(NewSecret { secret, uri })))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Code {
    /// The present code: six digits.
    #[schema(max_length = 32)]
    code: String,
}

/// What takes the place of a code when there is none: the only answer that ever holds it.
#[derive(Serialize, ToSchema)]
pub(super) struct RecoveryCodes {
    /// Each is good once
    recovery_codes: Vec<String>,
}

/// Confirms a secret by its present code: from now on signing in by password asks for one
#[utoipa::path(put, path = "/users/{user}/totp", tag = "users", request_body = Code,
    responses((status = 200, body = RecoveryCodes)))]
pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<Code>,
) -> Answer<RecoveryCodes> {
    let Json(Code { code }) = body?;
    let begun = begin_try(&app, client, &owner)?;
    match app.store.confirm_second_factor(owner.id, &code, now_ms()).await? {
        Some(recovery_codes) => {
            begun.right();
            Ok(Json(RecoveryCodes { recovery_codes }))
        }
        None => {
            begun.wrong();
            Err(wrong_code(StatusCode::FORBIDDEN))
        }
    }
}

/// Removes a user's second factor
///
/// Whoever removes their own gives the present password. Administrators remove that of who has lost it.
#[utoipa::path(delete, path = "/users/{user}/totp", tag = "users", request_body = Option<PresentPassword>,
    responses((status = 204, description = "No code is asked for any more")))]
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(client): Extension<Client>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Option<Json<PresentPassword>>,
) -> Result<StatusCode, Failure> {
    let present = body.and_then(|Json(PresentPassword { current_password })| current_password);
    check_present_password(&app, &caller, client, &owner, present).await?;
    app.store.remove_second_factor(owner.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
