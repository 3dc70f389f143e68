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
    /// What waited when the cloud before noted it, until that is counted again, and how much of it was found so far.
    before: Option<(Part, u64)>,
}

impl Backlog {
    /// What waited when `progress` was noted. It is counted again from its cursor on, so that each part is known by itself; what is not found then
    /// was discarded or deleted meanwhile.
    pub(super) fn new(progress: BrokerProgress) -> Self {
        let before = Part { upto: progress.counted, points: progress.waiting };
        let progress = BrokerProgress { counted: progress.cursor, waiting: 0, ..progress };
        Self { progress, parts: VecDeque::new(), before: (before.points > 0).then_some((before, 0)) }
    }

    /// How far it has come.
    pub(super) const fn progress(&self) -> BrokerProgress {
        self.progress
    }

    /// Counts the points behind those that were counted, up to `upto`.
    pub(super) fn count(&mut self, upto: Cursor, points: u64) {
        let progress = &mut self.progress;
        // Where nothing waits, nothing is to be looked through again: points of others are passed at once.
        if points == 0 && progress.waiting == 0 && !is_behind(progress.counted, progress.cursor) {
            progress.cursor = upto;
        }
        progress.counted = upto;
        if let Some((before, found)) = &mut self.before {
            *found += points;
            if !is_behind(before.upto, upto) {
                progress.dropped += before.points.saturating_sub(*found);
                self.before = None;
            }
        }
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
        assert_eq!(
            state(&backlog),
            (25, 0, 5, 0),
            "what stands up to 30 may be of a selection that is another by now"
        );
        backlog.count(at(40), 0);
        assert_eq!(state(&backlog), (25, 0, 5, 0));
        backlog.nothing_upto(at(40));
        assert_eq!(state(&backlog), (40, 0, 5, 0));
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
        next.count(at(12), 0);
        assert_eq!(state(&next), (12, 0, 2, 4), "it may still come");
        next.count(at(20), 1);
        assert_eq!(state(&next), (12, 1, 2, 8));
        next.published(at(18), 1, 0);
        next.nothing_upto(at(20));
        assert_eq!(state(&next), (20, 0, 3, 8));
    }

    #[test]
    fn after_a_restart_the_oldest_are_left_out_a_thousand_at_a_time_too() {
        let mut backlog = backlog(0);
        backlog.count(at(MOST_WAITING), MOST_WAITING);
        let mut next = Backlog::new(backlog.progress());
        for n in 1..=MOST_WAITING {
            next.count(at(n), 1);
        }
        assert_eq!(state(&next), (0, MOST_WAITING, 0, 0));
        next.count(at(MOST_WAITING + 1), 1);
        assert_eq!(state(&next), (LEFT_OUT, MOST_WAITING + 1 - LEFT_OUT, 0, LEFT_OUT));
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
