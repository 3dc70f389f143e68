//! Values of several runs.

use sixlock_sim::Spread;

use crate::figure::{Provenance, Row};

/// The mean over runs and, from two runs on, the standard deviation and the mean's 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) mean: f64,
    sd: Option<f64>,
    interval: Option<[f64; 2]>,
}

impl Sample {
    /// That of no runs: not a number.
    pub(super) const NONE: Self = Self { mean: f64::NAN, sd: None, interval: None };

    pub(super) fn of(values: &[f64]) -> Self {
        match (values, Spread::of(values)) {
            (_, Some(spread)) => {
                Self { mean: spread.mean, sd: Some(spread.sd), interval: Some(spread.interval()) }
            }
            (&[mean], None) => Self { mean, ..Self::NONE },
            (_, None) => Self::NONE,
        }
    }

    /// The same in another unit.
    pub(super) fn times(self, factor: f64) -> Self {
        let Self { mean, sd, interval } = self;
        Self {
            mean: mean * factor,
            sd: sd.map(|sd| sd * factor),
            interval: interval.map(|ends| ends.map(|end| end * factor)),
        }
    }

    pub(super) fn row(self, label: impl Into<String>, unit: &'static str) -> Row {
        let Self { mean, sd, interval } = self;
        Row { sd, interval, ..Row::new(label, mean, unit, Provenance::Estimate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_has_a_mean_and_two_have_an_interval() {
        assert!(Sample::of(&[]).mean.is_nan());
        assert_eq!(Sample::of(&[3.0]), Sample { mean: 3.0, sd: None, interval: None });
        let two = Sample::of(&[1.0, 3.0]);
        assert_eq!(two.mean, 2.0);
        assert!(two.interval.is_some_and(|[low, high]| low < 1.0 && high > 3.0));
    }
}
