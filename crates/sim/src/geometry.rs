//! Distances in the plane, between positions in millimetres.

/// The square of the distance between two positions.
pub(crate) fn squared(a: (i32, i32), b: (i32, i32)) -> i64 {
    let square = |from: i32, to: i32| (i64::from(from) - i64::from(to)).pow(2);
    square(a.0, b.0) + square(a.1, b.1)
}

/// Whether two positions are at most `range` apart.
pub(crate) fn within(a: (i32, i32), b: (i32, i32), range: i32) -> bool {
    squared(a, b) <= i64::from(range).pow(2)
}
