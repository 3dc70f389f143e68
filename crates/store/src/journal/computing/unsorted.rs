//! The newest points of the streams that something is computed from, and of those that are computed: all that are not sorted by
//! stream in the database yet, so that computing finds them without looking through those of all streams. And up to which time there are
//! others, so that computing with new points, which mostly are later than all others, seldom asks for these.

use std::collections::{HashMap, hash_map};

use rusqlite::Connection;
use sixlock_expression::Point;

use super::definitions::Definitions;
use super::span::Span;
use crate::ids::{PointId, StreamId};

/// The points that are not sorted yet, of each stream that matters.
#[derive(Default)]
pub(crate) struct Unsorted {
    points: HashMap<StreamId, Vec<(PointId, Point)>>,
    /// No sorted point of these streams is later than this; one that is gone may have been.
    last_sorted: HashMap<StreamId, i64>,
}

impl Unsorted {
    /// Reads them anew.
    pub(crate) fn read(
        &mut self,
        connection: &Connection,
        definitions: &Definitions,
    ) -> rusqlite::Result<()> {
        self.clear();
        let mut statement =
            connection.prepare_cached("SELECT id, stream, time, value FROM unsorted_points")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let stream = StreamId(row.get(1)?);
            if definitions.is_input(stream) || definitions.is_computed(stream) {
                self.add(stream, PointId(row.get(0)?), Point { time: row.get(2)?, value: row.get(3)? });
            }
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.points.clear();
    }

    /// Other streams matter now than before, or others of their points are there: what was sorted of those meanwhile is not known.
    pub(crate) fn others_matter(&mut self) {
        self.last_sorted.clear();
    }

    /// The time behind which `stream` has no sorted point.
    pub(crate) fn last_sorted(&mut self, connection: &Connection, stream: StreamId) -> rusqlite::Result<i64> {
        match self.last_sorted.entry(stream) {
            hash_map::Entry::Occupied(known) => Ok(*known.get()),
            hash_map::Entry::Vacant(new) => {
                let sql = "SELECT max(time) FROM points_by_stream WHERE stream = ?1";
                let last: Option<i64> =
                    connection.prepare_cached(sql)?.query_row([stream.0], |row| row.get(0))?;
                Ok(*new.insert(last.unwrap_or(i64::MIN)))
            }
        }
    }

    pub(crate) fn add(&mut self, stream: StreamId, id: PointId, point: Point) {
        self.points.entry(stream).or_default().push((id, point));
    }

    /// Removes the point of `stream` at `time`, and returns which it was.
    pub(crate) fn remove(&mut self, stream: StreamId, time: i64) -> Option<PointId> {
        let points = self.points.get_mut(&stream)?;
        let at = points.iter().position(|(_, point)| point.time == time)?;
        Some(points.swap_remove(at).0)
    }

    /// The streams of this part are sorted.
    pub(crate) fn sorted(&mut self, part: i64, parts: i64) {
        let Self { points, last_sorted } = self;
        points.retain(|stream, points| {
            let stays = stream.0 % parts != part;
            if !stays && let Some(last) = last_sorted.get_mut(stream) {
                *last = points.iter().fold(*last, |last, (_, point)| last.max(point.time));
            }
            stays
        });
    }

    /// The points of `stream` in `span`, in no order.
    pub(crate) fn points(&self, stream: StreamId, span: Span) -> impl Iterator<Item = Point> {
        let points = self.points.get(&stream).into_iter().flatten().map(|(_, point)| *point);
        points.filter(move |point| span.contains(point.time))
    }
}
