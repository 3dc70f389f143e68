//! Paths that more than their handlers know.

/// What the paths of the API begin with.
pub(super) const API: &str = "/api/v1";
/// The description of the API, within it.
pub(super) const OPENAPI: &str = "/openapi.json";
/// The one-time link.
pub(super) const SIGN_IN: &str = "/sign-in";
/// The metrics.
pub(super) const METRICS: &str = "/metrics";
