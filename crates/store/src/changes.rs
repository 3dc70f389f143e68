//! The feed of changes: which streams have new points. Live feeds, observers and whoever else follows points share it.

use std::collections::VecDeque;

use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;

use crate::cursor::Cursor;
use crate::ids::StreamId;

/// Changes that are remembered, of all streams together. When there are more, those of the oldest commits are forgotten:
/// whoever has not seen them asks the database.
const REMEMBERED: usize = 16_384;

/// New points of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The stream.
    pub stream: StreamId,
    /// The position behind its first new point.
    pub first: Cursor,
    /// The position behind its last one.
    pub last: Cursor,
}

/// New points, up to a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The position behind all of them.
    pub upto: Cursor,
    /// The streams that have new points, each once, in the order of their ids.
    pub streams: Vec<Change>,
}

/// Makes one change of those of the same stream, which stand together in the order of the journal.
pub(crate) fn merge(changes: &mut Vec<Change>) {
    changes.dedup_by(|later, kept| {
        let same = later.stream == kept.stream;
        if same {
            kept.last = later.last;
        }
        same
    });
}

/// The newest changes.
struct Recent {
    /// The position behind the newest point.
    end: Cursor,
    /// The commits whose changes are remembered, the oldest first.
    commits: VecDeque<Commit>,
    changes: VecDeque<Change>,
}

/// A commit whose changes are remembered.
#[derive(Clone, Copy)]
struct Commit {
    /// The position before it.
    after: Cursor,
    /// How many changes it has.
    changes: usize,
}

impl Recent {
    fn add(&mut self, end: Cursor, changes: &[Change]) {
        while self.changes.len() + changes.len() > REMEMBERED
            && let Some(oldest) = self.commits.pop_front()
        {
            self.changes.drain(..oldest.changes);
        }
        self.commits.push_back(Commit { after: self.end, changes: changes.len() });
        self.changes.extend(changes);
        self.end = end;
    }

    /// Returns the changes behind `after`; `None` if that is not the end of a commit that is remembered.
    fn since(&self, after: Cursor) -> Option<Vec<Change>> {
        let mut count = 0;
        if after != self.end {
            let newest_first = self.commits.iter().rev();
            newest_first.inspect(|commit| count += commit.changes).find(|commit| commit.after == after)?;
        }
        Some(self.changes.range(self.changes.len() - count..).copied().collect())
    }
}

/// Tells of changes.
pub(crate) struct Announcer(watch::Sender<Recent>);

impl Announcer {
    /// Tells of changes behind `end`.
    pub(crate) fn new(end: Cursor) -> (Self, Changes) {
        let changes = VecDeque::with_capacity(REMEMBERED);
        let (announce, recent) = watch::channel(Recent { end, commits: VecDeque::new(), changes });
        (Self(announce), Changes(recent))
    }

    /// A commit that ends at `end` made these changes, one of each stream.
    pub(crate) fn announce(&self, end: Cursor, changes: &[Change]) {
        self.0.send_modify(|recent| recent.add(end, changes));
    }
}

/// The feed of changes. A clone has seen what this one has.
#[derive(Clone)]
pub struct Changes(watch::Receiver<Recent>);

impl Changes {
    /// Returns the position behind the newest point.
    pub fn end(&self) -> Cursor {
        self.0.borrow().end
    }

    /// The same, and [`Changes::changed`] waits for what comes behind it.
    pub fn see_end(&mut self) -> Cursor {
        self.0.borrow_and_update().end
    }

    /// Waits for points that were not seen. An error means that no more can come.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        self.0.changed().await
    }

    /// Returns what has changed behind `after`; `None` if that is not remembered any more.
    pub fn since(&self, after: Cursor) -> Option<Changed> {
        let (upto, streams) = {
            let recent = self.0.borrow();
            (recent.end, recent.since(after))
        };
        let mut streams = streams?;
        // It is stable: the first change of a stream stays the first.
        streams.sort_by_key(|change| change.stream);
        merge(&mut streams);
        Some(Changed { upto, streams })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(stream: i64, first: u64, last: u64) -> Change {
        let cursor = Cursor::from_journal;
        Change { stream: StreamId(stream), first: cursor(first), last: cursor(last) }
    }

    #[tokio::test]
    async fn what_changed_since_a_commit_is_told_once_of_each_stream() {
        let cursor = Cursor::from_journal;
        let (announcer, mut changes) = Announcer::new(cursor(7));
        assert_eq!(changes.since(cursor(7)), Some(Changed { upto: cursor(7), streams: vec![] }));
        announcer.announce(cursor(20), &[change(1, 8, 20), change(2, 10, 15)]);
        changes.changed().await.unwrap();
        announcer.announce(cursor(90), &[change(1, 88, 88), change(3, 90, 90)]);
        let since = |after| changes.since(cursor(after)).map(|changed| changed.streams);
        assert_eq!(since(7), Some(vec![change(1, 8, 88), change(2, 10, 15), change(3, 90, 90)]));
        assert_eq!(since(20), Some(vec![change(1, 88, 88), change(3, 90, 90)]));
        assert_eq!(since(90), Some(vec![]));
        assert_eq!((since(6), since(8), since(91)), (None, None, None), "no commit ended there");
        assert_eq!(changes.see_end(), cursor(90));
        drop(announcer);
        assert!(changes.changed().await.is_err());
    }

    #[test]
    fn the_oldest_commits_are_forgotten_when_there_are_too_many_changes() {
        let (announcer, changes) = Announcer::new(Cursor::START);
        let commits = REMEMBERED as u64;
        for commit in 0..commits {
            let streams =
                [change(1, 2 * commit + 1, 2 * commit + 1), change(2, 2 * commit + 2, 2 * commit + 2)];
            announcer.announce(Cursor::from_journal(2 * commit + 2), &streams);
        }
        let since = |after| changes.since(Cursor::from_journal(after)).map(|changed| changed.streams);
        assert_eq!(since(commits - 2), None);
        let all = [change(1, commits + 1, 2 * commits - 1), change(2, commits + 2, 2 * commits)];
        assert_eq!(since(commits), Some(all.to_vec()));
    }
}
