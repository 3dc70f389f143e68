//! Changes of many devices at once. But for deletion, a change is made to all that are chosen or to none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use serde::Serialize;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use super::chosen::{Chosen, list, tags_of};
use super::folders::check_folder;
use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::retention::check_keep;
use crate::rollup::hour_of;
use crate::rotation::to_its_end;
use crate::search_words;
use crate::store::Store;
use crate::tags;

/// The most devices that are deleted by one request.
const MOST_DELETED: usize = 1_000;
/// How many devices are deleted in one commit: readings wait so long.
const PART: usize = 50;

/// What is done to many devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetChange {
    /// They get these tags besides those that they have.
    Tag(Vec<String>),
    /// These tags are taken from them.
    Untag(Vec<String>),
    /// They are moved to this folder.
    Move(String),
    /// Their pollers poll no more, or again.
    PausePolls(bool),
    /// Points of their streams are kept for so many seconds; nothing: for ever.
    Keep {
        /// For how long.
        keep_s: Option<i64>,
        /// Whether points may be discarded that there are already.
        discard: bool,
    },
    /// They are deleted.
    Delete,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FleetChanged {
    /// How many devices were chosen.
    pub matched: usize,
    /// How many of them are otherwise than before: the others were so already, or it does not concern them.
    pub changed: usize,
}

impl Store {
    /// Makes `change` to the chosen devices of `owner`, if they are as many as `count` says, where it does.
    pub async fn change_fleet(
        &self,
        owner: UserId,
        (chosen, count): (Chosen, Option<usize>),
        change: FleetChange,
        now: i64,
    ) -> Result<FleetChanged, Error> {
        let ids = self.chosen(owner, chosen, now).await?;
        if let Some(expected) = count.filter(|count| *count != ids.len()) {
            return Err(Error::Count { expected, found: ids.len() });
        }
        if change == FleetChange::Delete && ids.len() > MOST_DELETED {
            return Err(Error::Invalid("at most 1000 devices are deleted at once"));
        }
        let matched = ids.len();
        let changed = if ids.is_empty() { 0 } else { self.change_all(ids, change, now).await? };
        Ok(FleetChanged { matched, changed })
    }

    /// Makes `change` to these resources and returns how many are otherwise then.
    async fn change_all(&self, ids: Vec<ResourceId>, change: FleetChange, now: i64) -> Result<usize, Error> {
        match change {
            FleetChange::Tag(texts) => {
                let added = tags::tags(&texts)?;
                self.change_tags(&ids, |tags| tags.extend(added.iter().cloned())).await
            }
            FleetChange::Untag(texts) => {
                let removed = tags::tags(&texts)?;
                self.change_tags(&ids, |tags| tags.retain(|tag| !removed.contains(tag))).await
            }
            FleetChange::Move(folder) => self.move_all(&ids, &folder).await,
            FleetChange::PausePolls(paused) => self.pause_polls(ids, paused).await,
            FleetChange::Keep { keep_s, discard } => self.keep_all(&ids, (keep_s, discard), now).await,
            FleetChange::Delete => {
                let mut deleted = 0;
                for part in ids.chunks(PART) {
                    deleted += self.delete_resources(part.to_vec()).await?;
                }
                Ok(deleted as usize)
            }
        }
    }

    async fn change_tags(
        &self,
        ids: &[ResourceId],
        change: impl Fn(&mut BTreeSet<String>),
    ) -> Result<usize, Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        // Many have the same, so those are written together.
        let mut written = BTreeMap::<String, Vec<ResourceId>>::new();
        for (id, before) in tags_of(&mut transaction, ids).await? {
            let mut tags: BTreeSet<String> = tags::read(&before);
            change(&mut tags);
            if tags.len() > tags::TAGS {
                return Err(tags::FULL);
            }
            let after = tags::written(&tags);
            if after != before {
                written.entry(after).or_default().push(ResourceId(id));
            }
        }
        for (tags, ids) in &written {
            let sql = format!("UPDATE resources SET tags = $1 WHERE id IN ({})", list(ids));
            sqlx::query(AssertSqlSafe(sql)).bind(tags).persistent(false).execute(&mut *transaction).await?;
        }
        let changed: Vec<ResourceId> = written.into_values().flatten().collect();
        for resource in found_by_others(&mut transaction, &changed).await? {
            search_words::write_of(&mut transaction, resource).await?;
        }
        transaction.commit().await?;
        Ok(changed.len())
    }

    async fn move_all(&self, ids: &[ResourceId], folder: &str) -> Result<usize, Error> {
        check_folder(folder)?;
        let sql = format!("UPDATE resources SET folder = $1 WHERE folder <> $1 AND id IN ({})", list(ids));
        let mut writer = self.writer.lock().await;
        let moved =
            sqlx::query(AssertSqlSafe(sql)).bind(folder).persistent(false).execute(&mut *writer).await?;
        Ok(moved.rows_affected() as usize)
    }

    async fn pause_polls(&self, ids: Vec<ResourceId>, paused: bool) -> Result<usize, Error> {
        let store = self.clone();
        to_its_end(async move {
            let sql = format!(
                "UPDATE pollers SET paused = $1 WHERE paused <> $1 AND resource IN ({}) RETURNING resource",
                list(&ids)
            );
            let mut writer = store.writer.lock().await;
            let changed: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(sql))
                .bind(paused)
                .persistent(false)
                .fetch_all(&mut *writer)
                .await?;
            for resource in &changed {
                store.poller_changed(ResourceId(*resource));
            }
            Ok(changed.len())
        })
        .await
    }

    async fn keep_all(
        &self,
        ids: &[ResourceId],
        (keep_s, discard): (Option<i64>, bool),
        now: i64,
    ) -> Result<usize, Error> {
        check_keep(keep_s)?;
        let ids = list(ids);
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        if let (false, Some(keep_s)) = (discard, keep_s) {
            let sql = format!(
                "SELECT count(*) FROM streams WHERE resource IN ({ids}) AND (
                 EXISTS (SELECT 1 FROM points_by_stream WHERE stream = streams.id AND time < $1)
                 OR streams.id IN (SELECT stream FROM unsorted_points WHERE time < $1))"
            );
            let streams: i64 = sqlx::query_scalar(AssertSqlSafe(sql))
                .bind(hour_of(now - keep_s * 1_000))
                .persistent(false)
                .fetch_one(&mut *transaction)
                .await?;
            if streams > 0 {
                return Err(Error::DiscardsOfStreams(streams));
            }
        }
        let sql = format!(
            "UPDATE streams SET keep = $1 WHERE resource IN ({ids}) AND keep IS NOT $1 RETURNING resource"
        );
        let changed: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(sql))
            .bind(keep_s.map(|keep| keep * 1_000))
            .persistent(false)
            .fetch_all(&mut *transaction)
            .await?;
        transaction.commit().await?;
        drop(writer);
        self.keeping_changed.store(true, Ordering::Relaxed);
        self.queue.changed();
        Ok(changed.into_iter().collect::<BTreeSet<_>>().len())
    }
}

/// Those of these resources that have streams that others find.
async fn found_by_others(
    connection: &mut SqliteConnection,
    ids: &[ResourceId],
) -> Result<Vec<ResourceId>, Error> {
    let sql =
        format!("SELECT DISTINCT resource FROM streams WHERE public_search AND resource IN ({})", list(ids));
    let found: Vec<i64> =
        sqlx::query_scalar(AssertSqlSafe(sql)).persistent(false).fetch_all(connection).await?;
    Ok(found.into_iter().map(ResourceId).collect())
}
