//! What the sensors measure: temperature, humidity and light, each slowly varying around a value of
//! its node's own. A pure function of seed, node and time, in integers.

use crate::random::{Purpose, Stream};
use crate::time::Time;

/// What one node's sensors measure over time.
#[derive(Clone, Debug)]
pub struct Environment {
    temperature: Varying,
    humidity: Varying,
    light: Varying,
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Temperature in tenths of a degree Celsius.
    pub temperature: i32,
    /// Relative humidity in tenths of a per cent.
    pub humidity: i32,
    /// Light in lux.
    pub light: i32,
}

impl Environment {
    /// The environment of `node`.
    pub fn new(seed: u64, node: u32) -> Self {
        let varying = |sensor, middle, slow, fast| Varying {
            stream: Stream::new(seed, node, Purpose::Environment { sensor }),
            middle,
            slow,
            fast,
            drawn: [None; 2],
        };
        Self {
            temperature: varying(0, 215, 40, 6),
            humidity: varying(1, 430, 120, 15),
            light: varying(2, 350, 250, 40),
        }
    }

    /// What the sensors measure at `time`.
    pub fn at(&mut self, time: Time) -> Reading {
        Reading {
            temperature: self.temperature.at(time),
            humidity: self.humidity.at(time),
            light: self.light.at(time),
        }
    }
}

/// A quantity that wanders at most `slow` from its middle within half an hour, and `fast` around
/// that within half a minute: values drawn at even times, joined by straight lines.
#[derive(Clone, Debug)]
struct Varying {
    stream: Stream,
    middle: i32,
    slow: i32,
    fast: i32,
    /// Of each wave the values that were drawn last: for this step and the next one.
    drawn: [Option<(u64, [u32; 2])>; 2],
}

const SLOW_MILLIS: u64 = 1_800_000;
const FAST_MILLIS: u64 = 30_000;

impl Varying {
    fn at(&mut self, time: Time) -> i32 {
        let millis = time.micros() / 1000;
        let (slow, fast) = (self.slow, self.fast);
        self.middle + self.wave(millis, SLOW_MILLIS, slow, 0) + self.wave(millis, FAST_MILLIS, fast, 1)
    }

    /// A value between -`height` and `height`. The two waves take alternate words of the stream.
    fn wave(&mut self, millis: u64, period: u64, height: i32, parity: usize) -> i32 {
        let (step, within) = (millis / period, (millis % period) as i64);
        let range = 2 * i64::from(height) + 1;
        let Self { stream, drawn, .. } = self;
        let draw = || [step, step + 1].map(|step| stream.word_at(2 * step + parity as u64));
        let known = drawn[parity].filter(|(known, _)| *known == step).map_or_else(draw, |(_, words)| words);
        drawn[parity] = Some((step, known));
        let [from, to] = known.map(|word| (i64::from(word) * range) >> 32);
        (from + (to - from) * within / period as i64) as i32 - height
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn readings_vary_slowly_within_their_bounds_and_repeat() {
        let mut environment = Environment::new(1, 3);
        let mut previous = environment.at(Time::ZERO);
        let mut seen = std::collections::BTreeSet::new();
        for second in 1..7200 {
            let reading = environment.at(Time::ZERO + Span::from_secs(second));
            assert!((169..=261).contains(&reading.temperature));
            assert!((295..=565).contains(&reading.humidity));
            assert!((60..=640).contains(&reading.light));
            assert!((reading.temperature - previous.temperature).abs() <= 2, "slowly");
            seen.insert(reading.temperature);
            previous = reading;
        }
        assert!(seen.len() > 10, "it varies");
        let again = Environment::new(1, 3).at(Time::ZERO + Span::from_secs(7199));
        assert_eq!(again, previous);
        assert_ne!(Environment::new(1, 4).at(Time::ZERO), Environment::new(1, 3).at(Time::ZERO));
    }
}
