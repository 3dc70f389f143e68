//! Points in the order in which they were stored, for those who follow them.

use sqlx::AssertSqlSafe;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::{ResourceId, StreamId, UserId};
use crate::points::Point;
use crate::store::Store;
use crate::values;

/// The most points that are sent to one who was away; who has missed more is told to fetch them by time.
pub const LONGEST_REPLAY: i64 = 10_000;
/// The most points of all users that are looked through for those of one.
const WINDOW: i64 = 1_000;
/// The most points that a user may have in all, to be looked through for those that were missed.
const LOOKED_THROUGH: i64 = 100_000;

/// Which points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of all users.
    All,
    /// Those of one user, and of devices that groups let the user see.
    Of(UserId),
    /// Those of one stream.
    One(StreamId),
}

/// A point and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPoint {
    /// The position behind it.
    pub position: Cursor,
    /// Its stream.
    pub stream: StreamId,
    /// The resource of that.
    pub resource: ResourceId,
    /// Its time and value.
    pub point: Point,
    /// When it arrived, in milliseconds since 1970.
    pub arrived: i64,
}

/// What comes next in a feed.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// These points, in the order in which they were stored: all in the scope up to this position.
    Points(Vec<FeedPoint>, Cursor),
    /// More than [`LONGEST_REPLAY`], or more than it is worth to search for them.
    TooMany,
}

type FeedRow = (i64, i64, i64, i64, i64, f64, bool, Option<String>);

impl Scope {
    /// The condition for a stream with its resource, in SQL, and the id in it that `$1` stands for: to find the streams by.
    const fn condition(self) -> (&'static str, i64) {
        match self {
            Self::All => ("$1 = 0", 0),
            Self::Of(user) => (
                "(resources.owner = $1 OR resources.id IN (SELECT resource FROM given_resources WHERE member = $1))",
                user.0,
            ),
            Self::One(stream) => ("streams.id = $1", stream.0),
        }
    }

    /// The same for a stream that is known, of which it is asked: no list is made of all that is given to the user, which would be made for
    /// each commit of anybody.
    const fn condition_of_each(self) -> (&'static str, i64) {
        match self {
            Self::Of(user) => (
                "(resources.owner = $1 OR EXISTS
                  (SELECT 1 FROM given_resources WHERE member = $1 AND resource = resources.id))",
                user.0,
            ),
            Self::All | Self::One(_) => self.condition(),
        }
    }
}

impl Store {
    /// Returns where a feed goes on whose last point stood before `position`: there, or at the end if no point has ever stood
    /// there, as with a position of another database.
    pub fn feed_position(&self, position: Cursor) -> Cursor {
        let end = self.changes.end();
        if number(position) > number(end) { end } else { position }
    }

    /// The points in `scope` behind the position `last`, up to `newest`: all of them, or the first ones. Reads few points
    /// of other users, however many were stored meanwhile.
    pub async fn feed(&self, scope: Scope, last: Cursor, newest: Cursor) -> Result<Next, Error> {
        let (last, newest) = (number(last), number(newest));
        if newest.saturating_sub(last) <= LONGEST_REPLAY {
            let upto = newest.min(last.saturating_add(WINDOW));
            return Ok(Next::Points(self.stored_between(scope, last, upto).await?, position(upto)));
        }
        if scope == Scope::All {
            return Ok(Next::TooMany);
        }
        self.missed(scope, last, newest).await
    }

    /// Looks at the points of all users between `last` and `upto`.
    async fn stored_between(&self, scope: Scope, last: i64, upto: i64) -> Result<Vec<FeedPoint>, Error> {
        let (condition, id) = scope.condition_of_each();
        // The order of the tables is said: otherwise all of a user's streams might be looked through for a few points.
        let value = values::columns("points.value", "streams.value_type");
        let sql = AssertSqlSafe(format!(
            "SELECT points.id, points.stream, streams.resource, points.time, points.delay, {value}
             FROM points CROSS JOIN streams ON streams.id = points.stream
             CROSS JOIN resources ON resources.id = streams.resource
             WHERE points.id > $2 AND points.id <= $3 AND {condition} ORDER BY points.id"
        ));
        let rows: Vec<FeedRow> =
            sqlx::query_as(sql).bind(id).bind(last).bind(upto).fetch_all(&self.readers).await?;
        Ok(rows.into_iter().map(feed_point).collect())
    }

    /// Looks at the points in `scope`, by stream, and at those of all users that are not sorted by stream yet.
    async fn missed(&self, scope: Scope, last: i64, newest: i64) -> Result<Next, Error> {
        let (condition, id) = scope.condition();
        let own = own_streams(condition);
        let count = AssertSqlSafe(format!(
            "SELECT count(*) FROM (SELECT 1 FROM points_by_stream WHERE stream IN ({own}) LIMIT $2)"
        ));
        let count: i64 =
            sqlx::query_scalar(count).bind(id).bind(LOOKED_THROUGH).fetch_one(&self.readers).await?;
        if count >= LOOKED_THROUGH {
            return Ok(Next::TooMany);
        }
        let rows: Vec<FeedRow> = sqlx::query_as(AssertSqlSafe(missed_sql(condition)))
            .bind(id)
            .bind(last)
            .bind(newest)
            .bind(LONGEST_REPLAY + 1)
            .fetch_all(&self.readers)
            .await?;
        if rows.len() as i64 > LONGEST_REPLAY {
            return Ok(Next::TooMany);
        }
        Ok(Next::Points(rows.into_iter().map(feed_point).collect(), position(newest)))
    }
}

/// The streams whose points are in a scope.
fn own_streams(condition: &str) -> String {
    format!(
        "SELECT streams.id FROM streams JOIN resources ON resources.id = streams.resource WHERE {condition}"
    )
}

fn missed_sql(condition: &str) -> String {
    let own = own_streams(condition);
    let value = values::columns("found.value", "streams.value_type");
    format!(
        "SELECT found.id, found.stream, streams.resource, found.time, points.delay, {value} FROM
         (SELECT point AS id, stream, time, value FROM points_by_stream
          WHERE stream IN ({own}) AND point > $2 AND point <= $3
          UNION ALL
          SELECT id, stream, time, value FROM unsorted_points
          WHERE stream IN ({own}) AND id > $2 AND id <= $3) AS found
         JOIN streams ON streams.id = found.stream JOIN points ON points.id = found.id ORDER BY found.id LIMIT $4"
    )
}

/// The number of the point that stands before `position`, which the journal gave.
fn number(position: Cursor) -> i64 {
    i64::try_from(position.for_journal()).unwrap_or(i64::MAX)
}

fn position(number: i64) -> Cursor {
    Cursor::from_journal(number.unsigned_abs())
}

fn feed_point((id, stream, resource, time, delay, number, is_boolean, text): FeedRow) -> FeedPoint {
    FeedPoint {
        position: position(id),
        stream: StreamId(stream),
        resource: ResourceId(resource),
        point: Point { time, value: values::value((number, is_boolean, text)) },
        arrived: time + delay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::GroupAccess;
    use crate::journal::Append;
    use crate::journal::Idempotency;
    use crate::resources::Device;
    use sixlock_ingest::Reading;

    /// A store with the users ann and bob, each with a resource.
    async fn store(directory: &std::path::Path) -> (Store, [(UserId, ResourceId); 2]) {
        let (store, _writer) = Store::open(directory).await.unwrap();
        let mut users = Vec::new();
        for name in ["ann", "bob"] {
            let user = store.add_user(name, "", "a long password".into(), false).await.unwrap().id;
            let resource = store.enrol(user, Device::named(name)).await.unwrap().resource.id;
            users.push((user, resource));
        }
        (store, users.try_into().unwrap())
    }

    async fn append(store: &Store, resource: ResourceId, values: std::ops::Range<i64>) {
        for from in values.clone().step_by(250) {
            let some = from..values.end.min(from + 250);
            let reading = |n| Reading { stream: "t".into(), unit: None, time: n, value: (n as f64).into() };
            let readings = some.map(reading).collect();
            let idempotency = Idempotency::unique().unwrap();
            store.append(Append { resource, idempotency, readings }).await.unwrap();
        }
    }

    /// The values of all points behind `last`; `None` if there are too many.
    async fn replay(store: &Store, scope: Scope, mut last: Cursor) -> Option<Vec<f64>> {
        let newest = store.changes().end();
        let mut values = Vec::new();
        while last != newest {
            let Next::Points(points, upto) = store.feed(scope, last, newest).await.unwrap() else {
                return None;
            };
            assert!(points.is_sorted_by_key(|point| point.position.for_journal()) && upto != last);
            values.extend(points.iter().map(|point| point.point.value.number().unwrap()));
            last = upto;
        }
        Some(values)
    }

    #[tokio::test]
    async fn a_replay_holds_ones_own_points_behind_however_many_of_others() {
        let directory = tempfile::tempdir().unwrap();
        let (store, [(ann, of_ann), (bob, of_bob)]) = store(directory.path()).await;
        append(&store, of_ann, 0..300).await;
        let begun = store.changes().end();
        append(&store, of_ann, 300..310).await;
        append(&store, of_bob, 0..LONGEST_REPLAY + 1).await;
        append(&store, of_ann, 310..320).await;
        let stream = store.stream(of_ann, "t").await.unwrap().unwrap().id;
        let expected: Vec<f64> = (300..320).map(|n| n as f64).collect();
        for scope in [Scope::Of(ann), Scope::One(stream)] {
            assert_eq!(replay(&store, scope, begun).await.unwrap(), expected, "{scope:?}");
        }
        // Those who have missed more are told so, and what is new is read from all points.
        for scope in [Scope::Of(bob), Scope::All] {
            assert_eq!(replay(&store, scope, begun).await, None, "{scope:?}");
        }
        let newest = store.changes().end();
        append(&store, of_bob, 0..5).await;
        append(&store, of_ann, 320..2_500).await;
        assert_eq!(replay(&store, Scope::Of(ann), newest).await.unwrap().len(), 2_180);
        assert_eq!(replay(&store, Scope::Of(bob), newest).await.unwrap().len(), 5);
        assert_eq!(replay(&store, Scope::All, newest).await.unwrap().len(), 2_185);
    }

    #[tokio::test]
    async fn a_feed_has_the_points_of_devices_that_groups_let_its_user_see_for_as_long_as_they_do() {
        let directory = tempfile::tempdir().unwrap();
        let (store, [(ann, of_ann), (bob, of_bob)]) = store(directory.path()).await;
        let group = store.add_group(ann, "team", 0).await.unwrap().id;
        let name = group.0.to_string();
        store.put_member(group, "bob", GroupAccess::Read, 0).await.unwrap();
        store.join_group(bob, &name, 0).await.unwrap();
        let begun = store.changes().end();
        append(&store, of_ann, 0..3).await;
        append(&store, of_bob, 3..5).await;
        let all = [0.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(replay(&store, Scope::Of(bob), begun).await.unwrap(), all[3..]);
        store.give_to_group(of_ann, &name, 0).await.unwrap();
        assert_eq!(replay(&store, Scope::Of(bob), begun).await.unwrap(), all);
        assert_eq!(replay(&store, Scope::Of(ann), begun).await.unwrap(), all[..3]);
        store.take_from_group(&name, &of_ann.0.to_string()).await.unwrap();
        assert_eq!(replay(&store, Scope::Of(bob), begun).await.unwrap(), all[3..]);
    }

    #[tokio::test]
    async fn a_feed_is_looked_up_by_index() {
        let directory = tempfile::tempdir().unwrap();
        let (store, [(ann, _), _]) = store(directory.path()).await;
        for scope in [Scope::Of(ann), Scope::One(StreamId(1))] {
            let (condition, _) = scope.condition();
            let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", missed_sql(condition)));
            let plan: Vec<(i64, i64, i64, String)> =
                sqlx::query_as(sql).fetch_all(&store.readers).await.unwrap();
            let steps: Vec<&str> = plan.iter().map(|(.., step)| &**step).collect();
            assert!(steps.iter().any(|step| step.starts_with("SEARCH points_by_stream")), "{steps:?}");
            // The view of what is not sorted yet is bounded by the id.
            assert!(!steps.iter().any(|step| step.starts_with("SCAN points")), "{steps:?}");
        }
    }
}
