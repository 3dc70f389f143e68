//! What arrived last: of each stream its latest reading, and of each resource when it was heard.
//!
//! Both go by arrival, never by the times that devices state, whose clocks may be wrong. The newest points are looked
//! through where they were appended; of those before, `latest_points` has one of each stream, which is brought up to
//! date when points are sorted. So an append writes nothing more for it.

use std::collections::HashMap;

use serde::Serialize;
use sixlock_ingest::Value;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteConnection;
use utoipa::ToSchema;

use crate::error::Error;
use crate::ids::{PointId, ResourceId, StreamId, UserId};
use crate::latest_sql::{self, candidates};
use crate::store::Store;
use crate::values;

/// The reading of a stream that arrived last; of one post, that of the latest time.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Latest {
    /// When it was measured, in milliseconds since 1970.
    pub time: i64,
    /// The value, of the type of its stream.
    #[schema(schema_with = values::value_schema)]
    pub value: Value,
    /// When it arrived, in milliseconds since 1970.
    pub arrived: i64,
}

/// A point that may be the latest: its resource, its stream, its number, its time, its value as the database has it, and its arrival.
type Row = (i64, i64, i64, i64, f64, i64);

/// The same of a stream: without the resource, and with the value of its type.
type TypedRow = (i64, i64, i64, i64, f64, bool, Option<String>);

/// Of what each key has, that of the point with the greatest number, which arrived last.
fn newest<K: Eq + std::hash::Hash, T>(
    candidates: impl Iterator<Item = (K, PointId, T)>,
) -> HashMap<K, (PointId, T)> {
    let mut newest: HashMap<K, (PointId, T)> = HashMap::new();
    for (key, point, candidate) in candidates {
        if newest.get(&key).is_none_or(|known| known.0 < point) {
            newest.insert(key, (point, candidate));
        }
    }
    newest
}

impl Store {
    /// The latest reading of each stream of `resource` that has any; of a computed stream, that of the latest time.
    pub async fn latest(&self, resource: ResourceId) -> Result<HashMap<StreamId, Latest>, Error> {
        let (candidates, value) =
            (candidates("resources.id = $1"), values::columns("found.value", "value_type"));
        let sql = format!(
            "SELECT stream, point, time, arrived, {value}
             FROM ({candidates}) AS found JOIN streams ON streams.id = stream"
        );
        let rows: Vec<TypedRow> =
            sqlx::query_as(AssertSqlSafe(sql)).bind(resource.0).fetch_all(&self.readers).await?;
        let typed = |(stream, point, time, arrived, number, is_boolean, text): TypedRow| {
            let value = values::value((number, is_boolean, text));
            (StreamId(stream), PointId(point), Latest { time, value, arrived })
        };
        let newest = newest(rows.into_iter().map(typed));
        let mut latest: HashMap<StreamId, Latest> =
            newest.into_iter().map(|(stream, (_, latest))| (stream, latest)).collect();
        let computed: Vec<i64> = sqlx::query_scalar(
            "SELECT stream FROM computed_streams JOIN streams ON streams.id = stream WHERE resource = $1",
        )
        .bind(resource.0)
        .fetch_all(&self.readers)
        .await?;
        for stream in computed.into_iter().map(StreamId) {
            let computed = self.latest_computed(stream).await?;
            latest.extend(computed.map(|computed| (stream, computed)));
        }
        Ok(latest)
    }

    /// The point of the latest time of a computed stream.
    async fn latest_computed(&self, stream: StreamId) -> Result<Option<Latest>, Error> {
        let row: Option<(i64, f64, i64)> = sqlx::query_as(
            "SELECT time, value, time + delay FROM points WHERE id = (SELECT id FROM (
                 SELECT point AS id, time FROM points_by_stream WHERE stream = $1
                 UNION ALL
                 SELECT id, time FROM unsorted_points WHERE stream = $1
                 ORDER BY time DESC LIMIT 1
             ))",
        )
        .bind(stream.0)
        .fetch_optional(&self.readers)
        .await?;
        Ok(row.map(|(time, value, arrived)| Latest { time, value: Value::Number(value), arrived }))
    }

    /// When the last accepted post of `resource` of `owner` arrived, in milliseconds since 1970.
    pub async fn heard_of(&self, owner: UserId, resource: ResourceId) -> Result<Option<i64>, Error> {
        Ok(self.heard(owner, (resource, resource)).await?.remove(&resource))
    }

    /// When the last accepted post of each resource of `owner` arrived, of those from `first` to `last` that ever sent one, in
    /// milliseconds since 1970.
    pub async fn heard(
        &self,
        owner: UserId,
        (first, last): (ResourceId, ResourceId),
    ) -> Result<HashMap<ResourceId, i64>, Error> {
        const OF_PAGE: &str = "owner = $1 AND resources.id BETWEEN $2 AND $3";
        self.heard_where(OF_PAGE, Some(owner), (first, last)).await
    }

    /// When the last accepted post of each resource arrived, whosever it is, of those from `first` to `last` that ever sent one, in
    /// milliseconds since 1970.
    pub async fn heard_of_all(
        &self,
        (first, last): (ResourceId, ResourceId),
    ) -> Result<HashMap<ResourceId, i64>, Error> {
        const OF_PAGE: &str = "$1 IS NULL AND resources.id BETWEEN $2 AND $3";
        self.heard_where(OF_PAGE, None, (first, last)).await
    }

    /// The same of those that groups let `user` see.
    pub async fn heard_by_groups(
        &self,
        user: UserId,
        (first, last): (ResourceId, ResourceId),
    ) -> Result<HashMap<ResourceId, i64>, Error> {
        const OF_PAGE: &str =
            "resources.id IN (SELECT given_resources.resource FROM given_resources WHERE member = $1)
            AND resources.id BETWEEN $2 AND $3";
        self.heard_where(OF_PAGE, Some(user), (first, last)).await
    }

    pub(crate) async fn heard_where(
        &self,
        condition: &str,
        owner: Option<UserId>,
        (first, last): (ResourceId, ResourceId),
    ) -> Result<HashMap<ResourceId, i64>, Error> {
        let owner = owner.map(|owner| owner.0);
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(candidates(condition)))
            .bind(owner)
            .bind(first.0)
            .bind(last.0)
            .fetch_all(&self.readers)
            .await?;
        let deleted: Vec<(i64, i64, i64)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT id, heard, heard_point FROM resources WHERE {condition} AND heard IS NOT NULL"
        )))
        .bind(owner)
        .bind(first.0)
        .bind(last.0)
        .fetch_all(&self.readers)
        .await?;
        let stored = rows
            .into_iter()
            .map(|(resource, _, point, .., arrived)| (ResourceId(resource), PointId(point), arrived));
        let deleted =
            deleted.into_iter().map(|(resource, heard, point)| (ResourceId(resource), PointId(point), heard));
        let heard = newest(deleted.chain(stored));
        Ok(heard.into_iter().map(|(resource, (_, arrived))| (resource, arrived)).collect())
    }
}

/// Notes when the resource of `stream` was heard, before points of it are deleted.
pub(crate) async fn keep_heard(connection: &mut SqliteConnection, stream: StreamId) -> Result<(), Error> {
    sqlx::query(AssertSqlSafe(latest_sql::keep_heard())).bind(stream.0).execute(connection).await?;
    Ok(())
}

/// Finds the latest point of `stream` again if it was one of those just deleted: from `from` on, older than `until`.
pub(crate) async fn forget(
    connection: &mut SqliteConnection,
    stream: StreamId,
    (from, until): (i64, i64),
) -> Result<(), Error> {
    let deleted = sqlx::query("DELETE FROM latest_points WHERE stream = $1 AND time >= $2 AND time < $3")
        .bind(stream.0)
        .bind(from)
        .bind(until)
        .execute(&mut *connection)
        .await?;
    if deleted.rows_affected() == 0 {
        return Ok(());
    }
    sqlx::query(latest_sql::FIND_AGAIN).bind(stream.0).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::computed_streams::{Computation, InputReference};
    use crate::journal::Append;
    use crate::journal::Idempotency;
    use crate::journal::Writer;
    use crate::resources::Device;
    use sixlock_ingest::Reading;

    async fn open(directory: &std::path::Path) -> (Store, Writer) {
        Store::open(directory).await.unwrap()
    }

    async fn append(store: &Store, resource: ResourceId, readings: &[(&str, i64, f64)]) {
        let reading = |&(stream, time, value): &(&str, i64, f64)| Reading {
            stream: stream.into(),
            unit: None,
            time,
            value: value.into(),
        };
        let readings = readings.iter().map(reading).collect();
        let idempotency = Idempotency::unique().unwrap();
        store.append(Append { resource, idempotency, readings }).await.unwrap();
    }

    /// Times and values of the latest readings of `resource`, by stream.
    async fn latest(store: &Store, resource: ResourceId) -> Vec<(String, i64, f64)> {
        let latest = store.latest(resource).await.unwrap();
        let streams = store.streams(resource).await.unwrap();
        let shown = streams.iter().filter_map(|stream| {
            latest
                .get(&stream.id)
                .map(|latest| (stream.label.clone(), latest.time, latest.value.number().unwrap()))
        });
        shown.collect()
    }

    async fn heard(store: &Store, resource: ResourceId) -> Option<i64> {
        let owner = store.owner_of(resource).await.unwrap().unwrap();
        store.heard_of(owner.id, resource).await.unwrap()
    }

    async fn is_sorted(store: &Store) -> bool {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM unsorted_points)";
        sqlx::query_scalar(sql).fetch_one(&store.readers).await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_latest_reading_and_when_a_device_was_heard_go_by_arrival_and_outlive_a_restart() {
        let directory = tempfile::tempdir().unwrap();
        let (store, writer) = open(directory.path()).await;
        let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let resource = store.enrol(user.id, Device::named("node")).await.unwrap().resource.id;
        assert_eq!((latest(&store, resource).await, heard(&store, resource).await), (vec![], None));
        append(&store, resource, &[("t", 9_000, 1.0), ("u", 5_000, 2.0)]).await;
        let first = heard(&store, resource).await.unwrap();
        assert!(first > 1_700_000_000_000, "{first} is no time of arrival");
        // Of one post the latest, in whatever order it has them; of two posts the later.
        append(&store, resource, &[("t", 4_000, 4.0), ("t", 3_000, 3.0)]).await;
        let expected = vec![("t".to_owned(), 4_000, 4.0), ("u".to_owned(), 5_000, 2.0)];
        assert_eq!(latest(&store, resource).await, expected);
        let second = heard(&store, resource).await.unwrap();
        store.close().await;
        writer.ended().await.unwrap();
        drop(store);

        let (store, _writer) = open(directory.path()).await;
        // The writer sorts when nothing more comes: before and after, it is the same.
        while !is_sorted(&store).await {
            assert_eq!(latest(&store, resource).await, expected);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!((latest(&store, resource).await, heard(&store, resource).await), (expected, Some(second)));
        append(&store, resource, &[("u", 1_000, 5.0)]).await;
        let third = heard(&store, resource).await;
        let streams = store.streams(resource).await.unwrap();
        // What is deleted is the latest no more; the device was heard nevertheless.
        store.delete_points(streams[1].id, None, Some(2_000)).await.unwrap();
        store.delete_points(streams[0].id, Some(4_000), Some(5_000)).await.unwrap();
        let left = vec![("t".to_owned(), 3_000, 3.0), ("u".to_owned(), 5_000, 2.0)];
        assert_eq!((latest(&store, resource).await, heard(&store, resource).await), (left, third));
        store.delete_points(streams[1].id, None, None).await.unwrap();
        store.delete_stream(streams[0].id).await.unwrap();
        assert_eq!((latest(&store, resource).await, heard(&store, resource).await), (vec![], third));
        append(&store, resource, &[("u", 1_000, 6.0)]).await;
        assert_eq!(latest(&store, resource).await, [("u".to_owned(), 1_000, 6.0)]);
        assert!(heard(&store, resource).await >= third);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_point_of_the_future_that_was_there_before_hides_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = open(directory.path()).await;
        let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let resource = store.enrol(user.id, Device::named("node")).await.unwrap().resource.id;
        append(&store, resource, &[("t", 99_999_999_999_000, 1.0)]).await;
        append(&store, resource, &[("t", 9_000, 2.0)]).await;
        assert_eq!(latest(&store, resource).await, [("t".to_owned(), 9_000, 2.0)]);
        let stream = store.stream(resource, "t").await.unwrap().unwrap().id;
        let values = async |from, limit| {
            let page = crate::points::Page { limit, from, until: None };
            let points = store.points(stream, page).await.unwrap();
            points.into_iter().map(|point| point.value.number().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(values(None, 1).await, [2.0]);
        assert_eq!(values(Some(0), 10).await, [2.0, 1.0], "what was stored is still to be had");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_latest_of_a_computed_stream_is_that_of_the_latest_time_and_says_nothing_of_its_device() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _writer) = open(directory.path()).await;
        let user = store.add_user("ann", "", "a long password".into(), false).await.unwrap();
        let heard_one = store.enrol(user.id, Device::named("node")).await.unwrap().resource.id;
        let silent = store.enrol(user.id, Device::named("silent")).await.unwrap().resource.id;
        append(&store, heard_one, &[("t", 1_000, 1.0), ("t", 3_000, 3.0)]).await;
        let t = InputReference { resource: Some("node".into()), stream: "t".into() };
        let (expression, time_zone) = ("t * 10".into(), "UTC".into());
        let computation = Computation { expression, time_zone, inputs: [("t".into(), t)].into() };
        store.add_computed_stream((user.id, silent), ("ten", None, ""), &computation).await.unwrap();
        let expected = [("ten".to_owned(), 3_000, 30.0)];
        while latest(&store, silent).await != expected {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        // What came late is computed last, and is not the latest for that.
        append(&store, heard_one, &[("t", 2_000, 2.0)]).await;
        let ten = store.stream(silent, "ten").await.unwrap().unwrap().id;
        let page = crate::points::Page { limit: 10, from: Some(0), until: None };
        assert_eq!(store.points(ten, page).await.unwrap().len(), 3);
        while !is_sorted(&store).await {
            assert_eq!(
                (latest(&store, silent).await, heard(&store, silent).await),
                (expected.to_vec(), None)
            );
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!((latest(&store, silent).await, heard(&store, silent).await), (expected.to_vec(), None));
    }
}
