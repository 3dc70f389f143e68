//! Streams: what is measured by a resource.

use std::collections::BTreeSet;

use serde::Serialize;
use sixlock_ingest::{LONGEST_UNIT, ValueType, is_bidi_control, is_hidden};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{ResourceId, StreamId};
use crate::journal::STREAMS_PER_RESOURCE;
use crate::latest;
use crate::names::Reference;
use crate::quotas;
use crate::search_words;
use crate::sharing::{self, Sharing};
use crate::store::Store;
use crate::values;

/// The longest description of a resource or a stream.
///
/// With it, what a device reads about either fits one answer.
const LONGEST_DESCRIPTION: usize = 256;

/// One quantity of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Stream {
    /// The row.
    pub id: StreamId,
    /// The label, unique in its resource. It is what devices call the stream, so it stays.
    pub label: String,
    /// The unit, if one is stated.
    pub unit: Option<String>,
    /// What its owner says about it.
    pub description: String,
    /// What its values are: `number`, `text` or `boolean`. That is settled when it is made.
    #[schema(schema_with = values::type_schema)]
    pub value_type: ValueType,
}

/// What is to change of a stream: what is not given stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamChange<'a> {
    /// The unit; an empty one is none.
    pub unit: Option<&'a str>,
    /// What its owner says about it.
    pub description: Option<&'a str>,
    /// Whether anyone may read it. Who takes this away takes that it is found away, too.
    pub public_access: Option<bool>,
    /// Whether whoever looks for streams finds it.
    pub public_search: Option<bool>,
}

/// A stream that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedStream {
    /// As it is now.
    pub stream: Stream,
    /// Whom it was shared with.
    pub before: Sharing,
    /// Whom it is shared with now.
    pub sharing: Sharing,
}

type StreamRow = (i64, String, Option<String>, String, String);

fn stream((id, label, unit, description, value_type): StreamRow) -> Stream {
    Stream { id: StreamId(id), label, unit, description, value_type: values::value_type(&value_type) }
}

pub(crate) fn check_description(text: &str) -> Result<(), Error> {
    let fits =
        text.len() <= LONGEST_DESCRIPTION && text.chars().all(|char| char == '\n' || !is_control(char));
    fits.then_some(()).ok_or(Error::Invalid(
        "a description has at most 256 bytes, no control characters, and none that turn the direction of text",
    ))
}

fn is_control(char: char) -> bool {
    char.is_control() || is_bidi_control(char)
}

fn check_unit(unit: Option<&str>) -> Result<(), Error> {
    let fits =
        |unit: &str| (1..=LONGEST_UNIT).contains(&unit.chars().count()) && !unit.chars().any(is_hidden);
    unit.is_none_or(fits)
        .then_some(())
        .ok_or(Error::Invalid("a unit has 1 to 32 characters, and none that cannot be seen"))
}

impl Store {
    /// The streams of `resource`.
    pub async fn streams(&self, resource: ResourceId) -> Result<Vec<Stream>, Error> {
        let rows: Vec<StreamRow> = sqlx::query_as(
            "SELECT id, label, unit, description, value_type FROM streams WHERE resource = $1 ORDER BY id",
        )
        .bind(resource.0)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(stream).collect())
    }

    /// The stream of `resource` with this id or label. Devices choose labels: a stream whose label is digits alone is found
    /// by its id only.
    pub async fn stream(&self, resource: ResourceId, id_or_label: &str) -> Result<Option<Stream>, Error> {
        let named = Reference::read(id_or_label);
        let row: Option<StreamRow> = sqlx::query_as(
            "SELECT id, label, unit, description, value_type FROM streams
             WHERE resource = $1 AND (id = $2 OR label = $3)",
        )
        .bind(resource.0)
        .bind(named.id())
        .bind(named.name())
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(stream))
    }

    /// The resource that a stream belongs to.
    pub async fn resource_of_stream(&self, stream: StreamId) -> Result<Option<ResourceId>, Error> {
        let row: Option<i64> = sqlx::query_scalar("SELECT resource FROM streams WHERE id = $1")
            .bind(stream.0)
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.map(ResourceId))
    }

    /// The resources that these streams belong to, each once.
    pub async fn resources_of_streams(&self, streams: &[StreamId]) -> Result<Vec<ResourceId>, Error> {
        /// Streams that are asked for at a time.
        const AT_A_TIME: usize = 1_000;
        let mut resources = BTreeSet::new();
        for some in streams.chunks(AT_A_TIME) {
            // They are numbers, so nothing in them is SQL of its own.
            let ids = some.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(",");
            let sql = format!("SELECT DISTINCT resource FROM streams WHERE id IN ({ids})");
            let rows: Vec<i64> =
                sqlx::query_scalar(AssertSqlSafe(sql)).persistent(false).fetch_all(&self.readers).await?;
            resources.extend(rows.into_iter().map(ResourceId));
        }
        Ok(resources.into_iter().collect())
    }

    /// Adds a stream of values of this type to `resource`; an empty unit is none.
    pub async fn add_stream(
        &self,
        resource: ResourceId,
        (label, unit, description): (&str, Option<&str>, &str),
        value_type: ValueType,
    ) -> Result<Stream, Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let stream = insert(&mut transaction, resource, (label, unit, description), value_type).await?;
        transaction.commit().await?;
        Ok(stream)
    }

    /// Changes what is given of a stream, all of it or nothing. If it is to be as in `is_still` and is not, nothing is changed.
    pub async fn change_stream(
        &self,
        id: StreamId,
        change: StreamChange<'_>,
        is_still: Option<&Stream>,
    ) -> Result<ChangedStream, Error> {
        let StreamChange { unit, description, public_access, public_search } = change;
        check_unit(unit.filter(|unit| !unit.is_empty()))?;
        check_description(description.unwrap_or_default())?;
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let before: Option<(bool, bool)> =
            sqlx::query_as("SELECT public_access, public_search FROM streams WHERE id = $1")
                .bind(id.0)
                .fetch_optional(&mut *transaction)
                .await?;
        let gone = if is_still.is_some() { Error::Changed } else { Error::Unknown("stream") };
        let (was_public, was_found) = before.ok_or(gone)?;
        let before = Sharing { public_access: was_public, public_search: was_found };
        let sharing = before.changed(public_access, public_search)?;
        if sharing.public_search && !was_found {
            sharing::check_found(&mut transaction, id).await?;
        }
        let row: Option<StreamRow> = sqlx::query_as(
            "UPDATE streams SET unit = CASE WHEN $1 IS NULL THEN unit ELSE nullif($1, '') END,
             description = coalesce($2, description), public_access = $6, public_search = $7
             WHERE id = $3 AND ($4 IS NULL OR (unit IS $5 AND description = $4))
             RETURNING id, label, unit, description, value_type",
        )
        .bind(unit)
        .bind(description)
        .bind(id.0)
        .bind(is_still.map(|stream| &*stream.description))
        .bind(is_still.and_then(|stream| stream.unit.as_deref()))
        .bind(sharing.public_access)
        .bind(sharing.public_search)
        .fetch_optional(&mut *transaction)
        .await?;
        let stream = row.map(stream).ok_or(Error::Changed)?;
        if was_found || sharing.public_search {
            search_words::write(&mut transaction, id).await?;
        }
        transaction.commit().await?;
        drop(writer);
        if was_public && !sharing.public_access {
            self.access_changed();
        }
        Ok(ChangedStream { stream, before, sharing })
    }

    /// Deletes a stream and its points. If its device goes on, that makes a new one. What was computed from it is computed no more.
    pub async fn delete_stream(&self, id: StreamId) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        latest::keep_heard(&mut transaction, id).await?;
        let deleted =
            sqlx::query("DELETE FROM streams WHERE id = $1").bind(id.0).execute(&mut *transaction).await?;
        transaction.commit().await?;
        drop(writer);
        self.queue.changed();
        // Tokens that were for this stream only went with it, and it is public no more.
        self.access_changed();
        if deleted.rows_affected() == 0 { Err(Error::Unknown("stream")) } else { Ok(()) }
    }
}

/// Refuses what no stream can be; an empty unit is none.
pub(crate) fn check_new(label: &str, unit: Option<&str>, description: &str) -> Result<(), Error> {
    if !sixlock_ingest::is_stream_label(label) {
        return Err(Error::Invalid(
            "a stream's label has 1 to 128 bytes, and no characters that cannot be seen",
        ));
    }
    check_unit(unit.filter(|unit| !unit.is_empty()))?;
    check_description(description)
}

/// Adds a stream; an empty unit is none.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    resource: ResourceId,
    (label, unit, description): (&str, Option<&str>, &str),
    value_type: ValueType,
) -> Result<Stream, Error> {
    let unit = unit.filter(|unit| !unit.is_empty());
    check_new(label, unit, description)?;
    let streams: i64 = sqlx::query_scalar("SELECT count(*) FROM streams WHERE resource = $1")
        .bind(resource.0)
        .fetch_one(&mut *connection)
        .await?;
    if streams >= STREAMS_PER_RESOURCE {
        return Err(Error::Full("a resource has at most 64 streams"));
    }
    quotas::check_streams(connection, resource).await?;
    let row: Option<StreamRow> = sqlx::query_as(
        "INSERT INTO streams (resource, label, unit, description, value_type, keep)
         SELECT id, $2, $3, $4, $5, (SELECT keep FROM retention_of_new_streams) FROM resources WHERE id = $1
         ON CONFLICT (resource, label) DO NOTHING RETURNING id, label, unit, description, value_type",
    )
    .bind(resource.0)
    .bind(label)
    .bind(unit)
    .bind(description)
    .bind(value_type.name())
    .fetch_optional(connection)
    .await?;
    row.map(stream).ok_or(Error::Taken("label"))
}
