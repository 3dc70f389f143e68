//! `/users/{user}/channels`: where a user is told of alerts.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{Channel, ChannelKind, NewChannel, Role, Secret, now_ms};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner};
use super::failure::Failure;
use super::recorded::AuditDetails;
use crate::alerts::{BadAddress, Tellers, check_address};
use crate::pollers::Target;

/// The longest token of ntfy, in bytes.
const LONGEST_TOKEN: usize = 128;

/// What a channel is to be.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChannelSettings {
    /// Unique among the channels of the user
    #[schema(min_length = 1, max_length = 64)]
    pub(super) label: String,
    kind: ChannelKind,
    /// Of a webhook its URL, of ntfy that of the topic, of e-mail the receiver
    #[schema(min_length = 1, max_length = 1024)]
    address: String,
    /// Of ntfy, an access token
    #[schema(min_length = 1, max_length = 128)]
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl From<Channel> for ChannelSettings {
    fn from(Channel { label, kind, address, .. }: Channel) -> Self {
        Self { label, kind, address, token: None }
    }
}

impl ChannelSettings {
    /// The channel that is described, once all of it is checked.
    pub(super) fn read(self, tellers: &Tellers) -> Result<NewChannel, Failure> {
        let address = check_address(tellers, self.kind, &self.address)?;
        Self { address, ..self }.with_known_address()
    }

    /// The same, where the address is one that was checked before.
    pub(super) fn with_known_address(self) -> Result<NewChannel, Failure> {
        let Self { label, kind, address, token } = self;
        if token.is_some() && kind != ChannelKind::Ntfy {
            return Err(Failure::invalid("token is for ntfy"));
        }
        let is_token = |token: &String| {
            (1..=LONGEST_TOKEN).contains(&token.len()) && HeaderValue::from_str(token).is_ok()
        };
        if !token.as_ref().is_none_or(is_token) {
            return Err(Failure::invalid(
                "a token has 1 to 128 characters, and none that cannot stand in a header",
            ));
        }
        let token = token.map(|token| Secret::new(token.into_bytes()));
        Ok(NewChannel { label, kind, address, token })
    }

    /// Whether it is about `known`, at the same address.
    pub(super) fn is_of(&self, known: &Channel) -> bool {
        self.label == known.label && self.kind == known.kind && self.address == known.address
    }
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
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<Channel>> {
    let channels = app.store.channels(owner.id).await?;
    Ok(Json(channels.into_iter().map(|channel| shown(channel, &caller)).collect()))
}

/// Returns a channel as `caller` may see it. The whole URL is often all that a message needs, and a server's answer may be secret: a caller
/// that may change nothing sees the host alone, and that telling failed.
pub(super) fn shown(channel: Channel, caller: &Caller) -> Channel {
    if !caller.scope.read_only && caller.user.role != Role::Viewer {
        return channel;
    }
    let host = Target::parse(&channel.address).map(|target| target.host().to_owned());
    let domain = channel.address.rsplit_once('@').map(|(_, domain)| domain.to_owned());
    let address = match channel.kind {
        ChannelKind::Webhook | ChannelKind::Ntfy => host.unwrap_or_default(),
        ChannelKind::Email => domain.unwrap_or_default(),
    };
    let last_error = channel.last_error.map(|_| "telling failed".to_owned());
    Channel { address, last_error, ..channel }
}

/// Makes a channel on which alerts are told
///
/// A webhook is a POST of JSON with `Sixlock-Message`, an id by which a receiver knows a message again, and `Sixlock-Signature: t=T,v1=S`, where S is
/// HMAC-SHA256 with the channel's key over T, a full stop and the body. Messages go to the open Internet, and elsewhere only where the operator
/// allows it. An address of e-mail is sent a code, and no alerts before it is confirmed by that. A user has at most 16 channels (409), on each of
/// which 100 messages wait at most.
#[utoipa::path(post, path = "/users/{user}/channels", tag = "alerts", request_body = ChannelSettings,
    responses((status = 201, body = ChannelWithKey)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<ChannelSettings>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<ChannelWithKey>), Failure> {
    let new = body?.0.read(&app.tellers)?;
    let (channel, key) = app.store.add_channel(owner.id, new).await?;
    let deed = Extension(AuditDetails::made(channel.label.clone()));
    Ok((StatusCode::CREATED, deed, Json(ChannelWithKey { channel, key })))
}

/// A channel, and how telling on it goes
///
/// With a token that only reads, and for a viewer, `address` is the host alone, and `last_error` does not say what a server answered.
#[utoipa::path(get, path = "/users/{user}/channels/{channel}", tag = "alerts",
    responses((status = 200, body = Channel)))]
pub(super) async fn show(
    Extension(caller): Extension<Caller>,
    Extension(channel): Extension<Channel>,
) -> Json<Channel> {
    Json(shown(channel, &caller))
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

/// Sends a test message on a channel, or another code to an address that is not confirmed
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

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirmation {
    /// The digits that were sent to the address
    #[schema(min_length = 1, max_length = 64)]
    code: String,
}

/// Confirms the address of a channel by the code that was sent there
///
/// A wrong code is refused (400); after five, another is to be sent by a test. Once an address is confirmed, every code is right.
#[utoipa::path(post, path = "/users/{user}/channels/{channel}/confirm", tag = "alerts", request_body = Confirmation,
    responses((status = 204, description = "The address is confirmed")))]
pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    Extension(channel): Extension<Channel>,
    body: Body<Confirmation>,
) -> Result<StatusCode, Failure> {
    let Json(Confirmation { code }) = body?;
    match app.store.confirm_channel(channel.id, code.trim()).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Failure::invalid(
            "code is not the one that was sent there last, or five wrong ones were tried; send a test to get another",
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
