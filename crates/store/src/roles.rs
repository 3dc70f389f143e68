//! Roles of users.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything.
    Administrator,
    /// Read and change what is their own.
    Member,
    /// Read what is their own, and change nothing but their own password, email address and second factor.
    Viewer,
}

impl Role {
    /// Its name, as it is stored and as clients write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Member => "member",
            Self::Viewer => "viewer",
        }
    }

    /// The role of this name. A name that is not known gives the fewest rights.
    pub(crate) fn read(name: &str) -> Self {
        match name {
            "administrator" => Self::Administrator,
            "member" => Self::Member,
            _ => Self::Viewer,
        }
    }
}

/// An administrator or not, as earlier clients say it: whoever is not is a member.
impl From<bool> for Role {
    fn from(admin: bool) -> Self {
        if admin { Self::Administrator } else { Self::Member }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_as_it_was_written_and_another_name_gives_the_fewest_rights() {
        for role in [Role::Administrator, Role::Member, Role::Viewer] {
            assert_eq!(Role::read(role.name()), role);
        }
        assert_eq!(Role::read("owner"), Role::Viewer);
    }
}
