//! What members of groups may do.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Error;

pub(super) const UNKNOWN: Error = Error::Unknown("group");

/// What a member of a group may do with the devices of others in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum GroupAccess {
    /// Read what is said of a device, and its readings.
    Read,
    /// Give it commands and change its settings besides.
    Change,
}

impl GroupAccess {
    /// Whether whoever has this has `other`, too.
    pub const fn includes(self, other: Self) -> bool {
        matches!((self, other), (Self::Change, _) | (Self::Read, Self::Read))
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Change => "change",
        }
    }

    /// That of this name. A name that is not known gives the fewest rights.
    pub(crate) fn named(name: &str) -> Self {
        if name == "change" { Self::Change } else { Self::Read }
    }
}
