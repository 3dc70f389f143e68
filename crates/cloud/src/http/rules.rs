//! `/users/{user}/rules`, and Sicsth Sense's `…/streams/{stream}/triggers`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use sixlock_store::{
    ChannelKind, Condition, NewChannel, NewRule, Operator, Resource, Rule, Severity, Stream, Value, secrets,
};
use utoipa::ToSchema;

use super::app::{Answer, App, Body};
use super::caller::Owner;
use super::channels::ChannelWithKey;
use super::failure::Failure;
use super::recorded::AuditDetails;
use crate::alerts::check_address;

/// What a rule is to be.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSettings {
    /// Unique among the rules of the user
    #[schema(min_length = 1, max_length = 64)]
    label: String,
    #[serde(default = "warning")]
    severity: Severity,
    /// The id or label of the resource
    #[schema(min_length = 1)]
    resource: String,
    /// The id or label of the stream; without it, silence of the whole resource is meant
    stream: Option<String>,
    condition: Condition,
    /// The ids or labels of channels that are told, at most 4
    #[serde(default)]
    #[schema(max_items = 4)]
    channels: Vec<String>,
    /// What is told besides
    #[schema(max_length = 1024)]
    payload: Option<String>,
    /// Whether it is to judge nothing for now
    #[serde(default)]
    paused: bool,
}

const fn warning() -> Severity {
    Severity::Warning
}

impl From<RuleSettings> for NewRule {
    fn from(settings: RuleSettings) -> Self {
        let RuleSettings { label, severity, resource, stream, condition, channels, payload, paused } =
            settings;
        Self { label, severity, resource, stream, condition, channels, payload, paused }
    }
}

impl From<Rule> for RuleSettings {
    fn from(rule: Rule) -> Self {
        let Rule { label, severity, resource, stream, condition, channels, payload, paused, .. } = rule;
        Self { label, severity, resource, stream, condition, channels, payload, paused }
    }
}

/// A user's rules
#[utoipa::path(get, path = "/users/{user}/rules", tag = "alerts", responses((status = 200, body = [Rule])))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
) -> Answer<Vec<Rule>> {
    Ok(Json(app.store.rules(owner.id).await?))
}

/// Makes a rule that opens alerts
///
/// It judges readings that are accepted from then on, in their order; one whose time is before that of the newest decides nothing. A user has
/// at most 100 rules, 8 watch one stream or one resource (409), and one tells at most 4 channels.
#[utoipa::path(post, path = "/users/{user}/rules", tag = "alerts", request_body = RuleSettings,
    responses((status = 201, body = Rule)))]
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    body: Body<RuleSettings>,
) -> Result<(StatusCode, Extension<AuditDetails>, Json<Rule>), Failure> {
    let rule = app.store.add_rule(owner.id, &body?.0.into()).await?;
    Ok((StatusCode::CREATED, Extension(AuditDetails::made(rule.label.clone())), Json(rule)))
}

/// A rule
#[utoipa::path(get, path = "/users/{user}/rules/{rule}", tag = "alerts", responses((status = 200, body = Rule)))]
pub(super) async fn show(Extension(rule): Extension<Rule>) -> Json<Rule> {
    Json(rule)
}

/// Has a rule be another
///
/// It begins anew: an alert that it has opened is cleared, which is not told.
#[utoipa::path(put, path = "/users/{user}/rules/{rule}", tag = "alerts", request_body = RuleSettings,
    responses((status = 200, body = Rule)))]
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(rule): Extension<Rule>,
    body: Body<RuleSettings>,
) -> Answer<Rule> {
    Ok(Json(app.store.replace_rule(owner.id, rule.id, &body?.0.into()).await?))
}

/// Deletes a rule
///
/// An alert that it has opened is cleared, which is not told.
#[utoipa::path(delete, path = "/users/{user}/rules/{rule}", tag = "alerts",
    responses((status = 204, description = "The rule is gone")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(rule): Extension<Rule>,
) -> Result<StatusCode, Failure> {
    app.store.delete_rule(rule.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A trigger of Sicsth Sense
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Trigger {
    operator: Operator,
    /// A number, or as the stream has it a text, `true` or `false`
    #[schema(schema_with = sixlock_store::value_schema)]
    operand: Value,
    /// Where a webhook is posted to
    #[schema(pattern = "^https?://")]
    url: String,
    /// What is told besides
    #[schema(max_length = 1024)]
    payload: Option<String>,
}

/// A rule that was made of a trigger, and the channel that was made for it, if there was none with this URL.
#[derive(Serialize, ToSchema)]
pub(super) struct TriggerRule {
    rule: Rule,
    channel: Option<ChannelWithKey>,
}

/// The rules that watch a stream
#[utoipa::path(get, path = "/users/{user}/resources/{resource}/streams/{stream}/triggers", tag = "alerts",
    responses((status = 200, body = [Rule])))]
pub(super) async fn triggers(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(stream): Extension<Stream>,
) -> Answer<Vec<Rule>> {
    Ok(Json(app.store.rules_of_stream(owner.id, stream.id).await?))
}

/// Makes a rule of a trigger, as Sicsth Sense has them
///
/// It has a threshold, and a webhook: that of the user with this URL, or a new one, whose key is shown this once.
#[utoipa::path(post, path = "/users/{user}/resources/{resource}/streams/{stream}/triggers", tag = "alerts",
    request_body = Trigger, responses((status = 201, body = TriggerRule)))]
pub(super) async fn add_trigger(
    State(app): State<Arc<App>>,
    Extension(Owner(owner)): Extension<Owner>,
    Extension(resource): Extension<Resource>,
    Extension(stream): Extension<Stream>,
    body: Body<Trigger>,
) -> Result<(StatusCode, Json<TriggerRule>), Failure> {
    let Json(Trigger { operator, operand, url, payload }) = body?;
    let address = check_address(&app.tellers, ChannelKind::Webhook, &url)?;
    // Triggers have no names.
    let label = format!("trigger {}", secrets::hex(&secrets::random::<4>()?));
    let is_it =
        |channel: &sixlock_store::Channel| channel.kind == ChannelKind::Webhook && channel.address == address;
    let known = app.store.channels(owner.id).await?.into_iter().find(is_it);
    let (channel, made) = match known {
        Some(channel) => (channel.id, None),
        None => {
            let new = NewChannel { label: label.clone(), kind: ChannelKind::Webhook, address, token: None };
            let (channel, key) = app.store.add_channel(owner.id, new).await?;
            (channel.id, Some(ChannelWithKey { channel, key }))
        }
    };
    let rule = NewRule {
        label,
        severity: Severity::Warning,
        resource: resource.id.0.to_string(),
        stream: Some(stream.id.0.to_string()),
        condition: Condition::Threshold { operator, operand, hysteresis: 0.0, hold_s: 0 },
        channels: vec![channel.0.to_string()],
        payload,
        paused: false,
    };
    let made_for_it = made.as_ref().map(|made| made.channel.id);
    match app.store.add_rule(owner.id, &rule).await {
        Ok(rule) => Ok((StatusCode::CREATED, Json(TriggerRule { rule, channel: made }))),
        Err(error) => {
            if let Some(channel) = made_for_it {
                app.store.delete_channel(channel).await?;
            }
            Err(error.into())
        }
    }
}
