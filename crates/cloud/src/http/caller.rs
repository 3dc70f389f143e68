//! Who asks, and what the path names, for handlers.

use sixlock_store::{ResourceId, SharedStream, SignedIn, User};

use crate::access;

/// The cookie that holds a session's token.
pub(super) const COOKIE: &str = "sixlock_session";

/// Who is asking, and by which token.
pub(super) type Caller = SignedIn;

/// They, as the policy knows them.
pub(super) fn for_policy(SignedIn { user, scope, .. }: &Caller) -> access::Caller {
    access::Caller::User { id: user.id, role: user.role, scope: *scope }
}

/// Whether a request is a stranger's: nobody is signed in, or by a token for a stream, which may be anybody's, whether it reads or posts.
pub(super) fn is_strangers(caller: Option<&Caller>) -> bool {
    caller.is_none_or(|caller| caller.scope.stream.is_some())
}

/// The stream that the path names by its id alone, which the caller may read.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) stream: SharedStream,
    /// Why they may.
    pub(super) ground: ReadAs,
}

/// Why somebody may read a stream that is named by its id alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadAs {
    /// It is theirs, or an administrator asks, or a token is for it.
    Owner,
    /// A group lets them.
    Member,
    /// Anyone may.
    Stranger,
}

/// The resource that the path names, which is somebody else's, and which the caller has by a group alone.
#[derive(Clone, Copy)]
pub(super) struct Given(pub(super) ResourceId);

/// The user that the path names.
#[derive(Clone)]
pub(super) struct Owner(pub(super) User);
