//! What becomes of each reading that is due, or echo: it is delivered, failed, skipped or pending.

use std::collections::{BTreeMap, VecDeque};

use crate::arrivals::Arrivals;
use crate::clock::Clock;
use crate::time::{Span, Time};

/// Readings that were begun and may yet arrive, late ones included. When there are more, the oldest stays what it is.
pub(crate) const BEGUN: usize = 16;

/// When readings are due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    arrivals: Arrivals,
    /// How long after the beginning the first is due.
    first: Span,
    /// By whose clock.
    clock: Clock,
    /// The number of the next, from 1 on, and how long after the beginning it is due.
    next: (u64, Span),
}

impl Schedule {
    pub(crate) fn new(arrivals: Arrivals) -> Self {
        Self::from(Clock::TRUE, arrivals.first(), arrivals)
    }

    /// The same as a device keeps it, whose clock counts whole milliseconds.
    pub(crate) fn of_device(clock: Clock, arrivals: Arrivals) -> Self {
        Self::from(clock, Span::from_millis(arrivals.first().micros() / 1000), arrivals)
    }

    fn from(clock: Clock, first: Span, arrivals: Arrivals) -> Self {
        Self { arrivals, first, clock, next: (1, first) }
    }

    /// When the next is due.
    fn due(&self) -> Time {
        self.clock.after(self.next.1)
    }

    /// Passes the next; when that was due.
    fn advance(&mut self) -> Time {
        let due = self.due();
        let (number, after) = self.next;
        self.next = (number + 1, after + self.arrivals.gap(number));
        due
    }
}

/// Why something that was due was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip {
    /// The reading before it is under way.
    UnderWay,
    /// The reading before it waits for a DTLS session.
    NoSession,
    /// The processor was at work until the next one was due.
    ProcessorBusy,
    /// The node was off.
    Off,
    /// The node did not begin it though nothing kept it from that.
    NotBegun,
}

impl Skip {
    const ALL: [Self; 5] = [Self::UnderWay, Self::NoSession, Self::ProcessorBusy, Self::Off, Self::NotBegun];

    /// Their names.
    pub(crate) const NAMES: [&str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut n = 0;
        while n < names.len() {
            names[n] = Self::ALL[n].name();
            n += 1;
        }
        names
    };

    /// What reports and events call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::UnderWay => "under-way",
            Self::NoSession => "no-session",
            Self::ProcessorBusy => "processor-busy",
            Self::Off => "off",
            Self::NotBegun => "not-begun",
        }
    }
}

/// What has become of a reading that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    UnderWay,
    Delivered,
    Failed,
}

/// A reading that was begun.
#[derive(Clone, Copy, Debug)]
struct ReadingState {
    number: u64,
    /// When the task began that makes it, or the echo was sent.
    since: Time,
    /// Whether a handshake was made while it was under way.
    has_waited: bool,
    fate: Fate,
    is_confirmed: bool,
}

/// The readings of a node, or the echoes sent to it, each with a number, from 1 on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readings {
    /// None if none are ever due.
    schedule: Option<Schedule>,
    /// When they cease to be due, if they ever do.
    end: Option<Time>,
    due: u64,
    sent: u64,
    delivered: u64,
    failed: u64,
    skipped: [u64; Skip::ALL.len()],
    /// The numbers of those that are due and not begun, and since when they are.
    waiting: VecDeque<(u64, Time)>,
    begun: VecDeque<ReadingState>,
    /// Times from the beginning of the task that makes a reading to its confirmation, or from sending an echo until it is back,
    /// where a report is made of them; without those in which a handshake was made.
    pub(crate) round_trips: Vec<Span>,
}

/// How many readings there were of each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) due: u64,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) pending: u64,
    /// Those that were skipped, by cause.
    pub(crate) skipped_for: BTreeMap<&'static str, u64>,
}

/// A reading that the node has learnt was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Confirmed {
    pub(crate) number: u64,
    /// Since the task began that makes it.
    pub(crate) after: Span,
    /// Whether nobody has told before that it was accepted.
    pub(crate) is_news: bool,
    /// Whether a handshake was made meanwhile.
    pub(crate) has_waited: bool,
}

impl Readings {
    /// Readings that are due at these times.
    pub(crate) fn new(schedule: Option<Schedule>) -> Self {
        Self { schedule, ..Self::default() }
    }

    /// Lets none be due from `end` on.
    pub(crate) fn end(&mut self, end: Time) {
        self.end = Some(end);
    }

    /// Whether any are ever due.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.schedule.is_some()
    }

    /// When each reading was due that was, with its number.
    pub(crate) fn all_due(&self) -> Vec<(u64, Time)> {
        let from_first = |schedule: Schedule| Schedule { next: (1, schedule.first), ..schedule };
        let Some(mut schedule) = self.schedule.map(from_first) else { return Vec::new() };
        (1..=self.due).map(|number| (number, schedule.advance())).collect()
    }

    /// The number of the next reading.
    pub(crate) fn next_number(&self) -> u64 {
        self.due + 1
    }

    /// When the next reading is due, if there are any.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.schedule.map(|schedule| schedule.due()).filter(|due| self.end.is_none_or(|end| *due < end))
    }

    /// Another reading is due; its number.
    pub(crate) fn is_due(&mut self) -> u64 {
        self.due += 1;
        let since = self.schedule.as_mut().map_or(Time::ZERO, Schedule::advance);
        self.waiting.push_back((self.due, since));
        self.due
    }

    /// The oldest that is due and not begun, but for that which the task takes that is under way since `task`.
    pub(crate) fn missed(&self, task: Option<Time>) -> Option<u64> {
        let taken = task.and_then(|since| self.latest(since));
        self.waiting.iter().map(|&(number, _)| number).find(|&number| Some(number) != taken)
    }

    /// The oldest that is due and not begun, if a later one is taken at `now`.
    pub(crate) fn passed(&self, now: Time) -> Option<u64> {
        let latest = self.latest(now)?;
        self.oldest().filter(|&oldest| oldest < latest)
    }

    /// The one that a node takes at `now`: the latest that is due by then and not begun.
    pub(crate) fn latest(&self, now: Time) -> Option<u64> {
        self.waiting.iter().filter(|(_, since)| *since <= now).map(|&(number, _)| number).max()
    }

    /// The oldest that is due and not begun.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.waiting.front().map(|&(number, _)| number)
    }

    /// How many are due and not begun.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A reading will not be begun.
    pub(crate) fn skip(&mut self, number: u64, cause: Skip) {
        self.take(number);
        self.skipped[cause as usize] += 1;
    }

    /// A reading is begun, by a task that began at `since`. The one before it, if it was still under way, has failed: its
    /// number.
    pub(crate) fn send(&mut self, since: Time, number: u64, waits: bool) -> Option<u64> {
        self.take(number);
        let given_up = self.fail();
        if self.begun.len() == BEGUN {
            self.begun.pop_front();
        }
        self.sent += 1;
        self.begun.push_back(ReadingState {
            number,
            since,
            has_waited: waits,
            fate: Fate::UnderWay,
            is_confirmed: false,
        });
        given_up
    }

    fn take(&mut self, number: u64) {
        self.waiting.retain(|&(waiting, _)| waiting != number);
    }

    /// A handshake is made meanwhile.
    pub(crate) fn wait(&mut self) {
        if let Some(latest) = self.begun.back_mut() {
            latest.has_waited = true;
        }
    }

    /// The far end has accepted a reading: a node has one under way at a time, so it is the latest. Its number, if this is the
    /// first copy. One that the node has given up arrives all the same.
    pub(crate) fn accept(&mut self) -> Option<u64> {
        let latest = self.begun.back_mut()?;
        let number = latest.number;
        self.deliver(number)
    }

    /// The same where several may be on their way: `made` tells, of the time when the task began that makes a reading, whether it
    /// made the one that was accepted. The oldest of these that has not been accepted is meant.
    pub(crate) fn accept_made(&mut self, mut made: impl FnMut(Time) -> bool) -> Option<u64> {
        let mut open = self.begun.iter().filter(|begun| begun.fate != Fate::Delivered);
        let number = open.find(|begun| made(begun.since))?.number;
        self.deliver(number)
    }

    /// When the task began that made the latest.
    pub(crate) fn latest_begun(&self) -> Option<Time> {
        self.begun.back().map(|latest| latest.since)
    }

    /// The number of the latest.
    pub(crate) fn latest_number(&self) -> Option<u64> {
        self.begun.back().map(|latest| latest.number)
    }

    /// When the tasks began that made those which may yet arrive.
    pub(crate) fn all_begun(&self) -> impl Iterator<Item = Time> + '_ {
        self.begun.iter().map(|begun| begun.since)
    }

    /// The far end has accepted the reading of this number; which that is, it tells.
    pub(crate) fn deliver(&mut self, number: u64) -> Option<u64> {
        let begun = self.begun.iter_mut().find(|begun| begun.number == number)?;
        match begun.fate {
            Fate::Delivered => return None,
            Fate::Failed => self.failed -= 1,
            Fate::UnderWay => {}
        }
        begun.fate = Fate::Delivered;
        self.delivered += 1;
        Some(number)
    }

    /// The node has learnt that its reading was accepted, told once.
    pub(crate) fn confirm(&mut self, now: Time) -> Option<Confirmed> {
        let latest = self.begun.back_mut().filter(|latest| !latest.is_confirmed)?;
        latest.is_confirmed = true;
        let ReadingState { number, since, has_waited, .. } = *latest;
        let is_news = self.deliver(number).is_some();
        Some(Confirmed { number, after: now.since(since), is_news, has_waited })
    }

    /// Echo `number` is back, however late; returns how long that took, once.
    pub(crate) fn back(&mut self, now: Time, number: u64) -> Option<Span> {
        let since = self.begun.iter().find(|begun| begun.number == number)?.since;
        self.deliver(number)?;
        Some(now.since(since))
    }

    /// The latest reading is given up, if it is under way; its number.
    pub(crate) fn fail(&mut self) -> Option<u64> {
        let latest = self.begun.back_mut().filter(|latest| latest.fate == Fate::UnderWay)?;
        latest.fate = Fate::Failed;
        self.failed += 1;
        Some(latest.number)
    }

    /// How many there were of each kind. Those that are pending are counted for themselves, so that it shows if one was lost
    /// sight of.
    pub(crate) fn counted(&self) -> Counted {
        let under_way = self.begun.iter().filter(|begun| begun.fate == Fate::UnderWay).count();
        let by_cause = Skip::ALL.iter().map(|cause| (cause.name(), self.skipped[*cause as usize]));
        Counted {
            due: self.due,
            sent: self.sent,
            delivered: self.delivered,
            failed: self.failed,
            skipped: self.skipped.iter().sum(),
            pending: (self.waiting.len() + under_way) as u64,
            skipped_for: by_cause.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Scenario, Traffic};

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn every(period: Span) -> Arrivals {
        Arrivals::new(1, 1, &Traffic { period, ..Scenario::default().traffic })
    }

    fn readings() -> Readings {
        Readings::new(Some(Schedule::from(Clock::TRUE, Span::from_millis(5), every(Span::from_millis(10)))))
    }

    /// (due, sent, delivered, failed, skipped, pending)
    fn counts(readings: &Readings) -> [u64; 6] {
        let counted = readings.counted();
        let Counted { due, sent, delivered, failed, skipped, pending, .. } = counted;
        assert_eq!(due, delivered + failed + skipped + pending);
        [due, sent, delivered, failed, skipped, pending]
    }

    #[test]
    fn readings_are_due_at_the_first_and_then_each_period() {
        let mut readings = readings();
        assert_eq!(readings.next_due(), Some(at(5)));
        assert_eq!([readings.is_due(), readings.is_due()], [1, 2]);
        assert_eq!(readings.next_due(), Some(at(25)));
        assert_eq!(Readings::default().next_due(), None);
        assert_eq!(readings.all_due(), [(1, at(5)), (2, at(15))]);
        assert_eq!(readings.next_number(), 3);
    }

    #[test]
    fn a_reading_counts_once_however_often_it_arrives() {
        let mut readings = readings();
        assert_eq!(readings.accept(), None, "before anything was sent");
        let number = readings.is_due();
        assert_eq!(counts(&readings), [1, 0, 0, 0, 0, 1]);
        readings.send(at(5), number, false);
        assert_eq!(counts(&readings), [1, 1, 0, 0, 0, 1]);
        assert_eq!([readings.accept(), readings.accept()], [Some(1), None]);
        let confirmed =
            Confirmed { number: 1, after: Span::from_millis(30), is_news: false, has_waited: false };
        assert_eq!(readings.confirm(at(35)), Some(confirmed));
        assert_eq!(readings.confirm(at(40)), None);
        assert_eq!(readings.fail(), None, "it has arrived");
        assert_eq!(counts(&readings), [1, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn of_several_readings_on_their_way_the_one_that_arrives_is_known_by_when_it_was_made() {
        let mut readings = readings();
        for number in 1..=3 {
            readings.is_due();
            readings.send(at(10 * number), number, false);
        }
        assert_eq!(counts(&readings), [3, 3, 0, 2, 0, 1]);
        assert_eq!(readings.accept_made(|since| since == at(20)), Some(2));
        assert_eq!(readings.accept_made(|since| since == at(20)), None, "once");
        assert_eq!(readings.accept_made(|_| true), Some(1), "the oldest that it may be");
        assert_eq!(counts(&readings), [3, 3, 2, 0, 0, 1]);
    }

    #[test]
    fn what_is_given_up_has_failed_until_it_arrives_all_the_same() {
        let mut readings = readings();
        for number in 1..=2 {
            assert_eq!(readings.is_due(), number);
        }
        readings.send(at(5), 1, false);
        assert_eq!(readings.fail(), Some(1));
        assert_eq!(counts(&readings), [2, 1, 0, 1, 0, 1]);
        assert_eq!(readings.accept(), Some(1));
        assert_eq!(counts(&readings), [2, 1, 1, 0, 0, 1]);
        assert_eq!(readings.send(at(15), 2, true), None);
        assert!(readings.confirm(at(20)).is_some_and(|confirmed| confirmed.is_news && confirmed.has_waited));
        assert_eq!(counts(&readings), [2, 2, 2, 0, 0, 0]);
    }

    #[test]
    fn what_is_due_and_not_begun_is_skipped_for_a_cause() {
        let mut readings = readings();
        readings.is_due();
        assert_eq!(readings.missed(None), Some(1));
        assert_eq!(readings.missed(Some(at(4))), Some(1), "the task began before it was due");
        assert_eq!(readings.missed(Some(at(5))), None, "it may be begun in this task");
        readings.is_due();
        assert_eq!(readings.missed(Some(at(14))), Some(2), "the task takes the first");
        assert_eq!(readings.missed(Some(at(15))), Some(1));
        assert_eq!((readings.latest(at(14)), readings.passed(at(14))), (Some(1), None));
        assert_eq!((readings.latest(at(15)), readings.passed(at(15))), (Some(2), Some(1)));
        readings.skip(1, Skip::ProcessorBusy);
        readings.skip(2, Skip::NoSession);
        assert_eq!(counts(&readings), [2, 0, 0, 0, 2, 0]);
        let causes = BTreeMap::from([("no-session", 1), ("processor-busy", 1)]);
        assert_eq!(readings.counted().skipped_for, causes);
    }

    #[test]
    fn an_echo_that_is_not_back_when_the_next_is_sent_has_failed_until_it_is_back() {
        let mut readings = readings();
        for number in 1..=20 {
            readings.is_due();
            assert_eq!(readings.send(at(number * 10), number, false), (number > 1).then(|| number - 1));
        }
        assert_eq!(counts(&readings), [20, 20, 0, 19, 0, 1]);
        assert_eq!(readings.back(at(215), 19), Some(Span::from_millis(25)));
        assert_eq!(readings.back(at(216), 19), None, "once");
        assert_eq!(readings.back(at(216), 1), None, "it was forgotten");
        assert_eq!(readings.back(at(216), 21), None, "it was not sent");
        assert_eq!(readings.back(at(216), 20), Some(Span::from_millis(16)));
        assert_eq!(counts(&readings), [20, 20, 2, 18, 0, 0]);
    }
}
