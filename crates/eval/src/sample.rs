//! Values, and how well runs tell them.

use sixlock_sim::Spread;

use crate::figure::{Provenance, Row};

/// A value, and how well it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The value; of several runs their mean.
    pub(crate) mean: f64,
    known: Known,
}

/// How well a value is known.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    /// Chance has no say.
    Exactly,
    /// The value of each run, in the order of the seeds; not a number where a run has none.
    ByRuns(Vec<f64>),
    /// The 95 % confidence interval.
    Within([f64; 2]),
}

impl Sample {
    /// That of no runs: not a number.
    pub(crate) const NONE: Self = Self { mean: f64::NAN, known: Known::ByRuns(Vec::new()) };

    /// A value in which chance has no say.
    pub(crate) const fn exactly(value: f64) -> Self {
        Self { mean: value, known: Known::Exactly }
    }

    /// The mean of runs, in the order of their seeds; a run without a value is not a number.
    pub(crate) fn of(runs: &[f64]) -> Self {
        let values = with_value(runs);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self { mean, known: Known::ByRuns(runs.to_vec()) }
    }

    /// So many of so many, of a hundred, with the interval of Wilson (1927).
    pub(crate) fn share(successes: f64, tries: f64) -> Self {
        const Z: f64 = 1.96;
        let (share, spread) = (successes / tries, Z * Z / tries);
        let centre = share + spread / 2.0;
        let half = Z * (share * (1.0 - share) / tries + spread / (4.0 * tries)).sqrt();
        let ends = [centre - half, centre + half].map(|end| 100.0 * end / (1.0 + spread));
        Self { mean: 100.0 * share, known: Known::Within(ends) }
    }

    /// What a row says.
    pub(crate) fn of_row(row: &Row) -> Self {
        let known = match row.interval {
            _ if !row.runs.is_empty() => Known::ByRuns(row.runs.clone()),
            Some(interval) => Known::Within(interval),
            None => Known::Exactly,
        };
        Self { mean: row.value, known }
    }

    /// The sum of samples, each times a factor. Runs are added seed by seed, as the same seed is the same chance for all of them. Where there are
    /// no runs, chance is taken to be another for each (Newcombe, 1998, method 10).
    pub(crate) fn sum(terms: &[(f64, &Self)]) -> Self {
        let mean: f64 = terms.iter().map(|(factor, sample)| factor * sample.mean).sum();
        if terms.iter().all(|(_, sample)| sample.known == Known::Exactly) {
            return Self::exactly(mean);
        }
        if terms.iter().any(|(_, sample)| matches!(sample.known, Known::Within(_))) {
            let mut squares = [0.0; 2];
            for &(factor, sample) in terms {
                let mut ends = sample.interval().map(|end| factor * (end - sample.mean));
                ends.sort_by(f64::total_cmp);
                for (sum, end) in squares.iter_mut().zip(ends) {
                    *sum += end * end;
                }
            }
            let [below, above] = squares.map(f64::sqrt);
            return Self { mean, known: Known::Within([mean - below, mean + above]) };
        }
        let lengths = terms.iter().filter_map(|(_, sample)| match &sample.known {
            Known::ByRuns(runs) => Some(runs.len()),
            _ => None,
        });
        let run = |at: usize| {
            let value = |sample: &Self| match &sample.known {
                Known::ByRuns(runs) => runs[at],
                _ => sample.mean,
            };
            terms.iter().map(|(factor, sample)| factor * value(sample)).sum()
        };
        Self::of(&(0..lengths.min().unwrap_or_default()).map(run).collect::<Vec<_>>())
    }

    /// How much more it is than another, with the same seeds.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        Self::sum(&[(1.0, self), (-1.0, other)])
    }

    /// How many per cent of another it is, with the same seeds. A run counts by how far it is from that ratio of the means: its first-order part.
    pub(crate) fn per_cent_of(&self, other: &Self) -> Self {
        let percent = 100.0 * self.mean / other.mean;
        let apart = Self::sum(&[(100.0 / other.mean, self), (-percent / other.mean, other)]);
        apart.plus(percent)
    }

    /// How many per cent more it is than another, with the same seeds.
    pub(crate) fn per_cent_more(&self, other: &Self) -> Self {
        self.per_cent_of(other).plus(-100.0)
    }

    /// More by so much.
    pub(crate) fn plus(&self, more: f64) -> Self {
        Self::sum(&[(1.0, self), (more, &Self::exactly(1.0))])
    }

    /// The same in another unit.
    pub(crate) fn times(&self, factor: f64) -> Self {
        Self::sum(&[(factor, self)])
    }

    /// Where it lies, with 95 % confidence. One run says nothing of that.
    pub(crate) fn interval(&self) -> [f64; 2] {
        match &self.known {
            Known::Exactly => [self.mean; 2],
            Known::Within(interval) => *interval,
            Known::ByRuns(runs) => {
                let spread = Spread::of(&with_value(runs));
                spread.map_or([f64::NEG_INFINITY, f64::INFINITY], |spread| spread.interval())
            }
        }
    }

    /// How many runs have a value; nothing where it is not of runs.
    pub(crate) fn runs(&self) -> Option<usize> {
        match &self.known {
            Known::ByRuns(runs) => Some(with_value(runs).len()),
            _ => None,
        }
    }

    pub(crate) fn row(&self, label: impl Into<String>, unit: &'static str) -> Row {
        let row = Row::new(label, self.mean, unit, Provenance::Estimate);
        match &self.known {
            Known::Exactly => row,
            Known::Within(interval) => Row { interval: Some(*interval), ..row },
            Known::ByRuns(runs) => {
                let spread = Spread::of(&with_value(runs));
                let sd = spread.map(|spread| spread.sd);
                Row { sd, interval: spread.map(|spread| spread.interval()), runs: runs.clone(), ..row }
            }
        }
    }
}

/// Those of runs that have a value.
fn with_value(runs: &[f64]) -> Vec<f64> {
    runs.iter().copied().filter(|value| !value.is_nan()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_has_a_mean_and_two_have_an_interval() {
        assert!(Sample::of(&[]).mean.is_nan());
        let one = Sample::of(&[3.0]);
        assert_eq!((one.mean, one.interval()), (3.0, [f64::NEG_INFINITY, f64::INFINITY]));
        assert_eq!(one.row("a", "ms").interval, None);
        let two = Sample::of(&[1.0, 3.0]);
        assert_eq!(two.mean, 2.0);
        assert!(two.row("a", "ms").interval.is_some_and(|[low, high]| low < 1.0 && high > 3.0));
    }

    #[test]
    fn what_two_have_in_common_is_no_part_of_their_difference() {
        let (less, more) = (Sample::of(&[10.0, 200.0, 90.0]), Sample::of(&[11.0, 201.1, 90.9]));
        let [low, high] = more.minus(&less).interval();
        assert!(0.7 < low && high < 1.3, "{low} to {high}");
        // Other seeds that pair otherwise tell nothing.
        let [low, high] = Sample::of(&[201.1, 90.9, 11.0]).minus(&less).interval();
        assert!(low < 0.0 && high > 0.0, "{low} to {high}");
    }

    #[test]
    fn a_run_without_a_value_is_left_out_of_its_pair() {
        let difference = Sample::of(&[5.0, f64::NAN, 9.0]).minus(&Sample::of(&[1.0, 1.0, 3.0]));
        assert_eq!((difference.mean, difference.runs()), (5.0, Some(2)));
    }

    #[test]
    fn a_ratio_is_that_of_the_means_and_certain_where_runs_are_in_proportion() {
        let (part, whole) = (Sample::of(&[1.0, 2.0, 6.0]), Sample::of(&[2.0, 4.0, 12.0]));
        let half = part.per_cent_of(&whole);
        assert!((half.mean - 50.0).abs() < 1e-9);
        assert!(half.interval().iter().all(|end| (end - 50.0).abs() < 1e-9), "{:?}", half.interval());
        let more = Sample::of(&[3.0, 4.0, 5.0]).per_cent_more(&Sample::of(&[1.0, 2.0, 3.0]));
        assert!((more.mean - 100.0).abs() < 1e-9);
        let [low, high] = more.interval();
        assert!(low < 0.0 && high > 200.0, "{low} to {high}");
    }

    #[test]
    fn few_successes_show_little_and_many_much() {
        // Wilson's interval of 8 of 10: 49.0 to 94.3.
        let [low, high] = Sample::share(8.0, 10.0).interval();
        assert!((low - 49.0).abs() < 0.1 && (high - 94.3).abs() < 0.1, "{low} to {high}");
        let low = |tries| Sample::share(tries, tries).interval()[0];
        assert!(low(10.0) < 75.0 && low(700.0) < 99.5 && low(800.0) > 99.5 && low(400.0) > 99.0);
    }

    #[test]
    fn the_difference_of_two_shares_is_less_certain_than_each() {
        // Newcombe (1998), method 10: 56 of 70 less 48 of 80 is 0.0524 to 0.3339.
        let [low, high] = Sample::share(56.0, 70.0).minus(&Sample::share(48.0, 80.0)).interval();
        assert!((low - 5.24).abs() < 0.02 && (high - 33.39).abs() < 0.02, "{low} to {high}");
    }
}
