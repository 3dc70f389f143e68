//! The users of a cloud that does not run. What is done is recorded, as it is by a cloud that runs.

use sixlock_store::{Listing, User, UserChange, now_ms};
use sixlock_telemetry::{Done, Scheme};

use crate::{Error, Offline};

impl Offline {
    /// All users, in the order of their ids.
    pub async fn users(&self) -> Result<Vec<User>, Error> {
        self.store.users(Listing { limit: i64::MAX, after: 0 }).await
    }

    /// Adds a user.
    pub async fn add_user(
        &self,
        username: &str,
        email: &str,
        password: String,
        admin: bool,
    ) -> Result<User, Error> {
        let user = self.store.add_user(username, email, password, admin).await?;
        self.record("user_added", &user)?;
        Ok(user)
    }

    /// Gives a user another password and ends all their sessions. Nobody needs to know the present one: whoever can open the
    /// data folder can read all that is in it.
    pub async fn set_password(&self, username: &str, password: String) -> Result<(), Error> {
        let user = self.known_user(username).await?;
        let change = UserChange { password: Some(password), ..UserChange::default() };
        self.store.change_user(&user, change, None).await?;
        self.record("password_changed", &user)
    }

    /// Makes a user an administrator, or no longer one.
    pub async fn set_role(&self, username: &str, admin: bool) -> Result<(), Error> {
        let user = self.known_user(username).await?;
        let change = UserChange { admin: Some(admin), ..UserChange::default() };
        self.store.change_user(&user, change, None).await?;
        self.record(if admin { "role_changed_to_admin" } else { "role_changed_to_user" }, &user)
    }

    /// Deletes a user with all that is theirs.
    pub async fn remove_user(&self, username: &str) -> Result<(), Error> {
        let user = self.known_user(username).await?;
        self.store.delete_user(user.clone()).await?;
        self.record("user_deleted", &user)
    }

    async fn known_user(&self, username: &str) -> Result<User, Error> {
        self.store.user(username).await?.ok_or(Error::Unknown("user"))
    }

    fn record(&self, action: &'static str, user: &User) -> Result<(), Error> {
        let what = format!("/api/v1/users/{}", user.username);
        let done = Done::new(Scheme::Command, action).what(what);
        Ok(sixlock_telemetry::append(self.store.directory(), now_ms(), &done)?)
    }
}
