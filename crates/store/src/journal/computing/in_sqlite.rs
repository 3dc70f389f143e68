//! Computed streams in the database.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension};
use sixlock_expression::{Expression, Point};

use super::definitions::{Definition, Definitions};
use super::run::Run;
use super::span::Span;
use super::stored::StoredPoints;
use super::unsorted::Unsorted;
use crate::changes::Change;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::ids::{PointId, StreamId};
use crate::journal::alerting::Accepted;
use crate::journal::rolling;
use crate::rollup::hour_of;

/// What the journal knows of computed streams.
#[derive(Default)]
pub(crate) struct Computing {
    /// What was read of each computed stream.
    sources: HashMap<StreamId, (Source, Option<Definition>)>,
    definitions: Definitions,
    /// Which version of the definitions that is.
    version: Option<i64>,
    unsorted: Unsorted,
    /// Whether nothing of it is to be relied on.
    is_stale: bool,
    /// Whether something may have been put off.
    may_be_due: bool,
    /// The stream whose points were computed last of those that were put off.
    last_due: i64,
}

/// New points of computed streams, and when it is.
pub(crate) struct NewPoints<'a> {
    pub(crate) changes: &'a mut Vec<Change>,
    pub(crate) accepted: &'a mut Vec<Accepted>,
    pub(crate) now: i64,
}

impl Computing {
    /// Reads again what others may have changed; to be called in each transaction. As long as nobody else has written, this asks
    /// nothing of the database.
    pub(crate) fn begin(&mut self, connection: &Connection, others_wrote: bool) -> rusqlite::Result<()> {
        if !others_wrote && !self.is_stale && self.version.is_some() {
            return Ok(());
        }
        let sql = "SELECT version FROM computed_version";
        let version = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) {
            self.read(connection)?;
            self.version = Some(version);
        }
        self.unsorted.clear();
        if !self.definitions.is_empty() {
            self.unsorted.read(connection, &self.definitions)?;
        }
        self.may_be_due = !self.definitions.is_empty();
        self.is_stale = false;
        Ok(())
    }

    /// The transaction was not made.
    pub(crate) fn discard(&mut self) {
        self.is_stale = true;
        // A point that it removed is there again, and may be sorted before others are read.
        self.unsorted.others_matter();
    }

    /// Whether a stream is computed, so that nothing else is stored in it.
    pub(crate) fn is_computed(&self, stream: StreamId) -> bool {
        self.definitions.is_computed(stream)
    }

    /// Whether something is computed from a stream.
    pub(crate) fn is_input(&self, stream: StreamId) -> bool {
        self.definitions.is_input(stream)
    }

    /// A point was stored in a stream that is an input.
    pub(crate) fn stored(&mut self, stream: StreamId, id: PointId, point: Point) {
        self.unsorted.add(stream, id, point);
    }

    /// The points of the streams of this part are sorted.
    pub(crate) fn sorted(&mut self, part: i64, parts: i64) {
        self.unsorted.sorted(part, parts);
    }

    /// Whether something may have been put off.
    pub(crate) fn may_be_due(&self) -> bool {
        self.may_be_due
    }

    /// Computes what rests on new points: those of these streams, at these times.
    pub(crate) fn compute(
        &mut self,
        connection: &Connection,
        changed: &BTreeMap<StreamId, BTreeSet<i64>>,
        work: usize,
        new: NewPoints<'_>,
    ) -> Result<(), Error> {
        let Self { definitions, unsorted, may_be_due, .. } = self;
        let mut stored = SqlitePoints::new(connection, unsorted, may_be_due, new);
        let mut run = Run::new(definitions, &mut stored, work);
        for (stream, times) in changed {
            run.changed(*stream, times)?;
        }
        run.run()?;
        Ok(rolling::recompute(connection, &stored.thinned)?)
    }

    /// Computes a part of what was put off, of one stream after the other.
    pub(crate) fn compute_due(
        &mut self,
        connection: &Connection,
        work: usize,
        new: NewPoints<'_>,
    ) -> Result<(), Error> {
        let sql = "SELECT stream, due_from, due_until FROM computed_streams WHERE due_from IS NOT NULL
                   ORDER BY stream <= ?1, stream LIMIT 1";
        let due = connection.prepare_cached(sql)?.query_row([self.last_due], |row| {
            Ok((StreamId(row.get(0)?), Span { from: row.get(1)?, until: row.get(2)? }))
        });
        let Some((stream, span)) = due.optional()? else {
            self.may_be_due = false;
            return Ok(());
        };
        self.last_due = stream.0;
        // What is left of it is put off again.
        let sql = "UPDATE computed_streams SET due_from = NULL WHERE stream = ?1";
        connection.prepare_cached(sql)?.execute([stream.0])?;
        let Self { definitions, unsorted, may_be_due, .. } = self;
        let mut stored = SqlitePoints::new(connection, unsorted, may_be_due, new);
        let mut run = Run::new(definitions, &mut stored, work);
        run.compute(stream, span);
        run.run()?;
        rolling::recompute(connection, &stored.thinned)?;
        let sql = "UPDATE computed_streams SET due_until = NULL, due_since = NULL WHERE stream = ?1 AND due_from IS NULL";
        connection.prepare_cached(sql)?.execute([stream.0])?;
        Ok(())
    }
}

impl Computing {
    /// Reads the definitions in the database. Of those that are as they were, the syntax tree stays.
    fn read(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut known = std::mem::take(&mut self.sources);
        for (stream, source) in sources(connection)? {
            let definition = match known.remove(&stream) {
                Some((same, definition)) if same == source => definition,
                _ => source.definition(),
            };
            self.sources.insert(stream, (source, definition));
        }
        let definitions = self.sources.iter();
        self.unsorted.others_matter();
        self.definitions =
            Definitions::new(definitions.map(|(stream, (_, definition))| (*stream, definition.clone())));
        Ok(())
    }
}

/// What the database has of a computed stream.
#[derive(PartialEq)]
struct Source {
    expression: String,
    time_zone: String,
    /// Whether it takes no points.
    is_frozen: bool,
    /// The first time of which all points are kept, its own and those of its inputs.
    kept_from: i64,
    /// What the expression calls each input, and the stream that it is, unless that was deleted.
    inputs: Vec<(String, Option<StreamId>)>,
}

impl Source {
    /// The definition; `None` if nothing is computed, because it is frozen or an input is gone.
    fn definition(&self) -> Option<Definition> {
        if self.is_frozen {
            return None;
        }
        let inputs = self.inputs.iter().map(|(_, stream)| *stream).collect::<Option<Vec<StreamId>>>()?;
        let names: Vec<&String> = self.inputs.iter().map(|(name, _)| name).collect();
        // It was read when it was saved; one that another version saved, and this one does not read, is not computed.
        let expression = Expression::new(&self.expression, &names, &self.time_zone).ok()?;
        Some(Definition { expression: expression.into(), inputs, kept_from: self.kept_from })
    }
}

fn sources(connection: &Connection) -> rusqlite::Result<HashMap<StreamId, Source>> {
    let sql = "SELECT stream, expression, time_zone, frozen IS NOT NULL, coalesce(kept_from, 0)
               FROM computed_streams JOIN streams ON streams.id = stream";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut sources = HashMap::new();
    while let Some(row) = rows.next()? {
        let (expression, time_zone) = (row.get(1)?, row.get(2)?);
        let (is_frozen, kept_from) = (row.get(3)?, row.get(4)?);
        let source = Source { expression, time_zone, is_frozen, kept_from, inputs: Vec::new() };
        sources.insert(StreamId(row.get(0)?), source);
    }
    let sql = "SELECT computed, name, stream, coalesce(kept_from, 0)
               FROM computed_inputs LEFT JOIN streams ON streams.id = stream ORDER BY computed, name";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(source) = sources.get_mut(&StreamId(row.get(0)?)) {
            let stream: Option<i64> = row.get(2)?;
            source.inputs.push((row.get(1)?, stream.map(StreamId)));
            source.kept_from = source.kept_from.max(row.get(3)?);
        }
    }
    Ok(sources)
}

/// The points in the database, in the transaction that is being made.
struct SqlitePoints<'a> {
    connection: &'a Connection,
    unsorted: &'a mut Unsorted,
    may_be_due: &'a mut bool,
    new: NewPoints<'a>,
    /// The hours of streams of which sorted points were removed.
    thinned: BTreeSet<(StreamId, i64)>,
}

impl<'a> SqlitePoints<'a> {
    fn new(
        connection: &'a Connection,
        unsorted: &'a mut Unsorted,
        may_be_due: &'a mut bool,
        new: NewPoints<'a>,
    ) -> Self {
        Self { connection, unsorted, may_be_due, new, thinned: BTreeSet::new() }
    }

    /// Whether there may be sorted points of `stream` in `span`.
    fn may_be_sorted(&mut self, stream: StreamId, span: Span) -> rusqlite::Result<bool> {
        Ok(!span.is_empty() && span.from <= self.unsorted.last_sorted(self.connection, stream)?)
    }

    /// What `sql` finds among the sorted points in `span` of `stream`, at most so many.
    fn find<T>(
        &mut self,
        sql: &str,
        (stream, span, limit): (StreamId, Span, usize),
        read: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        if !self.may_be_sorted(stream, span)? {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map((stream.0, span.from, span.until, limit as i64), read)?;
        found.collect()
    }
}

fn point(row: &rusqlite::Row<'_>) -> rusqlite::Result<Point> {
    Ok(Point { time: row.get(0)?, value: row.get(1)? })
}

impl StoredPoints for SqlitePoints<'_> {
    fn times(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<i64>, Error> {
        let sql = "SELECT DISTINCT time FROM points_by_stream WHERE stream = ?1 AND time >= ?2 AND time < ?3
                   ORDER BY time LIMIT ?4";
        let mut times = self.find(sql, (stream, span, limit), |row| row.get(0))?;
        times.extend(self.unsorted.points(stream, span).map(|point| point.time));
        times.sort_unstable();
        times.dedup();
        times.truncate(limit);
        Ok(times)
    }

    fn first(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<Point>, Error> {
        let sql = "SELECT time, value FROM points_by_stream WHERE stream = ?1 AND time >= ?2 AND time < ?3
                   ORDER BY time, value LIMIT ?4";
        let mut points = self.find(sql, (stream, span, limit), point)?;
        points.extend(self.unsorted.points(stream, span));
        Point::sort(&mut points);
        points.truncate(limit);
        Ok(points)
    }

    fn last(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<Point>, Error> {
        let sql = "SELECT time, value FROM points_by_stream WHERE stream = ?1 AND time >= ?2 AND time < ?3
                   ORDER BY time DESC, value DESC LIMIT ?4";
        // Those that are later than all sorted ones are the last, if they are enough.
        let last = self.unsorted.last_sorted(self.connection, stream)?;
        let later = self.unsorted.points(stream, span).filter(|point| point.time > last).count();
        let mut points =
            if later < limit { self.find(sql, (stream, span, limit), point)? } else { Vec::new() };
        points.extend(self.unsorted.points(stream, span));
        Point::sort(&mut points);
        points.drain(..points.len().saturating_sub(limit));
        Ok(points)
    }

    fn time_behind(&mut self, stream: StreamId, time: i64, number: usize) -> Result<Option<i64>, Error> {
        // As many stand between in each of both places as in both together, or fewer.
        let span = Span { from: time.saturating_add(1), until: i64::MAX };
        let sql = "SELECT time FROM points_by_stream WHERE stream = ?1 AND time >= ?2 AND time < ?3
                   ORDER BY time LIMIT 1 OFFSET ?4 - 1";
        let sorted: Option<i64> = self.find(sql, (stream, span, number), |row| row.get(0))?.pop();
        let mut unsorted: Vec<i64> = self.unsorted.points(stream, span).map(|point| point.time).collect();
        unsorted.sort_unstable();
        let unsorted = unsorted.get(number.saturating_sub(1)).copied();
        Ok(sorted.into_iter().chain(unsorted).min())
    }

    fn newest(&mut self, stream: StreamId) -> Result<Option<i64>, Error> {
        let sql = "SELECT max(time) FROM points_by_stream WHERE stream = ?1";
        let sorted: Option<i64> =
            self.connection.prepare_cached(sql)?.query_row([stream.0], |row| row.get(0))?;
        let all = Span { from: i64::MIN, until: i64::MAX };
        Ok(self.unsorted.points(stream, all).map(|point| point.time).max().max(sorted))
    }

    fn add(&mut self, stream: StreamId, point: Point) -> Result<(), Error> {
        let sql = "INSERT INTO points (stream, time, value, delay) VALUES (?1, ?2, ?3, ?4)";
        let delay = self.new.now.saturating_sub(point.time);
        let id = self.connection.prepare_cached(sql)?.insert((stream.0, point.time, point.value, delay))?;
        self.unsorted.add(stream, PointId(id), point);
        let position = Cursor::from_journal(id.unsigned_abs());
        self.new.changes.push(Change { stream, first: position, last: position });
        let Point { time, value } = point;
        self.new.accepted.push(Accepted { stream, resource: None, time, value: value.into() });
        Ok(())
    }

    fn remove(&mut self, stream: StreamId, time: i64) -> Result<(), Error> {
        if let Some(id) = self.unsorted.remove(stream, time) {
            self.connection.prepare_cached("DELETE FROM points WHERE id = ?1")?.execute([id.0])?;
            return Ok(());
        }
        let sql = "DELETE FROM points WHERE id IN (SELECT point FROM points_by_stream WHERE stream = ?1 AND time = ?2)";
        self.connection.prepare_cached(sql)?.execute((stream.0, time))?;
        let sql = "DELETE FROM points_by_stream WHERE stream = ?1 AND time = ?2";
        self.connection.prepare_cached(sql)?.execute((stream.0, time))?;
        self.thinned.insert((stream, hour_of(time)));
        Ok(())
    }

    fn put_off(&mut self, stream: StreamId, span: Span) -> Result<(), Error> {
        let sql = "UPDATE computed_streams SET due_since = min(coalesce(due_since, ?2), ?2),
                   due_from = min(coalesce(due_from, ?2), ?2), due_until = max(coalesce(due_until, ?3), ?3) WHERE stream = ?1";
        self.connection.prepare_cached(sql)?.execute((stream.0, span.from, span.until))?;
        *self.may_be_due = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_transaction_that_failed_has_removed_is_found_when_it_is_sorted() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE points_by_stream (stream, time, value, point)").unwrap();
        let (mut computing, stream) = (Computing::default(), StreamId(1));
        assert_eq!(computing.unsorted.last_sorted(&connection, stream).unwrap(), i64::MIN);
        computing.stored(stream, PointId(1), Point { time: 5, value: 1.0 });
        assert_eq!(computing.unsorted.remove(stream, 5), Some(PointId(1)));
        computing.discard();
        connection.execute("INSERT INTO points_by_stream VALUES (1, 5, 1.0, 1)", []).unwrap();
        computing.sorted(1, 8);
        assert_eq!(computing.unsorted.last_sorted(&connection, stream).unwrap(), 5);
    }
}
