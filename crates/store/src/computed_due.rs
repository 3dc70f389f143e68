//! What of computed streams is still to be computed.

use sqlx::sqlite::SqliteConnection;

use crate::error::Error;
use crate::ids::StreamId;

/// Notes that all points of the computed stream `stream` from `from` on are to be computed. What was to be computed before stays so.
pub(crate) async fn add(connection: &mut SqliteConnection, stream: StreamId, from: i64) -> Result<(), Error> {
    // From the first point of its inputs or of itself to the last one.
    sqlx::query(
        "WITH used (id) AS (SELECT stream FROM computed_inputs WHERE computed = $1 AND stream IS NOT NULL UNION SELECT $1),
         ends (first, last) AS (
             SELECT (SELECT min(time) FROM points_by_stream WHERE stream = used.id),
             (SELECT max(time) FROM points_by_stream WHERE stream = used.id) FROM used
             UNION ALL
             SELECT min(time), max(time) FROM unsorted_points WHERE stream IN (SELECT id FROM used)
         ),
         span (since, until) AS (SELECT max(min(first), $2), max(last) + 1 FROM ends)
         UPDATE computed_streams SET due_since = min(coalesce(due_since, since), since),
         due_from = min(coalesce(due_from, since), since), due_until = max(coalesce(due_until, until), until)
         FROM span WHERE stream = $1 AND since < until",
    )
    .bind(stream.0)
    .bind(from)
    .execute(connection)
    .await?;
    Ok(())
}

/// Notes that what is computed from `stream`, whose points from `from` on are others now, is to be computed again.
pub(crate) async fn add_dependents(
    connection: &mut SqliteConnection,
    stream: StreamId,
    from: i64,
) -> Result<(), Error> {
    let dependents: Vec<i64> =
        sqlx::query_scalar("SELECT DISTINCT computed FROM computed_inputs WHERE stream = $1")
            .bind(stream.0)
            .fetch_all(&mut *connection)
            .await?;
    for dependent in dependents {
        add(connection, StreamId(dependent), from).await?;
    }
    Ok(())
}

/// Whether `stream` is computed.
pub(crate) async fn is_computed(connection: &mut SqliteConnection, stream: StreamId) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM computed_streams WHERE stream = $1)";
    Ok(sqlx::query_scalar(sql).bind(stream.0).fetch_one(connection).await?)
}
