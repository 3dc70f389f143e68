//! Paths that more than their handlers know.

use axum::extract::RawPathParams;

/// What the paths of the API begin with.
pub(super) const API: &str = "/api/v1";
/// The description of the API, within it.
pub(super) const OPENAPI: &str = "/openapi.json";
/// The one-time link.
pub(super) const SIGN_IN: &str = "/sign-in";
/// Where a browser is sent to the OpenID provider, where that sends it back to, and where after that it confirms a link, or shows a one-time
/// code.
pub(super) const OIDC_SIGN_IN: &str = "/sign-in/oidc";
pub(super) const OIDC_CALLBACK: &str = "/sign-in/oidc/callback";
pub(super) const OIDC_LINK: &str = "/sign-in/oidc/link";
pub(super) const OIDC_CODE: &str = "/sign-in/oidc/code";
/// The page of a link that sets a password.
pub(super) const RESET_PASSWORD: &str = "/reset-password";
/// The metrics.
pub(super) const METRICS: &str = "/metrics";

/// The path of the page of a link with this token.
pub(crate) fn reset_path(token: &str) -> String {
    format!("{RESET_PASSWORD}?token={token}")
}

/// What the path calls `which`.
pub(super) fn named<'a>(names: &'a RawPathParams, which: &str) -> &'a str {
    names.iter().find(|(name, _)| *name == which).map(|(_, value)| value).unwrap_or_default()
}
