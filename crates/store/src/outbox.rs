//! The outbox: what is to be told on channels, and has not been.
//!
//! A message is in it from the commit that decided it until a channel took it, so it is told at least once. Channels do not wait for each
//! other; on one, the message that was tried least often goes first, and of these the oldest.

use sixlock_ingest::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row};

use crate::channels::{ChannelKind, context};
use crate::conditions::Severity;
use crate::error::Error;
use crate::ids::{AlertId, ChannelId, UserId};
use crate::secrets::{Secret, hex};
use crate::store::Store;
use crate::values;

/// A message that could not be told so long after it was made is given up.
pub const GIVEN_UP_AFTER_MS: i64 = 24 * 3_600_000;
/// The most messages of a channel that were given up and are remembered.
const GIVEN_UP: i64 = 20;
/// The pause after the first failure of a channel.
const SHORTEST_PAUSE_MS: i64 = 5_000;
/// The longest pause after failures, but for what chance adds.
const LONGEST_PAUSE_MS: i64 = 15 * 60_000;
/// The longest reason for a failure that is kept, in characters.
const LONGEST_ERROR: usize = 500;
/// How many channels are looked at.
const CHANNELS: i64 = 128;

/// A message that is to be told.
#[derive(Clone, Debug)]
pub struct Message {
    row: i64,
    /// By which its receiver knows it again: 32 hexadecimal digits.
    pub id: String,
    /// Where it is told.
    pub channel: ChannelId,
    /// Whose that is.
    pub owner: UserId,
    /// How it is told.
    pub kind: ChannelKind,
    /// A URL, or the receiver's address.
    pub address: String,
    /// Of a webhook, the key that signs; of ntfy, a token.
    pub secret: Option<Secret>,
    /// No message is tried on this channel before.
    pub next_try: i64,
    /// How many tries failed on it since the last one that did not.
    pub failures: i64,
    /// What happened: `opened`, `cleared`, `test`, or `confirm`, which asks for a code.
    pub event: String,
    /// The code that confirms the address, unless it is confirmed.
    pub code: Option<Secret>,
    /// The alert, unless it is a test.
    pub alert: Option<AlertId>,
    /// The name of the rule, or of the channel that is tested.
    pub label: String,
    /// How much it matters.
    pub severity: Severity,
    /// The resource that is watched.
    pub resource: Option<String>,
    /// The stream that is watched.
    pub stream: Option<String>,
    /// Its unit.
    pub unit: Option<String>,
    /// The value of the reading that decided.
    pub value: Option<Value>,
    /// When that was, in milliseconds since 1970.
    pub time: i64,
    /// What the rule says besides.
    pub payload: Option<String>,
    /// How many messages were dropped on this channel since the last one that was told.
    pub untold: i64,
}

/// How long a channel pauses after so many failures, in milliseconds: twice as long each time, up to a quarter of an hour, and up to a quarter
/// longer, as `spread` says.
pub fn pause_after(failures: i64, spread: u8) -> i64 {
    let doublings = u32::try_from(failures.clamp(0, 16)).unwrap_or_default();
    let pause = (SHORTEST_PAUSE_MS << doublings).min(LONGEST_PAUSE_MS);
    pause + pause * i64::from(spread) / (4 * i64::from(u8::MAX))
}

impl Store {
    /// The next message of each channel that has one, those that may be tried first at the beginning.
    pub async fn messages(&self) -> Result<Vec<Message>, Error> {
        let rows: Vec<SqliteRow> = sqlx::query(
            "SELECT outbox.id, message, channel, owner, channels.kind, address, secret, code, next_try, failures, event, alert,
             outbox.label, severity, resource, stream, unit, value, value_text, value_type, time, payload, untold
             FROM (SELECT DISTINCT channel AS busy FROM outbox WHERE failed IS NULL)
             JOIN channels ON channels.id = busy JOIN outbox ON outbox.id =
             (SELECT id FROM outbox WHERE channel = busy AND failed IS NULL ORDER BY tries, id LIMIT 1)
             ORDER BY next_try, channels.id LIMIT $1",
        )
        .bind(CHANNELS)
        .fetch_all(&self.readers)
        .await?;
        // One that cannot be read holds up no other; it is told as a fault when nothing else is to be told.
        let (mut messages, mut unread) = (Vec::new(), None);
        for row in &rows {
            match self.message(row) {
                Ok(message) => messages.push(message),
                Err(error) => unread = Some(error),
            }
        }
        match unread {
            Some(error) if messages.is_empty() => Err(error),
            _ => Ok(messages),
        }
    }

    fn message(&self, row: &SqliteRow) -> Result<Message, Error> {
        let channel: i64 = row.try_get("channel")?;
        let (kind, severity): (String, String) = (row.try_get("kind")?, row.try_get("severity")?);
        let sealed: Option<Vec<u8>> = row.try_get("secret")?;
        let id: Vec<u8> = row.try_get("message")?;
        let event: String = row.try_get("event")?;
        let value_type: String = row.try_get("value_type")?;
        // Who is asked for a code is not told how much is missing, so the next message is to say it.
        let untold = if event == "confirm" { 0 } else { row.try_get("untold")? };
        Ok(Message {
            row: row.try_get("id")?,
            id: hex(&id),
            channel: ChannelId(channel),
            owner: UserId(row.try_get("owner")?),
            kind: ChannelKind::named(&kind).ok_or(Error::Unknown("kind of channel"))?,
            address: row.try_get("address")?,
            secret: sealed.map(|sealed| self.master.open_sealed(&context(channel), &sealed)).transpose()?,
            next_try: row.try_get("next_try")?,
            failures: row.try_get("failures")?,
            event,
            code: row.try_get::<Option<String>, _>("code")?.map(|code| Secret::new(code.into_bytes())),
            alert: row.try_get::<Option<i64>, _>("alert")?.map(AlertId),
            label: row.try_get("label")?,
            severity: Severity::named(&severity).ok_or(Error::Unknown("severity"))?,
            resource: row.try_get("resource")?,
            stream: row.try_get("stream")?,
            unit: row.try_get("unit")?,
            value: values::of_reading(row.try_get("value")?, row.try_get("value_text")?, &value_type),
            time: row.try_get("time")?,
            payload: row.try_get("payload")?,
            untold,
        })
    }

    /// Waits until something was put into the outbox that may be told at once.
    pub async fn outbox_filled(&self) {
        self.outbox.notified().await;
    }

    /// Notes that a message was told; the channel tells the next one not before `next_try`.
    pub async fn sent(&self, message: &Message, now: i64, next_try: i64) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query("DELETE FROM outbox WHERE id = $1").bind(message.row).execute(&mut *transaction).await?;
        sqlx::query(
            "UPDATE channels SET failures = 0, last_error = NULL, last_told = $2, next_try = $3,
             untold = CASE WHEN untold > $4 THEN untold - $4 ELSE 0 END WHERE id = $1",
        )
        .bind(message.channel.0)
        .bind(now)
        .bind(next_try)
        .bind(message.untold)
        .execute(&mut *transaction)
        .await?;
        Ok(transaction.commit().await?)
    }

    /// Notes that a message was not told, and why; the channel tries again at `next_try`. What has waited there for too long is given up:
    /// returns how many messages that are.
    pub async fn not_told(
        &self,
        message: &Message,
        error: &str,
        now: i64,
        next_try: i64,
    ) -> Result<u64, Error> {
        let error: String = error.chars().take(LONGEST_ERROR).collect();
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query("UPDATE outbox SET tries = tries + 1, error = $2 WHERE id = $1")
            .bind(message.row)
            .bind(&error)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(
            "UPDATE channels SET failures = failures + 1, last_error = $2, next_try = $3 WHERE id = $1",
        )
        .bind(message.channel.0)
        .bind(&error)
        .bind(next_try)
        .execute(&mut *transaction)
        .await?;
        let given_up = sqlx::query(
            "UPDATE outbox SET failed = $2, error = coalesce(error, $4)
             WHERE channel = $1 AND failed IS NULL AND created <= $3",
        )
        .bind(message.channel.0)
        .bind(now)
        .bind(now.saturating_sub(GIVEN_UP_AFTER_MS))
        .bind(&error)
        .execute(&mut *transaction)
        .await?;
        if given_up.rows_affected() > 0 {
            sqlx::query(
                "DELETE FROM outbox WHERE channel = $1 AND failed IS NOT NULL AND id <=
                 (SELECT id FROM outbox WHERE channel = $1 AND failed IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET $2)",
            )
            .bind(message.channel.0)
            .bind(GIVEN_UP)
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(given_up.rows_affected())
    }
}
