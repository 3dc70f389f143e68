//! What a payload gives: readings, or the reason why there are none.

use std::fmt;

use crate::Value;

/// One value of a payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The stream's label.
    pub stream: String,
    /// The unit, if one is stated.
    pub unit: Option<String>,
    /// Milliseconds since 1970.
    pub time: i64,
    /// The value.
    pub value: Value,
}

/// Why a payload gives no readings, in words for those who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl Refused {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}
