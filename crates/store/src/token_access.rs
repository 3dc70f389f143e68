//! Whether a token is still good, for what was begun with it and lasts: live feeds.

use tokio::sync::watch;

use crate::accounts::User;
use crate::error::Error;
use crate::ids::UserId;
use crate::roles::Role;
use crate::store::Store;
use crate::token_digest::TokenDigest;
use crate::token_scope::TokenScope;

/// Who is signed in, and by which token.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The user.
    pub user: User,
    /// The digest of the token.
    pub token: TokenDigest,
    /// What the token may be used for.
    pub scope: TokenScope,
    /// Whether the token is the one in the file that only the operator of this machine reads.
    pub is_operators: bool,
}

/// What a token that is good allows at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The user.
    pub user: UserId,
    /// What the user may do.
    pub role: Role,
    /// What the token may be used for.
    pub scope: TokenScope,
    /// When the token ends, in milliseconds since 1970; `None` if it does not by itself.
    pub expires: Option<i64>,
}

/// A user, the role, what the token may be used for and when it ends.
type AccessRow = (i64, String, bool, Option<i64>, Option<i64>, Option<i64>);

impl Store {
    /// What the token allows at the time `now`; `None` if it is good no more. This does not prolong a session.
    pub async fn access(&self, token: TokenDigest, now: i64) -> Result<Option<Access>, Error> {
        let row: Option<AccessRow> = sqlx::query_as(
            "SELECT users.id, users.role, tokens.read_only, tokens.resource, tokens.stream, tokens.expires
             FROM tokens JOIN users ON users.id = tokens.owner
             WHERE tokens.digest = $1 AND (tokens.expires IS NULL OR tokens.expires > $2) AND NOT users.disabled",
        )
        .bind(&token.bytes()[..])
        .bind(now)
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(|(user, role, read_only, resource, stream, expires)| Access {
            user: UserId(user),
            role: Role::read(&role),
            scope: TokenScope::read((read_only, resource, stream)),
            expires,
        }))
    }

    /// Word that a token, a user, a role or what a group allows ended or changed, or that a stream is public no more. What that was is asked
    /// with [`Store::access`], [`Store::access_by_groups`] and [`Store::is_public`].
    pub fn access_changes(&self) -> watch::Receiver<()> {
        self.access.subscribe()
    }

    /// Tells those who wait for [`Store::access_changes`].
    pub(crate) fn access_changed(&self) {
        self.access.send_replace(());
    }
}
