//! Positions in a journal.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// A position in the order in which a journal made points durable: before all of them, or behind one.
///
/// Only the journal that gave a cursor can read it. Cursors have no order that others know, and are no count: any number of
/// points, or none, lies between two. A cursor is good for as long as the data, also in another process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cursor(u64);

impl Cursor {
    /// The position before all points.
    pub const START: Self = Self(0);

    /// The position that a journal calls `position`; 0 is [`Cursor::START`].
    pub const fn from_journal(position: u64) -> Self {
        Self(position)
    }

    /// Returns what the journal that gave it calls it.
    pub const fn for_journal(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Cursor {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
