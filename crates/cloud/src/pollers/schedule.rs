//! When each poller's turn is: a queue ordered by time, which does no input or output and is told the time.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use sixlock_store::{ResourceId, UserId};
use tokio::time::Instant;

/// The shortest pause before a device is asked again that has ended an observation.
const SHORTEST_PAUSE: Duration = Duration::from_secs(5);
/// The shortest time between two polls of a device for which commands come.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// The longest pause that failures alone lead to.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Over how long polls are spread that are due when many begin at the same time, at most.
const SPREAD: Duration = Duration::from_secs(60);

/// How many polls may be under way at the same time. What is due beyond waits, first due first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// In all.
    pub(super) all: usize,
    /// Of one owner: one whose devices do not answer does not hold the others' polls up.
    pub(super) one_owner: usize,
}

/// The pollers by the time of their next poll.
#[derive(Debug)]
pub(super) struct Schedule {
    limits: Limits,
    pollers: HashMap<ResourceId, Entry>,
    /// Those that are not waiting for the end of their own poll.
    due: BTreeSet<(Instant, ResourceId)>,
    under_way: HashMap<ResourceId, UserId>,
    of_owner: HashMap<UserId, usize>,
}

#[derive(Debug)]
struct Entry {
    owner: UserId,
    period: Duration,
    due: Instant,
    failures: u32,
    /// How often an observation has ended by itself since a poll went well that was not hastened.
    lost: u32,
    is_hastened: bool,
    /// Its poll is under way and will say when the next one is.
    polled: bool,
    /// When the poll before ended.
    ended: Option<Instant>,
}

impl Schedule {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            pollers: HashMap::new(),
            due: BTreeSet::new(),
            under_way: HashMap::new(),
            of_owner: HashMap::new(),
        }
    }

    /// Adds a poller whose first poll is due at `due`, or changes one. A poll under way goes on; the next one waits
    /// for its end.
    pub(super) fn set(&mut self, resource: ResourceId, owner: UserId, period: Duration, due: Instant) {
        self.remove(resource);
        self.pollers.insert(
            resource,
            Entry {
                owner,
                period,
                due,
                failures: 0,
                lost: 0,
                is_hastened: false,
                polled: false,
                ended: None,
            },
        );
        self.due.insert((due, resource));
    }

    /// Adds a poller that goes on after a break: it was polled so long ago, if ever, and so many polls have failed since one went well. Its
    /// rhythm and its pause go on; what is due since is spread, as `spread` says.
    pub(super) fn go_on(
        &mut self,
        (resource, owner, period): (ResourceId, UserId, Duration),
        (since, failures): (Option<Duration>, u32),
        (now, spread): (Instant, u8),
    ) {
        let whole = failures.checked_sub(1).map_or(period, |before| pause(period, before));
        let left = since.and_then(|since| whole.checked_sub(since)).filter(|left| !left.is_zero());
        let wait = left.unwrap_or_else(|| period.min(SPREAD) * u32::from(spread) / u32::from(u8::MAX));
        self.set(resource, owner, period, now + wait);
        if let Some(entry) = self.pollers.get_mut(&resource) {
            entry.failures = failures;
        }
    }

    /// Whether there is such a poller.
    pub(super) fn has(&self, resource: ResourceId) -> bool {
        self.pollers.contains_key(&resource)
    }

    /// Removes a poller.
    pub(super) fn remove(&mut self, resource: ResourceId) {
        if let Some(entry) = self.pollers.remove(&resource) {
            self.due.remove(&(entry.due, resource));
        }
    }

    /// The next poller that is to be polled now.
    pub(super) fn start(&mut self, now: Instant) -> Option<(ResourceId, UserId)> {
        if self.under_way.len() >= self.limits.all {
            return None;
        }
        let mut waiting = self.due.iter().take_while(|(due, _)| *due <= now);
        let (due, resource, owner) = waiting.find_map(|&(due, resource)| {
            let owner = self.pollers.get(&resource)?.owner;
            let busy = self.of_owner.get(&owner).is_some_and(|polls| *polls >= self.limits.one_owner);
            (!busy && !self.under_way.contains_key(&resource)).then_some((due, resource, owner))
        })?;
        self.due.remove(&(due, resource));
        self.pollers.get_mut(&resource)?.polled = true;
        self.under_way.insert(resource, owner);
        *self.of_owner.entry(owner).or_default() += 1;
        Some((resource, owner))
    }

    /// Notes that a poll has ended, and how. After a success the next one keeps to the rhythm of the period, leaving
    /// out what was missed; after failures the pause doubles up to an hour, or the period if that is longer, and `spread` lengthens it.
    pub(super) fn finished(&mut self, resource: ResourceId, success: bool, now: Instant, spread: u8) {
        if let Some(owner) = self.under_way.remove(&resource)
            && let Some(polls) = self.of_owner.get_mut(&owner)
        {
            *polls -= 1;
            if *polls == 0 {
                self.of_owner.remove(&owner);
            }
        }
        let Some(entry) = self.pollers.get_mut(&resource).filter(|entry| entry.polled) else { return };
        (entry.polled, entry.ended) = (false, Some(now));
        let period = entry.period;
        let is_hastened = std::mem::take(&mut entry.is_hastened);
        if success {
            entry.failures = 0;
            if !is_hastened {
                entry.lost = 0;
            }
            let late = now.saturating_duration_since(entry.due);
            let into = Duration::from_nanos((late.as_nanos() % period.as_nanos().max(1)) as u64);
            entry.due = now.max(entry.due) + (period - into);
        } else {
            let pause = pause(period, entry.failures);
            entry.failures = entry.failures.saturating_add(1);
            entry.due = now + lengthened(pause, spread);
        }
        self.due.insert((entry.due, resource));
    }

    /// Lets the next poll come soon, as the device does not tell what changes any more: after a pause that doubles with each time since a poll
    /// went well, if that is before its turn.
    pub(super) fn hasten(&mut self, resource: ResourceId, now: Instant, spread: u8) {
        let Some(entry) = self.pollers.get_mut(&resource).filter(|entry| !entry.polled) else { return };
        let pause = SHORTEST_PAUSE.saturating_mul(1 << entry.lost.min(16)).min(LONGEST_PAUSE);
        entry.lost = entry.lost.saturating_add(1);
        let due = now + lengthened(pause, spread);
        entry.is_hastened |= bring_forward(&mut self.due, resource, entry, due);
    }

    /// Lets the next poll come soon: at once, or a while after the one before. A device that does not answer keeps its pause. Returns false
    /// if a poll is under way, or there is no such poller.
    pub(super) fn advance(&mut self, resource: ResourceId, now: Instant) -> bool {
        let Some(entry) = self.pollers.get_mut(&resource).filter(|entry| !entry.polled) else { return false };
        let due = entry.ended.map_or(now, |ended| now.max(ended + SHORTEST_WAIT));
        if entry.failures == 0 {
            bring_forward(&mut self.due, resource, entry, due);
        }
        true
    }

    /// When to ask [`Schedule::start`] again, if no poll ends before.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        self.due.range((now, ResourceId(i64::MAX))..).next().map(|(due, _)| *due)
    }
}

/// Lets the next poll of a device be due at `due`, if that is earlier than before. Returns whether it is.
fn bring_forward(
    all: &mut BTreeSet<(Instant, ResourceId)>,
    resource: ResourceId,
    entry: &mut Entry,
    due: Instant,
) -> bool {
    let is_earlier = due < entry.due;
    if is_earlier {
        all.remove(&(entry.due, resource));
        entry.due = due;
        all.insert((due, resource));
    }
    is_earlier
}

/// The pause after a failure that so many came before.
fn pause(period: Duration, failures: u32) -> Duration {
    period.saturating_mul(1 << failures.min(16)).min(LONGEST_PAUSE.max(period))
}

/// A pause that is longer by up to a tenth, as `spread` says.
fn lengthened(pause: Duration, spread: u8) -> Duration {
    pause + pause * u32::from(spread) / (10 * u32::from(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const PERIOD: Duration = Duration::from_secs(60);
    const LIMITS: Limits = Limits { all: 8, one_owner: 4 };
    const ONE: ResourceId = ResourceId(1);
    const OWNER: UserId = UserId(1);

    /// A poller that is due at once, and when that is.
    fn one() -> (Schedule, Instant) {
        let (mut schedule, now) = (Schedule::new(LIMITS), Instant::now());
        schedule.set(ONE, OWNER, PERIOD, now);
        (schedule, now)
    }

    #[test]
    fn polls_keep_to_the_rhythm_and_leave_out_what_was_missed() {
        let (mut schedule, start) = one();
        for (takes, next) in [(1, 60), (59, 60), (61, 120), (200, 240)] {
            let due = schedule.next(start - SECOND).unwrap();
            assert_eq!(schedule.start(due - Duration::from_nanos(1)), None, "before its time");
            assert_eq!(schedule.start(due), Some((ONE, OWNER)));
            let now = due + takes * SECOND;
            assert_eq!(schedule.next(due), None, "a poll under way says by its end when the next one is");
            schedule.finished(ONE, true, now, 0);
            assert_eq!(schedule.next(due), Some(due + next * SECOND), "a poll of {takes} s");
        }
    }

    #[test]
    fn failures_double_the_pause_up_to_an_hour_and_a_success_ends_it() {
        let (mut schedule, mut now) = one();
        let mut pauses = Vec::new();
        for failure in 0..20 {
            assert_eq!(schedule.start(now), Some((ONE, OWNER)));
            schedule.finished(ONE, false, now, 0);
            let next = schedule.next(now).unwrap();
            pauses.push((next - now).as_secs());
            assert!(failure < 6 || next - now == LONGEST_PAUSE);
            now = next;
        }
        assert_eq!(pauses[..8], [60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(schedule.start(now), Some((ONE, OWNER)));
        schedule.finished(ONE, true, now, 0);
        assert_eq!(schedule.next(now), Some(now + PERIOD));
        assert_eq!(schedule.start(now + PERIOD), Some((ONE, OWNER)));
        schedule.finished(ONE, false, now + PERIOD, u8::MAX);
        assert_eq!(schedule.next(now), Some(now + PERIOD + PERIOD * 11 / 10), "a pause is spread");
    }

    #[test]
    fn after_a_break_a_poller_keeps_its_rhythm_and_its_pause_and_what_is_due_is_spread() {
        for (since_s, failures, spread, wait_s) in [
            (Some(20), 0, 255, 40),
            (Some(60), 0, 255, 60),
            (Some(9_000), 0, 0, 0),
            (None, 0, 51, 12),
            (Some(20), 1, 0, 40),
            (Some(100), 3, 0, 140),
            (Some(240), 3, 51, 12),
            (Some(0), 99, 0, 3_600),
        ] {
            let (mut schedule, now) = (Schedule::new(LIMITS), Instant::now());
            let since = since_s.map(Duration::from_secs);
            schedule.go_on((ONE, OWNER, PERIOD), (since, failures), (now, spread));
            let due = now + Duration::from_secs(wait_s);
            assert_eq!(schedule.next(now - SECOND), Some(due), "{since_s:?} {failures} {spread}");
        }
        let (mut schedule, now) = (Schedule::new(LIMITS), Instant::now());
        assert!(!schedule.has(ONE));
        schedule.go_on((ONE, OWNER, PERIOD), (Some(240 * SECOND), 3), (now, 0));
        assert!(schedule.has(ONE) && schedule.start(now).is_some());
        schedule.finished(ONE, false, now, 0);
        assert_eq!(schedule.next(now), Some(now + 480 * SECOND), "the pause doubles on");
    }

    #[test]
    fn a_command_brings_the_next_poll_forward_but_not_that_of_a_device_that_does_not_answer() {
        let (mut schedule, now) = (Schedule::new(Limits { all: 9, one_owner: 9 }), Instant::now());
        let (device, owner) = (ResourceId(1), UserId(1));
        let second = Duration::from_secs(1);
        assert!(!schedule.advance(device, now), "there is none");
        schedule.set(device, owner, 60 * second, now + 60 * second);
        assert!(schedule.advance(device, now));
        assert_eq!(schedule.start(now), Some((device, owner)));
        assert!(!schedule.advance(device, now), "it is being asked");
        schedule.finished(device, true, now, 0);
        assert!(schedule.advance(device, now));
        assert_eq!((schedule.start(now), schedule.next(now)), (None, Some(now + second)));
        assert_eq!(schedule.start(now + second), Some((device, owner)));
        schedule.finished(device, false, now + second, 0);
        assert!(schedule.advance(device, now + second));
        assert_eq!(schedule.next(now + second), Some(now + 61 * second), "it keeps its pause");
    }

    #[test]
    fn an_observation_that_ends_again_and_again_hastens_less_and_less() {
        let (mut schedule, mut now) = (Schedule::new(LIMITS), Instant::now());
        schedule.set(ONE, OWNER, 24 * LONGEST_PAUSE, now);
        let mut pauses = Vec::new();
        for _ in 0..12 {
            assert_eq!(schedule.start(now), Some((ONE, OWNER)));
            schedule.hasten(ONE, now, 0);
            assert_eq!(schedule.next(now), None, "a poll under way says by its end when the next one is");
            schedule.finished(ONE, true, now, 0);
            schedule.hasten(ONE, now, 0);
            let next = schedule.next(now).unwrap();
            pauses.push((next - now).as_secs());
            now = next;
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
        // One that lasted for a period is forgiven.
        assert_eq!(schedule.start(now), Some((ONE, OWNER)));
        schedule.finished(ONE, true, now, 0);
        now = schedule.next(now).unwrap();
        schedule.start(now);
        schedule.finished(ONE, true, now, 0);
        schedule.hasten(ONE, now, 0);
        assert_eq!(schedule.next(now), Some(now + SHORTEST_PAUSE));
    }

    #[test]
    fn a_period_beyond_an_hour_is_its_own_pause() {
        let (mut schedule, now) = (Schedule::new(LIMITS), Instant::now());
        schedule.set(ONE, OWNER, 24 * LONGEST_PAUSE, now);
        for _ in 0..3 {
            let due = schedule.next(now - SECOND).unwrap();
            assert_eq!(schedule.start(due), Some((ONE, OWNER)));
            schedule.finished(ONE, false, due, 0);
            assert_eq!(schedule.next(due), Some(due + 24 * LONGEST_PAUSE));
        }
    }

    #[test]
    fn a_poller_that_changes_while_it_is_polled_waits_for_the_end_and_goes_first() {
        let (mut schedule, now) = one();
        assert_eq!(schedule.start(now), Some((ONE, OWNER)));
        schedule.set(ONE, OWNER, 2 * PERIOD, now);
        assert_eq!(schedule.start(now), None, "no poll overlaps itself");
        schedule.finished(ONE, false, now, 0);
        assert_eq!(
            schedule.start(now),
            Some((ONE, OWNER)),
            "what the old one came to does not hold the new one up"
        );
        schedule.finished(ONE, true, now, 0);
        assert_eq!(schedule.next(now), Some(now + 2 * PERIOD));
        assert_eq!(schedule.start(now + 2 * PERIOD), Some((ONE, OWNER)));
        schedule.remove(ONE);
        schedule.finished(ONE, true, now, 0);
        assert_eq!(schedule.next(now), None);
        assert_eq!(schedule.start(now + 9 * PERIOD), None);
    }

    #[test]
    fn one_owner_has_so_many_polls_under_way_and_all_have_so_many() {
        let (mut schedule, now) = (Schedule::new(LIMITS), Instant::now());
        for id in 0..30 {
            schedule.set(ResourceId(id), UserId(id / 10), PERIOD, now);
        }
        let started: Vec<i64> = std::iter::from_fn(|| schedule.start(now)).map(|(id, _)| id.0).collect();
        assert_eq!(started, [0, 1, 2, 3, 10, 11, 12, 13]);
        schedule.finished(ResourceId(2), true, now, 0);
        assert_eq!(schedule.start(now), Some((ResourceId(4), UserId(0))), "first due, first served");
        assert_eq!(schedule.start(now), None);
        schedule.finished(ResourceId(10), true, now, 0);
        schedule.finished(ResourceId(11), true, now, 0);
        assert_eq!(schedule.start(now), Some((ResourceId(14), UserId(1))));
    }

    /// Hundreds of pollers of some owners whose polls take their time, fail, change and go, in virtual time.
    #[test]
    fn no_poll_overlaps_itself_and_none_is_forgotten() {
        // A generator of our own, so that a run is the same each time.
        let mut state = 1u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let limits = Limits { all: 20, one_owner: 6 };
        let mut schedule = Schedule::new(limits);
        let mut now = Instant::now();
        let end = now + 3600 * SECOND;
        let owner = |id: i64| UserId(id % 7);
        for id in 0..200 {
            schedule.set(ResourceId(id), owner(id), Duration::from_secs(5 + below(100)), now);
        }
        let mut running: BTreeSet<(Instant, ResourceId)> = BTreeSet::new();
        let mut polls: HashMap<ResourceId, u32> = HashMap::new();
        while now < end {
            while let Some((resource, _)) = schedule.start(now) {
                assert!(running.iter().all(|(_, other)| *other != resource), "{resource:?} overlaps itself");
                running.insert((now + Duration::from_millis(below(8_000)), resource));
                *polls.entry(resource).or_default() += 1;
                assert!(running.len() <= limits.all);
                let of_owner =
                    running.iter().filter(|(_, other)| owner(other.0) == owner(resource.0)).count();
                assert!(of_owner <= limits.one_owner);
            }
            let ended = running.first().copied();
            let due = schedule.next(now);
            match (ended, due) {
                (Some((ended, resource)), due) if due.is_none_or(|due| ended <= due) => {
                    now = ended;
                    running.pop_first();
                    schedule.finished(resource, below(10) > 0, now, below(256) as u8);
                }
                (_, Some(due)) => now = due,
                (_, None) => unreachable!("pollers are there, and nothing will ever happen"),
            }
            if below(50) == 0 {
                let id = below(200) as i64;
                schedule.set(ResourceId(id), owner(id), Duration::from_secs(5 + below(100)), now);
            }
        }
        assert_eq!(polls.len(), 200);
        assert!(polls.values().all(|polls| *polls >= 5), "{polls:?}");
    }
}
