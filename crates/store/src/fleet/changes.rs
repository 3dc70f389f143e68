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
/// What is deleted in one commit, at most, as readings wait so long: devices, their streams and the points of these. One device is deleted
/// at once, whatever it has.
const PART: DeletionSize = DeletionSize { devices: 50, streams: 150, points: 20_000 };

/// How much there is to delete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DeletionSize {
    devices: usize,
    streams: i64,
    /// Those that are sorted: there are few others.
    points: i64,
}

impl DeletionSize {
    fn and(self, other: Self) -> Self {
        let Self { devices, streams, points } = self;
        Self {
            devices: devices + other.devices,
            streams: streams + other.streams,
            points: points + other.points,
        }
    }

    fn fits(self, most: Self) -> bool {
        self.devices <= most.devices && self.streams <= most.streams && self.points <= most.points
    }
}

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
        let changed = self.change_all(ids, change, now).await?;
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
            FleetChange::Delete => self.delete_in_parts(&ids, PART).await,
        }
    }

    /// Deletes these resources, in each commit no more than `most`.
    async fn delete_in_parts(&self, ids: &[ResourceId], most: DeletionSize) -> Result<usize, Error> {
        let (mut deleted, mut rest) = (0, ids);
        while !rest.is_empty() {
            let done = async {
                let (part, others) = rest.split_at(self.part_of(rest, most).await?);
                Ok((self.delete_resources(part.to_vec()).await?, others))
            };
            match done.await {
                Ok((of_part, others)) => {
                    deleted += of_part as usize;
                    rest = others;
                }
                Err(error) if deleted == 0 => return Err(error),
                Err(error) => {
                    return Err(Error::PartlyDeleted { deleted, of: ids.len(), source: Box::new(error) });
                }
            }
        }
        Ok(deleted)
    }

    /// How many of these resources, the first ones, are no more than `most` together; one at least.
    async fn part_of(&self, ids: &[ResourceId], most: DeletionSize) -> Result<usize, Error> {
        let mut part = DeletionSize::default();
        for (n, id) in ids.iter().enumerate() {
            // Of points, no more are counted than matter.
            let (streams, points): (i64, i64) = sqlx::query_as(
                "SELECT (SELECT count(*) FROM streams WHERE resource = $1),
                 (SELECT count(*) FROM (SELECT 1 FROM streams
                  JOIN points_by_stream ON stream = streams.id WHERE resource = $1 LIMIT $2))",
            )
            .bind(id.0)
            .bind(most.points + 1)
            .fetch_one(&self.readers)
            .await?;
            part = part.and(DeletionSize { devices: 1, streams, points });
            if n > 0 && !part.fits(most) {
                return Ok(n);
            }
        }
        Ok(ids.len())
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
                store.poller_pauses.add(ResourceId(*resource));
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

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_ingest::{Reading, ValueType};

    use crate::ids::Listing;
    use crate::journal::{Append, Idempotency};
    use crate::resources::Device;

    #[tokio::test(flavor = "multi_thread")]
    async fn devices_are_deleted_in_parts_of_bounded_work_and_those_before_a_failure_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let ann = store.add_user("ann", "", "long enough".into(), false).await.unwrap().id;
        let mut ids = Vec::new();
        for (label, streams, points) in [("a", 0, 0), ("b", 2, 2), ("c", 1, 9), ("d", 5, 0), ("e", 1, 1)] {
            let resource = store.add_resource(ann, Device::named(label)).await.unwrap().resource.id;
            for stream in 0..streams {
                store.add_stream(resource, (&stream.to_string(), None, ""), ValueType::Number).await.unwrap();
            }
            let reading = |time| Reading { stream: "0".into(), unit: None, time, value: 1.5.into() };
            let readings: Vec<_> = (1..=points).map(reading).collect();
            if !readings.is_empty() {
                let idempotency = Idempotency::unique().unwrap();
                store.append(Append { resource, idempotency, readings }).await.unwrap();
            }
            ids.push(resource);
        }
        // As if they had been sorted.
        let sort = "INSERT INTO points_by_stream SELECT stream, time, id, value FROM points";
        sqlx::query(sort).execute(&mut *store.writer.lock().await).await.unwrap();
        let most = DeletionSize { devices: 3, streams: 4, points: 4 };
        for (from, part) in [(0, 2), (1, 1), (2, 1), (3, 1), (4, 1)] {
            assert_eq!(store.part_of(&ids[from..], most).await.unwrap(), part, "from {from}");
        }
        let few = DeletionSize { devices: 2, streams: 99, points: 99 };
        assert_eq!(store.part_of(&ids, few).await.unwrap(), 2);
        let refuse = "CREATE TRIGGER refuse BEFORE DELETE ON resources WHEN OLD.label = 'd'
                      BEGIN SELECT RAISE(ABORT, 'not this one'); END";
        sqlx::query(refuse).execute(&mut *store.writer.lock().await).await.unwrap();
        let failed = store.delete_in_parts(&ids, most).await;
        assert!(matches!(failed, Err(Error::PartlyDeleted { deleted: 3, of: 5, .. })), "{failed:?}");
        let left = store.resources(ann, Listing { limit: 9, after: 0 }).await.unwrap();
        let left = left.into_iter().map(|resource| resource.label);
        assert_eq!(left.collect::<Vec<_>>(), ["d", "e"]);
        assert!(matches!(store.delete_in_parts(&ids[3..], most).await, Err(Error::Database(_))));
        assert_eq!(store.delete_in_parts(&ids[4..], most).await.unwrap(), 1);
    }
}
