//! Changes of a user: all that is asked for, or nothing.

use sqlx::Connection;

use crate::accounts::{ADMINISTRATOR, User, check_email};
use crate::error::Error;
use crate::password;
use crate::sign_in_files::{self, ADMIN_PASSWORD};
use crate::store::Store;
use crate::token_digest::TokenDigest;

/// What is to change of a user: what is not given stays.
#[derive(Debug, Default)]
pub struct UserChange {
    /// The email address.
    pub email: Option<String>,
    /// The password.
    pub password: Option<String>,
    /// Whether the user may do everything.
    pub admin: Option<bool>,
}

impl Store {
    /// Changes what is given of `user`, all of it or, if some of it cannot be, nothing, and returns the user as they are
    /// then. A new password ends all their sessions but that of the token `kept`, if there is one; tokens for programs stay.
    /// The file of the first start's password goes with the administrator's.
    pub async fn change_user(
        &self,
        user: &User,
        change: UserChange,
        kept: Option<TokenDigest>,
    ) -> Result<User, Error> {
        let UserChange { email, password, admin } = change;
        email.as_deref().map(check_email).transpose()?;
        if user.username == ADMINISTRATOR && admin == Some(false) {
            return Err(Error::Invalid("the administrator of the first start stays one"));
        }
        let hash = match password {
            Some(password) => {
                password::check(&password, &user.username)?;
                Some(password::hash(&self.hasher, password).await?)
            }
            None => None,
        };
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let changed = sqlx::query(
            "UPDATE users SET email = coalesce($1, email), password = coalesce($2, password), admin = coalesce($3, admin)
             WHERE id = $4",
        )
        .bind(&email)
        .bind(&hash)
        .bind(admin)
        .bind(user.id.0)
        .execute(&mut *transaction)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(Error::Unknown("user"));
        }
        if hash.is_some() {
            sqlx::query("DELETE FROM tokens WHERE owner = $1 AND label IS NULL AND digest <> $2")
                .bind(user.id.0)
                .bind(kept.as_ref().map_or(&[][..], |kept| kept.bytes()))
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        drop(writer);
        if hash.is_some() || admin.is_some() {
            self.access_changed();
        }
        if hash.is_some() && user.username == ADMINISTRATOR {
            // The password was changed whether or not its file goes: that holds one that is good no more.
            let _ = sign_in_files::remove(&self.directory, ADMIN_PASSWORD);
        }
        let User { id, username, created, .. } = user.clone();
        Ok(User {
            id,
            username,
            email: email.unwrap_or_else(|| user.email.clone()),
            admin: admin.unwrap_or(user.admin),
            created,
        })
    }
}
