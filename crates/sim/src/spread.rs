//! A value of several runs: the mean, how far runs are from it, and how well they tell it.

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;
/// Those of Student's t distribution with 1 to 9 degrees of freedom.
const STUDENT: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// A value of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean of runs.
    pub mean: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// Half the width of the mean's 95 % confidence interval, by Student's t distribution.
    half: f64,
}

impl Spread {
    /// The spread of at least two values; nothing of fewer.
    pub fn of(values: &[f64]) -> Option<Self> {
        let degrees = values.len().checked_sub(1).filter(|degrees| *degrees > 0)?;
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let sd = (squares / degrees as f64).sqrt();
        Some(Self { mean, sd, half: quantile(degrees) * sd / count.sqrt() })
    }

    /// Half the width of the mean's 95 % confidence interval.
    pub const fn half(&self) -> f64 {
        self.half
    }

    /// The mean's 95 % confidence interval.
    pub const fn interval(&self) -> [f64; 2] {
        [self.mean - self.half, self.mean + self.half]
    }
}

/// The 97.5 % quantile of Student's t distribution: from 10 degrees of freedom on, that of the normal one and the first three terms
/// of the difference, which is right to three digits.
fn quantile(degrees: usize) -> f64 {
    let (n, z) = (degrees as f64, NORMAL);
    let z3 = z * z * z;
    let (z5, z7) = (z3 * z * z, z3 * z3 * z);
    let first = (z3 + z) / (4.0 * n);
    let second = (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n);
    let third = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n);
    STUDENT.get(degrees - 1).copied().unwrap_or(z + first + second + third)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, expected) in
            [(1, 12.706), (4, 2.776), (9, 2.262), (10, 2.228), (19, 2.093), (99, 1.984)]
        {
            assert!((quantile(degrees) - expected).abs() < 0.001, "{degrees}: {}", quantile(degrees));
        }
    }

    #[test]
    fn a_mean_has_an_interval_from_two_runs_on() {
        assert_eq!(Spread::of(&[7.0]), None);
        let spread = Spread::of(&[1.0, 3.0, 5.0, 7.0]).unwrap();
        assert_eq!(spread.mean, 4.0);
        assert!((spread.sd - 2.582).abs() < 0.001 && (spread.half - 4.108).abs() < 0.001, "{spread:?}");
    }
}
