//! Users.

use std::net::IpAddr;

use serde::Serialize;
use sqlx::SqliteConnection;
use utoipa::ToSchema;

use crate::clock::now_ms;
use crate::error::Error;
use crate::hashing_turns::Origin;
use crate::ids::{Listing, UserId};
use crate::names::{LABEL_RULE, Reference, differ_by_case_at_most, is_label};
use crate::password;
use crate::roles::Role;
use crate::store::Store;

/// The name of the user that the first start makes.
pub const ADMINISTRATOR: &str = "admin";

/// Who uses the cloud.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct User {
    /// The row.
    pub id: UserId,
    /// The name, unique.
    pub username: String,
    /// The email address; empty, if none was given.
    pub email: String,
    /// What the user may do.
    pub role: Role,
    /// Whether the role is administrator.
    pub admin: bool,
    /// Whether an administrator has disabled the account: neither the user nor a token of theirs is let in.
    pub disabled: bool,
    /// Whether the user has signed up by themselves, and not signed in yet.
    pub pending: bool,
    /// When the user was added, in milliseconds since 1970.
    pub created: i64,
    /// How the user wants to be called beside the user name; empty, if the user does not say. Others may have the same.
    pub display_name: String,
    /// When the user last signed in, in milliseconds since 1970; nothing if never.
    pub last_sign_in: Option<i64>,
}

/// The most users.
const USERS: usize = 10_000;

/// The longest display name, in characters.
const LONGEST_DISPLAY_NAME: usize = 64;

/// Id, name, email address, role and time of a user, whether they are disabled, and whether they wait for their first sign-in, how they
/// want to be called, and when they last signed in.
pub(crate) type UserRow = (i64, String, String, String, i64, bool, bool, String, Option<i64>);

/// The same, and the hash of the password.
type HashedUserRow = (i64, String, String, String, i64, bool, bool, String, Option<i64>, String);

pub(crate) fn user(row: UserRow) -> User {
    let (id, username, email, role, created, disabled, pending, display_name, last_sign_in) = row;
    let role = Role::read(&role);
    let (id, admin) = (UserId(id), role == Role::Administrator);
    User { id, username, email, role, admin, disabled, pending, created, display_name, last_sign_in }
}

impl Store {
    /// Adds a user with this role.
    pub async fn add_user(
        &self,
        username: &str,
        email: &str,
        password: String,
        role: impl Into<Role>,
    ) -> Result<User, Error> {
        if !is_label(username) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        password::check(&password, username)?;
        check_email(email)?;
        let hash = password::hash(&self.hasher, Origin::SignedIn, password).await?;
        let new = NewUser { username, email, hash, role: role.into(), signed_up: None };
        insert(&mut *self.writer.lock().await, new).await
    }

    /// The user of this id or name.
    pub async fn user(&self, id_or_name: &str) -> Result<Option<User>, Error> {
        let named = Reference::read(id_or_name);
        let row: Option<UserRow> = sqlx::query_as(
            "SELECT id, name, email, role, created, disabled, signed_up IS NOT NULL, display_name, last_sign_in
             FROM users WHERE id = $1 OR name = $2",
        )
        .bind(named.id())
        .bind(named.name())
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(user))
    }

    /// Whether a user has this name.
    pub async fn has_username(&self, username: &str) -> Result<bool, Error> {
        let known: Option<i64> = sqlx::query_scalar("SELECT 1 FROM users WHERE name = $1")
            .bind(username)
            .fetch_optional(&self.readers)
            .await?;
        Ok(known.is_some())
    }

    /// The user whose name and password these are, tried from the address `from`. [`Error::Busy`] if too many are being
    /// tried, from there or in all.
    pub async fn user_by_password(
        &self,
        username: &str,
        password: String,
        from: IpAddr,
    ) -> Result<Option<User>, Error> {
        let row: Option<HashedUserRow> = sqlx::query_as(
            "SELECT id, name, email, role, created, disabled, signed_up IS NOT NULL, display_name, last_sign_in, password
             FROM users WHERE name = $1",
        )
        .bind(username)
        .fetch_optional(&self.readers)
        .await?;
        let (row, hash) = match row {
            Some((id, name, email, role, created, disabled, pending, display_name, last_sign_in, hash)) => {
                let row = (id, name, email, role, created, disabled, pending, display_name, last_sign_in);
                (Some(row), Some(hash))
            }
            None => (None, None),
        };
        let fits = password::verify(&self.hasher, Origin::stranger(from), password, hash).await?;
        Ok(row.filter(|_| fits).map(user))
    }

    /// The users, a page of them in the order of their ids: those behind `after`.
    pub async fn users(&self, listing: Listing) -> Result<Vec<User>, Error> {
        let rows: Vec<UserRow> = sqlx::query_as(
            "SELECT id, name, email, role, created, disabled, signed_up IS NOT NULL, display_name, last_sign_in
             FROM users WHERE id > $1 ORDER BY id LIMIT $2",
        )
        .bind(listing.after)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(user).collect())
    }
}

/// A user whose fields have the form they need.
pub(crate) struct NewUser<'a> {
    pub(crate) username: &'a str,
    pub(crate) email: &'a str,
    pub(crate) hash: String,
    pub(crate) role: Role,
    /// When they signed up by themselves.
    pub(crate) signed_up: Option<i64>,
}

pub(crate) async fn insert(connection: &mut SqliteConnection, new: NewUser<'_>) -> Result<User, Error> {
    let NewUser { username, email, hash, role, signed_up } = new;
    let names: Vec<String> = sqlx::query_scalar("SELECT name FROM users").fetch_all(&mut *connection).await?;
    if names.len() >= USERS {
        return Err(Error::Full("there are at most 10000 users"));
    }
    if names.iter().any(|name| differ_by_case_at_most(name, username)) {
        return Err(Error::Taken("username, but for the case of letters,"));
    }
    let row: Option<UserRow> = sqlx::query_as(
        "INSERT INTO users (name, email, password, role, created, signed_up) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (name) DO NOTHING
         RETURNING id, name, email, role, created, disabled, signed_up IS NOT NULL, display_name, last_sign_in",
    )
    .bind(username)
    .bind(email)
    .bind(hash)
    .bind(role.name())
    .bind(signed_up.unwrap_or_else(now_ms))
    .bind(signed_up)
    .fetch_optional(connection)
    .await?;
    row.map(user).ok_or(Error::Taken("username"))
}

pub(crate) fn check_email(email: &str) -> Result<(), Error> {
    if email.len() > 254 || email.chars().any(sixlock_ingest::is_hidden) {
        return Err(Error::Invalid(
            "an email address has at most 254 bytes, and no characters that cannot be seen",
        ));
    }
    Ok(())
}

pub(crate) fn check_display_name(name: &str) -> Result<(), Error> {
    let is_hidden = name.chars().any(sixlock_ingest::is_hidden);
    if name.chars().count() > LONGEST_DISPLAY_NAME || is_hidden || name.trim() != name {
        return Err(Error::Invalid(
            "a display name has at most 64 characters, none that cannot be seen, and no space before or behind it",
        ));
    }
    Ok(())
}
