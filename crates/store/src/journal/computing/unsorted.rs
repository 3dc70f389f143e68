//! The newest points of the streams that something is computed from, and of those that are computed: all that are not sorted by
//! stream in the database yet, so that computing finds them without looking through those of all streams.

use std::collections::HashMap;

use rusqlite::Connection;
use sixlock_expression::Point;

use super::definitions::Definitions;
use super::span::Span;
use crate::ids::{PointId, StreamId};

/// The points that are not sorted yet, of each stream that matters.
#[derive(Default)]
pub(crate) struct Unsorted(HashMap<StreamId, Vec<(PointId, Point)>>);

impl Unsorted {
    /// Reads them anew.
    pub(crate) fn read(
        &mut self,
        connection: &Connection,
        definitions: &Definitions,
    ) -> rusqlite::Result<()> {
        self.0.clear();
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
        self.0.clear();
    }

    pub(crate) fn add(&mut self, stream: StreamId, id: PointId, point: Point) {
        self.0.entry(stream).or_default().push((id, point));
    }

    /// Removes the point of `stream` at `time`, and returns which it was.
    pub(crate) fn remove(&mut self, stream: StreamId, time: i64) -> Option<PointId> {
        let points = self.0.get_mut(&stream)?;
        let at = points.iter().position(|(_, point)| point.time == time)?;
        Some(points.swap_remove(at).0)
    }

    /// The streams of this part are sorted.
    pub(crate) fn sorted(&mut self, part: i64, parts: i64) {
        self.0.retain(|stream, _| stream.0 % parts != part);
    }

    /// The points of `stream` in `span`, in no order.
    pub(crate) fn points(&self, stream: StreamId, span: Span) -> impl Iterator<Item = Point> {
        let points = self.0.get(&stream).into_iter().flatten().map(|(_, point)| *point);
        points.filter(move |point| span.contains(point.time))
    }
}
