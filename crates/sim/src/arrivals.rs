//! When what a node sends or gets is due, one after the other: by its period, and by chance where the traffic has that.
//!
//! Each draw has a stream of its own, so that a node that starts anew goes on with the same times.

use crate::random::{Purpose, Stream};
use crate::scenario::{Pattern, Traffic};
use crate::time::Span;

/// The times from each reading of a node, or echo to it, to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrivals {
    seed: u64,
    node: u32,
    begin: Span,
    period: Span,
    pattern: Pattern,
}

impl Arrivals {
    pub(crate) fn new(seed: u64, node: u32, traffic: &Traffic) -> Self {
        Self { seed, node, begin: traffic.begin, period: traffic.period, pattern: traffic.pattern }
    }

    /// From the beginning to the first: anywhere in the time in which one comes on average, or one burst, from the traffic's begin on.
    pub(crate) fn first(&self) -> Span {
        let within = |span: Span| {
            Span::from_micros(Stream::new(self.seed, self.node, Purpose::Start).below(span.micros()))
        };
        let first = match self.pattern {
            Pattern::Periodic { jitter } => within(self.period) + self.shift(1, jitter),
            Pattern::Poisson => self.exponential(0),
            Pattern::Burst { readings, .. } => within(times(self.period, readings.into())),
        };
        self.begin + first
    }

    /// From the one of this number, from 1 on, to the next, in whole milliseconds.
    pub(crate) fn gap(&self, number: u64) -> Span {
        match self.pattern {
            Pattern::Periodic { jitter } => {
                (self.period + self.shift(number + 1, jitter)).saturating_sub(self.shift(number, jitter))
            }
            Pattern::Poisson => self.exponential(number),
            Pattern::Burst { readings, gap } if !number.is_multiple_of(readings.into()) => gap,
            Pattern::Burst { readings, gap } => {
                let burst = times(gap, u64::from(readings) - 1);
                times(self.period, readings.into()).saturating_sub(burst)
            }
        }
    }

    fn stream(&self, number: u64) -> Stream {
        Stream::new(self.seed, self.node, Purpose::Traffic { number: number as u32 })
    }

    /// By how much the one of this number comes late.
    fn shift(&self, number: u64, jitter: Span) -> Span {
        match jitter.micros() / 1000 {
            0 => Span::ZERO,
            most => Span::from_millis(self.stream(number).below(most + 1)),
        }
    }

    /// A time between two events of a Poisson process, at least a millisecond. Von Neumann's way needs no logarithm, which machines
    /// round each in its own way: numbers are drawn as long as each is below the one before. If that makes an odd number of them, the
    /// first is the fraction of a period, else another period is added.
    fn exponential(&self, number: u64) -> Span {
        let mut stream = self.stream(number);
        let period = self.period.micros();
        let mut whole = 0;
        loop {
            let fraction = stream.below(period);
            let (mut last, mut drawn) = (fraction, 1);
            loop {
                let next = stream.below(period);
                if next >= last {
                    break;
                }
                (last, drawn) = (next, drawn + 1);
            }
            if drawn % 2 == 1 {
                let millis = (whole * period + fraction) / 1000;
                return Span::from_millis(millis.max(1));
            }
            whole += 1;
        }
    }
}

fn times(span: Span, number: u64) -> Span {
    Span::from_micros(span.micros().saturating_mul(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn arrivals(node: u32, pattern: Pattern) -> Arrivals {
        let traffic = Traffic { pattern, period: Span::from_secs(10), ..Scenario::default().traffic };
        Arrivals::new(7, node, &traffic)
    }

    fn gaps(arrivals: &Arrivals, count: u64) -> Vec<u64> {
        (1..=count).map(|number| arrivals.gap(number).micros()).collect()
    }

    #[test]
    fn the_times_between_readings_are_those_of_their_pattern() {
        let steady = arrivals(1, Pattern::Periodic { jitter: Span::ZERO });
        let later = Arrivals { begin: Span::from_secs(1800), ..steady };
        assert_eq!(later.first(), later.begin + steady.first());
        assert_eq!(gaps(&later, 3), gaps(&steady, 3));
        assert!(steady.first() < Span::from_secs(10));
        assert_eq!(gaps(&steady, 3), [10_000_000; 3]);

        let jitter = arrivals(1, Pattern::Periodic { jitter: Span::from_secs(2) });
        let gaps_with = gaps(&jitter, 1000);
        assert!(gaps_with.iter().all(|gap| (8_000_000..=12_000_000).contains(gap) && gap % 1000 == 0));
        let sum = gaps_with.iter().sum::<u64>();
        assert!(
            (9_998_000_000..=10_002_000_000).contains(&sum),
            "they do not run away from the period: {sum}"
        );
        assert!(
            gaps_with.iter().any(|&gap| gap < 9_000_000) && gaps_with.iter().any(|&gap| gap > 11_000_000)
        );

        let burst = arrivals(1, Pattern::Burst { readings: 3, gap: Span::from_millis(5) });
        assert_eq!(gaps(&burst, 6), [5_000, 5_000, 29_990_000, 5_000, 5_000, 29_990_000]);
        assert!((0..50).any(|node| arrivals(node, burst.pattern).first() > Span::from_secs(20)));
    }

    /// Its mean is the period; 1 - 1/e of the times are shorter than that, and 1 - 1/e² than two periods.
    #[test]
    fn a_poisson_process_has_exponential_times() {
        let poisson = arrivals(3, Pattern::Poisson);
        let gaps = gaps(&poisson, 20_000);
        let mean = gaps.iter().sum::<u64>() / 20_000;
        assert!((9_800_000..10_200_000).contains(&mean), "{mean}");
        let shorter = |than: u64| gaps.iter().filter(|&&gap| gap < than).count();
        assert!((12_440..12_840).contains(&shorter(10_000_000)), "{}", shorter(10_000_000));
        assert!((17_150..17_450).contains(&shorter(20_000_000)), "{}", shorter(20_000_000));
        assert_ne!(poisson.gap(1), arrivals(4, Pattern::Poisson).gap(1));
    }
}
