use sixlock_base::{Duration, Instant};

use crate::Config;

/// What a client knows of how long a flight and its answer take; `()` knows nothing, and takes no room.
pub trait RoundTrips: Copy {
    /// Nothing was measured yet.
    const UNKNOWN: Self;

    /// A flight is all out.
    fn sent(&mut self, now: Instant);

    /// The flight's answer is here. That of one that was sent more than once measures nothing, as nobody can say which
    /// it answers.
    fn answered(&mut self, now: Instant, repeated: bool);

    /// The first wait of the next flight: no shorter than [`Config::initial_timeout`], no longer than
    /// [`Config::max_timeout`].
    fn first_wait(&self, config: &Config) -> Duration;
}

impl RoundTrips for () {
    const UNKNOWN: Self = ();

    fn sent(&mut self, _: Instant) {}

    fn answered(&mut self, _: Instant, _: bool) {}

    fn first_wait(&self, config: &Config) -> Duration {
        config.initial_timeout
    }
}

/// The round-trip time of the handshakes with a peer, smoothed as
/// [RFC 6298 section 2](https://www.rfc-editor.org/rfc/rfc6298#section-2) says. What the peer does before it answers is part
/// of it: one that takes seconds for a signature is waited for as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When the flight went out that was not answered yet.
    sent: Option<Instant>,
    /// Eight times the mean, in milliseconds; 0 before anything was measured.
    smoothed: u32,
    /// Four times the mean deviation, in milliseconds.
    variation: u32,
}

impl RoundTrip {
    /// The longest time that is measured, in milliseconds: more is counted as this.
    const LONGEST: u32 = 1 << 20;

    fn measured(&mut self, millis: u32) {
        let millis = millis.clamp(1, Self::LONGEST);
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (millis << 3, millis << 1);
            return;
        }
        self.variation = self.variation - (self.variation >> 2) + millis.abs_diff(self.smoothed >> 3);
        self.smoothed = self.smoothed - (self.smoothed >> 3) + millis;
    }
}

impl RoundTrips for RoundTrip {
    const UNKNOWN: Self = Self { sent: None, smoothed: 0, variation: 0 };

    fn sent(&mut self, now: Instant) {
        self.sent = Some(now);
    }

    fn answered(&mut self, now: Instant, repeated: bool) {
        if let (Some(sent), false) = (self.sent.take(), repeated) {
            self.measured(now.since(sent).millis());
        }
    }

    fn first_wait(&self, config: &Config) -> Duration {
        let measured = Duration::from_millis((self.smoothed >> 3) + self.variation);
        measured.min(config.max_timeout).max(config.initial_timeout)
    }
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config { initial_timeout: Duration::from_millis(10), ..Config::HOST };

    fn after(times: &[u32]) -> u32 {
        let mut round_trip = RoundTrip::UNKNOWN;
        for &time in times {
            round_trip.sent(Instant::from_millis(7));
            round_trip.answered(Instant::from_millis(7) + Duration::from_millis(time), false);
        }
        round_trip.first_wait(&CONFIG).millis()
    }

    /// Reckoned by hand from RFC 6298 sections 2.2 and 2.3.
    #[test]
    fn the_wait_is_the_mean_and_four_times_the_deviation() {
        assert_eq!(after(&[]), 10);
        // R + 4 · R/2.
        assert_eq!(after(&[100]), 300);
        // RTTVAR = 3/4 · 50 = 37.5, SRTT = 100.
        assert_eq!(after(&[100, 100]), 250);
        // RTTVAR = 3/4 · 50 + 1/4 · 800 = 237.5, SRTT = 7/8 · 100 + 1/8 · 900 = 200.
        assert_eq!(after(&[100, 900]), 1150);
        // Times that are always the same are waited for little longer.
        assert!(after(&[100; 30]) < 110);
    }

    #[test]
    fn the_wait_has_bounds() {
        assert_eq!(after(&[1]), 10);
        assert_eq!(after(&[u32::MAX; 3]), CONFIG.max_timeout.millis());
    }

    #[test]
    fn what_was_sent_twice_measures_nothing() {
        let mut round_trip = RoundTrip::UNKNOWN;
        round_trip.sent(Instant::from_millis(0));
        round_trip.answered(Instant::from_millis(500), true);
        // Nor does an answer to nothing.
        round_trip.answered(Instant::from_millis(900), false);
        assert_eq!(round_trip, RoundTrip::UNKNOWN);
    }
}
