//! Axes: from values to places on the screen.

/// More than this many times the least value, and the axis is logarithmic.
const WIDE: f64 = 40.0;

/// From values to places on the screen.
pub(super) struct Axis {
    least: f64,
    most: f64,
    is_logarithmic: bool,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis for `values` that goes on the screen between `from` and `to`; a logarithmic one where they differ much.
    pub(super) fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let (least, most) = ends(values.clone());
        if least <= 0.0 || most <= WIDE * least {
            return Self::linear(values, from, to);
        }
        let (least, most) = (10f64.powf(least.log10().floor()), 10f64.powf(most.log10().ceil()));
        Self { least, most, is_logarithmic: true, from, to }
    }

    /// One that is not logarithmic, with nothing on it.
    pub(super) fn linear(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (least, most) = ends(values);
        let step = step(most.max(0.0) - least.min(0.0));
        let (least, most) = ((least.min(0.0) / step).floor() * step, (most.max(0.0) / step).ceil() * step);
        Self { least, most: if most > least { most } else { least + 1.0 }, is_logarithmic: false, from, to }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value.max(self.least) / self.least).log10() / (self.most / self.least).log10()
        } else {
            (value - self.least) / (self.most - self.least)
        };
        self.from + share * (self.to - self.from)
    }

    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let (first, last) = (self.least.log10().round() as i32, self.most.log10().round() as i32);
            return (first..=last).map(|power| 10f64.powi(power)).collect();
        }
        let step = step(self.most - self.least);
        let count = ((self.most - self.least) / step).round() as i32;
        (0..=count).map(|n| self.least + step * f64::from(n)).collect()
    }
}

/// The least and the most of them.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)))
}

/// A round step, of which some four to nine make `range`.
fn step(range: f64) -> f64 {
    if range <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf((range / 5.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|round| round * power);
    steps.into_iter().find(|step| range / step <= 8.0).unwrap_or(steps[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_hold_all_values_and_have_some_round_ticks() {
        for values in [
            vec![0.27, 1.2, 7.9],
            vec![3.0],
            vec![0.0],
            vec![-4.0, 12.0],
            vec![1.0, 900.0],
            vec![0.004, 77.0],
        ] {
            let axis = Axis::new(values.iter().copied(), 100.0, 0.0);
            for &value in &values {
                assert!((-0.001..=100.001).contains(&axis.place(value)), "{value} of {values:?}");
            }
            let ticks = axis.ticks();
            assert!((2..=12).contains(&ticks.len()), "{ticks:?}");
            assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
        }
    }
}
