//! Who asks, and what the path names, for handlers.

use sixlock_store::{SignedIn, User};

/// The cookie that holds a session's token.
pub(super) const COOKIE: &str = "sixlock_session";

/// Who is asking, and by which token.
pub(super) type Caller = SignedIn;

/// The user that the path names.
#[derive(Clone)]
pub(super) struct Owner(pub(super) User);
