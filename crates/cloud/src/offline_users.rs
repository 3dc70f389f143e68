//! The users of a cloud that does not run. What is done is recorded, as it is by a cloud that runs.

use sixlock_store::{Listing, Role, User, UserChange, now_ms};
use sixlock_telemetry::{Done, Scheme};

use crate::http::reset_path;
use crate::role_names::role_changed_to;
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
        role: Role,
    ) -> Result<User, Error> {
        let user = self.store.add_user(username, email, password, role).await?;
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

    /// Gives a user another role.
    pub async fn set_role(&self, username: &str, role: Role) -> Result<(), Error> {
        let user = self.known_user(username).await?;
        let change = UserChange { role: Some(role), ..UserChange::default() };
        self.store.change_user(&user, change, None).await?;
        self.record(role_changed_to(role), &user)
    }

    /// Makes a one-time link by which a user sets a new password: its path, at the address of the cloud, and when it ends.
    pub async fn make_reset_link(&self, username: &str) -> Result<(String, i64), Error> {
        let user = self.known_user(username).await?;
        let (token, expires) = self.store.make_reset_link(user.id, now_ms()).await?;
        self.record("reset_link_made", &user)?;
        Ok((reset_path(&token), expires))
    }

    /// Removes the second factor of a user who has lost it.
    pub async fn remove_second_factor(&self, username: &str) -> Result<(), Error> {
        let user = self.known_user(username).await?;
        self.store.remove_second_factor(user.id).await?;
        self.record("second_factor_removed", &user)
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
