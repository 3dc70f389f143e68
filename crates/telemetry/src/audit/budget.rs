//! How many refusals are written: anyone can cause them, so their rate is limited.

/// Refusals written within a moment, and how many more each second. Beyond, they are counted and the count is written.
const REFUSALS: i64 = 1000;
const REFUSALS_A_SECOND: i64 = 50;

/// A token bucket of refusals.
pub(super) struct Budget {
    left: i64,
    /// When it was last filled, in milliseconds since 1970.
    at: i64,
}

impl Budget {
    /// A full bucket at the time `now`.
    pub(super) fn new(now: i64) -> Self {
        Self { left: REFUSALS, at: now }
    }

    /// Returns whether a refusal at the time `now` is written.
    pub(super) fn takes(&mut self, now: i64) -> bool {
        let earned = now.saturating_sub(self.at).max(0).saturating_mul(REFUSALS_A_SECOND) / 1000;
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(REFUSALS);
            self.at = now;
        }
        let takes = self.has_some();
        self.left -= i64::from(takes);
        takes
    }

    /// Returns whether any are left.
    pub(super) fn has_some(&self) -> bool {
        self.left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_refusals_are_written_at_once_and_then_fifty_a_second() {
        let mut budget = Budget::new(0);
        assert_eq!((0..10_000).filter(|_| budget.takes(0)).count() as i64, REFUSALS);
        assert_eq!((0..10_000).filter(|_| budget.takes(1000)).count() as i64, REFUSALS_A_SECOND);
    }
}
