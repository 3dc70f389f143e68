//! The one writer. An append is answered after the commit that holds it, never before.
//!
//! The writer does not wait for a batch to fill: what arrives during one commit makes the next batch, so a lone
//! reading is stored at once and a flood shares its commits.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use tokio::sync::{Mutex, Notify, mpsc, oneshot, watch};

use super::{PointId, ResourceId, Store, StreamId, now_ms};
use crate::{Error, secrets};

/// The most points of one batch, and so of one append.
pub(crate) const BATCH: usize = 256;
/// The most streams of one resource: a device that invents names cannot fill the disk with them.
pub const STREAMS_PER_RESOURCE: i64 = 64;
/// For how long a post is known again: EXCHANGE_LIFETIME
/// ([RFC 7252 section 4.8.2](https://www.rfc-editor.org/rfc/rfc7252#section-4.8.2)).
pub const RETRANSMISSION_WINDOW_MS: i64 = 247_000;
/// Streams whose rows are remembered; when there are more, remembering begins anew.
const REMEMBERED_STREAMS: usize = 65_536;

/// How a post came.
#[derive(Clone, Copy, Debug)]
pub struct Transmission<'a> {
    /// What nobody else has: a name of the DTLS session that no other session is ever given, or the address of a
    /// peer without one.
    pub association: &'a [u8],
    /// The message id.
    pub message_id: u16,
    /// The token.
    pub token: &'a [u8],
}

/// What tells a post that is sent again from a new one, also when the cloud was restarted in between.
///
/// Within one association, the message id does. When the association is lost, the client sends its request anew as
/// another message in the next one, but with the same token
/// ([RFC 7252 section 9.1.1](https://www.rfc-editor.org/rfc/rfc7252#section-9.1.1)). A client that uses one token
/// for all its posts, or a short one, may send the same payload as another message and mean another reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency {
    post: [u8; 16],
    association: [u8; 16],
    message_id: u16,
}

impl Idempotency {
    /// The shortest token that is taken to name a request by itself.
    const NAMING_TOKEN: usize = 4;

    /// Of a post of `payload` by `resource`.
    pub fn of(resource: ResourceId, transmission: Transmission<'_>, payload: &[u8]) -> Self {
        let Transmission { association, message_id, token } = transmission;
        let id = message_id.to_be_bytes();
        let id = if token.len() < Self::NAMING_TOKEN { &id[..] } else { &[] };
        Self {
            post: short_digest(&[&resource.0.to_be_bytes(), token, id, payload]),
            association: short_digest(&[association]),
            message_id,
        }
    }
}

fn short_digest(parts: &[&[u8]]) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&secrets::digest(parts)[..16]);
    short
}

/// One value of a post.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The stream's label; the first reading makes the stream.
    pub stream: String,
    /// The unit, if one is stated.
    pub unit: Option<String>,
    /// Milliseconds since 1970.
    pub time: i64,
    /// The value, finite.
    pub value: f64,
}

/// Readings of one post: all are stored, or none.
#[derive(Clone, Debug)]
pub struct Append {
    /// Whose they are.
    pub resource: ResourceId,
    /// What the post is known again by.
    pub idempotency: Idempotency,
    /// The readings, at most 256.
    pub readings: Vec<Reading>,
}

pub(super) struct Waiting {
    append: Append,
    done: oneshot::Sender<Result<(), Error>>,
}

impl Store {
    /// Stores the readings of a post. When this returns `Ok`, they have survived any crash and power loss;
    /// the readings of a retransmission are there once.
    pub async fn append(&self, append: Append) -> Result<(), Error> {
        if append.readings.len() > BATCH {
            return Err(Error::Invalid("a post holds at most 256 readings"));
        }
        let (done, stored) = oneshot::channel();
        self.appends.try_send(Waiting { append, done }).map_err(|_| Error::Busy)?;
        stored.await.map_err(|_| Error::Busy)?
    }
}

/// Stores what is waiting until nobody may or can append any more, and everything is stored.
pub(super) async fn run(
    connection: Arc<Mutex<SqliteConnection>>,
    mut waiting: mpsc::Receiver<Waiting>,
    closing: Arc<Notify>,
    newest: watch::Sender<PointId>,
) {
    let mut streams = Streams::default();
    let mut next = None;
    loop {
        let Some(first) = (match next.take() {
            Some(first) => Some(first),
            None => tokio::select! {
                first = waiting.recv() => first,
                () = closing.notified() => {
                    waiting.close();
                    waiting.recv().await
                }
            },
        }) else {
            return;
        };
        let mut points = first.append.readings.len();
        let mut posts = HashSet::from([first.append.idempotency.post]);
        let mut batch = vec![first];
        while let Ok(one) = waiting.try_recv() {
            points += one.append.readings.len();
            // Two transmissions of one post do not share a batch: the second is to find the first one's receipt.
            if points > BATCH || !posts.insert(one.append.idempotency.post) {
                next = Some(one);
                break;
            }
            batch.push(one);
        }
        let mut connection = connection.lock().await;
        let appends: Vec<&Append> = batch.iter().map(|waiting| &waiting.append).collect();
        let outcome = store(&mut connection, &mut streams, &appends).await;
        let results: Vec<Result<Option<PointId>, Error>> = match outcome {
            Ok(last) => appends.iter().map(|_| Ok(last)).collect(),
            Err(error) if appends.len() == 1 => vec![Err(error)],
            Err(_) => {
                // One append that cannot be stored must not take the others with it.
                let mut results = Vec::new();
                for append in appends {
                    results.push(store(&mut connection, &mut streams, &[append]).await);
                }
                results
            }
        };
        drop(connection);
        if let Some(last) = results.iter().filter_map(|result| *result.as_ref().ok()?).max() {
            newest.send_replace(last);
        }
        for (waiting, result) in batch.into_iter().zip(results) {
            // Whoever appended may have gone away meanwhile.
            let _ = waiting.done.send(result.map(drop));
        }
    }
}

/// Stores `appends` in one commit and returns the last new point.
async fn store(
    connection: &mut SqliteConnection,
    streams: &mut Streams,
    appends: &[&Append],
) -> Result<Option<PointId>, Error> {
    if let Ok(last) = try_store(connection, streams, appends).await {
        return Ok(last);
    }
    // A stream that is remembered may have been deleted meanwhile.
    streams.rows.clear();
    let outcome = try_store(connection, streams, appends).await;
    if outcome.is_err() {
        // Rows of streams that were made in the transaction are gone with it.
        streams.rows.clear();
    }
    outcome
}

async fn try_store(
    connection: &mut SqliteConnection,
    streams: &mut Streams,
    appends: &[&Append],
) -> Result<Option<PointId>, Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let now = now_ms();
    let fresh = receive(&mut transaction, appends, now).await?;
    let mut rows = Vec::new();
    for append in appends {
        if fresh.contains(&append.idempotency.post) {
            for reading in &append.readings {
                let stream = streams.row(&mut transaction, append.resource, reading).await?;
                rows.push((stream, reading.time, reading.value));
            }
        }
    }
    let last = insert_points(&mut transaction, &rows).await?;
    streams.forget_receipts(&mut transaction, now).await?;
    transaction.commit().await?;
    Ok(last)
}

/// Writes a receipt for each append and returns the posts that are not known.
async fn receive(
    connection: &mut SqliteConnection,
    appends: &[&Append],
    now: i64,
) -> Result<HashSet<[u8; 16]>, Error> {
    let sql = format!(
        "INSERT INTO receipts (post, association, message, stored) VALUES {} ON CONFLICT (post) DO UPDATE
         SET association = excluded.association, message = excluded.message, stored = excluded.stored
         WHERE receipts.association = excluded.association AND receipts.message <> excluded.message
         RETURNING post",
        placeholders::<4>(appends.len())
    );
    let mut query = sqlx::query_scalar(AssertSqlSafe(sql));
    for Append { idempotency: Idempotency { post, association, message_id }, .. } in appends {
        query = query.bind(&post[..]).bind(&association[..]).bind(message_id).bind(now);
    }
    let fresh: Vec<Vec<u8>> = query.fetch_all(connection).await?;
    Ok(fresh.into_iter().filter_map(|post| post.try_into().ok()).collect())
}

async fn insert_points(
    connection: &mut SqliteConnection,
    rows: &[(StreamId, i64, f64)],
) -> Result<Option<PointId>, Error> {
    if rows.is_empty() {
        return Ok(None);
    }
    let sql = format!(
        "INSERT INTO points (stream, time, value) VALUES {} RETURNING id",
        placeholders::<3>(rows.len())
    );
    let mut query = sqlx::query_scalar(AssertSqlSafe(sql));
    for (stream, time, value) in rows {
        query = query.bind(stream.0).bind(time).bind(value);
    }
    Ok(query.fetch_all(connection).await?.into_iter().max().map(PointId))
}

/// `($1,$2),($3,$4)…`: `rows` rows of `N` parameters.
fn placeholders<const N: usize>(rows: usize) -> String {
    let mut sql = String::new();
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ",(" });
        for column in 1..=N {
            let comma = if column == 1 { "" } else { "," };
            let _ = write!(sql, "{comma}${}", row * N + column);
        }
        sql.push(')');
    }
    sql
}

/// The rows of streams seen before, and when old receipts were last removed.
#[derive(Default)]
struct Streams {
    rows: HashMap<ResourceId, HashMap<String, StreamId>>,
    remembered: usize,
    receipts_forgotten: i64,
}

impl Streams {
    /// The row of the stream of `reading`, made if it is the first.
    async fn row(
        &mut self,
        connection: &mut SqliteConnection,
        resource: ResourceId,
        reading: &Reading,
    ) -> Result<StreamId, Error> {
        if let Some(&row) = self.rows.get(&resource).and_then(|rows| rows.get(&reading.stream)) {
            return Ok(row);
        }
        let known: Option<i64> =
            sqlx::query_scalar("SELECT id FROM streams WHERE resource = $1 AND label = $2")
                .bind(resource.0)
                .bind(&reading.stream)
                .fetch_optional(&mut *connection)
                .await?;
        let row = match known {
            Some(row) => row,
            None => {
                let streams: i64 = sqlx::query_scalar("SELECT count(*) FROM streams WHERE resource = $1")
                    .bind(resource.0)
                    .fetch_one(&mut *connection)
                    .await?;
                if streams >= STREAMS_PER_RESOURCE {
                    return Err(Error::Invalid("a resource has at most 64 streams"));
                }
                sqlx::query_scalar(
                    "INSERT INTO streams (resource, label, unit) VALUES ($1, $2, $3) RETURNING id",
                )
                .bind(resource.0)
                .bind(&reading.stream)
                .bind(&reading.unit)
                .fetch_one(&mut *connection)
                .await?
            }
        };
        if self.remembered >= REMEMBERED_STREAMS {
            self.rows.clear();
            self.remembered = 0;
        }
        self.remembered += 1;
        self.rows.entry(resource).or_default().insert(reading.stream.clone(), StreamId(row));
        Ok(StreamId(row))
    }

    /// Removes, now and then, the receipts of posts that nobody retransmits any more.
    async fn forget_receipts(&mut self, connection: &mut SqliteConnection, now: i64) -> Result<(), Error> {
        const EVERY_MS: i64 = 10_000;
        if now.abs_diff(self.receipts_forgotten) < EVERY_MS.unsigned_abs() {
            return Ok(());
        }
        self.receipts_forgotten = now;
        sqlx::query("DELETE FROM receipts WHERE stored < $1")
            .bind(now - RETRANSMISSION_WINDOW_MS)
            .execute(connection)
            .await?;
        Ok(())
    }
}
