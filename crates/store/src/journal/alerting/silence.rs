//! How long a stream, or a resource, may be silent.

use crate::conditions::Condition;

/// How many intervals are remembered.
const REMEMBERED: usize = 9;
/// How many are to be known before one is the usual one.
const NEEDED: usize = 3;
/// The length of an interval in the database.
const STORED: usize = 8;

/// When readings arrived last, and the latest intervals between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rhythm {
    pub(super) heard: Option<i64>,
    intervals: Vec<i64>,
}

impl Rhythm {
    pub(super) fn read(heard: Option<i64>, stored: &[u8]) -> Self {
        let intervals = stored.as_chunks::<STORED>().0.iter().map(|bytes| i64::from_be_bytes(*bytes));
        Self { heard, intervals: intervals.take(REMEMBERED).collect() }
    }

    pub(super) fn written(&self) -> Vec<u8> {
        self.intervals.iter().flat_map(|interval| interval.to_be_bytes()).collect()
    }

    /// Readings arrived. What arrives in one millisecond, or after the clock was set back, makes no interval.
    pub(super) fn hear(&mut self, now: i64) {
        let interval = self.heard.map(|heard| now.saturating_sub(heard)).filter(|interval| *interval > 0);
        if let Some(interval) = interval {
            let excess = (self.intervals.len() + 1).saturating_sub(REMEMBERED);
            self.intervals.drain(..excess);
            self.intervals.push(interval);
        }
        self.heard = Some(now);
    }

    /// How long silence may last: the middle one of the intervals so many times, or as long as is said.
    pub(super) fn patience(&self, condition: &Condition) -> Option<i64> {
        match *condition {
            Condition::Silence { periods: Some(periods), .. } => {
                let mut sorted = self.intervals.clone();
                sorted.sort_unstable();
                let usual = sorted.get(sorted.len() / 2).filter(|_| sorted.len() >= NEEDED)?;
                Some(usual.saturating_mul(periods))
            }
            Condition::Silence { after_s, .. } => after_s.map(|after| after.saturating_mul(1_000)),
            Condition::Threshold { .. } | Condition::Change { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_interval_is_the_middle_one_of_the_latest() {
        let condition = Condition::Silence { periods: Some(3), after_s: None };
        let mut rhythm = Rhythm::default();
        for now in [0, 60_000, 60_000, 120_000] {
            rhythm.hear(now);
            assert_eq!(rhythm.patience(&condition), None, "two intervals are not enough");
        }
        // A pause of the cloud is one of many.
        rhythm.hear(9_000_000);
        assert_eq!(rhythm.patience(&condition), Some(180_000));
        for n in 1..=9 {
            rhythm.hear(9_000_000 + n * 10_000);
        }
        assert_eq!(rhythm.patience(&condition), Some(30_000));
        assert_eq!(Rhythm::read(rhythm.heard, &rhythm.written()), rhythm);
        let fixed = Condition::Silence { periods: None, after_s: Some(7) };
        assert_eq!(Rhythm::default().patience(&fixed), Some(7_000));
    }
}
