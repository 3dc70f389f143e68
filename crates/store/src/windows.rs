//! Reading what the points of a stream amount to, window by window: from rollups where windows are whole hours, and else from the points.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use sixlock_expression::Zone;
use sixlock_ingest::{MOST_AHEAD_MS, Value, ValueType};
use sqlx::sqlite::{Sqlite, SqliteConnection};
use sqlx::{Connection, QueryBuilder};
use utoipa::ToSchema;

use crate::clock::now_ms;
use crate::error::Error;
use crate::ids::StreamId;
use crate::points::LONGEST_PAGE;
use crate::rollup::{HOUR_MS, Rollup, Sum};
use crate::store::Store;
use crate::values;

/// The most points, or rollups of hours, that are looked at for one answer.
const MOST_LOOKED_AT: i64 = 1_000_000;
/// The longest day, in hours: one on which clocks are put back.
const HOURS_OF_DAY: i64 = 25;
/// What all differences of time zones are a multiple of.
const QUARTER_MS: i64 = HOUR_MS / 4;
/// How many texts are looked up with one query.
const TEXTS_AT_A_TIME: usize = 1_000;
/// By how much more is looked through at a time, if there was too little before.
const WIDER: i64 = 4;

/// How long windows are.
#[derive(Clone, Debug)]
pub enum Width {
    /// So many milliseconds. They follow each other from the beginning of 1970 (UTC).
    Span(i64),
    /// A day, as it begins and ends in a zone.
    Day(Zone),
}

/// Which windows of a stream, of those that have points. With `from`, the first ones of the span; without, the latest. Windows that
/// the span has a share in are whole.
#[derive(Clone, Debug)]
pub struct Windows {
    /// How long each is.
    pub width: Width,
    /// At most so many.
    pub limit: i64,
    /// From the one that holds this time on.
    pub from: Option<i64>,
    /// None that begins later than this, or then.
    pub until: Option<i64>,
}

/// What the points of a window amount to. True counts as 1 and false as 0, so their mean is the share of what is true; of texts there is no lowest
/// and highest, no mean and no sum.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Summary {
    /// When the window begins, in milliseconds since 1970.
    pub time: i64,
    /// How many points it has.
    pub count: i64,
    /// What there is of numbers and truth values only.
    #[serde(flatten)]
    pub numbers: Option<NumberSummary>,
    /// The value of its first point.
    #[schema(schema_with = values::value_schema)]
    pub first: Value,
    /// The value of its last point.
    #[schema(schema_with = values::value_schema)]
    pub last: Value,
}

/// What the numbers of a window amount to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct NumberSummary {
    /// The lowest value.
    pub min: f64,
    /// The highest value.
    pub max: f64,
    /// The mean of all values.
    pub mean: f64,
    /// The sum of all values.
    pub sum: f64,
}

impl Summary {
    fn of(time: i64, rollup: &Rollup, ends: &Ends) -> Self {
        let Rollup { count, sum, lowest: min, highest: max, first, last } = *rollup;
        let sum = sum.value();
        let mean = (sum / count as f64).clamp(min, max);
        let numbers = ends.are_numbers().then_some(NumberSummary { min, max, mean, sum });
        Self { time, count, numbers, first: ends.value(first.1), last: ends.value(last.1) }
    }
}

impl Store {
    /// What the points of `stream` amount to in these windows, the oldest first.
    pub async fn windows(&self, stream: StreamId, windows: &Windows) -> Result<Vec<Summary>, Error> {
        let limit = windows.limit.clamp(0, LONGEST_PAGE);
        let (from, until) = windows.span();
        let is_latest = windows.from.is_none();
        // All is read as it is at one moment.
        let mut reader = self.readers.acquire().await?;
        let mut transaction = reader.begin().await?;
        let sql = "SELECT until FROM rolled_up WHERE stream = $1";
        let rolled_up: Option<i64> =
            sqlx::query_scalar(sql).bind(stream.0).fetch_optional(&mut *transaction).await?;
        let rolled_up = rolled_up.unwrap_or(i64::MIN);
        let mut reading =
            Reading { stream, from, until, rolled_up, is_latest, looked_at: 0, connection: &mut transaction };
        let mut found = match &windows.width {
            Width::Span(width) => reading.units(*width, limit).await?,
            Width::Day(zone) => {
                let hours = reading.units(HOUR_MS, limit * HOURS_OF_DAY).await?;
                match days(zone, HOUR_MS, hours) {
                    Some(days) => days,
                    // A day begins within an hour. Of quarters there are no rollups.
                    None => {
                        let quarters = reading.units(QUARTER_MS, limit * HOURS_OF_DAY * 4).await?;
                        days(zone, QUARTER_MS, quarters).ok_or(Error::Invalid(
                            "time_zone: its days begin within a quarter of an hour there",
                        ))?
                    }
                }
            }
        };
        let excess = found.len().saturating_sub(limit as usize);
        if is_latest {
            found.drain(..excess);
        } else {
            found.truncate(limit as usize);
        }
        let ends = Ends::read(&mut transaction, stream, &found).await?;
        Ok(found.iter().map(|(time, rollup)| Summary::of(*time, rollup, &ends)).collect())
    }
}

/// Of what type the first and last values of windows are, and the texts among them.
struct Ends {
    value_type: ValueType,
    texts: HashMap<i64, String>,
}

impl Ends {
    /// Those of windows of `stream`.
    async fn read(
        connection: &mut SqliteConnection,
        stream: StreamId,
        windows: &[(i64, Rollup)],
    ) -> Result<Self, Error> {
        let value_type = values::type_of(connection, stream).await?;
        let mut texts = HashMap::new();
        let ids: Vec<i64> =
            windows.iter().flat_map(|(_, rollup)| [rollup.first.1 as i64, rollup.last.1 as i64]).collect();
        let ids = if value_type == ValueType::Text { &*ids } else { &[] };
        for some in ids.chunks(TEXTS_AT_A_TIME) {
            let mut sql = QueryBuilder::<Sqlite>::new("SELECT id, text FROM texts WHERE id IN (");
            let mut listed = sql.separated(", ");
            for id in some {
                listed.push_bind(*id);
            }
            sql.push(")");
            let rows: Vec<(i64, String)> = sql.build_query_as().fetch_all(&mut *connection).await?;
            texts.extend(rows);
        }
        Ok(Self { value_type, texts })
    }

    /// Whether the values are numbers, or count as such.
    fn are_numbers(&self) -> bool {
        self.value_type != ValueType::Text
    }

    /// The value that this number stands for.
    fn value(&self, number: f64) -> Value {
        let text = || self.texts.get(&(number as i64)).cloned().unwrap_or_default();
        let text = (self.value_type == ValueType::Text).then(text);
        values::value((number, self.value_type == ValueType::Boolean, text))
    }
}

impl Windows {
    /// The times of all these windows: from the first on, before the second.
    fn span(&self) -> (i64, i64) {
        let from = self.from.unwrap_or(i64::MIN).max(0);
        let bound = if self.from.is_some() { i64::MAX } else { now_ms() + MOST_AHEAD_MS + 1 };
        let until = self.until.unwrap_or(bound);
        let begin = |time: i64| match &self.width {
            Width::Span(width) => time.div_euclid(*width).saturating_mul(*width),
            Width::Day(zone) => zone.day_began(time).unwrap_or(time),
        };
        let end = |last: i64| match &self.width {
            Width::Span(width) => begin(last).saturating_add(*width),
            Width::Day(zone) => zone.day_ends(last).unwrap_or(i64::MAX),
        };
        (begin(from), end(until.saturating_sub(1)))
    }
}

/// Makes days of parts of them, each of which is so long; `None` if a part belongs to two.
fn days(zone: &Zone, length: i64, parts: Vec<(i64, Rollup)>) -> Option<Vec<(i64, Rollup)>> {
    let mut days: Vec<(i64, Rollup)> = Vec::new();
    let mut ends = i64::MIN;
    for (start, rollup) in parts {
        if start >= ends {
            let began = zone.day_began(start)?;
            ends = zone.day_ends(start)?;
            days.push((began, rollup));
        } else if let Some((_, day)) = days.last_mut() {
            day.merge(&rollup);
        }
        if start.saturating_add(length) > ends {
            return None;
        }
    }
    Some(days)
}

type Row = (i64, i64, f64, f64, f64, i64, f64, i64, f64);

fn rollup((start, count, sum, lowest, highest, first_time, first, last_time, last): Row) -> (i64, Rollup) {
    let sum = Sum { sum: sum.clamp(f64::MIN, f64::MAX), remainder: 0.0 };
    (start, Rollup { count, sum, lowest, highest, first: (first_time, first), last: (last_time, last) })
}

/// Where units are read: from rollups, or from sorted points. Each is SQL over a stream ($1), times from one on ($2) and before another
/// ($3).
struct Source {
    /// The first time, and the last one.
    first: &'static str,
    last: &'static str,
    /// How many there are, and at most $4.
    count: &'static str,
    /// Units of so many milliseconds ($4).
    units: &'static str,
}

const ROLLUPS: Source = Source {
    first: "SELECT min(start) FROM rollups WHERE stream = $1 AND start >= $2 AND start < $3",
    last: "SELECT max(start) FROM rollups WHERE stream = $1 AND start >= $2 AND start < $3",
    count: "SELECT count(*) FROM (SELECT 1 FROM rollups WHERE stream = $1 AND start >= $2 AND start < $3 LIMIT $4)",
    units: "SELECT unit, units.count, total, low, high, earliest.first_time, earliest.first_value, latest.last_time, latest.last_value
            FROM (SELECT start / $4 * $4 AS unit, sum(count) AS count, sum(sum) + sum(remainder) AS total,
                  min(lowest) AS low, max(highest) AS high, min(start) AS first_hour, max(start) AS last_hour
                  FROM rollups WHERE stream = $1 AND start >= $2 AND start < $3 GROUP BY start / $4) AS units
            JOIN rollups AS earliest ON earliest.stream = $1 AND earliest.start = first_hour
            JOIN rollups AS latest ON latest.stream = $1 AND latest.start = last_hour ORDER BY unit",
};

const POINTS: Source = Source {
    first: "SELECT min(time) FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3",
    last: "SELECT max(time) FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3",
    count: "SELECT count(*) FROM
            (SELECT 1 FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3 LIMIT $4)",
    units: "SELECT unit, count, total, low, high,
            first_time, (SELECT value FROM points_by_stream WHERE stream = $1 AND time = first_time ORDER BY point LIMIT 1),
            last_time, (SELECT value FROM points_by_stream WHERE stream = $1 AND time = last_time ORDER BY point DESC LIMIT 1)
            FROM (SELECT time / $4 * $4 AS unit, count(*) AS count, coalesce(sum(value), 0.0) AS total, min(value) AS low,
                  max(value) AS high, min(time) AS first_time, max(time) AS last_time
                  FROM points_by_stream WHERE stream = $1 AND time >= $2 AND time < $3 GROUP BY time / $4) AS units
            ORDER BY unit",
};

/// What is read for one answer.
struct Reading<'a> {
    connection: &'a mut SqliteConnection,
    stream: StreamId,
    /// From this time on, before that one.
    from: i64,
    until: i64,
    /// Sorted points before this are in rollups.
    rolled_up: i64,
    /// Whether the latest windows are asked for.
    is_latest: bool,
    looked_at: i64,
}

impl Reading<'_> {
    /// The first units of so many milliseconds that have points, or the latest ones: `limit`, or some more.
    async fn units(&mut self, width: i64, limit: i64) -> Result<Vec<(i64, Rollup)>, Error> {
        let mut units: BTreeMap<i64, Rollup> = BTreeMap::new();
        let mut add = |(start, rollup): (i64, Rollup)| {
            units.entry(start).and_modify(|known| known.merge(&rollup)).or_insert(rollup);
        };
        let mut sorted_from = self.from;
        if width % HOUR_MS == 0 {
            sorted_from = sorted_from.max(self.rolled_up);
            self.read(&ROLLUPS, (self.from, self.until), (width, limit))
                .await?
                .into_iter()
                .for_each(&mut add);
        }
        self.read(&POINTS, (sorted_from, self.until), (width, limit)).await?.into_iter().for_each(&mut add);
        // The newest points, in the order of their arrival after all others.
        let newest: Vec<(i64, f64)> = sqlx::query_as(
            "SELECT time, value FROM unsorted_points WHERE stream = $1 AND time >= $2 AND time < $3 ORDER BY time, id",
        )
        .bind(self.stream.0)
        .bind(self.from)
        .bind(self.until)
        .fetch_all(&mut *self.connection)
        .await?;
        for (time, value) in newest {
            add((time.div_euclid(width) * width, Rollup::of(time, value)));
        }
        Ok(units.into_iter().collect())
    }

    /// The first units of a source, or the latest ones: `limit`, or some more.
    async fn read(
        &mut self,
        source: &Source,
        (mut from, mut until): (i64, i64),
        (width, limit): (i64, i64),
    ) -> Result<Vec<(i64, Rollup)>, Error> {
        let mut units = Vec::new();
        let mut length = width.saturating_mul(limit);
        while (units.len() as i64) < limit && from < until {
            let next = if self.is_latest { source.last } else { source.first };
            let Some(next) = self.number(next, (from, until), 0).await? else { break };
            let unit = next.div_euclid(width) * width;
            let span = if self.is_latest {
                let end = unit.saturating_add(width).min(until);
                until = unit.saturating_add(width).saturating_sub(length).max(from);
                (until, end)
            } else {
                let begin = unit.max(from);
                from = unit.saturating_add(length).min(until);
                (begin, from)
            };
            let left = MOST_LOOKED_AT - self.looked_at;
            self.looked_at += self.number(source.count, span, left + 1).await?.unwrap_or_default();
            if self.looked_at > MOST_LOOKED_AT {
                return Err(Error::Invalid(
                    "these windows have more than 1000000 points that are not rolled up: ask for fewer, or for windows of whole hours",
                ));
            }
            let rows: Vec<Row> = sqlx::query_as(source.units)
                .bind(self.stream.0)
                .bind(span.0)
                .bind(span.1)
                .bind(width)
                .fetch_all(&mut *self.connection)
                .await?;
            units.extend(rows.into_iter().map(rollup));
            length = length.saturating_mul(WIDER);
        }
        Ok(units)
    }

    /// The number that `sql` asks for.
    async fn number(
        &mut self,
        sql: &'static str,
        (from, until): (i64, i64),
        most: i64,
    ) -> Result<Option<i64>, Error> {
        let query = sqlx::query_scalar(sql).bind(self.stream.0).bind(from).bind(until);
        let query = if sql.contains("$4") { query.bind(most) } else { query };
        Ok(query.fetch_one(&mut *self.connection).await?)
    }
}

impl Store {
    /// The time before which the points of `stream` are rolled up; `None` before the first ones are.
    pub async fn rolled_up(&self, stream: StreamId) -> Result<Option<i64>, Error> {
        let sql = "SELECT until FROM rolled_up WHERE stream = $1";
        Ok(sqlx::query_scalar(sql).bind(stream.0).fetch_optional(&self.readers).await?)
    }
}
