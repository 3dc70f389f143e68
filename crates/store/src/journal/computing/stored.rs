//! The points of a journal, as computing needs them.

use sixlock_expression::Point;

use super::span::Span;
use crate::error::Error;
use crate::ids::StreamId;

/// The points that are stored, those of the commit that is being made among them.
pub(crate) trait StoredPoints {
    /// The first `limit` times in `span` at which `stream` has points, in their order, each once.
    fn times(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<i64>, Error>;

    /// The first `limit` points of `stream` in `span`, in [their order](Point::sort).
    fn first(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<Point>, Error>;

    /// The last `limit` points of `stream` in `span`, in [their order](Point::sort).
    fn last(&mut self, stream: StreamId, span: Span, limit: usize) -> Result<Vec<Point>, Error>;

    /// The time of the `number`th point of `stream` that is later than `time`, or one after it; `None` if it is not known that there
    /// are as many.
    fn time_behind(&mut self, stream: StreamId, time: i64, number: usize) -> Result<Option<i64>, Error>;

    /// The latest time at which `stream` has a point.
    fn newest(&mut self, stream: StreamId) -> Result<Option<i64>, Error>;

    /// Adds a point to a computed stream.
    fn add(&mut self, stream: StreamId, point: Point) -> Result<(), Error>;

    /// Removes the point that a computed stream has at `time`.
    fn remove(&mut self, stream: StreamId, time: i64) -> Result<(), Error>;

    /// Notes that the points of a computed stream in `span` are still to be computed.
    fn put_off(&mut self, stream: StreamId, span: Span) -> Result<(), Error>;
}
