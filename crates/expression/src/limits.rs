//! Limits. What is beyond them is refused when an expression is read, but for the points of a window, which are counted when it is
//! evaluated.

/// The longest expression, in bytes.
pub const LONGEST_SOURCE: usize = 1_024;

/// The most operations of an expression: numbers, names, operators and calls. Each is done once at most.
pub const MOST_OPERATIONS: usize = 1_000;

/// How deep brackets, calls and signs may stand in each other.
pub const DEEPEST: usize = 32;

/// The most windows of an expression, with those that are not written out, as `delta` has one.
pub const MOST_WINDOWS: usize = 16;

/// The most inputs of an expression.
pub const MOST_INPUTS: usize = 16;

/// The most points of a window: with more, it has no value.
pub const POINTS_PER_WINDOW: usize = 10_000;

/// The longest window, in milliseconds: 31 days.
pub const LONGEST_SPAN_MS: i64 = 31 * 24 * 3_600_000;
