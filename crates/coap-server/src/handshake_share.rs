//! How much of its time a shard gives to new handshakes.

use std::time::{Duration, Instant};

/// While more comes in than the shard can take, ClientHellos and operations with public keys get half of its time at most: the rest
/// is for sessions. ClientHellos beyond are dropped, for their clients to send again.
pub(crate) struct HandshakeShare {
    since: Instant,
    /// What hellos and public keys took since then.
    hellos: Duration,
    /// When a task with public keys is done even if something else waits.
    next_task: Instant,
}

/// So long hellos may take in any case.
const SLACK: Duration = Duration::from_millis(5);
/// After so long it is reckoned anew: what was not used is not kept.
const WINDOW: Duration = Duration::from_secs(1);
/// While there is something else to be done, tasks with public keys get one part in so many of the time.
const TASKS: u32 = 10;

impl HandshakeShare {
    /// Time begins at `now`.
    pub(crate) const fn new(now: Instant) -> Self {
        Self { since: now, hellos: Duration::ZERO, next_task: now }
    }

    /// Whether there is time for hellos: as much as they want, if nothing else waits.
    pub(crate) fn admits(&mut self, now: Instant, more_waits: bool) -> bool {
        let passed = now.saturating_duration_since(self.since);
        if !more_waits || passed >= WINDOW {
            (self.since, self.hellos) = (now, Duration::ZERO);
        }
        let passed = now.saturating_duration_since(self.since);
        self.hellos <= passed / 2 + SLACK
    }

    /// Hellos took so long.
    pub(crate) fn took(&mut self, time: Duration) {
        self.hellos += time;
    }

    /// Whether it is time for a task with public keys.
    pub(crate) fn admits_task(&self, now: Instant, nothing_else: bool) -> bool {
        nothing_else || now >= self.next_task
    }

    /// A task with public keys that began at `begun` took so long. It is part of what hellos take.
    pub(crate) fn task_took(&mut self, begun: Instant, time: Duration) {
        self.next_task = begun + time * TASKS;
        self.took(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hellos_get_half_of_the_time_when_more_waits_and_all_of_it_otherwise() {
        let start = Instant::now();
        let (mut share, mut hellos) = (HandshakeShare::new(start), 0);
        for millis in 0..10_000 {
            if share.admits(start + Duration::from_millis(millis), true) {
                hellos += 1;
                share.took(Duration::from_millis(1));
            }
        }
        assert!((4_900..5_200).contains(&hellos), "{hellos} of 10,000");
        assert!((10_000..11_000).all(|millis| {
            share.took(Duration::from_millis(1));
            share.admits(start + Duration::from_millis(millis), false)
        }));
    }

    #[test]
    fn tasks_get_a_tenth_of_the_time_when_something_else_waits_and_all_of_it_otherwise() {
        let start = Instant::now();
        let (mut share, task) = (HandshakeShare::new(start), Duration::from_millis(1));
        let mut done = |nothing_else| {
            let times = (0..10_000).map(|millis| start + Duration::from_millis(millis));
            let admits = |&now: &Instant| {
                let admitted = share.admits_task(now, nothing_else);
                if admitted {
                    share.task_took(now, task);
                }
                admitted
            };
            times.filter(admits).count()
        };
        assert_eq!((done(false), done(true)), (1_000, 10_000));
    }
}
