//! What each method of each path does.

use axum::http::Method;

use super::paths::{self, API};
use crate::access::Action;

/// What each method of each path does. A route that is not listed is closed.
pub(super) fn action(method: &Method, path: &str) -> Option<Action> {
    const RESOURCE: &str = "/users/{user}/resources/{resource}";
    if matches!(path, paths::SIGN_IN | paths::OIDC_SIGN_IN | paths::OIDC_CALLBACK) {
        // Not HEAD: a link's preview must not use the link up.
        return (method == Method::GET).then_some(Action::SignIn);
    }
    if matches!(path, paths::OIDC_LINK | paths::OIDC_CODE) {
        return (method == Method::POST).then_some(Action::SignIn);
    }
    if path == paths::RESET_PASSWORD {
        return matches!(*method, Method::GET | Method::POST).then_some(Action::ResetPassword);
    }
    if path == paths::METRICS {
        return matches!(*method, Method::GET | Method::HEAD).then_some(Action::ReadMetrics);
    }
    let path = path.strip_prefix(API)?;
    if let Some(within) = path.strip_prefix(RESOURCE) {
        return match (method.as_str(), within) {
            ("GET" | "HEAD", "" | "/credentials") => Some(Action::ReadResource),
            ("GET" | "HEAD", "/log") => Some(Action::ReadResourceLog),
            ("PUT", "") => Some(Action::ChangeResource),
            ("DELETE", "") => Some(Action::DeleteResource),
            ("POST" | "DELETE", "/credentials") | ("DELETE", "/credentials/{identity}") => {
                Some(Action::ChangeCredentials)
            }
            ("GET" | "HEAD", "/poller") => Some(Action::ReadPoller),
            ("PUT" | "DELETE", "/poller") => Some(Action::ChangePoller),
            ("GET" | "HEAD", "/streams" | "/streams/{stream}") => Some(Action::ReadStream),
            ("POST", "/streams") => Some(Action::AddStream),
            ("PUT", "/streams/{stream}") => Some(Action::ChangeStream),
            ("DELETE", "/streams/{stream}") => Some(Action::DeleteStream),
            ("GET" | "HEAD", "/retention" | "/streams/{stream}/retention") => Some(Action::ReadStream),
            ("PUT", "/streams/{stream}/retention") => Some(Action::ChangeRetention),
            ("POST", "/data" | "/streams/{stream}/data") => Some(Action::AddPoints),
            ("GET" | "HEAD", "/parsers" | "/parsers/{parser}") | ("POST", "/parsers/test") => {
                Some(Action::ReadParsers)
            }
            ("POST", "/parsers") | ("PUT" | "DELETE", "/parsers/{parser}") => Some(Action::ChangeParsers),
            ("GET" | "HEAD", "/computed-streams" | "/computed-streams/{stream}") => {
                Some(Action::ReadComputedStreams)
            }
            ("POST", "/expressions/test") => Some(Action::TryComputation),
            ("POST", "/computed-streams") | ("PUT" | "DELETE", "/computed-streams/{stream}") => {
                Some(Action::ChangeComputedStreams)
            }
            ("GET" | "HEAD", "/commands" | "/commands/{command}") => Some(Action::ReadCommands),
            ("POST", "/commands") | ("DELETE", "/commands/{command}") => Some(Action::Command),
            ("GET" | "HEAD", "/streams/{stream}/triggers") => Some(Action::ReadAlerts),
            ("POST", "/streams/{stream}/triggers") => Some(Action::ChangeRules),
            ("GET" | "HEAD", "/data" | "/streams/{stream}/data" | "/streams/{stream}/live") => {
                Some(Action::ReadPoints)
            }
            ("DELETE", "/streams/{stream}/data") => Some(Action::DeletePoints),
            ("GET" | "HEAD", "/groups" | "/streams/{stream}/groups") => Some(Action::ReadResourceGroups),
            ("PUT" | "DELETE", "/groups/{membership}" | "/streams/{stream}/groups/{membership}") => {
                Some(Action::ChangeResourceGroups)
            }
            _ => None,
        };
    }
    match (method.as_str(), path) {
        ("POST", "/login") => Some(Action::SignIn),
        ("POST", "/reset-password") => Some(Action::ResetPassword),
        ("POST", "/users/{user}/reset-link") => Some(Action::MakeResetLink),
        ("POST", "/sign-up") => Some(Action::SignUp),
        ("GET" | "HEAD", "/sign-up") => Some(Action::ReadSignUp),
        ("GET" | "HEAD", "/resources" | "/device-metrics") => Some(Action::ListResources),
        ("GET" | "HEAD", "/users/{user}/totp") => Some(Action::ReadSecondFactor),
        ("POST" | "PUT", "/users/{user}/totp") => Some(Action::ChangeSecondFactor),
        ("DELETE", "/users/{user}/totp") => Some(Action::RemoveSecondFactor),
        ("GET" | "HEAD", "/users/{user}/oidc") => Some(Action::ReadOidcLinks),
        ("POST", "/users/{user}/oidc") => Some(Action::LinkOidc),
        ("DELETE", "/users/{user}/oidc") => Some(Action::UnlinkOidc),
        ("GET" | "HEAD", "/users/{user}/export") => Some(Action::ExportUser),
        ("GET" | "HEAD", "/users/{user}/quotas") => Some(Action::ReadQuotas),
        ("PUT", "/users/{user}/quotas") => Some(Action::ChangeQuotas),
        ("POST", "/logout") => Some(Action::SignOut),
        ("GET" | "HEAD", "/me") => Some(Action::ReadSelf),
        ("GET" | "HEAD", "/endpoints" | "/public-keys") => Some(Action::ReadEndpoints),
        ("GET" | "HEAD", "/live") => Some(Action::Follow),
        ("GET" | "HEAD", "/shared/streams") => Some(Action::FindStreams),
        (
            "GET" | "HEAD",
            "/shared/streams/{shared}" | "/shared/streams/{shared}/data" | "/shared/streams/{shared}/live",
        ) => Some(Action::ReadShared),
        ("GET" | "HEAD", "/users/{user}/followed") => Some(Action::ReadFollowed),
        ("PUT" | "DELETE", "/users/{user}/followed/{shared}") => Some(Action::ChangeFollowed),
        ("GET" | "HEAD", "/network") => Some(Action::ReadNetwork),
        ("GET" | "HEAD", paths::OPENAPI) => Some(Action::ReadDescription),
        ("GET" | "HEAD", "/audit") => Some(Action::ReadAudit),
        ("GET" | "HEAD", "/statistics") => Some(Action::ReadStatistics),
        ("GET" | "HEAD", "/users") => Some(Action::ListUsers),
        ("POST", "/users") => Some(Action::AddUser),
        ("GET" | "HEAD", "/users/{user}") => Some(Action::ReadUser),
        ("PUT", "/users/{user}") => Some(Action::ChangeUser),
        ("DELETE", "/users/{user}") => Some(Action::DeleteUser),
        ("GET" | "HEAD", "/users/{user}/tokens") => Some(Action::ReadTokens),
        ("POST", "/users/{user}/tokens") | ("DELETE", "/users/{user}/tokens/{token}") => {
            Some(Action::ChangeTokens)
        }
        ("GET" | "HEAD", "/users/{user}/identities") => Some(Action::ReadIdentities),
        ("POST", "/users/{user}/identities") | ("DELETE", "/users/{user}/identities/{identity}") => {
            Some(Action::ChangeIdentities)
        }
        (
            "GET" | "HEAD",
            "/users/{user}/resources"
            | "/users/{user}/credentials"
            | "/users/{user}/device-metrics"
            | "/users/{user}/fleet"
            | "/users/{user}/fleet/places"
            | "/users/{user}/profiles"
            | "/users/{user}/profiles/{profile}",
        ) => Some(Action::ReadResource),
        (
            "GET" | "HEAD",
            "/users/{user}/groups"
            | "/users/{user}/groups/{group}"
            | "/users/{user}/memberships"
            | "/users/{user}/memberships/{membership}"
            | "/users/{user}/group-resources"
            | "/users/{user}/group-streams",
        ) => Some(Action::ReadGroups),
        ("POST", "/users/{user}/groups")
        | ("PUT" | "DELETE", "/users/{user}/groups/{group}")
        | (
            "DELETE",
            "/users/{user}/groups/{group}/devices/{device}" | "/users/{user}/groups/{group}/streams/{shared}",
        ) => Some(Action::ChangeGroups),
        ("PUT" | "DELETE", "/users/{user}/groups/{group}/members/{member}") => {
            Some(Action::ChangeGroupMembers)
        }
        ("PUT" | "DELETE", "/users/{user}/memberships/{membership}") => Some(Action::ChangeMembership),
        ("POST", "/users/{user}/fleet/changes") => Some(Action::ChangeFleet),
        ("PUT" | "DELETE", "/users/{user}/profiles/{profile}") => Some(Action::ChangeProfiles),
        (
            "GET" | "HEAD",
            "/users/{user}/alert-definitions"
            | "/users/{user}/rules"
            | "/users/{user}/rules/{rule}"
            | "/users/{user}/alerts"
            | "/users/{user}/alerts/{alert}"
            | "/users/{user}/channels"
            | "/users/{user}/channels/{channel}",
        ) => Some(Action::ReadAlerts),
        // Whoever may change rules may change channels.
        ("PUT", "/users/{user}/alert-definitions")
        | ("POST", "/users/{user}/rules")
        | ("PUT" | "DELETE", "/users/{user}/rules/{rule}") => Some(Action::ChangeRules),
        ("POST", "/users/{user}/alerts/{alert}/acknowledge") => Some(Action::AcknowledgeAlert),
        (
            "POST",
            "/users/{user}/channels"
            | "/users/{user}/channels/{channel}/test"
            | "/users/{user}/channels/{channel}/confirm",
        )
        | ("DELETE", "/users/{user}/channels/{channel}") => Some(Action::ChangeChannels),
        ("GET" | "HEAD", "/users/{user}/brokers" | "/users/{user}/brokers/{broker}") => {
            Some(Action::ReadBrokers)
        }
        ("POST", "/users/{user}/brokers" | "/users/{user}/brokers/{broker}/test")
        | ("PUT" | "DELETE", "/users/{user}/brokers/{broker}") => Some(Action::ChangeBrokers),
        ("POST", "/users/{user}/resources" | "/users/{user}/import") => Some(Action::AddResource),
        _ => None,
    }
}
