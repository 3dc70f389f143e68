//! Points, as expressions see them.

/// A value at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Milliseconds since 1970.
    pub time: i64,
    /// The value.
    pub value: f64,
}

impl Point {
    /// Sorts points as expressions take them: by time, and those of one millisecond by value. So it does not matter in which order they
    /// arrived.
    pub fn sort(points: &mut [Self]) {
        points.sort_unstable_by(|a, b| a.time.cmp(&b.time).then(a.value.total_cmp(&b.value)));
    }
}
