//! Computed streams: what a journal stores because of what was posted, in the same commit.
//!
//! A [`Run`] is told which points are new and computes what rests on them, each computed stream once, inputs before what rests on them.
//! What would take too long is put off and done later, a part at a time; so is what a new definition makes of old points.

mod definitions;
mod in_sqlite;
mod run;
mod span;
mod stored;
mod unsorted;

pub(super) use definitions::{Definition, Definitions};
pub(super) use in_sqlite::{Computing, NewPoints};
pub(super) use run::{Run, WORK_PER_POST};
pub(super) use span::Span;
pub(super) use stored::StoredPoints;
