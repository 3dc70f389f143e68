//! Expressions of those who own computed streams, and the points that they are over.

use sixlock_expression::{Expression, POINTS_PER_WINDOW, Point};

use crate::split;

const INPUTS: [&str; 2] = ["t", "u"];
/// In 2027.
const BEGIN: i64 = 1_800_000_000_000;

/// An expression, a time zone, and points: three bytes each, which input, how much later than the one before and the value.
pub(crate) fn expression(input: &[u8]) -> usize {
    let mut parts = split(input);
    let mut next = || parts.next().unwrap_or_default();
    let (source, zone, bytes) = (next(), next(), next());
    let (Ok(source), Ok(zone)) = (std::str::from_utf8(source), std::str::from_utf8(zone)) else { return 0 };
    let expression = match Expression::new(source, &INPUTS, zone) {
        Ok(expression) => expression,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(error.position().is_none_or(|position| position <= source.chars().count() + 1));
            return 0;
        }
    };
    let mut points = [Vec::new(), Vec::new()];
    let mut time = BEGIN;
    for point in bytes.chunks_exact(3) {
        time += i64::from(point[1]) * 500;
        points[usize::from(point[0] % 2)].push(Point { time, value: f64::from(point[2]) - 100.0 });
    }
    points.iter_mut().for_each(|points| Point::sort(points));
    let evaluated = expression.evaluate(time, &[&points[0], &points[1]]);
    assert!(evaluated.value.is_none_or(f64::is_finite));
    for (input, points) in points.iter().enumerate() {
        // What is needed is enough.
        let need = expression.need(input, time);
        assert!(need.points <= POINTS_PER_WINDOW);
        for point in points {
            assert!(expression.reach(input, point.time).until > point.time);
        }
    }
    source.len() + evaluated.points
}
