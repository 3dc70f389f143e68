//! The clock that entries and lines are stamped by.

/// Returns the present time in milliseconds since 1970.
pub type Clock = fn() -> i64;
