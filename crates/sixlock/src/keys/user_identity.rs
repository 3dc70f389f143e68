//! DTLS identities of users as they are made and listed.

use serde::{Deserialize, Serialize};

/// An identity that a user is to have.
#[derive(Serialize)]
pub(super) struct NewIdentity {
    pub(super) label: String,
    pub(super) mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    pub(super) read_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<i64>,
}

/// An identity just made.
#[derive(Deserialize)]
pub(super) struct MadeIdentity {
    pub(super) identity: String,
    #[serde(default)]
    pub(super) key: String,
    /// In PEM, if one was made.
    pub(super) certificate: Option<String>,
}

/// An identity that is good.
#[derive(Deserialize)]
pub(super) struct KnownIdentity {
    pub(super) id: i64,
    pub(super) label: String,
    pub(super) identity: String,
    pub(super) mode: String,
    pub(super) expires: Option<i64>,
    pub(super) read_only: bool,
    pub(super) resource: Option<i64>,
}
