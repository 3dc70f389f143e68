use sixlock_base::Entropy;

use crate::Csma;
use crate::rules::{Backoff, ChannelAccess, Rules};

/// The largest backoff exponent of the standard.
const MAX_BE: u8 = 8;

/// Units that [`Backoff::Linear`] draws from at most.
const MAX_LINEAR: u32 = 3;

/// The longest frame with what synchronises its receiver, in symbols (phyMaxFrameDuration).
const LONGEST_FRAME: u32 = 266;

/// For how many symbols a device listens for a frame that a neighbour holds for it at least: 100 ms. The time of the standard is that of the
/// channel access and the frame. A neighbour opens the data request, and makes and seals the frame, before: in software, that takes slow CPUs
/// tens of milliseconds. Who sends at once loses nothing, as the frame ends the wait.
const LEAST_WAIT: u32 = 6_250;

/// For how many symbols a device listens for a frame that a neighbour holds for it (macMaxFrameTotalWaitTime, 7.4.2), or [`LEAST_WAIT`].
pub(crate) fn total_wait(csma: &Csma, rules: &Rules) -> u32 {
    let mut access = Access::new(csma);
    let mut units = 0;
    for _ in 0..csma.max_backoffs {
        units += (1 << access.exponent.min(MAX_BE)) - u32::from(access.exponent >= csma.max_be);
        access.busy(csma);
    }
    (units * rules.unit_backoff + LONGEST_FRAME).max(LEAST_WAIT)
}

/// The channel access of one transmission: unslotted CSMA-CA (7.5.1.4).
pub(crate) struct Access {
    /// Backoffs so far because the channel was busy (NB).
    backoffs: u8,
    /// The backoff exponent (BE).
    exponent: u8,
}

impl Access {
    /// No access under way.
    pub(crate) const NONE: Self = Self { backoffs: 0, exponent: 0 };

    /// The begin of an access.
    pub(crate) const fn new(csma: &Csma) -> Self {
        Self { backoffs: 0, exponent: csma.min_be }
    }

    /// A random delay before the next assessment of the channel, in symbols, for a frame that was sent `retries` times without an
    /// acknowledgement.
    // It is drawn at two places.
    #[inline(never)]
    pub(crate) fn delay<A: ChannelAccess, E: Entropy>(
        &self,
        access: &A,
        retries: u8,
        entropy: &mut E,
    ) -> u32 {
        let rules = access.rules();
        let last = || (1 << self.exponent.min(MAX_BE)) - 1;
        match rules.backoff {
            Backoff::Standard => (entropy.next_u32() & last()) * rules.unit_backoff,
            Backoff::Ticks(unit) => {
                let unit = u32::from(unit.get());
                let ticks = entropy.next_u32() % (last() * unit).max(1);
                ticks / unit * rules.unit_backoff + ticks % unit * rules.unit_backoff / unit
            }
            Backoff::Linear if retries == 0 && self.backoffs == 0 => 0,
            Backoff::Linear => {
                let units = (u32::from(retries) + 1).min(MAX_LINEAR);
                rules.unit_backoff + entropy.next_u32() % (units * rules.unit_backoff).max(1)
            }
        }
    }

    /// Takes note of a busy channel; whether to back off once more.
    pub(crate) fn busy(&mut self, csma: &Csma) -> bool {
        self.backoffs = self.backoffs.saturating_add(1);
        self.exponent = self.exponent.saturating_add(1).min(csma.max_be);
        self.backoffs <= csma.max_backoffs
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU16;

    use super::*;
    use crate::rules::{Rules, Standard};
    use sixlock_testing::Fixed;

    #[test]
    fn the_backoff_window_doubles_up_to_its_limit_and_then_the_channel_is_busy() {
        let csma = Csma { min_be: 3, max_be: 5, max_backoffs: 4, max_retries: 0 };
        let mut access = Access::new(&csma);
        for longest in [7, 15, 31, 31] {
            assert_eq!(access.delay(&Standard, 0, &mut Fixed([0xff])), longest * 20);
            assert!(access.busy(&csma));
        }
        assert_eq!(access.delay(&Standard, 0, &mut Fixed([0xff])), 31 * 20);
        assert!(!access.busy(&csma));
    }

    #[test]
    fn a_device_listens_for_a_frame_that_is_held_for_100_ms_or_as_long_as_the_standard_says() {
        // 266 + (2^3 + 2^4 + (2^5 - 1) * (4 - 2)) * 20 symbols are 31.8 ms.
        assert_eq!(total_wait(&Csma::default(), &Rules::STANDARD), LEAST_WAIT);
        let csma = Csma { min_be: 7, max_be: 7, max_backoffs: 3, max_retries: 0 };
        assert_eq!(total_wait(&csma, &Rules::STANDARD), 266 + 127 * 3 * 20);
    }

    #[test]
    fn an_exponent_beyond_the_standard_is_taken_as_its_largest() {
        let csma = Csma { min_be: 200, max_be: 200, max_backoffs: 0, max_retries: 0 };
        assert_eq!(Access::new(&csma).delay(&Standard, 0, &mut Fixed([0xff])), 255 * 20);
    }

    #[test]
    fn contiki_ng_draws_one_tick_less_and_contiki_waits_longer_with_each_transmission() {
        let csma = Csma { min_be: 3, max_be: 5, max_backoffs: 5, max_retries: 7 };
        let rules = Rules { unit_backoff: 488, backoff: Backoff::Ticks(NonZeroU16::MIN), ..Rules::STANDARD };
        let delays =
            (0..14).map(|drawn| Access::new(&csma).delay(&rules, 0, &mut Fixed(u32::to_le_bytes(drawn))));
        assert_eq!(delays.max(), Some(6 * 488));
        let none = Csma { min_be: 0, ..csma };
        assert_eq!(Access::new(&none).delay(&rules, 0, &mut Fixed([5])), 0);

        // In Cooja a unit is 6 ms, and the clock ticks each millisecond.
        let ticks = NonZeroU16::new(6).unwrap();
        let rules = Rules { unit_backoff: 375, backoff: Backoff::Ticks(ticks), ..Rules::STANDARD };
        let delays = [0, 1, 2, 6, 41, 42]
            .map(|drawn| Access::new(&csma).delay(&rules, 0, &mut Fixed(u32::to_le_bytes(drawn))));
        assert_eq!(delays, [0, 62, 125, 375, 6 * 375 + 5 * 375 / 6, 0]);

        let rules = Rules { unit_backoff: 7812, backoff: Backoff::Linear, ..Rules::STANDARD };
        let mut access = Access::new(&csma);
        let longest = |access: &Access, retries, units| {
            let delay = |drawn| access.delay(&rules, retries, &mut Fixed(u32::to_le_bytes(drawn)));
            (delay(0), delay(units * 7812 - 1), delay(units * 7812))
        };
        assert_eq!(access.delay(&rules, 0, &mut Fixed([9])), 0, "at once");
        for (retries, units) in [(1, 2), (2, 3), (3, 3), (4, 3)] {
            let least = 7812;
            assert_eq!(longest(&access, retries, units), (least, least + units * 7812 - 1, least));
        }
        assert!(access.busy(&csma));
        assert_eq!(longest(&access, 0, 1), (7812, 2 * 7812 - 1, 7812), "after a busy channel");
    }
}
