//! What the points of a span of time amount to.

/// An hour, in milliseconds. Rollups are of hours, which begin with those of UTC.
pub const HOUR_MS: i64 = 3_600_000;

/// The beginning of the hour of `time`.
pub(crate) fn hour_of(time: i64) -> i64 {
    time.div_euclid(HOUR_MS).saturating_mul(HOUR_MS)
}

/// A sum of values, and what its rounding has left out (Neumaier's sum): in whatever order values are added, it is the same but for the
/// last digits. It stays at the greatest number that there is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) sum: f64,
    pub(crate) remainder: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        if !sum.is_finite() {
            *self = Self { sum: f64::MAX.copysign(sum), remainder: 0.0 };
            return;
        }
        self.remainder +=
            if self.sum.abs() >= value.abs() { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    fn merge(&mut self, other: Self) {
        self.add(other.sum);
        self.add(other.remainder);
    }

    pub(crate) fn value(self) -> f64 {
        (self.sum + self.remainder).clamp(f64::MIN, f64::MAX)
    }
}

/// What points amount to; of at least one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rollup {
    pub(crate) count: i64,
    pub(crate) sum: Sum,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// The time and the value of the first point, and of the last one.
    pub(crate) first: (i64, f64),
    pub(crate) last: (i64, f64),
}

impl Rollup {
    /// Of one point.
    pub(crate) fn of(time: i64, value: f64) -> Self {
        let sum = Sum { sum: value, remainder: 0.0 };
        Self { count: 1, sum, lowest: value, highest: value, first: (time, value), last: (time, value) }
    }

    /// Adds points, each of which arrived after those of the same millisecond that are in here.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(other.sum);
        self.lowest = self.lowest.min(other.lowest);
        self.highest = self.highest.max(other.highest);
        if other.first.0 < self.first.0 {
            self.first = other.first;
        }
        if other.last.0 >= self.last.0 {
            self.last = other.last;
        }
    }
}

/// The rollups of the hours of these points, which are in the order of their times and arrivals.
pub(crate) fn by_hour(points: impl IntoIterator<Item = (i64, f64)>) -> Vec<(i64, Rollup)> {
    let mut hours: Vec<(i64, Rollup)> = Vec::new();
    for (time, value) in points {
        let (hour, point) = (hour_of(time), Rollup::of(time, value));
        match hours.last_mut() {
            Some((last, rollup)) if *last == hour => rollup.merge(&point),
            _ => hours.push((hour, point)),
        }
    }
    hours
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
        let mut sum = Sum::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum.value()
    }

    #[test]
    fn a_sum_does_not_rest_on_the_order_of_its_values() {
        // Added plainly, the ones are lost beside the great ones.
        assert_eq!(sum([1e16, 1.0, 1.0, -1e16]), 2.0);
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        let values: Vec<f64> = (0..10_000).map(|n| f64::from(n) / 10.0 - 333.3).collect();
        let mut halves = Sum::default();
        for half in values.chunks(5_000).rev() {
            let mut part = Sum::default();
            half.iter().rev().for_each(|value| part.add(*value));
            halves.merge(part);
        }
        assert!((sum(values.iter().copied()) - halves.value()).abs() < 1e-9);
        assert_eq!(sum([f64::MAX, f64::MAX, 1.0]), f64::MAX);
        assert_eq!(sum([f64::MIN, f64::MIN]), f64::MIN);
    }

    #[test]
    fn hours_are_told_apart_and_of_one_millisecond_the_first_and_the_last_to_arrive_are_kept() {
        let at = |minutes: i64| minutes * 60_000;
        let hours = by_hour([(at(1), 3.0), (at(1), 1.0), (at(59), 2.0), (at(60), 7.0)]);
        assert_eq!(hours.len(), 2);
        assert_eq!((hours[0].0, hours[1].0), (0, HOUR_MS));
        let mut first = hours[0].1;
        assert_eq!((first.count, first.lowest, first.highest, first.sum.value()), (3, 1.0, 3.0, 6.0));
        assert_eq!((first.first, first.last), ((at(1), 3.0), (at(59), 2.0)));
        // What comes late joins them.
        first.merge(&Rollup::of(at(59), 9.0));
        first.merge(&Rollup::of(at(1), 8.0));
        assert_eq!((first.count, first.first, first.last), (5, (at(1), 3.0), (at(59), 9.0)));
        assert_eq!(hour_of(-1), -HOUR_MS);
    }
}
