//! The groups of a user.

use serde::Serialize;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use super::access::{GroupAccess, UNKNOWN};
use crate::error::Error;
use crate::ids::{GroupId, UserId};
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::store::Store;

/// The most groups that one user is in, the user's own among them.
pub(super) const OF_USER: i64 = 100;

/// A group of users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct UserGroup {
    /// The row.
    pub id: GroupId,
    /// The label, unique for its owner.
    pub label: String,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// How many are in it, its owner among them.
    pub members: i64,
    /// How many devices are given to it.
    pub devices: i64,
    /// How many single streams are given to it.
    pub streams: i64,
}

pub(super) type GroupRow = (i64, String, i64, i64, i64, i64);

pub(super) fn group((id, label, created, members, devices, streams): GroupRow) -> UserGroup {
    UserGroup { id: GroupId(id), label, created, members, devices, streams }
}

impl Store {
    /// The groups of `owner`, by their labels.
    pub async fn groups(&self, owner: UserId) -> Result<Vec<UserGroup>, Error> {
        let rows: Vec<GroupRow> = sqlx::query_as(
            "SELECT id, label, created, (SELECT count(*) FROM group_members WHERE user_group = user_groups.id),
             (SELECT count(*) FROM group_resources WHERE user_group = user_groups.id),
             (SELECT count(*) FROM group_streams WHERE user_group = user_groups.id)
             FROM user_groups WHERE owner = $1 ORDER BY label",
        )
        .bind(owner.0)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(group).collect())
    }

    /// The group of `owner` with this id or label.
    pub async fn group(&self, owner: UserId, id_or_label: &str) -> Result<Option<UserGroup>, Error> {
        let named = Reference::read(id_or_label);
        let row: Option<GroupRow> = sqlx::query_as(
            "SELECT id, label, created, (SELECT count(*) FROM group_members WHERE user_group = user_groups.id),
             (SELECT count(*) FROM group_resources WHERE user_group = user_groups.id),
             (SELECT count(*) FROM group_streams WHERE user_group = user_groups.id)
             FROM user_groups WHERE owner = $1 AND (id = $2 OR label = $3)",
        )
        .bind(owner.0)
        .bind(named.id())
        .bind(named.name())
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(group))
    }

    /// Makes a group of `owner` at the time `now`, in which nobody else is.
    pub async fn add_group(&self, owner: UserId, label: &str, now: i64) -> Result<UserGroup, Error> {
        if !is_label(label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        check_groups(&mut transaction, owner).await?;
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO user_groups (owner, label, created) SELECT id, $2, $3 FROM users WHERE id = $1
             ON CONFLICT (owner, label) DO NOTHING RETURNING id",
        )
        .bind(owner.0)
        .bind(label)
        .bind(now)
        .fetch_optional(&mut *transaction)
        .await?;
        let id = id.ok_or(Error::Taken("label"))?;
        sqlx::query("INSERT INTO group_members (user_group, member, access, since) VALUES ($1, $2, $3, $4)")
            .bind(id)
            .bind(owner.0)
            .bind(GroupAccess::Change.name())
            .bind(now)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(group((id, label.to_owned(), now, 1, 0, 0)))
    }

    /// Gives a group another label.
    pub async fn rename_group(&self, id: GroupId, label: &str) -> Result<(), Error> {
        if !is_label(label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let taken: Option<i64> = sqlx::query_scalar(
            "SELECT 1 FROM user_groups WHERE label = $2 AND id <> $1
             AND owner = (SELECT owner FROM user_groups WHERE id = $1)",
        )
        .bind(id.0)
        .bind(label)
        .fetch_optional(&mut *transaction)
        .await?;
        if taken.is_some() {
            return Err(Error::Taken("label"));
        }
        let changed = sqlx::query("UPDATE user_groups SET label = $2 WHERE id = $1")
            .bind(id.0)
            .bind(label)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        if changed.rows_affected() == 0 { Err(UNKNOWN) } else { Ok(()) }
    }

    /// Deletes a group: what its members might do by it ends.
    pub async fn delete_group(&self, id: GroupId) -> Result<(), Error> {
        let deleted = sqlx::query("DELETE FROM user_groups WHERE id = $1")
            .bind(id.0)
            .execute(&mut *self.writer.lock().await)
            .await?;
        self.access_changed();
        if deleted.rows_affected() == 0 { Err(UNKNOWN) } else { Ok(()) }
    }
}

/// Refuses that `user` is in a further group, if that is one too many.
pub(super) async fn check_groups(connection: &mut SqliteConnection, user: UserId) -> Result<(), Error> {
    let groups: i64 = sqlx::query_scalar("SELECT count(*) FROM group_members WHERE member = $1")
        .bind(user.0)
        .fetch_one(connection)
        .await?;
    if groups >= OF_USER { Err(Error::Full("a user is in at most 100 groups")) } else { Ok(()) }
}
