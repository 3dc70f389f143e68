//! `/users/{user}/channels`: where a user is told of alerts.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{Channel, ChannelKind, NewChannel, Secret, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::failure::Failure;
use super::recorded::AuditDetails;
use crate::alerts::{BadAddress, check_address};

/// The longest token of ntfy, in bytes.
const LONGEST_TOKEN: usize = 128;

/// What a channel is to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelSettings {
    /// Unique among the channels of the user
    #[schema(min_length = 1, max_length = 64)]
    label: String,
    kind: ChannelKind,
    /// Of a webhook its URL, of ntfy that of the topic, of e-mail the receiver
    #[schema(min_length = 1, max_length = 1024)]
    address: String,
    /// Of ntfy, an access token
    #[schema(min_length = 1, max_length = 128)]
    token: Option<String>,
}

/// A channel just made.
#[derive(Serialize, ToSchema)]
pub(super) struct ChannelWithKey {
    pub(super) channel: Channel,
    /// Of a webhook, the key that signs what is posted: the ASCII bytes of these digits. This is the only answer that ever holds it
    pub(super) key: Option<String>,
}

/// A user's channels
#[utoipa::path(get, path = "/users/{user}/channels", tag = "alerts", responses((status = 200, body = [Channel])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<Channel>> {
    Ok(Json(app.store.channels(owner.id).await?))
}

/// Makes a channel on which alerts are told
///
/// A webhook is a POST of JSON with `Sixlock-Message`, an id by which a receiver knows a message again, and `Sixlock-Signature: t=T,v1=S`, where S is
/// HMAC-SHA256 with the channel's key over T, a full stop and the body. Messages go to the open Internet, and elsewhere only where the operator
/// allows polls. A user has at most 16 channels (409), on each of which 100 messages wait at most.
#[utoipa::path(post, path = "/users/{user}/channels", tag = "alerts", request_body = ChannelSettings,
    responses((status = 201, body = ChannelWithKey)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<ChannelSettings>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<ChannelWithKey>), Failure> {
    let Json(ChannelSettings { label, kind, address, token }) = body?;
    if token.is_some() && kind != ChannelKind::Ntfy {
        return Err(Failure::invalid("token is for ntfy"));
    }
    let is_token =
        |token: &String| (1..=LONGEST_TOKEN).contains(&token.len()) && HeaderValue::from_str(token).is_ok();
    if !token.as_ref().is_none_or(is_token) {
        return Err(Failure::invalid(
            "a token has 1 to 128 characters, and none that cannot stand in a header",
        ));
    }
    let address = check_address(&app.tellers, kind, &address)?;
    let token = token.map(|token| Secret::new(token.into_bytes()));
    let (channel, key) = app.store.add_channel(owner.id, NewChannel { label, kind, address, token }).await?;
    let deed = Extension(AuditDetails::made(channel.label.clone()));
    Ok((StatusCode::CREATED, deed, Json(ChannelWithKey { channel, key })))
}

/// A channel, and how telling on it goes
#[utoipa::path(get, path = "/users/{user}/channels/{channel}", tag = "alerts",
    responses((status = 200, body = Channel)))]
pub(super) async fn show(Extension(channel): Extension<Channel>) -> Json<Channel> {
    Json(channel)
}

/// Deletes a channel, and what waits on it
///
/// Its rules tell the channels that are left.
#[utoipa::path(delete, path = "/users/{user}/channels/{channel}", tag = "alerts",
    responses((status = 204, description = "The channel is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(channel): Extension<Channel>,
) -> Result<StatusCode, Failure> {
    app.store.delete_channel(channel.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test message on a channel
///
/// It waits its turn as any other; whether it was told, the channel says. There is one test of a channel at a time, and one in 10 s (429).
#[utoipa::path(post, path = "/users/{user}/channels/{channel}/test", tag = "alerts",
    responses((status = 202, description = "It is in the outbox")))]
pub(super) async fn test(
    State(app): State<Arc<App>>,
    Extension(channel): Extension<Channel>,
) -> Result<StatusCode, Failure> {
    match app.store.test_channel(channel.id, now_ms()).await? {
        true => Ok(StatusCode::ACCEPTED),
        false => Err(Failure::too_many(
            "tested",
            "This channel was tested less than 10 s ago, or a test of it waits.",
            "The channel says how telling goes.",
            10,
        )),
    }
}

impl From<BadAddress> for Failure {
    fn from(why: BadAddress) -> Self {
        match why {
            BadAddress::Refused(refusal) => Self::new(
                StatusCode::BAD_REQUEST,
                "not_told",
                format!("address: {refusal}."),
                "Messages go to the open Internet; the operator of the cloud decides where they go besides.",
            ),
            why => Self::invalid(format!("address: {why}")),
        }
    }
}
