//! The clock of a device: its crystal runs fast or slow.

use sixlock_base::{Instant, Symbols};

use crate::random::{Purpose, Stream};
use crate::time::{Span, Time};

/// A billion: drifts are counted in parts of it.
const BILLION: u64 = 1_000_000_000;

/// How fast the clock of a device runs, whose machine is told the time by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// How much faster than the simulation's, in parts per billion; slower, if it is negative.
    drift: i32,
    /// What it shows when the simulation begins.
    origin: Time,
}

impl Clock {
    /// One that neither gains nor loses.
    pub(crate) const TRUE: Self = Self { drift: 0, origin: Time::ZERO };

    /// That of station `id`, which runs at most `most` parts per billion fast or slow. Nothing is drawn where it runs true.
    pub(crate) fn of_station(seed: u64, id: u32, most: u32) -> Self {
        let most = most.min(1_000_000) as i32;
        match most {
            0 => Self::TRUE,
            _ => {
                let drawn = Stream::new(seed, id, Purpose::Drift).below(2 * most as u64 + 1);
                Self { drift: drawn as i32 - most, ..Self::TRUE }
            }
        }
    }

    /// The same clock, which shows `origin` when the simulation begins.
    pub(crate) fn from(self, origin: Time) -> Self {
        Self { origin, ..self }
    }

    /// What it shows at `time`.
    pub(crate) fn at(self, time: Time) -> Time {
        let micros = time.micros();
        self.origin + Span::from_micros(micros.saturating_add_signed(self.gains(micros, BILLION)))
    }

    /// The first time at which it shows `shown` or later.
    pub(crate) fn until(self, shown: Time) -> Time {
        let micros = shown.since(self.origin).micros();
        // While it shows so much more, it gains its drift: all but that passes.
        let gained = self.gains(micros, BILLION.saturating_add_signed(self.drift.into()));
        Time::ZERO + Span::from_micros(micros.saturating_add_signed(-gained))
    }

    /// Its drift times `micros`, divided by `parts` and rounded down: of whole `parts` and of the rest, as the product may not fit.
    fn gains(self, micros: u64, parts: u64) -> i64 {
        let drift = i64::from(self.drift);
        (micros / parts) as i64 * drift + ((micros % parts) as i64 * drift).div_euclid(parts as i64)
    }

    /// When so much time has passed on it since the simulation began.
    pub(crate) fn after(self, passed: Span) -> Time {
        self.until(self.origin + passed)
    }

    /// The millisecond that it tells a machine at `now`, wrapping.
    pub(crate) fn instant(self, now: Time) -> Instant {
        self.at(now).instant()
    }

    /// The radio time that it tells a machine at `now`, wrapping.
    pub(crate) fn symbols(self, now: Time) -> Symbols {
        self.at(now).symbols()
    }

    /// When a machine's millisecond `deadline` comes; `now` if it has passed.
    pub(crate) fn of_instant(self, now: Time, deadline: Instant) -> Time {
        self.until(self.at(now).of_instant(deadline)).max(now)
    }

    /// When a machine's radio time `deadline` comes; `now` if it has passed.
    pub(crate) fn of_symbols(self, now: Time, deadline: Symbols) -> Time {
        self.until(self.at(now).of_symbols(deadline)).max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_base::Duration;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_crystal_that_runs_40_ppm_fast_gains_144_ms_an_hour() {
        let fast = Clock { drift: 40_000, ..Clock::TRUE };
        assert_eq!(fast.at(at(3_600_000_000)), at(3_600_144_000));
        let slow = Clock { drift: -40_000, ..Clock::TRUE };
        assert_eq!(slow.at(at(3_600_000_000)), at(3_599_856_000));
        assert_eq!(Clock::TRUE.at(at(3_600_000_001)), at(3_600_000_001));
        let late = fast.from(at(7_000_000));
        assert_eq!(late.at(at(3_600_000_000)), at(3_607_144_000));
        assert_eq!(late.after(Span::from_secs(3600)), fast.until(at(3_600_000_000)));
        assert_eq!(late.until(at(6_000_000)), Time::ZERO, "it has shown that already");
    }

    #[test]
    fn a_deadline_comes_at_the_first_moment_at_which_the_clock_shows_it() {
        for drift in [-100_000, -40_000, -1, 0, 1, 7, 40_000] {
            let clock = Clock { drift, ..Clock::TRUE };
            for micros in [0, 1, 15, 16, 999, 1000, 68_719_476_735, 4_294_967_295_999, 9_999_999_999_999] {
                let (now, shown) = (at(micros), clock.at(at(micros)));
                let deadline = clock.instant(now) + Duration::from_millis(7);
                let time = clock.of_instant(now, deadline);
                assert!(clock.instant(time).has_reached(deadline), "{drift}, {micros}");
                assert!(!clock.instant(at(time.micros() - 1)).has_reached(deadline), "{drift}, {micros}");
                let symbols = clock.symbols(now).after(3);
                let time = clock.of_symbols(now, symbols);
                assert!(clock.symbols(time).has_reached(symbols), "{drift}, {micros}");
                assert!(!clock.symbols(at(time.micros() - 1)).has_reached(symbols), "{drift}, {micros}");
                assert_eq!(clock.of_instant(now, clock.instant(now)), now, "it has passed");
                assert!(clock.until(shown) <= now);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn what_it_shows_is_reckoned_as_with_numbers_of_any_size(micros in 0u64..1 << 60, drift in -1_000_000i32..=1_000_000) {
            let clock = Clock { drift, ..Clock::TRUE };
            let (wide, parts) = (i128::from(micros), i128::from(BILLION));
            let shown = wide + (wide * i128::from(drift)).div_euclid(parts);
            proptest::prop_assert_eq!(i128::from(clock.at(at(micros)).micros()), shown);
            let rate = parts + i128::from(drift);
            let needed = (wide * parts + rate - 1).div_euclid(rate);
            proptest::prop_assert_eq!(i128::from(clock.until(at(micros)).micros()), needed);
        }
    }

    #[test]
    fn drifts_are_drawn_on_both_sides_up_to_the_most() {
        let all: Vec<i32> = (0..200).map(|id| Clock::of_station(1, id, 40_000).drift).collect();
        assert!(all.iter().all(|drift| (-40_000..=40_000).contains(drift)));
        assert!(all.iter().any(|&drift| drift < -30_000) && all.iter().any(|&drift| drift > 30_000));
        assert_eq!(all, (0..200).map(|id| Clock::of_station(1, id, 40_000).drift).collect::<Vec<_>>());
        assert_eq!(Clock::of_station(1, 1, 0), Clock::TRUE);
    }
}
