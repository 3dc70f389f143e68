//! Who asks, and what the path names, for handlers.

use sixlock_store::{SignedIn, User};

use crate::access;

/// The cookie that holds a session's token.
pub(super) const COOKIE: &str = "sixlock_session";

/// Who is asking, and by which token.
pub(super) type Caller = SignedIn;

/// They, as the policy knows them.
pub(super) fn for_policy(SignedIn { user, scope, .. }: &Caller) -> access::Caller {
    access::Caller::User { id: user.id, role: user.role, scope: *scope }
}

/// The user that the path names.
#[derive(Clone)]
pub(super) struct Owner(pub(super) User);
