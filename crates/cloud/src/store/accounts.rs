//! Users and the tokens that stand for them.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Store, UserId, now_ms};
use crate::{Error, password, secrets};

/// The name of the user that the first start makes.
pub const ADMINISTRATOR: &str = "admin";

/// Who uses the cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct User {
    /// The row.
    pub id: UserId,
    /// The name, unique.
    pub username: String,
    /// Whether the user may do everything.
    pub admin: bool,
}

/// For how long a token is good.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenLife {
    /// Until it is replaced.
    Unlimited,
    /// Until this time, in milliseconds since 1970.
    Until(i64),
}

type UserRow = (i64, String, bool);

fn user((id, username, admin): UserRow) -> User {
    User { id: UserId(id), username, admin }
}

impl Store {
    /// Adds a user.
    pub async fn add_user(
        &self,
        username: &str,
        email: &str,
        password: String,
        admin: bool,
    ) -> Result<User, Error> {
        if !is_label(username) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        if !(password::SHORTEST..=password::LONGEST).contains(&password.len()) {
            return Err(Error::Invalid("a password has 8 to 256 bytes"));
        }
        if email.len() > 254 || email.chars().any(char::is_control) {
            return Err(Error::Invalid("an email address has at most 254 bytes and no control characters"));
        }
        let hash = password::hash(password).await?;
        let row: Option<UserRow> = sqlx::query_as(
            "INSERT INTO users (name, email, password, admin, created) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (name) DO NOTHING RETURNING id, name, admin",
        )
        .bind(username)
        .bind(email)
        .bind(hash)
        .bind(admin)
        .bind(now_ms())
        .fetch_optional(&mut *self.writer.lock().await)
        .await?;
        row.map(user).ok_or(Error::Taken("username"))
    }

    /// The user of this id or name.
    pub async fn user(&self, id_or_name: &str) -> Result<Option<User>, Error> {
        let row: Option<UserRow> =
            sqlx::query_as("SELECT id, name, admin FROM users WHERE id = $1 OR name = $2")
                .bind(id_or_name.parse().unwrap_or(-1i64))
                .bind(id_or_name)
                .fetch_optional(&self.readers)
                .await?;
        Ok(row.map(user))
    }

    /// The user whose name and password these are.
    pub async fn user_by_password(&self, username: &str, password: String) -> Result<Option<User>, Error> {
        let row: Option<(i64, String, bool, String)> =
            sqlx::query_as("SELECT id, name, admin, password FROM users WHERE name = $1")
                .bind(username)
                .fetch_optional(&self.readers)
                .await?;
        let (row, hash) = match row {
            Some((id, name, admin, hash)) => (Some((id, name, admin)), Some(hash)),
            None => (None, None),
        };
        let fits = password::verify(password, hash).await;
        Ok(row.filter(|_| fits).map(user))
    }

    /// Makes a token for a user.
    pub(crate) async fn issue_token(&self, owner: UserId, life: TokenLife) -> Result<String, Error> {
        let token = secrets::token()?;
        let expires = match life {
            TokenLife::Unlimited => None,
            TokenLife::Until(expires) => Some(expires),
        };
        let mut writer = self.writer.lock().await;
        sqlx::query("DELETE FROM tokens WHERE expires < $1").bind(now_ms()).execute(&mut *writer).await?;
        sqlx::query("INSERT INTO tokens (digest, owner, expires) VALUES ($1, $2, $3)")
            .bind(&secrets::digest(&[token.as_bytes()])[..])
            .bind(owner.0)
            .bind(expires)
            .execute(&mut *writer)
            .await?;
        Ok(token)
    }

    /// The user that `token` stands for, if it is good.
    pub(crate) async fn user_by_token(&self, token: &str) -> Result<Option<User>, Error> {
        let row: Option<UserRow> = sqlx::query_as(
            "SELECT users.id, users.name, users.admin FROM tokens JOIN users ON users.id = tokens.owner
             WHERE tokens.digest = $1 AND (tokens.expires IS NULL OR tokens.expires > $2)",
        )
        .bind(&secrets::digest(&[token.as_bytes()])[..])
        .bind(now_ms())
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(user))
    }

    /// Ends all tokens of a user that do not expire by themselves.
    pub(crate) async fn revoke_unlimited_tokens(&self, owner: UserId) -> Result<(), Error> {
        sqlx::query("DELETE FROM tokens WHERE owner = $1 AND expires IS NULL")
            .bind(owner.0)
            .execute(&mut *self.writer.lock().await)
            .await?;
        Ok(())
    }

    /// Ends `token`.
    pub(crate) async fn revoke_token(&self, token: &str) -> Result<(), Error> {
        sqlx::query("DELETE FROM tokens WHERE digest = $1")
            .bind(&secrets::digest(&[token.as_bytes()])[..])
            .execute(&mut *self.writer.lock().await)
            .await?;
        Ok(())
    }
}

pub(super) const LABEL_RULE: &str =
    "a name or label has 1 to 64 characters without / and control characters, and is not a number";

/// Whether `text` can be a name or label: something that no id is, so that either can stand in a path.
pub(super) fn is_label(text: &str) -> bool {
    (1..=64).contains(&text.chars().count())
        && text.trim() == text
        && !text.chars().any(|char| char == '/' || char.is_control())
        && !text.bytes().all(|byte| byte.is_ascii_digit())
        && text != "."
        && text != ".."
}
