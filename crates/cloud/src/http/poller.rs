//! `…/resources/{resource}/poller`: from where the readings of a resource are fetched.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode};
use axum::{Extension, Json};
use serde::Deserialize;
use sixlock_store::{NewPoller, PollCredential, Poller, Resource, Secret, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::failure::Failure;
use crate::pollers::{BadUrl, Refusal, Scheme, Target};

/// A poller as it is set. What it does not name it does not have: the secrets of the one before go with it, so that
/// they never reach another URL.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PollerSettings {
    #[schema(pattern = "^(http|https|coap|coaps)://")]
    url: String,
    /// In seconds
    #[schema(minimum = 5, maximum = 604_800)]
    period: i64,
    /// With coaps: whether the device is to tell what changes, between polls
    #[serde(default)]
    observe: bool,
    identity: Option<String>,
    key: Option<String>,
    authorization: Option<String>,
}

/// A resource's poller
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/poller", tag = "pollers",
    responses((status = 200, body = Poller)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Answer<Poller> {
    Ok(Json(app.store.poller(resource.id).await?.ok_or(Failure::unknown("poller"))?))
}

/// Sets a resource's poller
///
/// From then on the readings of the resource are fetched from `url` every `period` seconds (5 to 604800), at once for
/// the first time. With `coaps`, `identity` and `key` are a pre-shared key that the device knows the cloud by. Without
/// them, the device is the resource's own: both prove themselves by the pre-shared key that it is enrolled with, or the
/// device by its raw public key or certificate, and the cloud by its own of the same kind. With `observe`, the
/// notifications that the device sends between polls (RFC 7641) are stored as well, and each poll asks it to go on. With
/// `http` and `https`, `authorization` is sent as the header of that name. What a setting leaves out is removed.
#[utoipa::path(put, path = "/users/{user}/resources/{resource}/poller", tag = "pollers",
    request_body = PollerSettings,
    responses((status = 200, description = "Changed", body = Poller),
        (status = 201, description = "Added", body = Poller)))]
pub(super) async fn set(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
    body: Body<PollerSettings>,
) -> Result<(StatusCode, Json<Poller>), Failure> {
    let Json(PollerSettings { url, period, observe, identity, key, authorization }) = body?;
    let target = Target::parse(&url)?;
    app.guard.check_literal(&target)?;
    if observe && target.scheme() != Scheme::Coaps {
        return Err(Failure::invalid("observe is for coaps"));
    }
    let credential = match (target.scheme(), identity, key, authorization) {
        (Scheme::Coaps, Some(identity), Some(key), None) => psk(identity, key)?,
        (Scheme::Coaps, None, None, None)
            if !app.store.own_keys_of(resource.id, now_ms()).await?.is_empty() =>
        {
            PollCredential::None
        }
        (Scheme::Coaps, ..) => {
            return Err(Failure::invalid(
                "coaps needs identity and key, those by which the device knows this cloud; or neither, with a resource \
                 whose device is enrolled",
            ));
        }
        (Scheme::Http | Scheme::Https, None, None, Some(value)) => {
            if HeaderValue::from_str(&value).is_err() {
                return Err(Failure::invalid("authorization is not the value of a header"));
            }
            PollCredential::Authorization(Secret::new(value.into_bytes()))
        }
        (_, None, None, None) => PollCredential::None,
        _ => {
            return Err(Failure::invalid(
                "identity and key are for coaps, authorization is for http and https",
            ));
        }
    };
    let poller = NewPoller { url: target.to_string(), period, observe, credential };
    let (poller, is_new) = app.store.put_poller(resource.id, poller).await?;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(poller)))
}

/// Removes a resource's poller
#[utoipa::path(delete, path = "/users/{user}/resources/{resource}/poller", tag = "pollers",
    responses((status = 204, description = "Removed")))]
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(resource): Extension<Resource>,
) -> Result<StatusCode, Failure> {
    match app.store.remove_poller(resource.id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Failure::unknown("poller")),
    }
}

/// What a DTLS client can hold.
fn psk(identity: String, key: String) -> Result<PollCredential, Failure> {
    if !(1..=128).contains(&identity.len()) || identity.chars().any(sixlock_ingest::is_hidden) {
        return Err(Failure::invalid(
            "an identity has 1 to 128 bytes, and no characters that cannot be seen",
        ));
    }
    if !(1..=64).contains(&key.len()) {
        return Err(Failure::invalid("a key has 1 to 64 bytes"));
    }
    Ok(PollCredential::Psk { identity, key: Secret::new(key.into_bytes()) })
}

impl From<BadUrl> for Failure {
    fn from(why: BadUrl) -> Self {
        Self::invalid(format!("url: {why}"))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "not_polled",
            format!("url: {refusal}."),
            "Polls go to the open Internet; the operator of the cloud decides what is polled besides.",
        )
    }
}
