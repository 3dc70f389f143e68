//! The writer of readings. An append is answered after the commit that holds it, never before.
//!
//! The writer does not wait for a batch to fill: what arrives during one commit makes the next batch, so a lone
//! reading is stored at once and a flood shares its commits.
//!
//! It is a thread with a connection of its own, because the way through an asynchronous one costs more than what
//! SQLite does. Its turn at the database it takes at the lock of the connection through which all else is written.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use sixlock_ingest::MOST_READINGS;
use sixlock_ingest::Reading;
use sixlock_telemetry::{At, Event, Events};
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Mutex, oneshot, watch};

use crate::append::Append;
use crate::clock::now_ms;
use crate::error::Error;
use crate::ids::{PointId, StreamId};
use crate::latest;
use crate::receipts::Receipts;
use crate::stream_rows::StreamRows;

/// The most points of one append.
pub(crate) const POST: usize = MOST_READINGS;
/// The most points of one batch.
const BATCH: usize = 1_024;
/// Appends waiting for the writer. Beyond them, posts are refused as busy.
const WAITING: usize = 4_096;
/// The parts of the streams that are sorted in turn, as migration 8 has them: each takes a short time, in which nothing
/// is appended.
const PARTS: i64 = 8;
/// After how many points the next part is sorted. All that read a stream look through those of its part that wait.
const SORT_AFTER: i64 = 512;
/// How long nothing is to arrive before points are sorted though they are few.
const IDLE: Duration = Duration::from_secs(1);
/// Pages of the log that are written into the database at a time: many of them have changed more than once by then.
const CHECKPOINT_PAGES: u32 = 4_000;

pub(crate) struct Waiting {
    pub(crate) append: Append,
    pub(crate) done: oneshot::Sender<Result<(), Error>>,
}

pub(crate) enum Task {
    Append(Waiting),
    Close,
}

/// The way to the writer. Clones share it.
#[derive(Clone)]
pub(crate) struct Appends {
    pub(crate) tasks: SyncSender<Task>,
    pub(crate) events: Events,
}

/// The writer, to be waited for.
pub struct Writer(oneshot::Receiver<()>);

impl Writer {
    /// Returns when all that was handed to [`Store::append`](crate::Store::append) is committed, after
    /// [`Store::close`](crate::Store::close) or when the last
    /// clone of the store was dropped.
    pub async fn ended(self) -> Result<(), Error> {
        self.0.await.map_err(|_| Error::Died("writer of the database"))
    }
}

/// Starts the writer of the database `path`, which others write under `turn`. It tells `newest` of the newest point.
pub(crate) fn start(
    path: &Path,
    turn: Arc<Mutex<SqliteConnection>>,
    newest: watch::Sender<PointId>,
    events: Events,
) -> Result<(Appends, Writer), Error> {
    let database = Database::open(path)?;
    let (tasks, waiting) = sync_channel(WAITING);
    let appends = Appends { tasks, events: events.clone() };
    let (tell, ended) = oneshot::channel();
    let run = move || {
        run(database, &waiting, &turn, &newest, &events);
        // Nobody may be waiting for it.
        let _ = tell.send(());
    };
    thread::Builder::new().name("writer".into()).spawn(run).map_err(|error| Error::file(path, error))?;
    Ok((appends, Writer(ended)))
}

/// Stores what is waiting until nobody may or can append any more, and everything is stored.
fn run(
    mut database: Database,
    waiting: &Receiver<Task>,
    turn: &Mutex<SqliteConnection>,
    newest: &watch::Sender<PointId>,
    events: &Events,
) {
    let (mut open, mut next) = (true, None);
    while open || next.is_some() {
        let mut batch = Vec::from_iter(next.take());
        if batch.is_empty() {
            let patience = if database.all_sorted { Duration::MAX } else { IDLE };
            match waiting.recv_timeout(patience) {
                Ok(Task::Append(first)) => batch.push(first),
                Ok(Task::Close) | Err(RecvTimeoutError::Disconnected) => open = false,
                Err(RecvTimeoutError::Timeout) => {
                    database.all_sorted = (0..PARTS).all(|_| sort_part(&mut database, turn, events));
                    continue;
                }
            }
        }
        let mut points: usize = batch.iter().map(|waiting| waiting.append.readings.len()).sum();
        while let Ok(task) = waiting.try_recv() {
            let Task::Append(one) = task else {
                open = false;
                continue;
            };
            points += one.append.readings.len();
            if points > BATCH {
                next = Some(one);
                break;
            }
            batch.push(one);
        }
        if batch.is_empty() {
            continue;
        }
        batch.iter().for_each(|_| events.waiting(false));
        let my_turn = turn.blocking_lock();
        let (last, results) = database.store(&batch, events);
        drop(my_turn);
        if let Some(last) = last {
            newest.send_replace(last);
        }
        for (waiting, result) in batch.into_iter().zip(results) {
            // Whoever appended may have gone away meanwhile.
            let _ = waiting.done.send(result);
        }
        if database.since_sort >= SORT_AFTER {
            sort_part(&mut database, turn, events);
        }
    }
}

/// Whether it could be done.
fn sort_part(database: &mut Database, turn: &Mutex<SqliteConnection>, events: &Events) -> bool {
    let _turn = turn.blocking_lock();
    let sorted = database.sort_part().map_err(Error::from);
    if let Err(error) = &sorted {
        // It is tried again with the next ones; until then they are found where they are.
        events.tell(Event::Fault { at: At::Sorting, error });
    }
    sorted.is_ok()
}

struct Database {
    connection: Connection,
    receipts: Receipts,
    streams: StreamRows,
    /// The part that is sorted next.
    next_part: i64,
    /// How many points were stored since a part was sorted.
    since_sort: i64,
    /// Whether no part has points that are not.
    all_sorted: bool,
}

/// What became of each append of a batch.
type Results = Vec<Result<(), Error>>;

impl Database {
    fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // A commit returns when it would survive power loss.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        let receipts = Receipts::read(&connection, now_ms())?;
        let streams = StreamRows::default();
        Ok(Self { connection, receipts, streams, next_part: 0, since_sort: 0, all_sorted: false })
    }

    /// Stores a batch and returns its last new point, and what became of each append.
    fn store(&mut self, batch: &[Waiting], events: &Events) -> (Option<PointId>, Results) {
        let (began, before) = (Instant::now(), self.since_sort);
        match self.commit(batch) {
            Ok(stored) => {
                self.receipts.keep();
                let (posts, points) = (batch.len(), (self.since_sort - before) as usize);
                events.tell(Event::Committed { posts, points, took: began.elapsed() });
                return stored;
            }
            Err(error) => {
                self.receipts.discard();
                // Rows of streams that were made in the transaction are gone with it.
                self.streams.clear();
                if batch.len() <= 1 {
                    events.tell(Event::Fault { at: At::Commit, error: &error });
                    return (None, vec![Err(error)]);
                }
            }
        }
        // What is wrong with one append must not take the others with it.
        let (mut newest, mut results) = (None, Vec::with_capacity(batch.len()));
        for waiting in batch {
            let (last, result) = self.store(std::slice::from_ref(waiting), events);
            newest = newest.max(last);
            results.extend(result);
        }
        (newest, results)
    }

    fn commit(&mut self, batch: &[Waiting]) -> Result<(Option<PointId>, Results), Error> {
        let Self { connection, receipts, streams, since_sort, all_sorted, .. } = self;
        let now = now_ms();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        streams.begin(&transaction)?;
        let (mut results, mut points) = (Vec::with_capacity(batch.len()), 0);
        let sql = "INSERT INTO points (stream, time, value, delay) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = transaction.prepare_cached(sql)?;
        for Waiting { append: Append { resource, idempotency, readings }, .. } in batch {
            // Whether its streams can be told is known before anything of it is written.
            let rows = match streams.rows(&transaction, *resource, readings) {
                Err(error @ (Error::Invalid(_) | Error::Unknown(_))) => {
                    results.push(Err(error));
                    continue;
                }
                rows => rows?,
            };
            if receipts.is_new(idempotency) {
                for (row, Reading { time, value, .. }) in in_order(&rows, readings) {
                    insert.execute((row.0, time, value, now.saturating_sub(*time)))?;
                }
                points += readings.len() as i64;
            }
            results.push(Ok(()));
        }
        drop(insert);
        let last = (points > 0).then(|| PointId(transaction.last_insert_rowid()));
        receipts.write(&transaction, now)?;
        if receipts.is_aged(now) {
            receipts.age(&transaction, now)?;
        }
        transaction.commit()?;
        *since_sort += points;
        *all_sorted &= points == 0;
        Ok((last, results))
    }

    /// Enters the newest points of a part's streams where those of each stream stand together.
    fn sort_part(&mut self) -> rusqlite::Result<()> {
        let part = self.next_part;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        latest::sort(&transaction, part)?;
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
        self.next_part = (part + 1) % PARTS;
        self.since_sort = 0;
        Ok(())
    }
}

/// The readings of a post in the order of their times, each with the row of its stream: the last of a stream is its latest.
fn in_order<'a>(rows: &'a [StreamId], readings: &'a [Reading]) -> Vec<(&'a StreamId, &'a Reading)> {
    let mut ordered: Vec<_> = rows.iter().zip(readings).collect();
    ordered.sort_by_key(|(_, reading)| reading.time);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ResourceId;
    use crate::points::{LONGEST_PAGE, Page};
    use crate::receipts::Idempotency;
    use crate::receipts::Transmission;
    use crate::resources::Device;
    use crate::store::Store;

    fn post(resource: ResourceId, number: u16, values: std::ops::Range<i64>) -> Append {
        let transmission = Transmission { association: b"session", message_id: number, token: b"" };
        let reading = |n| Reading { stream: "t".into(), unit: None, time: n / 2, value: n as f64 };
        Append {
            resource,
            idempotency: Idempotency::of(resource, transmission, b""),
            readings: values.map(reading).collect(),
        }
    }

    async fn values(store: &Store, stream: StreamId, from: Option<i64>, limit: i64) -> Vec<f64> {
        let points = store.points(stream, Page { limit, from, until: None }).await.unwrap();
        points.into_iter().map(|point| point.value).collect()
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
        let posts = PARTS * SORT_AFTER / POST as i64 + 2;
        for (number, first) in (0..posts * POST as i64).step_by(POST).enumerate() {
            store.append(post(own, number as u16, first..first + POST as i64)).await.unwrap();
        }
        store.append(post(other, 0, 0..3)).await.unwrap();

        let stream = store.stream(own, "t").await.unwrap().unwrap().id;
        let sorted: i64 = sqlx::query_scalar("SELECT last FROM sorted_parts WHERE part = $1 % 8")
            .bind(stream.0)
            .fetch_one(&store.readers)
            .await
            .unwrap();
        let all = posts * POST as i64;
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
        let newest = *store.newest().borrow();
        store.append(post(own, 9_999, 0..1)).await.unwrap();
        assert_eq!(store.count_points(own).await.unwrap(), 1);
        assert!(*store.newest().borrow() > newest, "the number of a point was given again");

        sqlx::query("DELETE FROM resources").execute(&mut *store.writer.lock().await).await.unwrap();
        assert!(matches!(store.append(post(own, 10_000, 0..1)).await, Err(Error::Unknown(_))));
        let left: i64 =
            sqlx::query_scalar("SELECT count(*) FROM points").fetch_one(&store.readers).await.unwrap();
        assert_eq!(left, 0, "deleting a resource deletes its streams, and these their points");
    }
}
