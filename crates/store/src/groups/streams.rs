//! Single streams that are given to groups: members read these, and nothing else of their devices.

use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use super::access::UNKNOWN;
use super::devices::GroupOfResource;
use crate::error::Error;
use crate::ids::{GroupId, Listing, ResourceId, StreamId, UserId};
use crate::names::Reference;
use crate::sharing::{SHARED, SharedRow, SharedStream, TABLES, shared};
use crate::store::Store;

/// The most single streams of a group.
const OF_GROUP: i64 = 1_000;
/// Of these, the most of one owner.
const OF_OWNER: i64 = 200;

/// A single stream that is given to a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GroupStream {
    /// The row.
    pub id: StreamId,
    /// The label.
    pub label: String,
    /// The label of its device.
    pub device: String,
    /// The user name of its owner.
    pub owner: String,
    /// When it was given, in milliseconds since 1970.
    pub since: i64,
}

impl Store {
    /// Whether groups let `user` read `stream` alone, whosever it is.
    pub async fn reads_by_groups(&self, user: UserId, stream: StreamId) -> Result<bool, Error> {
        let is_given = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM given_streams WHERE member = $1 AND stream = $2)",
        )
        .bind(user.0)
        .bind(stream.0)
        .fetch_one(&self.readers)
        .await?;
        Ok(is_given)
    }

    /// The single streams of others that groups let `user` read, a page of them in the order of their ids: those behind `after`.
    pub async fn group_streams(&self, user: UserId, listing: Listing) -> Result<Vec<SharedStream>, Error> {
        let rows: Vec<SharedRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {SHARED} FROM {TABLES}
             WHERE streams.id IN (SELECT stream FROM given_streams WHERE member = $1 AND stream > $2)
             AND resources.owner <> $1 ORDER BY streams.id LIMIT $3"
        )))
        .bind(user.0)
        .bind(listing.after)
        .bind(listing.limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(shared).collect())
    }

    pub(super) async fn streams_given_to(&self, group: GroupId) -> Result<Vec<GroupStream>, Error> {
        let rows: Vec<(i64, String, String, String, i64)> = sqlx::query_as(
            "SELECT streams.id, streams.label, resources.label, name, since FROM group_streams
             JOIN streams ON streams.id = stream JOIN resources ON resources.id = streams.resource
             JOIN users ON users.id = resources.owner
             WHERE user_group = $1 ORDER BY resources.label, streams.label, streams.id",
        )
        .bind(group.0)
        .fetch_all(&self.readers)
        .await?;
        let stream =
            |(id, label, device, owner, since)| GroupStream { id: StreamId(id), label, device, owner, since };
        Ok(rows.into_iter().map(stream).collect())
    }

    /// The groups that single streams of `resource` are given to, each with the stream, by their labels.
    pub async fn groups_of_streams(
        &self,
        resource: ResourceId,
    ) -> Result<Vec<(StreamId, GroupOfResource)>, Error> {
        let rows: Vec<(i64, i64, String, String, i64)> = sqlx::query_as(
            "SELECT stream, user_groups.id, user_groups.label, name, since FROM group_streams
             JOIN streams ON streams.id = stream
             JOIN user_groups ON user_groups.id = user_group JOIN users ON users.id = user_groups.owner
             WHERE resource = $1 ORDER BY stream, user_groups.label, user_groups.id",
        )
        .bind(resource.0)
        .fetch_all(&self.readers)
        .await?;
        let group = |(stream, id, label, owner, since)| {
            (StreamId(stream), GroupOfResource { id: GroupId(id), label, owner, since })
        };
        Ok(rows.into_iter().map(group).collect())
    }

    /// Gives `stream` of `resource` at the time `now` to the group of this id, in which its owner is.
    pub async fn give_stream_to_group(
        &self,
        (resource, stream): (ResourceId, StreamId),
        id: &str,
        now: i64,
    ) -> Result<GroupOfResource, Error> {
        let id = Reference::read(id).id().ok_or(UNKNOWN)?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let (is_in, is_given, all, of_owner): (bool, bool, i64, i64) = sqlx::query_as(
            "SELECT EXISTS (SELECT 1 FROM group_members WHERE user_group = $1
                 AND member = (SELECT owner FROM resources WHERE id = $3)),
             EXISTS (SELECT 1 FROM group_streams WHERE user_group = $1 AND stream = $2),
             (SELECT count(*) FROM group_streams WHERE user_group = $1),
             (SELECT count(*) FROM group_streams JOIN streams ON streams.id = stream
                 JOIN resources ON resources.id = streams.resource
                 WHERE user_group = $1 AND owner = (SELECT owner FROM resources WHERE id = $3))",
        )
        .bind(id)
        .bind(stream.0)
        .bind(resource.0)
        .fetch_one(&mut *transaction)
        .await?;
        // A group that the owner is not in is as one that is not there.
        if !is_in {
            return Err(UNKNOWN);
        }
        if all >= OF_GROUP && !is_given {
            return Err(Error::Full("at most 1000 single streams are given to a group"));
        }
        if of_owner >= OF_OWNER && !is_given {
            return Err(Error::Full("at most 200 single streams of one owner are given to a group"));
        }
        sqlx::query(
            "INSERT INTO group_streams (user_group, stream, since)
             SELECT $1, id, $3 FROM streams WHERE id = $2 AND resource = $4
             ON CONFLICT (user_group, stream) DO NOTHING",
        )
        .bind(id)
        .bind(stream.0)
        .bind(now)
        .bind(resource.0)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        drop(writer);
        let mut given = self.groups_of_streams(resource).await?.into_iter();
        let group = given.find(|(of, group)| *of == stream && group.id == GroupId(id));
        Ok(group.ok_or(UNKNOWN)?.1)
    }

    /// Takes the stream with the id `stream` from the group with the id `group`: who read it by that group alone reads it no more.
    pub async fn take_stream_from_group(&self, group: &str, stream: &str) -> Result<(), Error> {
        let taken = sqlx::query("DELETE FROM group_streams WHERE user_group = $1 AND stream = $2")
            .bind(Reference::read(group).id())
            .bind(Reference::read(stream).id())
            .execute(&mut *self.writer.lock().await)
            .await?;
        if taken.rows_affected() == 0 {
            return Err(Error::Unknown("stream in this group"));
        }
        self.access_changed();
        Ok(())
    }
}
