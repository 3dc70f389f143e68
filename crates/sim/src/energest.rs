//! What Contiki's Energest would count of a node, and the energy that this view gives.
//!
//! Energest adds up, by a timer of a few ten kilohertz, how long the CPU was at work and in low power, and how long the radio sent or was on
//! otherwise: it does not know whether a frame came in meanwhile, nor that radios acknowledge frames by themselves. Of each part it takes
//! the timer's count at the beginning from that at the end.

use serde::Serialize;

use crate::profile::Profile;
use crate::time::Time;

/// Ticks a second of the timer that Energest counts by, on most of Contiki's platforms.
pub(crate) const TICKS: u32 = 32_768;

/// A timer of so many ticks a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TickTimer(pub(crate) u32);

impl TickTimer {
    /// What it shows at `time`.
    pub(crate) fn count(self, time: Time) -> u64 {
        // Of whole seconds and of the rest, as a division of 128 bits takes long.
        let (seconds, rest) = (time.micros() / 1_000_000, time.micros() % 1_000_000);
        seconds * u64::from(self.0) + rest * u64::from(self.0) / 1_000_000
    }

    /// The ticks from one time to another.
    pub(crate) fn between(self, from: Time, to: Time) -> u64 {
        self.count(to) - self.count(from)
    }
}

/// What Energest shows, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EnergestTicks {
    /// The CPU was at work.
    pub cpu: u64,
    /// It was in low power.
    pub lpm: u64,
    /// The radio sent, but acknowledgements: these it sends by itself.
    pub tx: u64,
    /// It was on otherwise, whether a frame came in or not.
    pub rx: u64,
}

/// What Energest shows of a node, and what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Energest {
    /// Ticks a second.
    pub hz: u32,
    /// What it shows.
    pub ticks: EnergestTicks,
    /// What that comes to, in millijoules: the ticks times current and voltage, where a radio that is on draws what it draws while it waits for a
    /// frame.
    pub energy_mj: f64,
}

impl EnergestTicks {
    /// What its parts are called in reports.
    pub(crate) const PARTS: [&str; 4] = ["cpu", "lpm", "tx", "rx"];
}

impl Energest {
    /// What it shows on a platform of these figures.
    pub(crate) fn of(profile: &Profile, ticks: EnergestTicks) -> Self {
        let EnergestTicks { cpu, lpm, tx, rx } = ticks;
        let states = [(cpu, profile.cpu), (lpm, profile.lpm), (tx, profile.tx), (rx, profile.listen)];
        let charge: u128 =
            states.iter().map(|&(ticks, current)| u128::from(ticks) * u128::from(current)).sum();
        // nA · mV are picowatts, and these times ticks over ticks a second picojoules.
        let nanojoules = charge * u128::from(profile.millivolts) / (u128::from(profile.energest) * 1000);
        Self { hz: profile.energest, ticks, energy_mj: nanojoules as f64 / 1e6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;
    use crate::time::Span;

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_timer_counts_whole_ticks_and_loses_none_between_two_parts() {
        let timer = TickTimer(TICKS);
        assert_eq!(
            [0, 30, 31, 61, 62, 1_000_000].map(|micros| timer.count(at(micros))),
            [0, 0, 1, 1, 2, TICKS.into()]
        );
        let parts = [0, 7, 40, 77, 100_003];
        let sum: u64 = parts.windows(2).map(|ends| timer.between(at(ends[0]), at(ends[1]))).sum();
        assert_eq!(sum, timer.count(at(100_003)));
    }

    #[test]
    fn its_energy_is_that_which_the_collect_view_of_contiki_prints() {
        let second = u64::from(TICKS);
        let sky = *Platform::tmote_sky().profile();
        let of = |ticks| Energest::of(&sky, ticks).energy_mj;
        let none = EnergestTicks::default();
        // Power of a part, by Contiki's SensorData.java: ticks × mA × 3 V ÷ ticks a second.
        assert_eq!(of(EnergestTicks { cpu: second, ..none }), 5.4);
        assert_eq!(of(EnergestTicks { lpm: second, ..none }), 0.1635);
        assert_eq!(of(EnergestTicks { tx: second, ..none }), 53.1);
        assert_eq!(of(EnergestTicks { rx: second / 2, ..none }), 30.0);
    }
}
