//! Devices that are given to groups, and what members may do with them.

use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use super::access::{GroupAccess, UNKNOWN};
use crate::error::Error;
use crate::ids::{GroupId, Listing, ResourceId, UserId};
use crate::names::Reference;
use crate::resources::{COLUMNS, Resource, TABLES, resource};
use crate::store::Store;

/// The most devices of a group.
const OF_GROUP: i64 = 1_000;

/// A device that is given to a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GroupDevice {
    /// The row.
    pub id: ResourceId,
    /// The label.
    pub label: String,
    /// The user name of its owner.
    pub owner: String,
    /// When it was given, in milliseconds since 1970.
    pub since: i64,
}

/// A group that a device is given to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GroupOfResource {
    /// The row of the group, by which it is named.
    pub id: GroupId,
    /// The label of the group.
    pub label: String,
    /// The user name of the group's owner.
    pub owner: String,
    /// When the device was given to it, in milliseconds since 1970.
    pub since: i64,
}

/// A device of somebody else that groups let a user see.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupResource {
    /// The device.
    pub resource: Resource,
    /// Whose it is.
    pub owner: UserId,
    /// The user name of its owner.
    pub owner_name: String,
    /// What the user may do with it.
    pub access: GroupAccess,
}

/// A resource, the id and name of whose it is, and what [`CHANGES`] says.
type GivenRow = (
    i64,
    String,
    String,
    Option<String>,
    String,
    String,
    String,
    Option<i64>,
    Option<f64>,
    Option<f64>,
    i64,
    String,
    i64,
);

/// 1 if any of the groups lets a member change a resource, else 0.
const CHANGES: &str = "max(CASE WHEN access = 'change' THEN 1 ELSE 0 END)";

const fn access(changes: i64) -> GroupAccess {
    if changes == 1 { GroupAccess::Change } else { GroupAccess::Read }
}

impl Store {
    /// What groups let `user` do with `resource`, whosever it is; nothing if they let the user do nothing.
    pub async fn access_by_groups(
        &self,
        user: UserId,
        resource: ResourceId,
    ) -> Result<Option<GroupAccess>, Error> {
        let changes: Option<i64> = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT {CHANGES} FROM given_resources WHERE member = $1 AND resource = $2"
        )))
        .bind(user.0)
        .bind(resource.0)
        .fetch_one(&self.readers)
        .await?;
        Ok(changes.map(access))
    }

    /// The devices of others that groups let `user` see, a page of them in the order of their ids: those behind `after`.
    pub async fn group_resources(&self, user: UserId, listing: Listing) -> Result<Vec<GroupResource>, Error> {
        let rows: Vec<GivenRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {COLUMNS}, users.id, users.name, given.changes FROM {TABLES}
             JOIN (SELECT resource AS given_resource, {CHANGES} AS changes FROM given_resources
                   WHERE member = $1 AND resource > $2 GROUP BY resource) AS given ON given.given_resource = resources.id
             JOIN users ON users.id = resources.owner
             WHERE resources.owner <> $1 AND resources.id > $2 ORDER BY resources.id LIMIT $3"
        )))
        .bind(user.0)
        .bind(listing.after)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        let given = |row: GivenRow| {
            let (
                id,
                label,
                mode,
                identity,
                description,
                tags,
                folder,
                period,
                north,
                east,
                owner,
                name,
                changes,
            ) = row;
            let row = (id, label, mode, identity, description, tags, folder, period, north, east);
            GroupResource {
                resource: resource(row),
                owner: UserId(owner),
                owner_name: name,
                access: access(changes),
            }
        };
        Ok(rows.into_iter().map(given).collect())
    }

    pub(super) async fn given_to(&self, group: GroupId) -> Result<Vec<GroupDevice>, Error> {
        let rows: Vec<(i64, String, String, i64)> = sqlx::query_as(
            "SELECT resources.id, label, name, since FROM group_resources
             JOIN resources ON resources.id = resource JOIN users ON users.id = resources.owner
             WHERE user_group = $1 ORDER BY label, resources.id",
        )
        .bind(group.0)
        .fetch_all(&self.readers)
        .await?;
        let device = |(id, label, owner, since)| GroupDevice { id: ResourceId(id), label, owner, since };
        Ok(rows.into_iter().map(device).collect())
    }

    /// The groups that `resource` is given to, by their labels.
    pub async fn groups_of_resource(&self, resource: ResourceId) -> Result<Vec<GroupOfResource>, Error> {
        let rows: Vec<(i64, String, String, i64)> = sqlx::query_as(
            "SELECT user_groups.id, label, name, since FROM group_resources
             JOIN user_groups ON user_groups.id = user_group JOIN users ON users.id = user_groups.owner
             WHERE resource = $1 ORDER BY label, user_groups.id",
        )
        .bind(resource.0)
        .fetch_all(&self.readers)
        .await?;
        let group = |(id, label, owner, since)| GroupOfResource { id: GroupId(id), label, owner, since };
        Ok(rows.into_iter().map(group).collect())
    }

    /// Gives `resource` at the time `now` to the group of this id, in which its owner is.
    pub async fn give_to_group(
        &self,
        resource: ResourceId,
        id: &str,
        now: i64,
    ) -> Result<GroupOfResource, Error> {
        let id = Reference::read(id).id().ok_or(UNKNOWN)?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let (is_in, others): (bool, i64) = sqlx::query_as(
            "SELECT EXISTS (SELECT 1 FROM group_members WHERE user_group = $1
                 AND member = (SELECT owner FROM resources WHERE id = $2)),
             (SELECT count(*) FROM group_resources WHERE user_group = $1 AND resource <> $2)",
        )
        .bind(id)
        .bind(resource.0)
        .fetch_one(&mut *transaction)
        .await?;
        // A group that the owner is not in is as one that is not there.
        if !is_in {
            return Err(UNKNOWN);
        }
        if others >= OF_GROUP {
            return Err(Error::Full("at most 1000 devices are given to a group"));
        }
        sqlx::query(
            "INSERT INTO group_resources (user_group, resource, since) VALUES ($1, $2, $3)
             ON CONFLICT (user_group, resource) DO NOTHING",
        )
        .bind(id)
        .bind(resource.0)
        .bind(now)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        drop(writer);
        let mut groups = self.groups_of_resource(resource).await?.into_iter();
        groups.find(|group| group.id == GroupId(id)).ok_or(UNKNOWN)
    }

    /// Takes the device with the id `resource` from the group with the id `group`: what others might do with it by that group ends.
    pub async fn take_from_group(&self, group: &str, resource: &str) -> Result<(), Error> {
        let taken = sqlx::query("DELETE FROM group_resources WHERE user_group = $1 AND resource = $2")
            .bind(Reference::read(group).id())
            .bind(Reference::read(resource).id())
            .execute(&mut *self.writer.lock().await)
            .await?;
        if taken.rows_affected() == 0 {
            return Err(Error::Unknown("device in this group"));
        }
        self.access_changed();
        Ok(())
    }
}
