//! Who is in a group, and who is asked to join.
//!
//! An invitation tells whoever makes it nothing of whether there is a user of that name: it stands until it is withdrawn or
//! the user has joined, also where there is none, or where the user has said no.

use serde::Serialize;
use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use super::access::{GroupAccess, UNKNOWN};
use super::group::check_groups;
use crate::error::Error;
use crate::ids::{GroupId, UserId};
use crate::names::{LABEL_RULE, Reference, is_label};
use crate::store::Store;

/// The most members of a group, with those who are asked to join.
const OF_GROUP: i64 = 100;
/// The most groups that a user is asked to join. Beyond, an invitation is as one of a name that nobody has.
const INVITATIONS: i64 = 100;

/// The most invitations to groups of one owner that nobody has followed yet.
const OF_OWNER: i64 = 200;
/// The most of these to one user: nobody takes the room that others have to ask that user.
const TO_ONE_USER: i64 = 10;

const NO_MEMBER: Error = Error::Unknown("member");

/// Somebody who is in a group, or is asked to join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GroupMember {
    /// The user name.
    pub username: String,
    /// How a member who has joined wants to be called; empty, if the member does not say. It proves nothing: others may have the same.
    pub display_name: String,
    /// What the member may do with the devices of others.
    pub access: GroupAccess,
    /// Whether the user has joined. Who has not may do nothing.
    pub joined: bool,
    /// When the user joined, or was asked to, in milliseconds since 1970.
    pub since: i64,
}

/// A group that a user is in, or is asked to join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Membership {
    /// The row of the group, by which it is named.
    pub id: GroupId,
    /// The label of the group.
    pub label: String,
    /// The user name of its owner.
    pub owner: String,
    /// What the user may do with the devices of others in it.
    pub access: GroupAccess,
    /// Whether the user has joined.
    pub joined: bool,
    /// When the user joined, or was asked to, in milliseconds since 1970.
    pub since: i64,
}

type MemberRow = (String, String, String, bool, i64);
type MembershipRow = (i64, String, String, String, bool, i64);

fn member((username, display_name, access, joined, since): MemberRow) -> GroupMember {
    GroupMember { username, display_name, access: GroupAccess::named(&access), joined, since }
}

fn membership((id, label, owner, access, joined, since): MembershipRow) -> Membership {
    Membership { id: GroupId(id), label, owner, access: GroupAccess::named(&access), joined, since }
}

impl Store {
    pub(super) async fn members_and_invited(&self, group: GroupId) -> Result<Vec<GroupMember>, Error> {
        let rows: Vec<MemberRow> = sqlx::query_as(
            "SELECT name, display_name, access, TRUE, since FROM group_members JOIN users ON users.id = member
             WHERE user_group = $1
             UNION ALL SELECT username, '', access, FALSE, since FROM group_invitations WHERE user_group = $1
             ORDER BY 1, 4",
        )
        .bind(group.0)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(member).collect())
    }

    /// Asks the user of this name to join a group, or gives one who is in it, or was asked, other rights. The answer is the same whether there
    /// is such a user.
    pub async fn put_member(
        &self,
        group: GroupId,
        username: &str,
        access: GroupAccess,
        now: i64,
    ) -> Result<GroupMember, Error> {
        if !is_label(username) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        check_not_owner(&mut transaction, group, username, "the owner of a group may change all in it")
            .await?;
        let joined: Option<(String, i64)> = sqlx::query_as(
            "UPDATE group_members SET access = $3
             WHERE user_group = $1 AND member = (SELECT id FROM users WHERE name = $2)
             RETURNING (SELECT display_name FROM users WHERE id = member), since",
        )
        .bind(group.0)
        .bind(username)
        .bind(access.name())
        .fetch_optional(&mut *transaction)
        .await?;
        if let Some((display_name, since)) = joined {
            transaction.commit().await?;
            drop(writer);
            self.access_changed();
            return Ok(GroupMember {
                username: username.to_owned(),
                display_name,
                access,
                joined: true,
                since,
            });
        }
        let others: i64 = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM group_members WHERE user_group = $1)
             + (SELECT count(*) FROM group_invitations WHERE user_group = $1 AND username <> $2)",
        )
        .bind(group.0)
        .bind(username)
        .fetch_one(&mut *transaction)
        .await?;
        if others >= OF_GROUP {
            return Err(Error::Full("a group has at most 100 members and invitations"));
        }
        // Of whoever is asked already, the access may be changed.
        let of_owner: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM group_invitations WHERE user_group IN
             (SELECT id FROM user_groups WHERE owner = (SELECT owner FROM user_groups WHERE id = $1))
             AND NOT EXISTS (SELECT 1 FROM group_invitations WHERE user_group = $1 AND username = $2)",
        )
        .bind(group.0)
        .bind(username)
        .fetch_one(&mut *transaction)
        .await?;
        if of_owner >= OF_OWNER {
            return Err(Error::Full(
                "200 invitations to groups of this owner are open; withdraw some that nobody follows",
            ));
        }
        let since: Option<i64> = sqlx::query_scalar(
            "INSERT INTO group_invitations (user_group, username, invited, access, since)
             SELECT id, $2, (SELECT id FROM users WHERE name = $2
                 AND (SELECT count(*) FROM group_invitations WHERE invited = users.id) < $5
                 AND (SELECT count(*) FROM group_invitations JOIN user_groups AS of_owner ON of_owner.id = user_group
                      WHERE invited = users.id AND of_owner.owner = user_groups.owner) < $6), $3, $4
             FROM user_groups WHERE id = $1
             ON CONFLICT (user_group, username) DO UPDATE SET access = excluded.access RETURNING since",
        )
        .bind(group.0)
        .bind(username)
        .bind(access.name())
        .bind(now)
        .bind(INVITATIONS)
        .bind(TO_ONE_USER)
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let since = since.ok_or(UNKNOWN)?;
        // Of who is only asked, nothing is told.
        let (username, display_name) = (username.to_owned(), String::new());
        Ok(GroupMember { username, display_name, access, joined: false, since })
    }

    /// Removes the user of this name from a group, with the devices that the user gave to it, or withdraws that the user is asked to join.
    pub async fn remove_member(&self, group: GroupId, username: &str) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        check_not_owner(&mut transaction, group, username, OWNER_STAYS).await?;
        let invitations =
            sqlx::query("DELETE FROM group_invitations WHERE user_group = $1 AND username = $2")
                .bind(group.0)
                .bind(username)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
        let id: Option<i64> = sqlx::query_scalar("SELECT id FROM users WHERE name = $1")
            .bind(username)
            .fetch_optional(&mut *transaction)
            .await?;
        let was_member = match id {
            Some(id) => take_out(&mut transaction, group, UserId(id)).await?,
            None => false,
        };
        transaction.commit().await?;
        drop(writer);
        if was_member {
            self.access_changed();
        }
        if was_member || invitations > 0 { Ok(()) } else { Err(NO_MEMBER) }
    }

    /// The groups of others that `user` is in, and is asked to join.
    pub async fn memberships(&self, user: UserId) -> Result<Vec<Membership>, Error> {
        let rows: Vec<MembershipRow> = sqlx::query_as(
            "SELECT user_groups.id, label, name, access, joined, since FROM
             (SELECT user_group, access, TRUE AS joined, since FROM group_members WHERE member = $1
              UNION ALL SELECT user_group, access, FALSE, since FROM group_invitations WHERE invited = $1) AS own
             JOIN user_groups ON user_groups.id = own.user_group JOIN users ON users.id = user_groups.owner
             WHERE user_groups.owner <> $1 ORDER BY label, user_groups.id",
        )
        .bind(user.0)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(membership).collect())
    }

    /// Joins the group of this id, which `user` is asked to join or is in already.
    pub async fn join_group(&self, user: UserId, id: &str, now: i64) -> Result<Membership, Error> {
        let id = Reference::read(id).id().ok_or(UNKNOWN)?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let access: Option<String> = sqlx::query_scalar(
            "DELETE FROM group_invitations WHERE user_group = $1 AND invited = $2 RETURNING access",
        )
        .bind(id)
        .bind(user.0)
        .fetch_optional(&mut *transaction)
        .await?;
        if let Some(access) = access {
            check_groups(&mut transaction, user).await?;
            sqlx::query(
                "INSERT INTO group_members (user_group, member, access, since) VALUES ($1, $2, $3, $4)",
            )
            .bind(id)
            .bind(user.0)
            .bind(access)
            .bind(now)
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        drop(writer);
        let mut memberships = self.memberships(user).await?.into_iter();
        memberships.find(|membership| membership.id == GroupId(id) && membership.joined).ok_or(UNKNOWN)
    }

    /// Leaves the group of this id, with the devices that `user` gave to it, or says no to an invitation, of which its owner is not told.
    pub async fn leave_group(&self, user: UserId, id: &str) -> Result<(), Error> {
        let id = GroupId(Reference::read(id).id().ok_or(UNKNOWN)?);
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let owns: Option<i64> = sqlx::query_scalar("SELECT 1 FROM user_groups WHERE id = $1 AND owner = $2")
            .bind(id.0)
            .bind(user.0)
            .fetch_optional(&mut *transaction)
            .await?;
        if owns.is_some() {
            return Err(Error::Invalid(OWNER_STAYS));
        }
        let refused =
            sqlx::query("UPDATE group_invitations SET invited = NULL WHERE user_group = $1 AND invited = $2")
                .bind(id.0)
                .bind(user.0)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
        let was_member = take_out(&mut transaction, id, user).await?;
        transaction.commit().await?;
        drop(writer);
        if was_member {
            self.access_changed();
        }
        if was_member || refused > 0 { Ok(()) } else { Err(UNKNOWN) }
    }
}

const OWNER_STAYS: &str = "the owner of a group stays in it; delete the group instead";

async fn check_not_owner(
    connection: &mut SqliteConnection,
    group: GroupId,
    username: &str,
    why: &'static str,
) -> Result<(), Error> {
    let owns: Option<i64> = sqlx::query_scalar(
        "SELECT 1 FROM user_groups JOIN users ON users.id = owner WHERE user_groups.id = $1 AND name = $2",
    )
    .bind(group.0)
    .bind(username)
    .fetch_optional(connection)
    .await?;
    if owns.is_some() { Err(Error::Invalid(why)) } else { Ok(()) }
}

/// Takes `user` out of a group, with the devices and streams that the user gave to it: whoever cannot see a group could not take them back.
async fn take_out(connection: &mut SqliteConnection, group: GroupId, user: UserId) -> Result<bool, Error> {
    let removed = sqlx::query("DELETE FROM group_members WHERE user_group = $1 AND member = $2")
        .bind(group.0)
        .bind(user.0)
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "DELETE FROM group_resources WHERE user_group = $1
         AND resource IN (SELECT id FROM resources WHERE owner = $2)",
    )
    .bind(group.0)
    .bind(user.0)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "DELETE FROM group_streams WHERE user_group = $1 AND stream IN
         (SELECT streams.id FROM streams JOIN resources ON resources.id = streams.resource WHERE owner = $2)",
    )
    .bind(group.0)
    .bind(user.0)
    .execute(connection)
    .await?;
    Ok(removed.rows_affected() > 0)
}
