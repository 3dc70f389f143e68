//! All there is to know of one group.

use serde::Serialize;
use utoipa::ToSchema;

use super::access::UNKNOWN;
use super::devices::GroupDevice;
use super::group::{UserGroup, group};
use super::members::GroupMember;
use super::streams::GroupStream;
use crate::error::Error;
use crate::ids::UserId;
use crate::names::Reference;
use crate::store::Store;

/// A group, who is in it and what is given to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GroupDetails {
    /// The group.
    #[serde(flatten)]
    pub group: UserGroup,
    /// The user name of its owner.
    pub owner: String,
    /// Who is in it, and of a group of one's own who is asked to join, by their names.
    pub people: Vec<GroupMember>,
    /// The devices that are given to it.
    pub given: Vec<GroupDevice>,
    /// The single streams that are given to it.
    pub given_streams: Vec<GroupStream>,
}

impl Store {
    /// All there is to know of a group for its owner.
    pub async fn group_details(&self, owner: UserId, group: UserGroup) -> Result<GroupDetails, Error> {
        let people = self.members_and_invited(group.id).await?;
        let (given, given_streams) = (self.given_to(group.id).await?, self.streams_given_to(group.id).await?);
        let name: Option<String> = sqlx::query_scalar("SELECT name FROM users WHERE id = $1")
            .bind(owner.0)
            .fetch_optional(&self.readers)
            .await?;
        Ok(GroupDetails { owner: name.ok_or(UNKNOWN)?, group, people, given, given_streams })
    }

    /// A group that `user` is in, of this id: who else is in it, and what is given to it. Who is asked to join, its owner alone is told.
    pub async fn membership(&self, user: UserId, id: &str) -> Result<Option<GroupDetails>, Error> {
        let row: Option<(i64, String, i64, i64, i64, i64, String)> = sqlx::query_as(
            "SELECT user_groups.id, label, user_groups.created,
             (SELECT count(*) FROM group_members WHERE user_group = user_groups.id),
             (SELECT count(*) FROM group_resources WHERE user_group = user_groups.id),
             (SELECT count(*) FROM group_streams WHERE user_group = user_groups.id), name
             FROM user_groups JOIN users ON users.id = owner
             WHERE user_groups.id = $2
             AND EXISTS (SELECT 1 FROM group_members WHERE user_group = user_groups.id AND member = $1)",
        )
        .bind(user.0)
        .bind(Reference::read(id).id())
        .fetch_optional(&self.readers)
        .await?;
        let Some((id, label, created, members, devices, streams, owner)) = row else { return Ok(None) };
        let group = group((id, label, created, members, devices, streams));
        let mut people = self.members_and_invited(group.id).await?;
        people.retain(|member| member.joined);
        let (given, given_streams) = (self.given_to(group.id).await?, self.streams_given_to(group.id).await?);
        Ok(Some(GroupDetails { group, owner, people, given, given_streams }))
    }
}
