//! Discarding what is not kept.

use rusqlite::{Connection, OptionalExtension};

use crate::latest_sql;
use crate::rollup::hour_of;

/// What discarding a point counts as, beside rolling one up.
const WORK_PER_POINT: usize = 2;

/// A stream, and how long its points are kept.
pub(super) struct RetentionLimits {
    pub(super) stream: i64,
    /// Whether it is of texts, which are discarded with their points, or with the rollups that have them besides.
    pub(super) are_texts: bool,
    /// How long points are kept, how many, and how long rollups: times in milliseconds.
    pub(super) keep: Option<i64>,
    pub(super) history_size: Option<i64>,
    pub(super) keep_rollups: Option<i64>,
    /// No points before are kept.
    pub(super) kept_from: Option<i64>,
}

/// What came of discarding.
pub(super) struct Discarded {
    /// Whether that was all.
    pub(super) is_all: bool,
    /// Whether the stream keeps less than before.
    pub(super) keeps_less: bool,
}

/// Discards points and rollups of a stream, as many as `points` allows, and takes them off.
pub(super) fn discard(
    connection: &Connection,
    limits: &RetentionLimits,
    now: i64,
    points: &mut usize,
) -> rusqlite::Result<Discarded> {
    let RetentionLimits { stream, kept_from, keep_rollups, .. } = *limits;
    let mut outcome = Discarded { is_all: true, keeps_less: false };
    let mut kept_from = kept_from;
    if let Some(bound) = bound(connection, limits, now)?.max(kept_from)
        && has_older(connection, stream, bound)?
    {
        if kept_from < Some(bound) {
            let sql = "UPDATE streams SET kept_from = ?2 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute((stream, bound))?;
            (kept_from, outcome.keeps_less) = (Some(bound), true);
        }
        discard_points(connection, limits, bound, points)?;
        outcome.is_all = *points > 0;
    }
    if let Some((keep, kept_from)) = keep_rollups.zip(kept_from) {
        let before = hour_of(now.saturating_sub(keep)).min(kept_from);
        const OLDEST: &str = "FROM rollups WHERE stream = ?1 AND start IN
                              (SELECT start FROM rollups WHERE stream = ?1 AND start < ?2 ORDER BY start LIMIT ?3)";
        let most = (*points / WORK_PER_POINT) as i64;
        if limits.are_texts {
            // Their points are gone, or there would be no work left to do.
            let sql = format!(
                "DELETE FROM texts WHERE id IN (SELECT CAST(first_value AS INTEGER) {OLDEST}
                                                UNION ALL SELECT CAST(last_value AS INTEGER) {OLDEST})"
            );
            connection.prepare_cached(&sql)?.execute((stream, before, most))?;
        }
        let sql = format!("DELETE {OLDEST}");
        let discarded = connection.prepare_cached(&sql)?.execute((stream, before, most))?;
        *points = points.saturating_sub(discarded * WORK_PER_POINT);
        outcome.is_all &= (discarded as i64) < most;
    }
    Ok(outcome)
}

/// From when on points are kept, of those that are rolled up; nothing: all are.
fn bound(connection: &Connection, limits: &RetentionLimits, now: i64) -> rusqlite::Result<Option<i64>> {
    let by_time = limits.keep.map(|keep| hour_of(now.saturating_sub(keep)));
    let by_number: Option<i64> = match limits.history_size {
        Some(size) => {
            let sql = "SELECT time FROM points_by_stream WHERE stream = ?1 ORDER BY time DESC LIMIT 1 OFFSET ?2 - 1";
            connection.prepare_cached(sql)?.query_row((limits.stream, size), |row| row.get(0)).optional()?
        }
        None => None,
    };
    let Some(bound) = by_time.max(by_number.map(hour_of)) else { return Ok(None) };
    let sql = "SELECT until FROM rolled_up WHERE stream = ?1";
    let rolled_up: Option<i64> =
        connection.prepare_cached(sql)?.query_row([limits.stream], |row| row.get(0)).optional()?;
    Ok(rolled_up.map(|rolled_up| bound.min(hour_of(rolled_up))))
}

fn has_older(connection: &Connection, stream: i64, bound: i64) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM points_by_stream WHERE stream = ?1 AND time < ?2)";
    connection.prepare_cached(sql)?.query_row((stream, bound), |row| row.get(0))
}

/// Discards the oldest points, all of them before `bound`. Those that are not sorted yet are, before the next round.
fn discard_points(
    connection: &Connection,
    limits: &RetentionLimits,
    bound: i64,
    points: &mut usize,
) -> rusqlite::Result<()> {
    let stream = limits.stream;
    let most = (*points / WORK_PER_POINT).max(1) as i64;
    let sql = "SELECT time, point FROM points_by_stream WHERE stream = ?1 AND time < ?2 ORDER BY time, point LIMIT ?3";
    let oldest = connection
        .prepare_cached(sql)?
        .query_map((stream, bound, most), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
    let Some((&(first, _), &(time, point))) = oldest.first().zip(oldest.last()) else { return Ok(()) };
    if limits.are_texts {
        // No more points come to these hours: the first and the last text of each stay with its rollup.
        let of_hours = "FROM rollups WHERE stream = ?1 AND start >= ?4 AND start <= ?2";
        let sql = format!(
            "DELETE FROM texts WHERE id IN
             (SELECT CAST(value AS INTEGER) FROM points_by_stream
              WHERE stream = ?1 AND time <= ?2 AND (time < ?2 OR point <= ?3))
             AND id NOT IN (SELECT CAST(first_value AS INTEGER) {of_hours}
                            UNION ALL SELECT CAST(last_value AS INTEGER) {of_hours})"
        );
        connection.prepare_cached(&sql)?.execute((stream, time, point, hour_of(first)))?;
    }
    let is_latest =
        "SELECT EXISTS (SELECT 1 FROM latest_points WHERE stream = ?1 AND (time, point) <= (?2, ?3))";
    let is_latest: bool =
        connection.prepare_cached(is_latest)?.query_row((stream, time, point), |row| row.get(0))?;
    if is_latest {
        connection.prepare_cached(&latest_sql::keep_heard())?.execute([stream])?;
    }
    let mut delete = connection.prepare_cached("DELETE FROM points WHERE id = ?1")?;
    for (_, point) in &oldest {
        delete.execute([point])?;
    }
    let sql = "DELETE FROM points_by_stream WHERE stream = ?1 AND time <= ?2 AND (time < ?2 OR point <= ?3)";
    connection.prepare_cached(sql)?.execute((stream, time, point))?;
    if is_latest {
        connection.prepare_cached("DELETE FROM latest_points WHERE stream = ?1")?.execute([stream])?;
        connection.prepare_cached(latest_sql::FIND_AGAIN)?.execute([stream])?;
    }
    let is_all = (oldest.len() as i64) < most;
    *points = if is_all { points.saturating_sub(oldest.len() * WORK_PER_POINT) } else { 0 };
    Ok(())
}
