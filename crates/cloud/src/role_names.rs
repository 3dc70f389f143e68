//! How the record names a change of a role.

use sixlock_store::Role;

/// The action that the record names when a user gets this role.
pub(crate) const fn role_changed_to(role: Role) -> &'static str {
    match role {
        Role::Administrator => "role_changed_to_administrator",
        Role::Member => "role_changed_to_member",
        Role::Viewer => "role_changed_to_viewer",
    }
}
