//! Rollups in the database, and points that are kept no longer: what the writer does of both, a part at a time.
//!
//! A stream's rollups are of its points that are sorted and older than `rolled_up.until`. Once an hour the writer goes through all streams and
//! lets that time advance to the beginning of the hour; points that come later are added when they are sorted. So an append writes
//! nothing for rollups, a point is mostly rolled up once, with the others of its hour, and points of a database that had no rollups are
//! rolled up in the same way.
//!
//! In the same round it discards what is not kept. Points go by whole hours, after they were rolled up: so of the hours from
//! `streams.kept_from` on all points are there, and of those before none.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};

use super::discarding::{RetentionLimits, discard};
use crate::ids::StreamId;
use crate::rollup::{HOUR_MS, Rollup, Sum, by_hour, hour_of};
use crate::rollup_rows;

/// How many streams are looked at in one commit at most.
const STREAMS_PER_STEP: i64 = 256;

/// How far the writer has come.
#[derive(Clone, Copy)]
pub(super) struct Rolling {
    /// The hour of the latest round through all streams, which is done if `after` is nothing.
    hour: i64,
    /// The stream after which the round goes on.
    after: Option<i64>,
}

/// A stream in a round.
struct Candidate {
    limits: RetentionLimits,
    /// What is rolled up.
    until: Option<i64>,
}

impl Rolling {
    /// Nothing is done yet.
    pub(super) fn new() -> Self {
        Self { hour: i64::MIN, after: Some(0) }
    }

    /// Begins another round if it is time for it, or if how long points are kept has changed.
    pub(super) fn look(&mut self, now: i64, keeping_changed: bool) {
        let hour = hour_of(now);
        if keeping_changed || hour != self.hour {
            (self.hour, self.after) = (hour, Some(0));
        }
    }

    /// Whether there may be something to do.
    pub(super) fn is_due(&self) -> bool {
        self.after.is_some()
    }

    /// Rolls up, and discards, so many points or fewer, in the transaction that is being made. Returns whether a stream keeps less than
    /// before.
    pub(super) fn step(
        &mut self,
        connection: &Connection,
        mut points: usize,
        now: i64,
    ) -> rusqlite::Result<bool> {
        let Some(after) = self.after else { return Ok(false) };
        let mut keeps_less = false;
        let candidates = candidates(connection, after)?;
        if candidates.is_empty() {
            self.after = None;
        }
        for candidate in candidates {
            if !roll_up(connection, &candidate, self.hour, &mut points)? {
                return Ok(keeps_less);
            }
            let discarded = discard(connection, &candidate.limits, now, &mut points)?;
            keeps_less |= discarded.keeps_less;
            if !discarded.is_all {
                return Ok(keeps_less);
            }
            self.after = Some(candidate.limits.stream);
        }
        Ok(keeps_less)
    }
}

fn candidates(connection: &Connection, after: i64) -> rusqlite::Result<Vec<Candidate>> {
    let sql = "SELECT id, until, keep, history_size, keep_rollups, kept_from, value_type = 'text'
               FROM streams LEFT JOIN rolled_up ON rolled_up.stream = streams.id WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after, STREAMS_PER_STEP), |row| {
        let limits = RetentionLimits {
            stream: row.get(0)?,
            keep: row.get(2)?,
            history_size: row.get(3)?,
            keep_rollups: row.get(4)?,
            kept_from: row.get(5)?,
            are_texts: row.get(6)?,
        };
        Ok(Candidate { limits, until: row.get(1)? })
    })?;
    rows.collect()
}

/// Rolls up the points of a stream that are older than `hour`, at most `points` of them and of one millisecond all, and takes them off.
/// Returns whether that were all.
fn roll_up(
    connection: &Connection,
    candidate: &Candidate,
    hour: i64,
    points: &mut usize,
) -> rusqlite::Result<bool> {
    let from = candidate.until.unwrap_or(i64::MIN);
    if from >= hour {
        return Ok(true);
    }
    let mut found = sorted(connection, (candidate.limits.stream, from, hour), *points as i64 + 1)?;
    if found.is_empty() {
        return Ok(true);
    }
    let mut until = hour;
    let is_all = found.len() <= *points;
    if !is_all && let Some(&(last, _)) = found.last() {
        // Of the last millisecond there may be more.
        until = last;
        found.truncate(found.partition_point(|(time, _)| *time < last));
        if found.is_empty() {
            until = last.saturating_add(1);
            found = sorted(connection, (candidate.limits.stream, last, until), i64::MAX)?;
        }
    }
    *points = points.saturating_sub(found.len());
    for (start, rollup) in by_hour(found) {
        add(connection, candidate.limits.stream, start, &rollup)?;
    }
    let sql =
        "INSERT INTO rolled_up VALUES (?1, ?2) ON CONFLICT (stream) DO UPDATE SET until = excluded.until";
    connection.prepare_cached(sql)?.execute((candidate.limits.stream, until))?;
    Ok(is_all)
}

/// The first of the sorted points of a stream from a time on and before another, in their order.
fn sorted(
    connection: &Connection,
    (stream, from, until): (i64, i64, i64),
    limit: i64,
) -> rusqlite::Result<Vec<(i64, f64)>> {
    let sql = "SELECT time, value FROM points_by_stream WHERE stream = ?1 AND time >= ?2 AND time < ?3
               ORDER BY time, point LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((stream, from, until, limit), |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// Adds those of a part's points that are about to be sorted which are older than what is rolled up.
pub(super) fn sort(connection: &Connection, part: i64) -> rusqlite::Result<()> {
    let sql = "SELECT points.stream, time, value FROM points JOIN rolled_up ON rolled_up.stream = points.stream
               WHERE id > (SELECT last FROM sorted_parts WHERE part = ?1) AND points.stream % 8 = ?1 AND time < until
               ORDER BY points.stream, time, id";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([part], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let late = rows.collect::<rusqlite::Result<Vec<(i64, i64, f64)>>>()?;
    for of_stream in late.chunk_by(|one, next| one.0 == next.0) {
        let Some(&(stream, ..)) = of_stream.first() else { continue };
        for (start, rollup) in by_hour(of_stream.iter().map(|&(_, time, value)| (time, value))) {
            let before = add(connection, stream, start, &rollup)?;
            for (time, value) in before.iter().flat_map(|before| [before.first, before.last]) {
                forget_text(connection, (stream, start), (time, value))?;
            }
        }
    }
    Ok(())
}

/// Deletes the text that a rollup has had, if it is one: the rollup has another by now, and the point may be discarded already.
fn forget_text(
    connection: &Connection,
    (stream, start): (i64, i64),
    (time, value): (i64, f64),
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM texts WHERE id = CAST(?4 AS INTEGER)
               AND EXISTS (SELECT 1 FROM streams WHERE id = ?1 AND value_type = 'text')
               AND NOT EXISTS (SELECT 1 FROM rollups WHERE stream = ?1 AND start = ?2 AND ?4 IN (first_value, last_value))
               AND NOT EXISTS (SELECT 1 FROM points_by_stream WHERE stream = ?1 AND time = ?3 AND value = ?4)";
    connection.prepare_cached(sql)?.execute((stream, start, time, value))?;
    Ok(())
}

/// Adds points to the rollup of an hour, and returns what that was before.
fn add(connection: &Connection, stream: i64, start: i64, added: &Rollup) -> rusqlite::Result<Option<Rollup>> {
    let sql =
        "SELECT count, sum, remainder, lowest, highest, first_time, first_value, last_time, last_value FROM rollups
         WHERE stream = ?1 AND start = ?2";
    let known = connection.prepare_cached(sql)?.query_row((stream, start), |row| {
        Ok(Rollup {
            count: row.get(0)?,
            sum: Sum { sum: row.get(1)?, remainder: row.get(2)? },
            lowest: row.get(3)?,
            highest: row.get(4)?,
            first: (row.get(5)?, row.get(6)?),
            last: (row.get(7)?, row.get(8)?),
        })
    });
    let known = known.optional()?;
    let mut rollup = known.unwrap_or(*added);
    if known.is_some() {
        rollup.merge(added);
    }
    write(connection, stream, start, &rollup)?;
    Ok(known)
}

fn write(connection: &Connection, stream: i64, start: i64, rollup: &Rollup) -> rusqlite::Result<()> {
    let Rollup { count, sum, lowest, highest, first, last } = rollup;
    let row =
        (stream, start, count, sum.sum, sum.remainder, lowest, highest, first.0, first.1, last.0, last.1);
    connection.prepare_cached(rollup_rows::WRITE)?.execute(row)?;
    Ok(())
}

/// Makes the rollups of these hours anew, of whose sorted points some are gone. All that are left of them are there.
pub(super) fn recompute(connection: &Connection, hours: &BTreeSet<(StreamId, i64)>) -> rusqlite::Result<()> {
    for &(StreamId(stream), start) in hours {
        let sql = "SELECT until FROM rolled_up WHERE stream = ?1";
        let until: Option<i64> =
            connection.prepare_cached(sql)?.query_row([stream], |row| row.get(0)).optional()?;
        let Some(until) = until.filter(|until| start < *until) else { continue };
        let until = until.min(start.saturating_add(HOUR_MS));
        let left = sorted(connection, (stream, start, until), i64::MAX)?;
        match by_hour(left).first() {
            Some((_, rollup)) => write(connection, stream, start, rollup)?,
            None => {
                let sql = "DELETE FROM rollups WHERE stream = ?1 AND start = ?2";
                connection.prepare_cached(sql)?.execute((stream, start))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sixlock_ingest::{Reading, ValueType};

    use super::super::{Append, Commit, Idempotency, Journal, Sqlite};
    use super::*;
    use crate::resources::Device;
    use crate::retention::RetentionChange;
    use crate::store::Store;

    #[test]
    fn points_are_rolled_up_and_discarded_a_bounded_number_a_commit() {
        const POINTS: i64 = 10_000;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (store, resource) = runtime.block_on(async {
            let (store, writer) = Store::open(directory.path()).await.unwrap();
            let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
            let resource = store.enrol(user.id, Device::named("node")).await.unwrap().resource.id;
            store.add_stream(resource, ("t", None, ""), ValueType::Number).await.unwrap();
            store.close().await;
            writer.ended().await.unwrap();
            (store, resource)
        });
        let path = directory.path().join("sixlock.db");
        let mut journal = Sqlite::open(&path, store.writer.clone(), std::sync::Arc::default()).unwrap();
        let mut commit = Commit::default();
        let now = 1_000 * HOUR_MS;
        for first in (0..POINTS).step_by(200) {
            let reading =
                |n| Reading { stream: "t".into(), unit: None, time: n * 10_000, value: (n as f64).into() };
            let readings = (first..first + 200).map(reading).collect();
            let idempotency = Idempotency::unique().unwrap();
            journal.append(&[Append { resource, idempotency, readings }], now, &mut commit).unwrap();
        }
        let number = |sql: &'static str| -> i64 {
            runtime.block_on(sqlx::query_scalar(sql).fetch_one(&store.readers)).unwrap()
        };
        // All points are sorted; while something waits, they are then rolled up.
        let mut steps = Vec::new();
        for _ in 0..8 {
            journal.sort_part().unwrap();
        }
        while number("SELECT coalesce(sum(count), 0) FROM rollups") < POINTS {
            journal.keep_up(false, now, &mut commit).unwrap();
            steps.push(number("SELECT coalesce(sum(count), 0) FROM rollups"));
        }
        assert!(steps.len() > 5 && steps.windows(2).all(|two| two[1] - two[0] <= 1_024), "{steps:?}");
        let stream = runtime.block_on(store.stream(resource, "t")).unwrap().unwrap().id;
        let change =
            RetentionChange { keep_s: Some(Some(3_600)), discard: true, ..RetentionChange::default() };
        runtime.block_on(store.change_retention(stream, change, now)).unwrap();
        let mut journal = Sqlite::open(&path, store.writer.clone(), std::sync::Arc::default()).unwrap();
        let mut left = vec![POINTS];
        while left.last() != Some(&0) {
            journal.keep_up(false, now, &mut commit).unwrap();
            left.push(number("SELECT count(*) FROM points"));
            assert_eq!(number("SELECT count(*) FROM points_by_stream"), left[left.len() - 1]);
        }
        assert!(left.len() > 5 && left.windows(2).all(|two| two[0] - two[1] <= 1_024), "{left:?}");
        assert_eq!(number("SELECT sum(count) FROM rollups"), POINTS);
    }

    #[test]
    fn a_text_that_came_before_its_hour_was_discarded_and_is_sorted_after_leaves_no_text_without_a_point() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (store, resource, stream) = runtime.block_on(async {
            let (store, writer) = Store::open(directory.path()).await.unwrap();
            let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
            let resource = store.enrol(user.id, Device::named("node")).await.unwrap().resource.id;
            let stream = store.add_stream(resource, ("t", None, ""), ValueType::Text).await.unwrap().id;
            store.close().await;
            writer.ended().await.unwrap();
            (store, resource, stream)
        });
        let path = directory.path().join("sixlock.db");
        let open = || Sqlite::open(&path, store.writer.clone(), std::sync::Arc::default()).unwrap();
        let (mut journal, mut commit, now) = (open(), Commit::default(), 1_000 * HOUR_MS);
        let append = |journal: &mut Sqlite, commit: &mut Commit, texts: &[(i64, &str)]| {
            let reading = |&(minute, text): &(i64, &str)| Reading {
                stream: "t".into(),
                unit: None,
                time: minute * 60_000,
                value: sixlock_ingest::Value::Text(text.into()),
            };
            let readings = texts.iter().map(reading).collect();
            let idempotency = Idempotency::unique().unwrap();
            journal.append(&[Append { resource, idempotency, readings }], now, commit).unwrap();
        };
        let texts = || -> Vec<String> {
            let sql = "SELECT text FROM texts ORDER BY id";
            runtime.block_on(sqlx::query_scalar(sql).fetch_all(&store.readers)).unwrap()
        };
        let number = |sql: &'static str| -> i64 {
            runtime.block_on(sqlx::query_scalar(sql).fetch_one(&store.readers)).unwrap()
        };
        append(&mut journal, &mut commit, &[(10, "first"), (20, "amid"), (50, "last")]);
        for _ in 0..8 {
            journal.sort_part().unwrap();
        }
        while number("SELECT count(*) FROM rolled_up") == 0 {
            journal.keep_up(false, now, &mut commit).unwrap();
        }
        append(&mut journal, &mut commit, &[(5, "earlier"), (30, "later")]);
        let change =
            RetentionChange { keep_s: Some(Some(3_600)), discard: true, ..RetentionChange::default() };
        runtime.block_on(store.change_retention(stream, change, now)).unwrap();
        let mut journal = open();
        while number("SELECT count(*) FROM points_by_stream") > 0 {
            journal.keep_up(false, now, &mut commit).unwrap();
        }
        assert_eq!(texts(), ["first", "last", "earlier", "later"]);
        for _ in 0..8 {
            journal.sort_part().unwrap();
        }
        assert_eq!(texts(), ["last", "earlier", "later"]);
    }
}
