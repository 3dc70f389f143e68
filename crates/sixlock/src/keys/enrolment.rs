//! Devices as they are enrolled.

use std::error::Error;

use serde::{Deserialize, Serialize};
use sixlock_cloud::BadDevice;

/// A device to be enrolled.
#[derive(Clone, Default, Serialize)]
pub(crate) struct NewDevice {
    pub(crate) label: String,
    pub(crate) mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) identity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) valid_s: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) server: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) folder: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) period_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
}

/// A device that was enrolled; without a key if that was given.
#[derive(Deserialize)]
pub(crate) struct EnrolledDevice {
    pub(crate) id: i64,
    pub(crate) label: String,
    pub(crate) mode: String,
    pub(crate) identity: String,
    #[serde(default)]
    pub(crate) key: String,
    /// In PEM, if one was made.
    pub(crate) certificate: Option<String>,
}

/// Why devices were not imported.
pub(crate) enum NotImported {
    /// These cannot be enrolled.
    Devices(Vec<BadDevice>),
    /// Nothing can.
    Other(Box<dyn Error>),
}
