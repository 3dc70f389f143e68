//! The journal in SQLite. It has a connection of its own, because the way through an asynchronous one costs more than what
//! SQLite does. Its turn at the database it takes at the lock of the connection through which all else is written.
//!
//! A cursor is the number of a point: SQLite has one writer, so numbers grow with the commits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use sixlock_expression::Point;
use sixlock_ingest::{Reading, Value};
use sqlx::SqliteConnection;
use tokio::sync::{Mutex, Notify};

use super::alerting::{Accepted, Alerting};
use super::append::Append;
use super::caches::Caches;
use super::commit::{ClockLook, Commit, Journal, Upkeep};
use super::computing::{NewPoints, WORK_PER_POST};
use super::receipts::Receipts;
use super::rolling::{self, Rolling};
use super::stream_rows::StreamRow;
use super::{latest_points, sqlite_receipts};
use crate::changes::{Change, merge};
use crate::clock::now_ms;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::{PointId, StreamId};
use crate::left_out::{LeftOutReason, Stored};

/// The parts of the streams that are sorted in turn, as migration 8 has them: each takes a short time, in which nothing
/// is appended.
const PARTS: i64 = 8;
/// After how many points the next part is sorted. All that read a stream look through those of its part that wait.
const SORT_AFTER: i64 = 512;
/// Pages of the log that are written into the database at a time: many of them have changed more than once by then.
const CHECKPOINT_PAGES: u32 = 4_000;
/// How much is computed at once of what was put off, as [`WORK_PER_POST`] counts: while nothing waits, five times as much.
const WORK_PUT_OFF: usize = WORK_PER_POST;
/// The most that is computed in one commit of many posts.
const WORK_PER_COMMIT: usize = 10 * WORK_PER_POST;

/// How many points are rolled up in one commit, and how many while nothing waits: such a commit takes about as long as one of posts.
const ROLLED_UP_AT_ONCE: usize = 1_024;
const ROLLED_UP_WHEN_IDLE: usize = 16 * ROLLED_UP_AT_ONCE;

/// The journal of a cloud.
pub struct Sqlite {
    connection: Connection,
    turn: Arc<Mutex<SqliteConnection>>,
    receipts: Receipts,
    caches: Caches,
    rolling: Rolling,
    /// Whether somebody changed how long points are kept.
    keeping_changed: Arc<AtomicBool>,
    /// Whether doing what was put off failed, and is to be tried again.
    has_failed: bool,
    /// The part that is sorted next.
    next_part: i64,
    /// How many points were stored since a part was sorted.
    since_sort: i64,
    /// Whether no part has points that are not sorted.
    all_sorted: bool,
}

impl Sqlite {
    /// The journal in the database `path`, which others write under `turn`. `outbox` is told when there is something to be told.
    pub(crate) fn open(
        path: &Path,
        turn: Arc<Mutex<SqliteConnection>>,
        outbox: Arc<Notify>,
    ) -> Result<Self, Error> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // A commit returns when it would survive power loss.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        let receipts = sqlite_receipts::read(&connection, now_ms())?;
        Ok(Self {
            connection,
            turn,
            receipts,
            caches: Caches::new(outbox),
            rolling: Rolling::new(),
            keeping_changed: Arc::default(),
            has_failed: false,
            next_part: 0,
            since_sort: 0,
            all_sorted: false,
        })
    }

    /// Stores a batch; when this fails, `receipts` and `caches` may know what the database does not.
    fn commit(&mut self, batch: &[Append], now: i64, commit: &mut Commit) -> Result<(), Error> {
        let Self { connection, receipts, caches, .. } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        caches.begin(&transaction)?;
        let Caches { streams, spending, computing, alerting } = caches;
        let mut accepted = Vec::new();
        // The times of new points, of those streams that something is computed from.
        let mut changed: BTreeMap<StreamId, BTreeSet<i64>> = BTreeMap::new();
        let mut work: usize = 0;
        let sql = "INSERT INTO points (stream, time, value, delay) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = transaction.prepare_cached(sql)?;
        for Append { resource, idempotency, readings } in batch {
            // What was stored before is answered so, whatever the quota says by now.
            if receipts.is_unknown(idempotency) {
                match spending.check_points(&transaction, *resource, readings.len(), now) {
                    Err(error @ Error::PointsOfDay { .. }) => {
                        commit.results.push(Err(error));
                        continue;
                    }
                    checked => checked?,
                }
            }
            // Whether its streams can be told is known before anything of it is written.
            let is_computed = |stream| computing.is_computed(stream);
            let rows = match streams.rows(&transaction, *resource, readings, (spending, is_computed)) {
                Err(error @ (Error::Invalid(_) | Error::Unknown(_) | Error::Quota { .. })) => {
                    commit.results.push(Err(error));
                    continue;
                }
                rows => rows?,
            };
            let (taken, stored) = taken(&rows, readings, now);
            if taken.is_empty() && !readings.is_empty() {
                commit.results.push(Err(Error::LeftOut(stored.left_out)));
                continue;
            }
            if receipts.is_new(idempotency) {
                spending.spend(*resource, taken.len());
                commit.points += taken.len();
                work += WORK_PER_POST;
                for (stream, Reading { time, value, .. }) in taken {
                    let (time, number) = (*time, value.number());
                    let stored = match value {
                        Value::Text(text) => {
                            let sql = "INSERT INTO texts (text) VALUES (?1)";
                            transaction.prepare_cached(sql)?.insert([text])? as f64
                        }
                        Value::Number(_) | Value::Boolean(_) => number.unwrap_or_default(),
                    };
                    let point = insert.insert((stream.0, time, stored, now.saturating_sub(time)))?;
                    let position = Cursor::from_journal(point.unsigned_abs());
                    commit.changes.push(Change { stream, first: position, last: position });
                    if alerting.has_rules() {
                        let value = number.map_or_else(|| value.clone(), Value::Number);
                        accepted.push(Accepted { stream, resource: Some(*resource), time, value });
                    }
                    // No text is an input.
                    if computing.is_input(stream)
                        && let Some(value) = number
                    {
                        computing.stored(stream, PointId(point), Point { time, value });
                        changed.entry(stream).or_default().insert(time);
                    }
                }
            }
            commit.results.push(Ok(stored));
        }
        drop(insert);
        if !changed.is_empty() {
            let new = NewPoints { changes: &mut commit.changes, accepted: &mut accepted, now };
            computing.compute(&transaction, &changed, work.min(WORK_PER_COMMIT), new)?;
        }
        if alerting.has_rules() {
            alerting.judge(&transaction, &accepted, now)?;
        }
        spending.write(&transaction)?;
        sqlite_receipts::write(receipts, &transaction, now)?;
        if receipts.is_aged(now) {
            sqlite_receipts::age(receipts, &transaction, now)?;
        }
        Ok(transaction.commit()?)
    }

    /// Computes a part of what was put off; when this fails, `caches` may know what the database does not.
    fn compute_due(&mut self, work: usize, now: i64, changes: &mut Vec<Change>) -> Result<(), Error> {
        let Self { connection, caches, .. } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        caches.begin(&transaction)?;
        let Caches { computing, alerting, .. } = caches;
        if computing.may_be_due() {
            let mut accepted = Vec::new();
            computing.compute_due(&transaction, work, NewPoints { changes, accepted: &mut accepted, now })?;
            if alerting.has_rules() {
                alerting.judge(&transaction, &accepted, now)?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Whoever changes how long points are kept sets this.
    pub(crate) fn keeping_changed(&self) -> Arc<AtomicBool> {
        self.keeping_changed.clone()
    }

    /// Begins another round of rolling up and discarding if it is time for it.
    fn look_at_rolling(&mut self, now: i64) {
        self.rolling.look(now, self.keeping_changed.swap(false, Ordering::Relaxed));
    }

    /// Rolls up, and discards, so many points or fewer.
    fn roll_up(&mut self, points: usize, now: i64) -> Result<(), Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut rolling = self.rolling;
        let keeps_less = rolling.step(&transaction, points, now)?;
        transaction.commit()?;
        self.rolling = rolling;
        if keeps_less {
            // Whoever remembers what is taken, and what is computed, asks again.
            self.caches.discard();
        }
        Ok(())
    }

    /// Opens the alerts that time alone opens; when this fails, `caches` may know what the database does not.
    fn decide_by_clock(&mut self, look: ClockLook, now: i64) -> Result<(), Error> {
        let Self { connection, caches, .. } = self;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        caches.begin(&transaction)?;
        match look {
            ClockLook::First => Alerting::begin_clock(&transaction, now)?,
            ClockLook::Next => caches.alerting.look_at_clock(&transaction, now)?,
        }
        Ok(transaction.commit()?)
    }

    /// The points of `commit` are stored: puts them in the order of their streams.
    fn stored(&mut self, commit: &mut Commit) {
        self.since_sort += commit.changes.len() as i64;
        self.all_sorted &= commit.changes.is_empty();
        commit.end = commit.changes.last().map(|change| change.last);
        commit.changes.sort_unstable_by_key(|change| (change.stream, change.first.for_journal()));
        merge(&mut commit.changes);
    }

    /// Enters the newest points of the next part's streams where those of each stream stand together.
    pub(super) fn sort_part(&mut self) -> rusqlite::Result<()> {
        let part = self.next_part;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        latest_points::sort(&transaction, part)?;
        rolling::sort(&transaction, part)?;
        transaction
            .prepare_cached(
                "INSERT INTO points_by_stream SELECT stream, time, id, value FROM points
                 WHERE id > (SELECT last FROM sorted_parts WHERE part = ?1) AND stream % 8 = ?1
                 ORDER BY stream, time, id",
            )?
            .execute([part])?;
        transaction
            .prepare_cached(
                "UPDATE sorted_parts SET last = max(last, (SELECT coalesce(max(id), 0) FROM points)) WHERE part = ?1",
            )?
            .execute([part])?;
        transaction.commit()?;
        self.caches.computing.sorted(part, PARTS);
        self.next_part = (part + 1) % PARTS;
        self.since_sort = 0;
        Ok(())
    }
}

impl Journal for Sqlite {
    fn end(&mut self) -> Result<Cursor, Error> {
        let sql = "SELECT coalesce(max(id), 0) FROM points";
        let newest: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(Cursor::from_journal(newest.unsigned_abs()))
    }

    fn append(&mut self, batch: &[Append], now: i64, commit: &mut Commit) -> Result<(), Error> {
        let turn = self.turn.clone();
        let my_turn = turn.blocking_lock();
        let stored = self.commit(batch, now, commit);
        drop(my_turn);
        if let Err(error) = stored {
            self.receipts.discard();
            self.caches.discard();
            return Err(error);
        }
        self.receipts.keep();
        self.caches.alerting.keep();
        self.stored(commit);
        self.look_at_rolling(now);
        Ok(())
    }

    /// What was put off is computing points, sorting them by their streams, and rolling them up. They are found where they are, too.
    fn upkeep(&self) -> Upkeep {
        let may_be_due = self.caches.computing.may_be_due() || self.rolling.is_due();
        match (self.all_sorted, self.since_sort >= SORT_AFTER) {
            _ if may_be_due && !self.has_failed => Upkeep::Due,
            (true, _) if !self.has_failed => Upkeep::None,
            (false, true) => Upkeep::Due,
            (_, _) => Upkeep::WhenIdle,
        }
    }

    fn keep_up(&mut self, idle: bool, now: i64, commit: &mut Commit) -> Result<(), Error> {
        self.look_at_rolling(now);
        let turn = self.turn.clone();
        let parts = match self.since_sort >= SORT_AFTER {
            // While there is something to compute, nothing is idle.
            _ if idle && !self.all_sorted && !self.caches.computing.may_be_due() => PARTS,
            true => 1,
            false => 0,
        };
        for _ in 0..parts {
            let _my_turn = turn.blocking_lock();
            self.sort_part()?;
        }
        self.all_sorted |= parts == PARTS;
        if idle || self.caches.computing.may_be_due() {
            let work = if idle { 5 * WORK_PUT_OFF } else { WORK_PUT_OFF };
            let my_turn = turn.blocking_lock();
            let computed = self.compute_due(work, now, &mut commit.changes);
            drop(my_turn);
            self.has_failed = computed.is_err();
            if computed.is_err() {
                self.caches.discard();
                return computed;
            }
            self.caches.alerting.keep();
            self.stored(commit);
        }
        if self.rolling.is_due() && !self.caches.computing.may_be_due() {
            let my_turn = turn.blocking_lock();
            let rolled_up = self.roll_up(if idle { ROLLED_UP_WHEN_IDLE } else { ROLLED_UP_AT_ONCE }, now);
            drop(my_turn);
            self.has_failed = rolled_up.is_err();
            return rolled_up;
        }
        Ok(())
    }

    fn look_at_clock(&mut self, look: ClockLook, now: i64) -> Result<(), Error> {
        let turn = self.turn.clone();
        let my_turn = turn.blocking_lock();
        let decided = self.decide_by_clock(look, now);
        drop(my_turn);
        match &decided {
            Ok(()) => self.caches.alerting.keep(),
            Err(_) => self.caches.discard(),
        }
        decided
    }
}

/// The readings of a post that are taken, in the order of their times, each with its stream: the last of a stream is its latest. And what is
/// left out.
fn taken<'a>(
    rows: &[Option<StreamRow>],
    readings: &'a [Reading],
    now: i64,
) -> (Vec<(StreamId, &'a Reading)>, Stored) {
    let mut taken = Vec::with_capacity(readings.len());
    let mut stored = Stored::default();
    for (row, reading) in rows.iter().zip(readings) {
        let refusal = match row {
            Some(row) => row.refusal(reading, now),
            None => LeftOutReason::of_value(reading.value.value_type(), &reading.value),
        };
        match (row, refusal) {
            (_, Some(why)) => stored.leave_out(&reading.stream, why),
            (Some(row), None) => taken.push((row.id, reading)),
            (None, None) => {}
        }
    }
    taken.sort_by_key(|(_, reading)| reading.time);
    (taken, stored)
}

#[cfg(test)]
mod tests {
    use super::super::append::POINTS_PER_POST;
    use super::super::idempotency::{Idempotency, Transmission};
    use super::super::laws::{self, Readable};
    use super::*;
    use crate::ids::ResourceId;
    use crate::points::{LONGEST_PAGE, Page};
    use crate::resources::Device;
    use crate::store::Store;

    fn post(resource: ResourceId, number: u16, values: std::ops::Range<i64>) -> Append {
        let transmission = Transmission { association: b"session", message_id: number, token: b"" };
        let reading = |n| Reading { stream: "t".into(), unit: None, time: n / 2, value: (n as f64).into() };
        Append {
            resource,
            idempotency: Idempotency::of(resource, transmission, b""),
            readings: values.map(reading).collect(),
        }
    }

    async fn values(store: &Store, stream: StreamId, from: Option<i64>, limit: i64) -> Vec<f64> {
        let points = store.points(stream, Page { limit, from, until: None }).await.unwrap();
        points.into_iter().map(|point| point.value.number().unwrap()).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn points_are_found_before_and_after_they_are_sorted_and_go_with_their_stream() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let device = |label: &str| Device::named(label);
        let [own, other] = [device("node-1"), device("node-2")];
        let (own, other) = (
            store.enrol(user.id, own).await.unwrap().resource.id,
            store.enrol(user.id, other).await.unwrap().resource.id,
        );
        // More than may be unsorted, and then some.
        let posts = PARTS * SORT_AFTER / POINTS_PER_POST as i64 + 2;
        for (number, first) in (0..posts * POINTS_PER_POST as i64).step_by(POINTS_PER_POST).enumerate() {
            store.append(post(own, number as u16, first..first + POINTS_PER_POST as i64)).await.unwrap();
        }
        store.append(post(other, 0, 0..3)).await.unwrap();

        let stream = store.stream(own, "t").await.unwrap().unwrap().id;
        let sorted: i64 = sqlx::query_scalar("SELECT last FROM sorted_parts WHERE part = $1 % 8")
            .bind(stream.0)
            .fetch_one(&store.readers)
            .await
            .unwrap();
        let all = posts * POINTS_PER_POST as i64;
        assert!((1..all).contains(&sorted), "{sorted} of {all}");
        let expected: Vec<f64> = (0..all).map(|n| n as f64).collect();
        assert_eq!(store.count_points(own).await.unwrap(), all);
        assert_eq!(values(&store, stream, Some(0), LONGEST_PAGE).await, expected);
        // Pages that hold points on both sides, and on either.
        for limit in [1, 100, all - sorted + 100] {
            let newest = &expected[expected.len() - limit as usize..];
            assert_eq!(values(&store, stream, None, limit).await, newest);
            assert_eq!(values(&store, stream, Some(0), limit).await, &expected[..limit as usize]);
        }

        // Nobody but SQLite tells the writer that the stream is gone.
        let stream_of =
            |resource: ResourceId| sqlx::query("DELETE FROM streams WHERE resource = $1").bind(resource.0);
        stream_of(own).execute(&mut *store.writer.lock().await).await.unwrap();
        let left: Vec<i64> = sqlx::query_scalar(
            "SELECT DISTINCT streams.resource FROM points JOIN streams ON streams.id = stream",
        )
        .fetch_all(&store.readers)
        .await
        .unwrap();
        assert_eq!(left, [other.0]);
        let left: (i64, i64) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM points), (SELECT count(*) FROM points_by_stream WHERE stream = $1)",
        )
        .bind(stream.0)
        .fetch_one(&store.readers)
        .await
        .unwrap();
        assert_eq!(left, (3, 0));
        let newest = store.changes().end();
        store.append(post(own, 9_999, 0..1)).await.unwrap();
        assert_eq!(store.count_points(own).await.unwrap(), 1);
        assert!(
            store.changes().end().for_journal() > newest.for_journal(),
            "the number of a point was given again"
        );

        sqlx::query("DELETE FROM resources").execute(&mut *store.writer.lock().await).await.unwrap();
        assert!(matches!(store.append(post(own, 10_000, 0..1)).await, Err(Error::Unknown(_))));
        let left: i64 =
            sqlx::query_scalar("SELECT count(*) FROM points").fetch_one(&store.readers).await.unwrap();
        assert_eq!(left, 0, "deleting a resource deletes its streams, and these their points");
    }

    impl Readable for Sqlite {
        fn read(&self, resource: ResourceId, stream: &str) -> Vec<(Cursor, f64)> {
            let sql = "SELECT points.id, value FROM points JOIN streams ON streams.id = stream
                       WHERE resource = ?1 AND label = ?2 ORDER BY points.id";
            let mut statement = self.connection.prepare(sql).unwrap();
            let rows =
                statement.query_map((resource.0, stream), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap)
                .map(|(id, value): (i64, f64)| (Cursor::from_journal(id.unsigned_abs()), value))
                .collect()
        }
    }

    #[test]
    fn it_keeps_the_laws_of_journals() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let numbers = std::cell::Cell::new(0);
        laws::check(|| {
            // Each time another database.
            numbers.set(numbers.get() + 1);
            let directory = directory.path().join(numbers.get().to_string());
            std::fs::create_dir(&directory).unwrap();
            runtime.block_on(async {
                let (store, writer) = Store::open(&directory).await.unwrap();
                let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
                let resource = store.enrol(user.id, Device::named("node")).await.unwrap().resource.id;
                store.close().await;
                writer.ended().await.unwrap();
                (
                    Sqlite::open(&directory.join("sixlock.db"), store.writer.clone(), Arc::default())
                        .unwrap(),
                    resource,
                )
            })
        });
    }
}
