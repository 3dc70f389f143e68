//! Which points an expression needs, and which of its values another point changes.

use crate::Expression;
use crate::window::Window;

/// Which points of an input an expression needs at a time, of those that are not later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// All from this time on.
    pub from: i64,
    /// The latest so many, however old.
    pub points: usize,
}

/// Which values of an expression a point of an input has a share in: those at its time and later, before `until`, and beyond that
/// as long as fewer than `points` later points of that input are in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The first time at which it is in no window of time any more.
    pub until: i64,
    /// The longest window that goes by the number of points; 0 if there is none.
    pub points: usize,
}

impl Expression {
    /// Which points of the input `input`, counted from 0, are needed at `at`.
    pub fn need(&self, input: usize, at: i64) -> Need {
        let begin = |window: &Window| window.begin(at, &self.zone);
        let from = self.windows[input].iter().filter_map(begin).min().unwrap_or(i64::MAX);
        Need { from, points: self.longest(input) }
    }

    /// Which values a point of the input `input` at `time` has a share in.
    pub fn reach(&self, input: usize, time: i64) -> Reach {
        let end = |window: &Window| window.end(time, &self.zone);
        // A value at this very time is computed from it, or because of it.
        let until = self.windows[input].iter().filter_map(end).max().unwrap_or(time);
        Reach { until: until.max(time.saturating_add(1)), points: self.longest(input) }
    }

    fn longest(&self, input: usize) -> usize {
        let points = self.windows[input].iter().map(|window| match window {
            Window::Points(points) => *points,
            Window::Span(_) | Window::Day => 0,
        });
        points.max().unwrap_or(0)
    }
}
