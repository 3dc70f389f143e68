//! Values as the database has them. Each is a number: that of a point that is true is 1, of one that is false 0, and of a text the id of its row in
//! `texts`. So whatever orders, counts and moves points knows nothing of their types; whoever shows a value reads it here.

use sixlock_ingest::{LONGEST_TEXT_VALUE, Value, ValueType};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnection;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};

use crate::error::Error;
use crate::ids::StreamId;
use crate::rollup::hour_of;

/// A value: the number that stands for it, whether it is a truth value, and the text if it is one.
pub(crate) type ValueRow = (f64, bool, Option<String>);

/// The columns of a [`ValueRow`]: of the value in the column `value`, in a stream of the type that `value_type` gives. Of those that are
/// no texts, this looks nothing up.
pub(crate) fn columns(value: &str, value_type: &str) -> String {
    format!(
        "{value} AS value, {value_type} = 'boolean' AS is_boolean, CASE {value_type} WHEN 'text'
         THEN coalesce((SELECT text FROM texts WHERE texts.id = CAST({value} AS INTEGER)), '') END AS text"
    )
}

/// The type of the stream `$1`.
pub(crate) const TYPE_OF_STREAM: &str = "(SELECT value_type FROM streams WHERE id = $1)";

pub(crate) fn value((number, is_boolean, text): ValueRow) -> Value {
    match text {
        Some(text) => Value::Text(text),
        None if is_boolean => Value::Boolean(number != 0.0),
        None => Value::Number(number),
    }
}

/// The value of a reading that alerts tell of, which stands beside its text if it is one; nothing if the clock decided.
pub(crate) fn of_reading(number: Option<f64>, text: Option<String>, value_type: &str) -> Option<Value> {
    let is_boolean = value_type == ValueType::Boolean.name();
    match (number, text) {
        (number, Some(text)) => Some(value((number.unwrap_or_default(), false, Some(text)))),
        (Some(number), None) => Some(value((number, is_boolean, None))),
        (None, None) => None,
    }
}

/// The type that the database calls so.
pub(crate) fn value_type(name: &str) -> ValueType {
    ValueType::named(name).unwrap_or_default()
}

/// What the values of `stream` are; those of no stream are numbers.
pub(crate) async fn type_of(connection: &mut SqliteConnection, stream: StreamId) -> Result<ValueType, Error> {
    let name: Option<String> = sqlx::query_scalar("SELECT value_type FROM streams WHERE id = $1")
        .bind(stream.0)
        .fetch_optional(connection)
        .await?;
    Ok(name.as_deref().map(value_type).unwrap_or_default())
}

/// Deletes the texts of the points of a stream of texts that are about to be deleted: from `from` on, older than `until`.
pub(crate) async fn delete_texts(
    connection: &mut SqliteConnection,
    stream: StreamId,
    (from, until): (i64, i64),
) -> Result<(), Error> {
    sqlx::query(
        "DELETE FROM texts WHERE id IN
         (SELECT CAST(value AS INTEGER) FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3
          UNION ALL
          SELECT CAST(value AS INTEGER) FROM unsorted_points WHERE stream = $1 AND time >= $2 AND time < $3)",
    )
    .bind(stream.0)
    .bind(from)
    .bind(until)
    .execute(connection)
    .await?;
    Ok(())
}

/// Deletes the texts that the rollups of a stream of texts have of points that are not kept, of all hours that have a share in a span: these rollups
/// are about to be forgotten.
pub(crate) async fn delete_texts_of_rollups(
    connection: &mut SqliteConnection,
    stream: StreamId,
    (from, until): (i64, i64),
) -> Result<(), Error> {
    let of_hours = "FROM rollups WHERE stream = $1 AND start >= $2 AND start <= $3";
    let sql = format!(
        "DELETE FROM texts WHERE id IN (SELECT CAST(first_value AS INTEGER) {of_hours}
                                        UNION ALL SELECT CAST(last_value AS INTEGER) {of_hours})
         AND id NOT IN (SELECT CAST(value AS INTEGER) FROM points_by_stream
                        WHERE stream = $1 AND time >= $2 AND time < $3 + {HOUR_MS})",
        HOUR_MS = crate::rollup::HOUR_MS
    );
    sqlx::query(AssertSqlSafe(sql))
        .bind(stream.0)
        .bind(hour_of(from))
        .bind(hour_of(until.saturating_sub(1)))
        .execute(connection)
        .await?;
    Ok(())
}

/// How a value is described.
pub fn value_schema() -> Schema {
    one_value().into()
}

/// How a value is described that may be missing.
pub(crate) fn value_or_nothing_schema() -> Schema {
    one_value().item(ObjectBuilder::new().schema_type(Type::Null)).into()
}

fn one_value() -> OneOfBuilder {
    let one = |value_type| ObjectBuilder::new().schema_type(value_type);
    let text = one(Type::String).max_length(Some(LONGEST_TEXT_VALUE));
    OneOfBuilder::new().item(one(Type::Number)).item(text).item(one(Type::Boolean))
}

/// How the type of values is described.
pub fn type_schema() -> Schema {
    let names = ValueType::ALL.map(ValueType::name);
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).into()
}
