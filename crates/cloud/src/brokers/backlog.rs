//! What waits for a broker: how much it is, and where it stands among the points of all users.

use std::collections::VecDeque;

use sixlock_store::{BrokerProgress, Cursor};

use super::windows::is_behind;

/// The most points that wait for a broker. When there are more, the oldest are left out.
pub(super) const MOST_WAITING: u64 = 100_000;
/// How many of them are left out at a time, if not some more.
const LEFT_OUT: u64 = 1_000;

/// Points that wait, all up to a position that no others stand before.
#[derive(Clone, Copy, Debug)]
struct Part {
    upto: Cursor,
    points: u64,
}

/// What waits for a broker.
///
/// Points are counted when they are stored, and again when they are published. What was counted and is not there any more when it is its turn was
/// discarded meanwhile, or deleted.
#[derive(Debug)]
pub(super) struct Backlog {
    progress: BrokerProgress,
    /// What waits, the oldest first: together `progress.waiting` points.
    parts: VecDeque<Part>,
}

impl Backlog {
    /// What waited when `progress` was noted.
    pub(super) fn new(progress: BrokerProgress) -> Self {
        let part = Part { upto: progress.counted, points: progress.waiting };
        Self { progress, parts: (part.points > 0).then_some(part).into_iter().collect() }
    }

    /// How far it has come.
    pub(super) const fn progress(&self) -> BrokerProgress {
        self.progress
    }

    /// Counts the points behind those that were counted, up to `upto`.
    pub(super) fn count(&mut self, upto: Cursor, points: u64) {
        let progress = &mut self.progress;
        progress.counted = upto;
        if points > 0 {
            progress.waiting += points;
            match self.parts.back_mut() {
                Some(part) if part.points + points <= LEFT_OUT => {
                    *part = Part { upto, points: part.points + points };
                }
                _ => self.parts.push_back(Part { upto, points }),
            }
        }
        while self.progress.waiting > MOST_WAITING
            && let Some(oldest) = self.parts.pop_front()
        {
            self.progress.cursor = oldest.upto;
            self.progress.waiting -= oldest.points;
            self.progress.dropped += oldest.points;
        }
        self.rest();
    }

    /// So many points that waited were published at the time `now`, the last of them before `upto`.
    pub(super) fn published(&mut self, upto: Cursor, points: u64, now: i64) {
        self.progress.published += points;
        self.progress.last_published = Some(now);
        // Others may have been left out meanwhile, so that these do not wait any more.
        if is_behind(upto, self.progress.cursor) {
            self.pass(upto, points);
        }
    }

    /// Nothing is left to publish up to `upto`.
    pub(super) fn nothing_upto(&mut self, upto: Cursor) {
        if is_behind(upto, self.progress.cursor) {
            self.pass(upto, 0);
        }
    }

    /// Goes on to `upto`, by way of so many points.
    fn pass(&mut self, upto: Cursor, mut points: u64) {
        self.progress.cursor = upto;
        while let Some(oldest) = self.parts.front_mut() {
            let passed = points.min(oldest.points);
            points -= passed;
            oldest.points -= passed;
            self.progress.waiting -= passed;
            if is_behind(oldest.upto, upto) {
                break;
            }
            // The rest of it is not there any more.
            self.progress.dropped += oldest.points;
            self.progress.waiting -= oldest.points;
            self.parts.pop_front();
        }
        self.rest();
    }

    /// Where nothing waits, nothing is to be looked through again.
    fn rest(&mut self) {
        if self.progress.waiting == 0 && is_behind(self.progress.counted, self.progress.cursor) {
            self.progress.cursor = self.progress.counted;
            self.parts.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u64) -> Cursor {
        Cursor::from_journal(position)
    }

    fn backlog(at_begin: u64) -> Backlog {
        Backlog::new(BrokerProgress {
            cursor: at(at_begin),
            counted: at(at_begin),
            ..BrokerProgress::default()
        })
    }

    fn state(backlog: &Backlog) -> (u64, u64, u64, u64) {
        let BrokerProgress { cursor, waiting, published, dropped, .. } = backlog.progress();
        (cursor.for_journal(), waiting, published, dropped)
    }

    #[test]
    fn what_is_published_waits_no_more_and_the_cursor_follows() {
        let mut backlog = backlog(10);
        backlog.count(at(15), 0);
        assert_eq!(state(&backlog), (15, 0, 0, 0), "points of others are passed at once");
        backlog.count(at(20), 3);
        backlog.count(at(30), 2);
        assert_eq!(state(&backlog), (15, 5, 0, 0));
        backlog.published(at(17), 1, 1);
        assert_eq!(state(&backlog), (17, 4, 1, 0));
        backlog.published(at(22), 3, 2);
        assert_eq!(state(&backlog), (22, 1, 4, 0));
        backlog.published(at(25), 1, 3);
        assert_eq!(state(&backlog), (30, 0, 5, 0));
        assert_eq!(backlog.progress().last_published, Some(3));
    }

    #[test]
    fn what_is_gone_when_it_is_its_turn_counts_as_dropped() {
        let mut backlog = backlog(0);
        backlog.count(at(10), 6);
        backlog.published(at(4), 2, 0);
        backlog.nothing_upto(at(10));
        assert_eq!(state(&backlog), (10, 0, 2, 4));
        // Also when the cloud was started anew meanwhile.
        backlog.count(at(20), 5);
        let mut next = Backlog::new(backlog.progress());
        next.nothing_upto(at(12));
        assert_eq!(state(&next), (12, 5, 2, 4), "it may still come");
        next.published(at(18), 1, 0);
        next.nothing_upto(at(20));
        assert_eq!(state(&next), (20, 0, 3, 8));
    }

    #[test]
    fn of_more_than_may_wait_the_oldest_are_left_out_and_counted() {
        let mut backlog = backlog(0);
        for n in 1..=MOST_WAITING {
            backlog.count(at(2 * n), 1);
        }
        assert_eq!(state(&backlog), (0, MOST_WAITING, 0, 0));
        assert!(backlog.parts.len() as u64 <= MOST_WAITING / LEFT_OUT);
        backlog.count(at(2 * MOST_WAITING + 2), 1);
        assert_eq!(state(&backlog), (2 * LEFT_OUT, MOST_WAITING + 1 - LEFT_OUT, 0, LEFT_OUT));
        // One that was left out was under way, and is not counted twice.
        backlog.published(at(2), 1, 0);
        assert_eq!(state(&backlog), (2 * LEFT_OUT, MOST_WAITING + 1 - LEFT_OUT, 1, LEFT_OUT));
        let end = at(2 * MOST_WAITING + 2);
        backlog.published(end, MOST_WAITING + 1 - LEFT_OUT, 0);
        assert_eq!(state(&backlog), (end.for_journal(), 0, MOST_WAITING + 2 - LEFT_OUT, LEFT_OUT));
    }
}
