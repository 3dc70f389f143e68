//! What a journal does.

use super::append::Append;
use crate::changes::Change;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::left_out::Stored;

/// Stores posts durably, batch by batch. It has one owner, which calls it from a thread that may block.
///
/// An append is stored once, however often it comes: its [`Idempotency`](super::Idempotency) is remembered for
/// [`RETRANSMISSION_WINDOW_MS`](super::RETRANSMISSION_WINDOW_MS), also when the process ends in between.
pub trait Journal: Send + 'static {
    /// Returns the position behind the newest point.
    fn end(&mut self) -> Result<Cursor, Error>;

    /// Stores `batch` in one commit. When this returns `Ok`, each append whose result is `Ok` survives power loss. After an
    /// error nothing of the batch is stored. `now` is in milliseconds since 1970; `commit` is empty before.
    fn append(&mut self, batch: &[Append], now: i64, commit: &mut Commit) -> Result<(), Error>;

    /// Returns how urgent the work is that was put off.
    fn upkeep(&self) -> Upkeep {
        Upkeep::None
    }

    /// Does a part of the work that was put off: a larger one if nothing else is waiting. Points that are computed with it are new as
    /// after [`Journal::append`].
    fn keep_up(&mut self, idle: bool, now: i64, commit: &mut Commit) -> Result<(), Error> {
        let _ = (idle, now, commit);
        Ok(())
    }

    /// Does what time alone makes due, in one commit.
    fn look_at_clock(&mut self, look: ClockLook, now: i64) -> Result<(), Error> {
        let _ = (look, now);
        Ok(())
    }
}

/// Which look at the clock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockLook {
    /// The first one of the process: nothing was heard while there was none.
    First,
    /// Any other.
    Next,
}

/// How urgent work is that a journal has put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upkeep {
    /// There is none.
    None,
    /// It is to be done when nothing is appended for a while.
    WhenIdle,
    /// A part of it is to be done before the next batch, or at once.
    Due,
}

/// What a commit stored.
#[derive(Debug, Default)]
pub struct Commit {
    /// What became of each append, in their order. A retransmission is `Ok`.
    pub results: Vec<Result<Stored, Error>>,
    /// How many points are new, of those that were posted.
    pub points: usize,
    /// The streams that have new points, each once.
    pub changes: Vec<Change>,
    /// The position behind the newest point; `None` if there is no new one.
    pub end: Option<Cursor>,
}

impl Commit {
    /// Empties it, and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.results.clear();
        self.changes.clear();
        (self.points, self.end) = (0, None);
    }
}
