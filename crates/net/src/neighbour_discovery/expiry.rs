use sixlock_base::{Duration, Instant};

/// The longest time that is waited at once, in seconds: wrapping time tells before from after within twice as much.
const LONGEST: u32 = 1 << 20;

/// The end of a lifetime, which may be longer than wrapping time can tell: what is left then is counted in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expiry {
    at: Instant,
    more: u32,
}

impl Expiry {
    pub(super) fn after_seconds(now: Instant, seconds: u32) -> Self {
        let first = seconds.min(LONGEST);
        Self { at: now + Duration::from_secs(first), more: seconds - first }
    }

    pub(super) fn after_minutes(now: Instant, minutes: u16) -> Self {
        Self::after_seconds(now, u32::from(minutes) * 60)
    }

    /// Whether it is over. To be asked when [`Expiry::timeout`] is reached.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        while now.has_reached(self.at) && self.more > 0 {
            let next = self.more.min(LONGEST);
            (self.at, self.more) = (self.at + Duration::from_secs(next), self.more - next);
        }
        now.has_reached(self.at)
    }

    /// When to look again.
    pub(super) fn timeout(&self) -> Instant {
        self.at
    }

    /// How many seconds are left.
    pub(super) fn left(&self, now: Instant) -> u32 {
        let first = if now.has_reached(self.at) { 0 } else { self.at.since(now).millis() / 1000 };
        self.more.saturating_add(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_of_any_length_is_over_at_its_end_and_not_before() {
        for seconds in [0, 1, 60, LONGEST - 1, LONGEST, LONGEST + 1, 65_535 * 60, 10 * LONGEST + 7] {
            let mut now = Instant::from_millis(u32::MAX - 5_000);
            let mut expiry = Expiry::after_seconds(now, seconds);
            assert_eq!(expiry.left(now), seconds);
            let mut waited = 0;
            while !expiry.is_over(now) {
                let step = expiry.timeout().since(now).millis() / 1000;
                assert!(step > 0 && step <= LONGEST, "{step}");
                waited += step;
                now = expiry.timeout();
            }
            assert_eq!(waited, seconds);
            assert_eq!(expiry.left(now), 0);
        }
    }
}
