//! Points with all that is published of them, in the order in which they were stored.

use sqlx::AssertSqlSafe;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::{ResourceId, UserId};
use crate::points::Point;
use crate::store::Store;
use crate::values;

/// The most points of a window.
const POINTS: i64 = 500;
/// The most points of all users that are looked through for those of one.
const LOOKED_THROUGH: i64 = 10_000;

/// A point, and what it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerPoint {
    /// The position behind it.
    pub position: Cursor,
    /// Whose it is.
    pub owner: UserId,
    /// The resource.
    pub resource: ResourceId,
    /// The label of that.
    pub device: String,
    /// The tags of that.
    pub tags: Vec<String>,
    /// The label of the stream.
    pub stream: String,
    /// The unit of that.
    pub unit: Option<String>,
    /// Time and value.
    pub point: Point,
}

/// Points that were stored one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerWindow {
    /// All of those asked for that stand behind the position asked for, up to `upto`.
    pub points: Vec<BrokerPoint>,
    /// Where the next window begins.
    pub upto: Cursor,
}

type Row = (i64, i64, i64, String, String, String, Option<String>, i64, f64, bool, Option<String>);

fn point(
    (id, owner, resource, device, tags, stream, unit, time, number, is_boolean, text): Row,
) -> BrokerPoint {
    BrokerPoint {
        position: Cursor::from_journal(id.unsigned_abs()),
        owner: UserId(owner),
        resource: ResourceId(resource),
        device,
        tags: crate::tags::read(&tags),
        stream,
        unit,
        point: Point { time, value: values::value((number, is_boolean, text)) },
    }
}

impl Store {
    /// The next points behind `after`, and not behind `newest`: those of the devices of `owner`, or of all users who have brokers.
    pub async fn broker_points(
        &self,
        owner: Option<UserId>,
        after: Cursor,
        newest: Cursor,
    ) -> Result<BrokerWindow, Error> {
        let [after, newest] =
            [after, newest].map(|cursor| i64::try_from(cursor.for_journal()).unwrap_or(i64::MAX));
        let most = if owner.is_some() { LOOKED_THROUGH } else { POINTS };
        let upto = newest.min(after.saturating_add(most));
        let value = values::columns("points.value", "streams.value_type");
        // The order of the tables is said: otherwise all of a user's streams might be looked through for a few points.
        let sql = AssertSqlSafe(format!(
            "SELECT points.id, resources.owner, streams.resource, resources.label, resources.tags, streams.label AS stream,
             streams.unit, points.time, {value}
             FROM points CROSS JOIN streams ON streams.id = points.stream
             CROSS JOIN resources ON resources.id = streams.resource
             WHERE points.id > $1 AND points.id <= $2
             AND (resources.owner = $3 OR $3 IS NULL AND resources.owner IN (SELECT owner FROM brokers))
             ORDER BY points.id LIMIT $4"
        ));
        let rows: Vec<Row> = sqlx::query_as(sql)
            .bind(after)
            .bind(upto)
            .bind(owner.map(|owner| owner.0))
            .bind(POINTS)
            .fetch_all(&self.readers)
            .await?;
        let upto = match rows.last() {
            Some((last, ..)) if rows.len() as i64 == POINTS => *last,
            _ => upto,
        };
        let points = rows.into_iter().map(point).collect();
        Ok(BrokerWindow { points, upto: Cursor::from_journal(upto.unsigned_abs()) })
    }
}
