//! The DTLS handshakes of a node, apart from what it does in its sessions.

use crate::changes::Changes;
use crate::energy::StateTimes;
use crate::time::{Span, Time};

/// The handshakes that a node began, or that the far end began with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshakes {
    /// When the one that is under way began, and what the node's meters showed then.
    under_way: Option<(Time, StateTimes)>,
    pub(crate) begun: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
    /// How long those took that came to a session, where a report is made of them.
    pub(crate) times: Vec<Span>,
    /// How long the node's parts were in each state in those that are over.
    spent: StateTimes,
    /// When one was under way, and when none.
    pub(crate) changes: Changes<bool>,
}

impl Handshakes {
    /// Whether one is under way.
    pub(crate) const fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// One begins, unless it is under way; `meters` is what the node's meters show.
    pub(crate) fn begin(&mut self, now: Time, meters: StateTimes) -> bool {
        let begins = self.under_way.is_none();
        if begins {
            self.begun += 1;
            self.under_way = Some((now, meters));
            self.changes.enter(now, true);
        }
        begins
    }

    /// The one that is under way ends; how long it took.
    fn end(&mut self, now: Time, meters: StateTimes) -> Option<Span> {
        let (since, before) = self.under_way.take()?;
        self.spent = self.spent.and(&meters.since(&before));
        self.changes.enter(now, false);
        Some(now.since(since))
    }

    /// There is a session; how long that took, if the beginning was seen.
    pub(crate) fn connected(&mut self, now: Time, meters: StateTimes) -> Option<Span> {
        self.done += 1;
        self.end(now, meters)
    }

    /// The handshake has failed; how long that took, if the beginning was seen.
    pub(crate) fn fail(&mut self, now: Time, meters: StateTimes) -> Option<Span> {
        self.failed += 1;
        self.end(now, meters)
    }

    /// How long the node's parts were in each state while handshakes were under way.
    pub(crate) fn spent(&self, meters: &StateTimes) -> StateTimes {
        let under_way = self.under_way.map(|(_, before)| meters.since(&before));
        under_way.map_or(self.spent, |times| self.spent.and(&times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn meters(cpu: u64) -> StateTimes {
        StateTimes { cpu: Span::from_millis(cpu), ..StateTimes::default() }
    }

    #[test]
    fn what_is_spent_in_handshakes_is_summed_up() {
        let mut handshakes = Handshakes::default();
        assert!(handshakes.begin(at(10), meters(1)));
        assert!(!handshakes.begin(at(20), meters(2)), "it is under way");
        assert_eq!(handshakes.fail(at(30), meters(5)), Some(Span::from_millis(20)));
        assert!(handshakes.begin(at(40), meters(7)));
        assert_eq!(handshakes.spent(&meters(9)).cpu, Span::from_millis(4 + 2), "as far as it has come");
        assert_eq!(handshakes.connected(at(45), meters(10)), Some(Span::from_millis(5)));
        assert_eq!((handshakes.begun, handshakes.done, handshakes.failed), (2, 1, 1));
        assert_eq!(handshakes.spent(&meters(99)).cpu, Span::from_millis(4 + 3));
    }
}
