//! How long the points of a stream are kept, and whether it takes new ones.

use std::sync::atomic::Ordering;

use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use crate::computed_due;
use crate::error::Error;
use crate::ids::{ResourceId, StreamId};
use crate::rollup::hour_of;
use crate::store::Store;

/// The shortest time that points are kept, and the longest, in seconds.
const SHORTEST_KEEP_S: i64 = 3_600;
const LONGEST_KEEP_S: i64 = 100 * 366 * 86_400;
/// The largest history: its oldest point is looked for each hour.
const LARGEST_HISTORY: i64 = 1_000_000;

/// How long the points of a stream are kept, and whether it takes new ones. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Retention {
    /// The stream.
    pub stream: StreamId,
    /// Its label.
    pub label: String,
    /// How many seconds points are kept; null: for ever.
    pub keep_s: Option<i64>,
    /// How many points are kept, at least; null: all.
    pub history_size: Option<i64>,
    /// How many seconds rollups are kept whose points are not; null: for ever.
    pub keep_rollups_s: Option<i64>,
    /// Older points are not kept, and not taken; null: none was ever discarded.
    pub kept_from: Option<i64>,
    /// Since when it takes no points; null: it does.
    pub frozen: Option<i64>,
    /// Older points are rolled up; null: none is.
    pub rolled_up: Option<i64>,
}

/// What is to change; what is nothing stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetentionChange {
    /// How many seconds points are kept; nothing within: for ever.
    pub keep_s: Option<Option<i64>>,
    /// How many points are kept; nothing within: all.
    pub history_size: Option<Option<i64>>,
    /// How many seconds rollups are kept whose points are not; nothing within: for ever.
    pub keep_rollups_s: Option<Option<i64>>,
    /// Whether the stream takes no points.
    pub is_frozen: Option<bool>,
    /// Whether what is not kept any more may be discarded.
    pub discard: bool,
}

type Row = (i64, String, Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

fn retention(
    (stream, label, keep, history_size, keep_rollups, kept_from, frozen, rolled_up): Row,
) -> Retention {
    let seconds = |keep: i64| keep / 1_000;
    Retention {
        stream: StreamId(stream),
        label,
        keep_s: keep.map(seconds),
        history_size,
        keep_rollups_s: keep_rollups.map(seconds),
        kept_from,
        frozen,
        rolled_up,
    }
}

const RETENTION: &str = "SELECT streams.id, label, keep, history_size, keep_rollups, kept_from, frozen, until
     FROM streams LEFT JOIN rolled_up ON rolled_up.stream = streams.id";

impl Store {
    /// How long the points of `stream` are kept.
    pub async fn retention(&self, stream: StreamId) -> Result<Option<Retention>, Error> {
        let sql = AssertSqlSafe(format!("{RETENTION} WHERE streams.id = $1"));
        let row: Option<Row> = sqlx::query_as(sql).bind(stream.0).fetch_optional(&self.readers).await?;
        Ok(row.map(retention))
    }

    /// How long the points of each stream of `resource` are kept.
    pub async fn retention_of(&self, resource: ResourceId) -> Result<Vec<Retention>, Error> {
        let sql = AssertSqlSafe(format!("{RETENTION} WHERE resource = $1 ORDER BY streams.id"));
        let rows: Vec<Row> = sqlx::query_as(sql).bind(resource.0).fetch_all(&self.readers).await?;
        Ok(rows.into_iter().map(retention).collect())
    }

    /// Changes how long the points of `stream` are kept, at the time `now`. Points and rollups that are not kept then are discarded after this,
    /// a part at a time; if there are any and the change does not allow it, [`Error::Discards`] tells how many, and nothing changes.
    pub async fn change_retention(
        &self,
        stream: StreamId,
        change: RetentionChange,
        now: i64,
    ) -> Result<Retention, Error> {
        let before = self.retention(stream).await?.ok_or(Error::Unknown("stream"))?;
        let after = Retention {
            keep_s: change.keep_s.unwrap_or(before.keep_s),
            history_size: change.history_size.unwrap_or(before.history_size),
            keep_rollups_s: change.keep_rollups_s.unwrap_or(before.keep_rollups_s),
            ..before.clone()
        };
        check(&after)?;
        let limits = |of: &Retention| (of.keep_s, of.history_size, of.keep_rollups_s);
        if !change.discard && limits(&before) != limits(&after) {
            // What is not kept already was said to be meant.
            let (agreed, asked) = (self.discarded(&before, now).await?, self.discarded(&after, now).await?);
            let (points, rollups) = ((asked.0 - agreed.0).max(0), (asked.1 - agreed.1).max(0));
            if points + rollups > 0 {
                return Err(Error::Discards { points, rollups });
            }
        }
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let frozen = change.is_frozen.map_or(before.frozen, |is_frozen| is_frozen.then_some(now));
        let changed = sqlx::query(
            "UPDATE streams SET keep = $1, history_size = $2, keep_rollups = $3,
             frozen = CASE WHEN $4 IS NULL THEN NULL ELSE coalesce(frozen, $4) END WHERE id = $5",
        )
        .bind(after.keep_s.map(|keep| keep * 1_000))
        .bind(after.history_size)
        .bind(after.keep_rollups_s.map(|keep| keep * 1_000))
        .bind(frozen)
        .bind(stream.0)
        .execute(&mut *transaction)
        .await?;
        if changed.rows_affected() == 0 {
            return Err(Error::Unknown("stream"));
        }
        if before.frozen.is_some() && frozen.is_none() {
            // Silence is reckoned from now on, and what was not computed meanwhile is computed.
            let sql = "UPDATE rules SET due = $2 + coalesce(wait, pause * 1000)
                       WHERE stream = $1 AND kind = 'silence' AND alert IS NULL";
            sqlx::query(sql).bind(stream.0).bind(now).execute(&mut *transaction).await?;
            computed_due::add(&mut transaction, stream, 0).await?;
        }
        transaction.commit().await?;
        drop(writer);
        self.keeping_changed.store(true, Ordering::Relaxed);
        self.queue.changed();
        self.retention(stream).await?.ok_or(Error::Unknown("stream"))
    }

    /// How many points, and rollups, there are that are not kept.
    async fn discarded(&self, retention: &Retention, now: i64) -> Result<(i64, i64), Error> {
        let stream = retention.stream.0;
        let by_time = retention.keep_s.map(|keep| hour_of(now - keep * 1_000));
        let by_number: Option<i64> = match retention.history_size {
            Some(size) => {
                sqlx::query_scalar(
                    "SELECT time FROM points_by_stream WHERE stream = $1
                     UNION ALL SELECT time FROM unsorted_points WHERE stream = $1
                     ORDER BY time DESC LIMIT 1 OFFSET $2 - 1",
                )
                .bind(stream)
                .bind(size)
                .fetch_optional(&self.readers)
                .await?
            }
            None => None,
        };
        let kept_from = by_time.max(by_number.map(hour_of));
        let points = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM points_by_stream WHERE stream = $1 AND time < $2)
             + (SELECT count(*) FROM unsorted_points WHERE stream = $1 AND time < $2)",
        )
        .bind(stream)
        .bind(kept_from.unwrap_or(i64::MIN))
        .fetch_one(&self.readers)
        .await?;
        let rollups = match retention.keep_rollups_s.zip(kept_from.max(retention.kept_from)) {
            Some((keep, kept_from)) => {
                let sql = "SELECT count(*) FROM rollups WHERE stream = $1 AND start < $2";
                let before = hour_of(now - keep * 1_000).min(kept_from);
                sqlx::query_scalar(sql).bind(stream).bind(before).fetch_one(&self.readers).await?
            }
            None => 0,
        };
        Ok((points, rollups))
    }

    /// How long points of streams are kept that are made from now on, in milliseconds; nothing: for ever. Streams that are there already
    /// keep theirs.
    pub async fn keep_of_new_streams(&self, keep_ms: Option<i64>) -> Result<(), Error> {
        let sql = "UPDATE retention_of_new_streams SET keep = $1";
        sqlx::query(sql).bind(keep_ms).execute(&mut *self.writer.lock().await).await?;
        Ok(())
    }
}

/// Refuses a time for which points cannot be kept.
pub(crate) fn check_keep(keep_s: Option<i64>) -> Result<(), Error> {
    keep_s.is_none_or(|keep_s| (SHORTEST_KEEP_S..=LONGEST_KEEP_S).contains(&keep_s)).then_some(()).ok_or(
        Error::Invalid(
            "keep_s and keep_rollups_s are null, or seconds from 3600 (an hour) to 3162240000 (100 years)",
        ),
    )
}

fn check(retention: &Retention) -> Result<(), Error> {
    check_keep(retention.keep_s)?;
    check_keep(retention.keep_rollups_s)?;
    check_history_size(retention.history_size)
}

/// Refuses a number of points that cannot be kept.
pub(crate) fn check_history_size(size: Option<i64>) -> Result<(), Error> {
    size.is_none_or(|size| (1..=LARGEST_HISTORY).contains(&size))
        .then_some(())
        .ok_or(Error::Invalid("history_size is null, or a number of points from 1 to 1000000"))
}
