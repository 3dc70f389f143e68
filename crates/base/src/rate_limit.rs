use crate::{Duration, Instant, New};

/// Bounds how often something is done: a token bucket. It is all zero bytes when it is full.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    /// How many tokens are missing.
    taken: u8,
    refilled: Instant,
}

impl New for RateLimit {
    const NEW: Self = Self { taken: 0, refilled: Instant::from_millis(0) };
}

impl RateLimit {
    /// Whether it may be done once more at `now`: `burst` times at once at most, and then once after each `interval`, which is not zero.
    /// If so, it counts as done.
    // Each who has a limit calls the same code.
    #[inline(never)]
    pub fn take(&mut self, now: Instant, burst: u8, interval: Duration) -> bool {
        let earned = now.since(self.refilled).millis().checked_div(interval.millis()).unwrap_or(0);
        if earned > 0 {
            self.taken = u32::from(self.taken).saturating_sub(earned) as u8;
            self.refilled = now;
        }
        let may = self.taken < burst;
        self.taken += u8::from(may);
        may
    }
}
