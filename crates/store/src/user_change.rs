//! Changes of a user: all that is asked for, or nothing.

use sqlx::{Connection, SqliteConnection};

use crate::accounts::{ADMINISTRATOR, User, check_display_name, check_email};
use crate::error::Error;
use crate::hashing_turns::Origin;
use crate::ids::UserId;
use crate::password;
use crate::roles::Role;
use crate::rotation::to_its_end;
use crate::sign_in_files::{self, ADMIN_PASSWORD};
use crate::store::Store;
use crate::token_digest::TokenDigest;
use crate::user_identities;

/// What is to change of a user: what is not given stays.
#[derive(Debug, Default)]
pub struct UserChange {
    /// The email address.
    pub email: Option<String>,
    /// How the user wants to be called.
    pub display_name: Option<String>,
    /// The password.
    pub password: Option<String>,
    /// What the user may do.
    pub role: Option<Role>,
    /// Whether the account is disabled.
    pub disabled: Option<bool>,
}

impl Store {
    /// Changes what is given of `user`, all of it or, if some of it cannot be, nothing, and returns the user as they are
    /// then. A new password ends all their sessions but that of the token `kept`, if there is one; tokens for programs and DTLS identities
    /// stay. DTLS sessions of a user who is disabled are closed.
    /// The file of the first start's password goes with the administrator's.
    pub async fn change_user(
        &self,
        user: &User,
        change: UserChange,
        kept: Option<TokenDigest>,
    ) -> Result<User, Error> {
        let UserChange { email, display_name, password, role, disabled } = change;
        email.as_deref().map(check_email).transpose()?;
        display_name.as_deref().map(check_display_name).transpose()?;
        if user.username == ADMINISTRATOR && role.is_some_and(|role| role != Role::Administrator) {
            return Err(Error::Invalid("the administrator of the first start stays one"));
        }
        if user.username == ADMINISTRATOR && disabled == Some(true) {
            return Err(Error::Invalid("the administrator of the first start cannot be disabled"));
        }
        let hash = match password {
            Some(password) => {
                password::check(&password, &user.username)?;
                Some(password::hash(&self.hasher, Origin::SignedIn, password).await?)
            }
            None => None,
        };
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let changed = sqlx::query(
            "UPDATE users SET email = coalesce($1, email), password = coalesce($2, password), role = coalesce($3, role),
             disabled = coalesce($4, disabled), display_name = coalesce($6, display_name) WHERE id = $5",
        )
        .bind(&email)
        .bind(&hash)
        .bind(role.map(Role::name))
        .bind(disabled)
        .bind(user.id.0)
        .bind(&display_name)
        .execute(&mut *transaction)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(Error::Unknown("user"));
        }
        if hash.is_some() {
            password_is_set(&mut transaction, user.id, kept).await?;
        }
        let ended = match disabled {
            Some(true) => user_identities::of_user(&mut transaction, user.id).await?,
            _ => Vec::new(),
        };
        transaction.commit().await?;
        drop(writer);
        if hash.is_some() {
            tell_of_password(self, user);
        } else if role.is_some() || disabled.is_some() {
            self.access_changed();
        }
        if role.is_some() || disabled.is_some() {
            self.brokers_have_changed();
        }
        // Those of a disabled user are not good, though they are there. Whoever waits for the answer may be gone by then.
        if !ended.is_empty() {
            let store = self.clone();
            to_its_end(async move {
                store.revoke(ended).await;
                Ok(())
            })
            .await?;
        }
        let (role, email) = (role.unwrap_or(user.role), email.unwrap_or_else(|| user.email.clone()));
        let disabled = disabled.unwrap_or(user.disabled);
        let display_name = display_name.unwrap_or_else(|| user.display_name.clone());
        let admin = role == Role::Administrator;
        Ok(User { role, admin, email, disabled, display_name, ..user.clone() })
    }
}

/// Ends what rests on the password of before, when a user has another one: their sessions but that of the token `kept`, and the
/// link by which it could be set.
pub(crate) async fn password_is_set(
    connection: &mut SqliteConnection,
    user: UserId,
    kept: Option<TokenDigest>,
) -> Result<(), Error> {
    sqlx::query("DELETE FROM tokens WHERE owner = $1 AND label IS NULL AND digest <> $2")
        .bind(user.0)
        .bind(kept.as_ref().map_or(&[][..], |kept| kept.bytes()))
        .execute(&mut *connection)
        .await?;
    sqlx::query("DELETE FROM reset_links WHERE owner = $1").bind(user.0).execute(connection).await?;
    Ok(())
}

/// Tells those who wait that the sessions of `user` have ended, after the password of before was replaced for good. The file
/// that holds the administrator's goes.
pub(crate) fn tell_of_password(store: &Store, user: &User) {
    store.access_changed();
    if user.username == ADMINISTRATOR {
        // The password was changed whether or not its file goes: that holds one that is good no more.
        let _ = sign_in_files::remove(&store.directory, ADMIN_PASSWORD);
    }
}
