//! The tokens that stand for users: sessions, which begin by signing in and end by themselves, and tokens for programs,
//! which have a name and end when they are told to.

use serde::Serialize;
use sqlx::Connection;
use utoipa::ToSchema;

use crate::accounts::User;
use crate::accounts::{ADMINISTRATOR, user};
use crate::clock::now_ms;
use crate::error::Error;
use crate::ids::{ResourceId, StreamId, UserId};
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::secrets;
use crate::store::Store;
use crate::token_access::SignedIn;
use crate::token_digest::TokenDigest;
use crate::token_scope::TokenScope;

/// A session ends so long after it was last used.
const SESSION_IDLE_MS: i64 = 12 * 3_600_000;
/// A session ends so long after it began, used or not.
pub const SESSION_MS: i64 = 7 * 24 * 3_600_000;
/// How much later a session must end for that to be worth writing.
const WORTH_WRITING_MS: i64 = 5 * 60_000;
/// The most sessions of one user; a new one ends the oldest.
const SESSIONS: i64 = 32;
/// The most tokens for programs of one user.
const TOKENS: i64 = 32;
/// The most tokens of one user each of which is for a stream.
const TOKENS_FOR_STREAMS: i64 = 256;
/// The name of the token that is kept in the administrator's file.
pub const ADMINISTRATORS_FILE: &str = "admin-token";

/// A token for a program. The token itself is shown once, when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Token {
    /// The row.
    pub id: i64,
    /// The name, unique for its owner.
    pub label: String,
    /// When it was made.
    pub created: i64,
    /// When it ends; nothing if it does not by itself.
    pub expires: Option<i64>,
    /// Whether it may only read.
    pub read_only: bool,
    /// The only resource that it may be used for; nothing if it may be used for all.
    pub resource: Option<ResourceId>,
    /// The only stream of that resource that it may be used for, which is to read it or to post points to it.
    pub stream: Option<StreamId>,
    /// Whether it posts points to that stream, and reads nothing.
    pub write_only: bool,
}

type TokenRow = (i64, String, i64, Option<i64>, bool, Option<i64>, Option<i64>);

/// A token's name, when it was made and when it ends, and what it may be used for; then its user.
type TokenOfUserRow = (
    Option<String>,
    i64,
    Option<i64>,
    bool,
    Option<i64>,
    Option<i64>,
    i64,
    String,
    String,
    String,
    i64,
    String,
    Option<i64>,
);

fn token((id, label, created, expires, read_only, resource, stream): TokenRow) -> Token {
    let scope = TokenScope::read((read_only, resource, stream));
    let (write_only, TokenScope { read_only, resource, stream }) = (scope.is_write_only(), scope);
    Token { id, label, created, expires, read_only, resource, stream, write_only }
}

fn digest(token: &str) -> [u8; 32] {
    *TokenDigest::of(token).bytes()
}

impl Store {
    /// Begins a session at the time `now`, which is when the user last signed in: its token, and when it ends if it is not used. The one that it takes the place of ends with
    /// that, or not at all.
    pub async fn begin_session(&self, owner: UserId, now: i64) -> Result<(String, i64), Error> {
        let (token, expires) = (secrets::token()?, now + SESSION_IDLE_MS);
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query("DELETE FROM tokens WHERE expires <= $1").bind(now).execute(&mut *transaction).await?;
        let oldest = sqlx::query(
            "DELETE FROM tokens WHERE owner = $1 AND label IS NULL AND id <=
             (SELECT id FROM tokens WHERE owner = $1 AND label IS NULL ORDER BY id DESC LIMIT 1 OFFSET $2)",
        )
        .bind(owner.0)
        .bind(SESSIONS - 1)
        .execute(&mut *transaction)
        .await?;
        // An account that is used waits for its first sign-in no more.
        sqlx::query("UPDATE users SET signed_up = NULL, last_sign_in = $2 WHERE id = $1")
            .bind(owner.0)
            .bind(now)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("INSERT INTO tokens (digest, owner, created, expires) VALUES ($1, $2, $3, $4)")
            .bind(&digest(&token)[..])
            .bind(owner.0)
            .bind(now)
            .bind(expires)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        if oldest.rows_affected() > 0 {
            self.access_changed();
        }
        Ok((token, expires))
    }

    /// The user that `token` stands for, if it is good at the time `now`. A session that is used ends later.
    pub async fn user_by_token(&self, token: &str, now: i64) -> Result<Option<User>, Error> {
        Ok(self.signed_in(token, now).await?.map(|signed_in| signed_in.user))
    }

    /// The user that `token` stands for and the token's digest, if the token is good at the time `now`. A session that is
    /// used ends later.
    pub async fn signed_in(&self, token: &str, now: i64) -> Result<Option<SignedIn>, Error> {
        let row: Option<TokenOfUserRow> = sqlx::query_as(
            "SELECT tokens.label, tokens.created, tokens.expires, tokens.read_only, tokens.resource, tokens.stream,
             users.id, users.name, users.email, users.role, users.created, display_name, last_sign_in
             FROM tokens JOIN users ON users.id = tokens.owner
             WHERE tokens.digest = $1 AND (tokens.expires IS NULL OR tokens.expires > $2) AND NOT users.disabled",
        )
        .bind(&digest(token)[..])
        .bind(now)
        .fetch_optional(&self.readers)
        .await?;
        let Some((
            label,
            began,
            expires,
            read_only,
            resource,
            stream,
            id,
            name,
            email,
            role,
            created,
            called,
            last,
        )) = row
        else {
            return Ok(None);
        };
        let session = label.is_none();
        let later = (now + SESSION_IDLE_MS).min(began + SESSION_MS);
        if session && expires.is_some_and(|expires| later - expires >= WORTH_WRITING_MS) {
            sqlx::query("UPDATE tokens SET expires = $1 WHERE digest = $2")
                .bind(later)
                .bind(&digest(token)[..])
                .execute(&mut *self.writer.lock().await)
                .await?;
        }
        let is_operators = name == ADMINISTRATOR && label.as_deref() == Some(ADMINISTRATORS_FILE);
        // Whoever is signed in is neither disabled nor waits for that.
        let user = user((id, name, email, role, created, false, false, called, last));
        let scope = TokenScope::read((read_only, resource, stream));
        Ok(Some(SignedIn { user, token: TokenDigest::of(token), scope, is_operators }))
    }

    /// Ends the session of `token`, or the token for a program.
    pub async fn end_token(&self, token: TokenDigest) -> Result<(), Error> {
        sqlx::query("DELETE FROM tokens WHERE digest = $1")
            .bind(&token.bytes()[..])
            .execute(&mut *self.writer.lock().await)
            .await?;
        self.access_changed();
        Ok(())
    }

    /// The tokens for programs of `owner`.
    pub async fn tokens(&self, owner: UserId, now: i64) -> Result<Vec<Token>, Error> {
        let rows: Vec<TokenRow> = sqlx::query_as(
            "SELECT id, label, created, expires, read_only, resource, stream FROM tokens
             WHERE owner = $1 AND label IS NOT NULL AND (expires IS NULL OR expires > $2) ORDER BY id",
        )
        .bind(owner.0)
        .bind(now)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(token).collect())
    }

    /// Makes a token for a program: what it is, and the token itself. The resource of its scope is one of `owner`, and the stream one of that
    /// resource.
    pub async fn add_token(
        &self,
        owner: UserId,
        label: &str,
        (expires, scope): (Option<i64>, TokenScope),
        now: i64,
    ) -> Result<(Token, String), Error> {
        if !is_label(label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        if expires.is_some_and(|expires| expires <= now) {
            return Err(Error::Invalid("a token ends in the future, in milliseconds since 1970"));
        }
        let secret = secrets::token()?;
        let mut writer = self.writer.lock().await;
        sqlx::query("DELETE FROM tokens WHERE expires <= $1").bind(now).execute(&mut *writer).await?;
        let (tokens, for_streams): (i64, i64) = sqlx::query_as(
            "SELECT count(*) - count(stream), count(stream) FROM tokens WHERE owner = $1 AND label IS NOT NULL",
        )
        .bind(owner.0)
        .fetch_one(&mut *writer)
        .await?;
        match scope.stream {
            None if tokens >= TOKENS => return Err(Error::Full("a user has at most 32 tokens")),
            Some(_) if for_streams >= TOKENS_FOR_STREAMS => {
                return Err(Error::Full("a user has at most 256 tokens for streams"));
            }
            _ => {}
        }
        let row: Option<TokenRow> = sqlx::query_as(
            "INSERT INTO tokens (digest, owner, label, created, expires, read_only, resource, stream)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (owner, label) DO NOTHING
             RETURNING id, label, created, expires, read_only, resource, stream",
        )
        .bind(&digest(&secret)[..])
        .bind(owner.0)
        .bind(label)
        .bind(now)
        .bind(expires)
        .bind(scope.read_only)
        .bind(scope.resource.map(|resource| resource.0))
        .bind(scope.stream.map(|stream| stream.0))
        .fetch_optional(&mut *writer)
        .await?;
        Ok((row.map(token).ok_or(Error::Taken("label"))?, secret))
    }

    /// Ends a token for a program of `owner`, by its id or name.
    pub async fn delete_token(&self, owner: UserId, id_or_label: &str) -> Result<(), Error> {
        let named = Reference::read(id_or_label);
        let deleted = sqlx::query(
            "DELETE FROM tokens WHERE owner = $1 AND label IS NOT NULL AND (id = $2 OR label = $3)",
        )
        .bind(owner.0)
        .bind(named.id())
        .bind(named.name())
        .execute(&mut *self.writer.lock().await)
        .await?;
        if deleted.rows_affected() == 0 {
            return Err(Error::Unknown("token"));
        }
        self.access_changed();
        Ok(())
    }

    /// Makes the token that is kept in the administrator's file. The one before ends.
    pub async fn renew_administrators_token(&self, owner: UserId) -> Result<String, Error> {
        match self.delete_token(owner, ADMINISTRATORS_FILE).await {
            Ok(()) | Err(Error::Unknown(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(self.add_token(owner, ADMINISTRATORS_FILE, (None, TokenScope::default()), now_ms()).await?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Device;
    use sixlock_ingest::ValueType;

    #[tokio::test]
    async fn a_session_that_is_used_lasts_for_seven_days_and_one_that_is_not_for_twelve_hours() {
        const HOUR: i64 = 3_600_000;
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let user = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        let (used, expires) = store.begin_session(user.id, 0).await.unwrap();
        let (idle, _) = store.begin_session(user.id, 0).await.unwrap();
        assert_eq!(expires, 12 * HOUR);
        let good = async |token: &str, now| store.user_by_token(token, now).await.unwrap().is_some();
        assert!(good(&idle, 12 * HOUR - 1).await && !good(&idle, 24 * HOUR).await);
        for hour in (0..7 * 24).step_by(11) {
            assert!(good(&used, hour * HOUR).await, "hour {hour}");
        }
        assert!(good(&used, 7 * 24 * HOUR - 1).await && !good(&used, 7 * 24 * HOUR).await);
        // A token for a program lasts as long as it was told to, whether it is used or not.
        let (_, token) = store
            .add_token(user.id, "script", (Some(30 * 24 * HOUR), TokenScope::default()), 0)
            .await
            .unwrap();
        assert!(good(&token, 30 * 24 * HOUR - 1).await && !good(&token, 30 * 24 * HOUR).await);
    }

    #[tokio::test]
    async fn a_session_that_does_not_begin_ends_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let user = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        let (oldest, _) = store.begin_session(user.id, 0).await.unwrap();
        for _ in 0..SESSIONS - 1 {
            store.begin_session(user.id, 0).await.unwrap();
        }
        let no_more =
            "CREATE TEMP TRIGGER no_more BEFORE INSERT ON tokens BEGIN SELECT RAISE(ABORT, 'no more'); END";
        sqlx::query(no_more).execute(&mut *store.writer.lock().await).await.unwrap();
        store.begin_session(user.id, 1).await.unwrap_err();
        assert!(store.user_by_token(&oldest, 1).await.unwrap().is_some());
        sqlx::query("DROP TRIGGER no_more").execute(&mut *store.writer.lock().await).await.unwrap();
        store.begin_session(user.id, 1).await.unwrap();
        assert!(store.user_by_token(&oldest, 1).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_user_has_so_many_sessions_and_tokens_and_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let user = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        let (first, _) = store.begin_session(user.id, 0).await.unwrap();
        let (second, _) = store.begin_session(user.id, 0).await.unwrap();
        for _ in 0..SESSIONS - 1 {
            store.begin_session(user.id, 0).await.unwrap();
        }
        assert!(store.user_by_token(&first, 1).await.unwrap().is_none());
        assert!(store.user_by_token(&second, 1).await.unwrap().is_some());
        for n in 0..TOKENS {
            store.add_token(user.id, &format!("t{n}"), (None, TokenScope::default()), 0).await.unwrap();
        }
        assert!(matches!(
            store.add_token(user.id, "more", (None, TokenScope::default()), 0).await,
            Err(Error::Full(_))
        ));
        assert_eq!(store.tokens(user.id, 0).await.unwrap().len(), TOKENS as usize);
        // Those for streams are counted apart.
        let node = store.add_resource(user.id, Device::named("node")).await.unwrap().resource.id;
        let stream = store.add_stream(node, ("t", None, ""), ValueType::Number).await.unwrap().id;
        let scope = TokenScope { read_only: true, resource: Some(node), stream: Some(stream) };
        for n in 0..TOKENS_FOR_STREAMS {
            store.add_token(user.id, &format!("s{n}"), (None, scope), 0).await.unwrap();
        }
        let more = store.add_token(user.id, "more", (None, scope), 0).await;
        assert!(matches!(more, Err(Error::Full(_))), "{more:?}");
        store.delete_stream(stream).await.unwrap();
        assert_eq!(store.tokens(user.id, 0).await.unwrap().len(), TOKENS as usize);
    }
}
