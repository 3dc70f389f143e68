//! Reading points: pages of one stream by time, and which streams have new ones.

use serde::Serialize;
use sixlock_ingest::{MOST_AHEAD_MS, Value, ValueType};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection};
use utoipa::ToSchema;

use crate::clock::now_ms;
use crate::computed_due;
use crate::error::Error;
use crate::ids::{PointId, ResourceId, StreamId};
use crate::latest;
use crate::rollup_rows;
use crate::store::Store;
use crate::values::{self, TYPE_OF_STREAM};

/// The most points of one page.
pub const LONGEST_PAGE: i64 = 10_000;

/// A value at a time.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Point {
    /// Milliseconds since 1970.
    pub time: i64,
    /// The value, of the type of its stream.
    #[schema(schema_with = values::value_schema)]
    pub value: Value,
}

/// Which points of a stream. With `from`, the first ones of the span; without, the latest. Without either end, these are
/// the latest of those that could be accepted now: points of earlier versions may be of times that are yet to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// At most so many points.
    pub limit: i64,
    /// None older than this.
    pub from: Option<i64>,
    /// Only older than this.
    pub until: Option<i64>,
}

/// A point as the database has it: its number, its time and a [`ValueRow`](values::ValueRow).
type Row = (i64, i64, f64, bool, Option<String>);

fn point((id, time, number, is_boolean, text): Row) -> (PointId, Point) {
    (PointId(id), Point { time, value: values::value((number, is_boolean, text)) })
}

impl Page {
    /// All points are older than this.
    fn end(&self) -> i64 {
        let bound = if self.from.is_some() { i64::MAX } else { now_ms() + MOST_AHEAD_MS + 1 };
        self.until.unwrap_or(bound)
    }
}

impl Store {
    /// A page of `stream`, oldest first.
    pub async fn points(&self, stream: StreamId, page: Page) -> Result<Vec<Point>, Error> {
        let order = if page.from.is_some() { "time, id" } else { "time DESC, id DESC" };
        // The newest points are not yet among those of their stream.
        let value = values::columns("value", TYPE_OF_STREAM);
        let sql = AssertSqlSafe(format!(
            "SELECT point AS id, time, {value} FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3
             UNION ALL
             SELECT id, time, {value} FROM unsorted_points WHERE stream = $1 AND time >= $2 AND time < $3
             ORDER BY {order} LIMIT $4"
        ));
        let rows: Vec<Row> = sqlx::query_as(sql)
            .bind(stream.0)
            .bind(page.from.unwrap_or(i64::MIN))
            .bind(page.end())
            .bind(page.limit.clamp(0, LONGEST_PAGE))
            .fetch_all(&self.readers)
            .await?;
        let mut points: Vec<Point> = rows.into_iter().map(|row| point(row).1).collect();
        if page.from.is_none() {
            points.reverse();
        }
        Ok(points)
    }

    /// The first `limit` points of `stream` that are older than `until`, in the order of their times, behind the point that is told by
    /// its time and number.
    pub async fn points_behind(
        &self,
        stream: StreamId,
        (time, behind): (i64, PointId),
        until: i64,
        limit: i64,
    ) -> Result<Vec<(PointId, Point)>, Error> {
        let value = values::columns("value", TYPE_OF_STREAM);
        let sql = AssertSqlSafe(format!(
            "SELECT point AS id, time, {value} FROM points_by_stream
             WHERE stream = $1 AND (time, point) > ($2, $3) AND time < $4
             UNION ALL
             SELECT id, time, {value} FROM unsorted_points WHERE stream = $1 AND (time, id) > ($2, $3) AND time < $4
             ORDER BY time, id LIMIT $5"
        ));
        let rows: Vec<Row> = sqlx::query_as(sql)
            .bind(stream.0)
            .bind(time)
            .bind(behind.0)
            .bind(until)
            .bind(limit)
            .fetch_all(&self.readers)
            .await?;
        Ok(rows.into_iter().map(point).collect())
    }

    /// Deletes the points of `stream` that are not older than `from` and older than `until`, and tells how many. What is computed from
    /// them is computed anew after this; a stream that is itself computed is refused.
    pub async fn delete_points(
        &self,
        stream: StreamId,
        from: Option<i64>,
        until: Option<i64>,
    ) -> Result<u64, Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        if computed_due::is_computed(&mut transaction, stream).await? {
            return Err(Error::Computed);
        }
        let deleted = delete(&mut transaction, stream, from, until).await?;
        transaction.commit().await?;
        drop(writer);
        self.queue.changed();
        Ok(deleted)
    }

    /// Deletes the points of all streams of `resource` as [`Self::delete_points`] does those of one: in all of them, or none. Computed
    /// streams follow.
    pub async fn delete_points_of(
        &self,
        resource: ResourceId,
        from: Option<i64>,
        until: Option<i64>,
    ) -> Result<(), Error> {
        let mut writer = self.writer.lock().await;
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let streams: Vec<i64> = sqlx::query_scalar(
            "SELECT id FROM streams WHERE resource = $1 AND id NOT IN (SELECT stream FROM computed_streams)",
        )
        .bind(resource.0)
        .fetch_all(&mut *transaction)
        .await?;
        for stream in streams {
            delete(&mut transaction, StreamId(stream), from, until).await?;
        }
        transaction.commit().await?;
        drop(writer);
        self.queue.changed();
        Ok(())
    }

    /// How many points `resource` has.
    pub async fn count_points(&self, resource: ResourceId) -> Result<i64, Error> {
        let sql = "WITH own AS (SELECT id FROM streams WHERE resource = $1)
                   SELECT (SELECT count(*) FROM points_by_stream WHERE stream IN own)
                   + (SELECT count(*) FROM unsorted_points WHERE stream IN own)";
        Ok(sqlx::query_scalar(sql).bind(resource.0).fetch_one(&self.readers).await?)
    }
}

/// Deletes the points of `stream` from `from` on, older than `until`, and returns how many those were.
async fn delete(
    connection: &mut SqliteConnection,
    stream: StreamId,
    from: Option<i64>,
    until: Option<i64>,
) -> Result<u64, Error> {
    let (from, until) = (from.unwrap_or(i64::MIN), until.unwrap_or(i64::MAX));
    if from >= until {
        return Ok(0);
    }
    latest::keep_heard(connection, stream).await?;
    let are_texts = values::type_of(connection, stream).await? == ValueType::Text;
    if are_texts {
        values::delete_texts(connection, stream, (from, until)).await?;
    }
    let mut deleted = 0;
    // Those that are sorted by stream already, the newest, which are not, and at last the sorted ones themselves.
    for (sql, counts) in [
        (
            "DELETE FROM points WHERE id IN
             (SELECT point FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3)",
            true,
        ),
        (
            "DELETE FROM points WHERE id IN
             (SELECT id FROM unsorted_points WHERE stream = $1 AND time >= $2 AND time < $3)",
            true,
        ),
        ("DELETE FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3", false),
    ] {
        let outcome =
            sqlx::query(sql).bind(stream.0).bind(from).bind(until).execute(&mut *connection).await?;
        deleted += if counts { outcome.rows_affected() } else { 0 };
    }
    if are_texts {
        values::delete_texts_of_rollups(connection, stream, (from, until)).await?;
    }
    rollup_rows::forget(&mut *connection, stream, (from, until)).await?;
    latest::forget(&mut *connection, stream, (from, until)).await?;
    computed_due::add_dependents(connection, stream, from).await?;
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Append;
    use crate::journal::{Idempotency, Transmission};
    use crate::resources::Device;
    use crate::secrets::Secret;
    use sixlock_ingest::Reading;

    #[tokio::test]
    async fn a_span_is_deleted_from_the_sorted_points_and_from_the_newest() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let user = store.add_user("ann", "", "long enough".into(), false).await.unwrap();
        let key = Some(Secret::new(b"0123456789abcdef".to_vec()));
        let device = Device { key, ..Device::named("node") };
        let resource = store.enrol(user.id, device).await.unwrap().resource.id;
        let append = async |message_id, times: &[i64]| {
            let transmission = Transmission { association: b"", message_id, token: b"" };
            let idempotency = Idempotency::of(resource, transmission, b"");
            let reading = |&time| Reading { stream: "t".into(), unit: None, time, value: 0.0.into() };
            let readings = times.iter().map(reading).collect();
            store.append(Append { resource, idempotency, readings }).await.unwrap();
        };
        append(1, &[10, 20, 30]).await;
        let stream = store.stream(resource, "t").await.unwrap().unwrap().id;
        // The writer sorts when nothing more comes.
        loop {
            let unsorted: i64 = sqlx::query_scalar("SELECT count(*) FROM unsorted_points")
                .fetch_one(&store.readers)
                .await
                .unwrap();
            if unsorted == 0 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        append(2, &[15, 25, 35]).await;
        assert_eq!(store.delete_points(stream, Some(15), Some(30)).await.unwrap(), 3);
        let page = Page { limit: 10, from: None, until: None };
        let times =
            async || store.points(stream, page).await.unwrap().iter().map(|p| p.time).collect::<Vec<_>>();
        assert_eq!(times().await, [10, 30, 35]);
        assert_eq!(store.delete_points(stream, None, None).await.unwrap(), 3);
        assert_eq!(times().await, [] as [i64; 0]);
        append(3, &[50]).await;
        assert_eq!(times().await, [50]);
    }
}
