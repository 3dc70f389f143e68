//! Points of a post that are not stored with the others.

use std::fmt;

use serde::Serialize;
use utoipa::ToSchema;

/// Why points are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutReason {
    /// The stream is frozen.
    Frozen,
    /// They are older than what is kept of the stream.
    TooOld,
}

/// Points of a stream that were left out of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeftOut {
    /// The label of the stream.
    pub stream: String,
    /// Why.
    pub why: LeftOutReason,
    /// How many.
    pub points: usize,
}

/// What became of a post that was stored, as a whole or but for some points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// What was left out, each stream and reason once.
    pub left_out: Vec<LeftOut>,
}

impl Stored {
    /// A point of `stream` is left out.
    pub(crate) fn leave_out(&mut self, stream: &str, why: LeftOutReason) {
        match self.left_out.iter_mut().find(|known| known.stream == stream && known.why == why) {
            Some(known) => known.points += 1,
            None => self.left_out.push(LeftOut { stream: stream.to_owned(), why, points: 1 }),
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, why, points } = self;
        match why {
            LeftOutReason::Frozen => {
                write!(f, "{stream:?} is frozen and takes no points ({points} left out)")
            }
            LeftOutReason::TooOld => write!(f, "{points} of {stream:?} older than what is kept of it"),
        }
    }
}
