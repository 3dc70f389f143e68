use sixlock_base::{Duration, Instant, New};

/// The longest time that is waited at once, in seconds, as a power of two: wrapping time tells before from after within twice as much.
const LONGEST: u32 = 20;

/// The end of a lifetime, if one has begun; it may be longer than wrapping time can tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expiry {
    at: Instant,
    /// How many times the longest time is to be waited after that.
    more: u16,
    runs: bool,
}

impl New for Expiry {
    const NEW: Self = Self { at: Instant::from_millis(0), more: 0, runs: false };
}

impl Expiry {
    /// Begins a lifetime of so many seconds.
    #[inline(never)]
    pub(super) fn begin(&mut self, now: Instant, seconds: u32) {
        let first = seconds & ((1 << LONGEST) - 1);
        self.at = now + Duration::from_millis(first * 1000);
        self.more = (seconds >> LONGEST) as u16;
        self.runs = true;
    }

    /// Begins one of so many minutes.
    #[inline(never)]
    pub(super) fn begin_minutes(&mut self, now: Instant, minutes: u16) {
        self.begin(now, u32::from(minutes) * 60);
    }

    /// Ends it at once.
    pub(super) fn stop(&mut self) {
        self.runs = false;
    }

    /// Whether it has begun, and is not over.
    pub(super) fn runs(&self) -> bool {
        self.runs
    }

    /// Whether it is over, once. To be asked when [`Expiry::timeout`] is reached.
    #[inline(never)]
    pub(super) fn take_over(&mut self, now: Instant) -> bool {
        while self.runs && now.has_reached(self.at) {
            if self.more == 0 {
                self.runs = false;
                return true;
            }
            (self.at, self.more) = (self.at + Duration::from_millis(1000 << LONGEST), self.more - 1);
        }
        false
    }

    /// When to look again.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.runs.then_some(self.at)
    }

    /// Brings `due` forward to when to look again.
    #[inline(never)]
    pub(super) fn bring_forward(&self, due: &mut Option<Instant>) {
        Instant::bring_forward(due, self.timeout());
    }

    /// How many seconds are left.
    #[inline(never)]
    pub(super) fn left(&self, now: Instant) -> u32 {
        let first = if now.has_reached(self.at) { 0 } else { self.at.since(now).millis() / 1000 };
        (u32::from(self.more) << LONGEST) + first
    }

    /// The same in minutes, of which the last one has begun, and at least one.
    #[inline(never)]
    pub(super) fn minutes_left(&self, now: Instant) -> u16 {
        self.left(now).div_ceil(60).max(1) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_of_any_length_is_over_at_its_end_and_not_before() {
        const LIMIT: u32 = 1 << LONGEST;
        for seconds in [0, 1, 60, LIMIT - 1, LIMIT, LIMIT + 1, 65_535 * 60, 10 * LIMIT + 7, u32::MAX] {
            let mut now = Instant::from_millis(u32::MAX - 5_000);
            let mut expiry = Expiry::NEW;
            expiry.begin(now, seconds);
            assert_eq!(expiry.left(now), seconds);
            let mut waited = 0;
            while !expiry.take_over(now) {
                let next = expiry.timeout().unwrap();
                let step = next.since(now).millis() / 1000;
                assert!(step > 0 && step <= LIMIT, "{step}");
                waited += step;
                now = next;
            }
            assert_eq!(waited, seconds);
            assert_eq!(expiry.left(now), 0);
        }
    }
}
