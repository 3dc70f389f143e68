//! `/users/{user}/alert-definitions`: all rules and channels of a user as one document, to keep, to look through and to take to another
//! cloud.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{
    AlertDefinitions, BadDefinition, Channel, MOST_CHANNELS, NewChannel, ReplacedDefinitions,
};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::{Caller, Owner};
use super::channels::{ChannelSettings, shown};
use super::failure::Failure;
use super::recorded::AuditDetails;
use super::rules::RuleSettings;
use crate::Error;

/// All rules and channels of a user, without what is secret.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AlertDocument {
    /// At most 16
    #[schema(max_items = 16)]
    channels: Vec<ChannelSettings>,
    /// At most 100. They name channels by their labels
    #[schema(max_items = 100)]
    rules: Vec<RuleSettings>,
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DryRunQuery {
    /// Whether to tell only what would be done
    #[serde(default)]
    dry_run: bool,
}

/// All rules and channels of a user as one document
///
/// Secrets, which are keys of webhooks and tokens of ntfy, are not in it. With a token that only reads, and for a viewer, addresses are cut, as
/// with the channels themselves, so the document cannot be sent back.
#[utoipa::path(get, path = "/users/{user}/alert-definitions", tag = "alerts",
    responses((status = 200, body = AlertDocument)))]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<AlertDocument> {
    let channels = app.store.channels(owner.id).await?;
    let channels = channels.into_iter().map(|channel| shown(channel, &caller).into()).collect();
    let rules = app.store.rules(owner.id).await?.into_iter().map(RuleSettings::from).collect();
    Ok(Json(AlertDocument { channels, rules }))
}

/// Has a user have the rules and channels of a document, and no others
///
/// All of it is done or, if anything is wrong, nothing, and `definitions` of the error names what. A rule that is the same goes on as it is,
/// with its alert; another one of the same label begins anew. A channel of the same label, kind and address keeps its key or token, or takes the
/// `token` that is stated; else it is made anew, and the answer alone holds a webhook's key.
#[utoipa::path(put, path = "/users/{user}/alert-definitions", tag = "alerts", params(DryRunQuery),
    request_body = AlertDocument, responses((status = 200, body = ReplacedDefinitions)))]
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    query: Result<Query<DryRunQuery>, QueryRejection>,
    body: Body<AlertDocument>,
) -> Result<(Extension<AuditDetails>, Json<ReplacedDefinitions>), Failure> {
    let Query(DryRunQuery { dry_run }) = query?;
    let Json(AlertDocument { channels, rules }) = body?;
    if channels.len() as i64 > MOST_CHANNELS {
        return Err(Failure::invalid(format!("a user has at most {MOST_CHANNELS} channels")));
    }
    let known = app.store.channels(owner.id).await?;
    let mut bad = Vec::new();
    let mut read = Vec::new();
    for channel in channels {
        let label = channel.label.clone();
        match read_channel(&app, &known, channel) {
            Ok(channel) => read.push(channel),
            Err(why) => {
                bad.push(BadDefinition { kind: "channel", label, why: why.message().to_owned() });
            }
        }
    }
    if !bad.is_empty() {
        return Err(Error::Definitions(bad).into());
    }
    let rules = rules.into_iter().map(Into::into).collect();
    let definitions = AlertDefinitions { channels: read, rules };
    let done = app.store.replace_alert_definitions(owner.id, definitions, dry_run).await?;
    let changed = [("rules_changed", &done.rules), ("channels_changed", &done.channels)];
    let changed = changed.into_iter().filter(|(_, changes)| !dry_run && !changes.is_empty());
    let deed = AuditDetails::actions(changed.map(|(action, _)| action).collect());
    Ok((Extension(deed), Json(done)))
}

/// The channel that is described. An address that is kept was checked when it was new, and is so again each time something is told there.
fn read_channel(app: &App, known: &[Channel], channel: ChannelSettings) -> Result<NewChannel, Failure> {
    let is_known = known.iter().any(|known| channel.is_of(known));
    if is_known { channel.with_known_address() } else { channel.read(&app.tellers) }
}
