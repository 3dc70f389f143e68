//! Channels: where a user is told of alerts.

use serde::{Deserialize, Serialize};
use sixlock_crypto::constant_time_eq;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};
use utoipa::ToSchema;

use crate::clock::now_ms;
use crate::error::Error;
use crate::ids::{ChannelId, UserId};
use crate::names::{LABEL_RULE, is_label};
use crate::secrets::{self, Secret};
use crate::store::Store;

/// The most channels of one owner.
pub const MOST_OF_ONE_OWNER: i64 = 16;
/// The least time between two tests of a channel.
const BETWEEN_TESTS_MS: i64 = 10_000;
/// How many wrong codes end the one that was sent.
const CODES: i64 = 5;
/// Every code is a number below this one: so many decimal digits.
const CODE_DIGITS: usize = 8;

/// How somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChannelKind {
    /// By a POST of JSON that is signed.
    Webhook,
    /// By e-mail.
    Email,
    /// By a POST to a topic of ntfy.
    Ntfy,
}

impl ChannelKind {
    const ALL: [Self; 3] = [Self::Webhook, Self::Email, Self::Ntfy];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Email => "email",
            Self::Ntfy => "ntfy",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A channel that is to be made.
#[derive(Clone, Debug)]
pub struct NewChannel {
    /// What it is called.
    pub label: String,
    /// How somebody is told.
    pub kind: ChannelKind,
    /// A URL, or the receiver's address: whoever makes a channel has checked it.
    pub address: String,
    /// Of ntfy, the token that is sent with each message.
    pub token: Option<Secret>,
}

/// A channel as its owner sees it: without what is secret. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Channel {
    /// The row.
    pub id: ChannelId,
    /// What it is called, unique for its owner.
    pub label: String,
    /// How somebody is told.
    pub kind: ChannelKind,
    /// A URL, or the receiver's address.
    pub address: String,
    /// Whether a token is sent with each message.
    pub token: bool,
    /// Whether it may be told alerts: an address of e-mail only when its owner has confirmed it by the code that was sent there.
    pub confirmed: bool,
    /// When it was made.
    pub created: i64,
    /// When a message was told last.
    pub last_told: Option<i64>,
    /// Why the last try told nothing; null if it did.
    pub last_error: Option<String>,
    /// How many tries failed since the last one that did not.
    pub failures: i64,
    /// No message is tried before: after failures, pauses get longer.
    pub next_try: i64,
    /// How many messages wait.
    pub waiting: i64,
    /// How many were given up, of the latest 20 that are remembered.
    pub given_up: i64,
    /// How many were dropped since the last one that was told, because too many waited.
    pub untold: i64,
}

/// What a channel's secret is sealed for. No identity, for which devices' keys are sealed, begins like this.
pub(crate) fn context(channel: i64) -> Vec<u8> {
    [b"\0channel".as_slice(), &channel.to_be_bytes()].concat()
}

impl Store {
    /// The channels of `owner`.
    pub async fn channels(&self, owner: UserId) -> Result<Vec<Channel>, Error> {
        self.find_channels(owner, None).await
    }

    /// The channel of `owner` with this id or label.
    pub async fn channel(&self, owner: UserId, id_or_label: &str) -> Result<Option<Channel>, Error> {
        Ok(self.find_channels(owner, Some(id_or_label)).await?.pop())
    }

    async fn find_channels(&self, owner: UserId, name: Option<&str>) -> Result<Vec<Channel>, Error> {
        let select = "SELECT id, label, kind, address, secret IS NOT NULL AND kind = 'ntfy' AS token, code IS NULL AS confirmed, created,
             last_told, last_error, failures, next_try, untold,
             (SELECT count(*) FROM outbox WHERE channel = channels.id AND failed IS NULL) AS waiting,
             (SELECT count(*) FROM outbox WHERE channel = channels.id AND failed IS NOT NULL) AS given_up
             FROM channels";
        self.own_rows((select, "channels"), owner, name).await?.iter().map(channel).collect()
    }

    /// Adds a channel, and returns the key that signs what a webhook is sent: nobody is ever told it again. An address of e-mail is sent a
    /// code, and no alerts before that is [confirmed](Self::confirm_channel).
    pub async fn add_channel(
        &self,
        owner: UserId,
        new: NewChannel,
    ) -> Result<(Channel, Option<String>), Error> {
        if !is_label(&new.label) {
            return Err(Error::Invalid(LABEL_RULE));
        }
        let asks = new.kind == ChannelKind::Email;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let (id, key) = self.insert_channel(&mut transaction, owner, new).await?;
        transaction.commit().await?;
        drop(writer);
        if asks {
            self.outbox.notify_one();
        }
        let added = self.channel(owner, &id.to_string()).await?.ok_or(Error::Unknown("channel"))?;
        Ok((added, key))
    }

    /// Makes the row of a channel, and has a code sent to an address of e-mail. Returns it and the key of a webhook.
    pub(crate) async fn insert_channel(
        &self,
        connection: &mut SqliteConnection,
        owner: UserId,
        new: NewChannel,
    ) -> Result<(i64, Option<String>), Error> {
        let NewChannel { label, kind, address, token } = new;
        let key = (kind == ChannelKind::Webhook).then(secrets::token).transpose()?;
        let channels: i64 = sqlx::query_scalar("SELECT count(*) FROM channels WHERE owner = $1")
            .bind(owner.0)
            .fetch_one(&mut *connection)
            .await?;
        if channels >= MOST_OF_ONE_OWNER {
            return Err(Error::Full("this user has 16 channels already"));
        }
        let id: Option<i64> = sqlx::query_scalar(
            "INSERT INTO channels (owner, label, kind, address, created, next_try)
             SELECT id, $2, $3, $4, $5, $5 FROM users WHERE id = $1
             ON CONFLICT (owner, label) DO NOTHING RETURNING id",
        )
        .bind(owner.0)
        .bind(&label)
        .bind(kind.name())
        .bind(address)
        .bind(now_ms())
        .fetch_optional(&mut *connection)
        .await?;
        let id = id.ok_or(Error::Taken("label"))?;
        let secret = key.as_ref().map(|key| Secret::new(key.clone().into_bytes())).or(token);
        if let Some(secret) = secret {
            self.set_channel_secret(connection, id, &secret).await?;
        }
        if kind == ChannelKind::Email {
            ask_for_confirmation(connection, ChannelId(id), now_ms()).await?;
        }
        Ok((id, key))
    }

    /// Gives a channel its secret.
    pub(crate) async fn set_channel_secret(
        &self,
        connection: &mut SqliteConnection,
        channel: i64,
        secret: &Secret,
    ) -> Result<(), Error> {
        sqlx::query("UPDATE channels SET secret = $1 WHERE id = $2")
            .bind(self.master.seal(&context(channel), secret.bytes())?)
            .bind(channel)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Deletes a channel, and what waits on it. Rules that it belonged to tell the others.
    pub async fn delete_channel(&self, channel: ChannelId) -> Result<(), Error> {
        delete(&mut *self.writer.lock().await, channel).await
    }

    /// Confirms the address of a channel by the code that was sent there; false if it is another. After five others, there is no code that is
    /// right until another is sent.
    pub async fn confirm_channel(&self, channel: ChannelId, code: &str) -> Result<bool, Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let sent: Option<(Option<String>, i64)> = sqlx::query_as(
            "UPDATE channels SET codes_tried = codes_tried + 1 WHERE id = $1 RETURNING code, codes_tried",
        )
        .bind(channel.0)
        .fetch_optional(&mut *transaction)
        .await?;
        let (sent, tried) = sent.ok_or(Error::Unknown("channel"))?;
        let is_right =
            sent.is_none_or(|sent| tried <= CODES && constant_time_eq(sent.as_bytes(), code.as_bytes()));
        if is_right {
            sqlx::query("UPDATE channels SET code = NULL WHERE id = $1")
                .bind(channel.0)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(is_right)
    }

    /// Puts a message that says that it is a test into the outbox of a channel, or another code if its address is not confirmed; false if there
    /// was one lately, or one waits.
    pub async fn test_channel(&self, channel: ChannelId, now: i64) -> Result<bool, Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let confirmed: Option<bool> = sqlx::query_scalar(
            "UPDATE channels SET tested = $2 WHERE id = $1 AND tested <= $3 AND NOT EXISTS
             (SELECT 1 FROM outbox WHERE channel = $1 AND event IN ('test', 'confirm') AND failed IS NULL)
             RETURNING code IS NULL",
        )
        .bind(channel.0)
        .bind(now)
        .bind(now.saturating_sub(BETWEEN_TESTS_MS))
        .fetch_optional(&mut *transaction)
        .await?;
        match confirmed {
            None => return Ok(false),
            Some(true) => put_in_outbox(&mut transaction, channel, "test", now).await?,
            Some(false) => ask_for_confirmation(&mut transaction, channel, now).await?,
        }
        transaction.commit().await?;
        self.outbox.notify_one();
        Ok(true)
    }
}

/// Deletes a channel, and what waits on it.
pub(crate) async fn delete(connection: &mut SqliteConnection, channel: ChannelId) -> Result<(), Error> {
    let deleted =
        sqlx::query("DELETE FROM channels WHERE id = $1").bind(channel.0).execute(connection).await?;
    if deleted.rows_affected() == 0 { Err(Error::Unknown("channel")) } else { Ok(()) }
}

/// Has a code sent to the address of a channel, in place of the one that was.
async fn ask_for_confirmation(
    connection: &mut SqliteConnection,
    channel: ChannelId,
    now: i64,
) -> Result<(), Error> {
    let number = u64::from_be_bytes(secrets::random()?) % 10u64.pow(CODE_DIGITS as u32);
    sqlx::query("UPDATE channels SET code = $2, codes_tried = 0, tested = $3 WHERE id = $1")
        .bind(channel.0)
        .bind(format!("{number:0CODE_DIGITS$}"))
        .bind(now)
        .execute(&mut *connection)
        .await?;
    put_in_outbox(connection, channel, "confirm", now).await
}

/// Puts a message about the channel itself into its outbox.
async fn put_in_outbox(
    connection: &mut SqliteConnection,
    channel: ChannelId,
    event: &str,
    now: i64,
) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO outbox (message, channel, event, label, severity, time, created)
         SELECT $2, id, $4, label, 'information', $3, $3 FROM channels WHERE id = $1",
    )
    .bind(channel.0)
    .bind(&secrets::random::<16>()?[..])
    .bind(now)
    .bind(event)
    .execute(connection)
    .await?;
    Ok(())
}

fn channel(row: &SqliteRow) -> Result<Channel, Error> {
    let kind: String = row.try_get("kind")?;
    Ok(Channel {
        id: ChannelId(row.try_get("id")?),
        label: row.try_get("label")?,
        kind: ChannelKind::named(&kind).ok_or(Error::Unknown("kind of channel"))?,
        address: row.try_get("address")?,
        token: row.try_get("token")?,
        confirmed: row.try_get("confirmed")?,
        created: row.try_get("created")?,
        last_told: row.try_get("last_told")?,
        last_error: row.try_get("last_error")?,
        failures: row.try_get("failures")?,
        next_try: row.try_get("next_try")?,
        waiting: row.try_get("waiting")?,
        given_up: row.try_get("given_up")?,
        untold: row.try_get("untold")?,
    })
}
