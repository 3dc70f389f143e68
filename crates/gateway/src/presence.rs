//! Whether a bridge answers at the other end of a serial line.

use sixlock_base::{Duration, Instant};

/// How often it is asked while it says nothing.
const ASKED_EVERY: Duration = Duration::from_secs(3);
/// How many questions it leaves unanswered before it counts as silent.
const UNANSWERED: u32 = 3;

/// What is known of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It says something, or answers what it is asked.
    Answers,
    /// It has left three questions unanswered, the last of them three seconds ago.
    Silent,
}

/// Asks a bridge that says nothing, and notices what becomes of it.
pub(crate) struct Watch {
    due: Instant,
    /// Questions that were asked since it was heard.
    unanswered: u32,
    known: Option<Presence>,
    news: Option<Presence>,
}

impl Watch {
    pub(crate) fn new(now: Instant) -> Self {
        Self { due: now, unanswered: 0, known: None, news: None }
    }

    pub(crate) fn poll_timeout(&self) -> Instant {
        self.due
    }

    /// What has changed.
    pub(crate) fn poll_event(&mut self) -> Option<Presence> {
        self.news.take()
    }

    /// The bridge is heard.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.unanswered = 0;
        self.due = now + ASKED_EVERY;
        self.is(Presence::Answers);
    }

    /// Whether it is to be asked now.
    pub(crate) fn asks(&mut self, now: Instant) -> bool {
        if !now.has_reached(self.due) {
            return false;
        }
        self.due = now + ASKED_EVERY;
        if self.unanswered >= UNANSWERED {
            self.is(Presence::Silent);
        }
        self.unanswered = self.unanswered.saturating_add(1);
        true
    }

    fn is(&mut self, presence: Presence) {
        if self.known != Some(presence) {
            (self.known, self.news) = (Some(presence), Some(presence));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u32) -> Instant {
        Instant::from_millis(seconds * 1000)
    }

    #[test]
    fn a_bridge_is_silent_after_three_questions_and_answers_with_the_next_word() {
        let mut watch = Watch::new(at(0));
        for seconds in [0, 3, 6] {
            assert!(watch.asks(at(seconds)) && !watch.asks(at(seconds)));
            assert_eq!(watch.poll_event(), None);
        }
        assert!(watch.asks(at(9)));
        assert_eq!(watch.poll_event(), Some(Presence::Silent));
        assert!(watch.asks(at(12)), "it may come again");
        assert_eq!(watch.poll_event(), None, "it is told once");
        watch.heard(at(13));
        assert_eq!(watch.poll_event(), Some(Presence::Answers));
        assert!(!watch.asks(at(15)), "who speaks is not asked");
        assert_eq!(watch.poll_timeout(), at(16));
    }
}
