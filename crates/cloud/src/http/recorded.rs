//! What the record says of requests that were served: which of them matter to security, and by which words.

use axum::http::Method;
use axum::response::Response;
use sixlock_store::ResourceId;
use sixlock_telemetry::{Client, Done, Event, Events, Scheme};

use super::caller::Caller;
use crate::access::Action;

/// What a handler adds to its answer for the record.
#[derive(Clone, Debug, Default)]
pub(super) struct AuditDetails {
    /// What was done, where the path does not say it: nothing, one thing or several.
    pub(super) actions: Option<Vec<&'static str>>,
    /// The user who did it, if that was not known before.
    pub(super) who: Option<String>,
    /// The name of what was made.
    pub(super) made: Option<String>,
}

impl AuditDetails {
    /// Something of this name was made.
    pub(super) fn made(name: impl Into<String>) -> Self {
        Self { made: Some(name.into()), ..Self::default() }
    }

    /// These things were done.
    pub(super) fn actions(actions: Vec<&'static str>) -> Self {
        Self { actions: Some(actions), ..Self::default() }
    }

    /// This user did it.
    pub(super) fn who(self, who: impl Into<String>) -> Self {
        Self { who: Some(who.into()), ..self }
    }
}

/// What a request does that matters to security, in one word. Reading and adding points does not, nor do names and units.
pub(crate) fn name(action: Action, method: &Method) -> Option<&'static str> {
    let removes = *method == Method::DELETE;
    match action {
        Action::SignOut => Some("signed_out"),
        Action::RemoveSecondFactor => Some("second_factor_removed"),
        Action::ChangeSecondFactor if *method == Method::PUT => Some("second_factor_confirmed"),
        Action::ChangeSecondFactor => Some("second_factor_begun"),
        Action::LinkOidc => Some("oidc_link_begun"),
        Action::UnlinkOidc => Some("oidc_unlinked"),
        Action::ExportUser => Some("data_exported"),
        Action::ChangeQuotas => Some("quotas_changed"),
        Action::MakeResetLink => Some("reset_link_made"),
        Action::AddUser => Some("user_added"),
        Action::DeleteUser => Some("user_deleted"),
        Action::ChangeTokens if removes => Some("token_revoked"),
        Action::ChangeTokens => Some("token_made"),
        Action::ChangeIdentities if removes => Some("identity_revoked"),
        Action::ChangeIdentities => Some("identity_made"),
        Action::AddResource => Some("resource_added"),
        Action::ChangeResource => Some("resource_changed"),
        Action::DeleteResource => Some("resource_deleted"),
        Action::ChangeFleet => Some("devices_changed"),
        Action::ChangeProfiles => Some("profiles_changed"),
        Action::ChangeCredentials if removes => Some("key_removed"),
        Action::ChangeCredentials => Some("key_replaced"),
        Action::ChangePoller if removes => Some("poller_removed"),
        Action::ChangePoller => Some("poller_set"),
        Action::DeleteStream => Some("stream_deleted"),
        Action::DeletePoints => Some("data_deleted"),
        Action::ChangeRetention => Some("retention_changed"),
        Action::ChangeParsers => Some("parsers_changed"),
        Action::ChangeComputedStreams => Some("computed_streams_changed"),
        Action::Command if removes => Some("command_withdrawn"),
        Action::Command => Some("command_given"),
        Action::ChangeRules => Some("rules_changed"),
        Action::AcknowledgeAlert => Some("alert_acknowledged"),
        Action::ChangeChannels => Some("channels_changed"),
        Action::ChangeBrokers => Some("brokers_changed"),
        Action::ChangeGroups => Some("groups_changed"),
        Action::ChangeGroupMembers if removes => Some("group_member_removed"),
        Action::ChangeGroupMembers => Some("group_member_set"),
        Action::ChangeMembership if removes => Some("group_left"),
        Action::ChangeMembership => Some("group_joined"),
        Action::ChangeResourceGroups if removes => Some("device_taken_back"),
        Action::ChangeResourceGroups => Some("device_given"),
        // These say themselves what they did.
        Action::SignIn | Action::SignUp | Action::ResetPassword | Action::ChangeUser | Action::ChangeRole => {
            None
        }
        Action::ReadSelf
        | Action::ReadSignUp
        | Action::ReadEndpoints
        | Action::ReadDescription
        | Action::ReadNetwork
        | Action::ReadMetrics
        | Action::ReadAudit
        | Action::ReadStatistics
        | Action::Follow
        | Action::ListUsers
        | Action::ListResources
        | Action::ReadUser
        | Action::ReadTokens
        | Action::ReadIdentities
        | Action::ReadQuotas
        | Action::ReadSecondFactor
        | Action::ReadOidcLinks
        | Action::ReadResource
        | Action::ReadResourceLog
        | Action::ReadPoller
        | Action::ReadStream
        | Action::AddStream
        // It says itself whether it changed whom the stream is shared with.
        | Action::ChangeStream
        | Action::FindStreams
        | Action::ReadShared
        | Action::ReadFollowed
        | Action::ChangeFollowed
        | Action::ReadPoints
        | Action::AddPoints
        | Action::ReadParsers
        | Action::ReadComputedStreams
        | Action::TryComputation
        | Action::ReadCommands
        | Action::ReadAlerts
        | Action::ReadBrokers
        | Action::ReadGroups
        | Action::ReadResourceGroups => None,
    }
}

/// Whether what a request does is done to its end, with its line in the record, though whoever asked hangs up meanwhile.
pub(super) fn is_done_to_its_end(action: Action, method: &Method) -> bool {
    !method.is_safe() && name(action, method).is_some()
}

/// Tells what was done by a request that was answered so. Of one that failed, only what its failure says was done before.
pub(super) fn tell(
    events: &Events,
    (action, method, path): (Action, &Method, &str),
    ((caller, client), resource): ((Option<&Caller>, Client), Option<ResourceId>),
    response: &mut Response,
) {
    let said: Option<AuditDetails> = response.extensions_mut().remove();
    if said.is_none() && !(response.status().is_success() || response.status().is_redirection()) {
        return;
    }
    let deed = said.unwrap_or_default();
    let actions = deed.actions.unwrap_or_else(|| name(action, method).into_iter().collect());
    let who = deed.who.or_else(|| caller.map(|caller| caller.user.username.clone()));
    let what = deed.made.map_or_else(|| path.to_owned(), |made| format!("{path}/{made}"));
    for action in actions {
        let mut done = Done::new(Scheme::Http, action).from(client).what(what.clone());
        if let Some(who) = &who {
            done = done.who(who);
        }
        if let Some(ResourceId(resource)) = resource {
            done = done.of(resource);
        }
        events.tell(Event::Done(&done));
    }
}
