use sixlock_base::Entropy;

use crate::Csma;

/// Length of a backoff period in symbols (aUnitBackoffPeriod).
const BACKOFF_PERIOD: u32 = 20;

/// The largest backoff exponent of the standard.
const MAX_BE: u8 = 8;

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

    /// A random delay before the next assessment of the channel, in symbols.
    pub(crate) fn delay<E: Entropy>(&self, entropy: &mut E) -> u32 {
        let periods = entropy.next_u32() & ((1 << self.exponent.min(MAX_BE)) - 1);
        periods * BACKOFF_PERIOD
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
    use super::*;
    use sixlock_testing::Fixed;

    #[test]
    fn the_backoff_window_doubles_up_to_its_limit_and_then_the_channel_is_busy() {
        let csma = Csma { min_be: 3, max_be: 5, max_backoffs: 4, max_retries: 0 };
        let mut access = Access::new(&csma);
        for longest in [7, 15, 31, 31] {
            assert_eq!(access.delay(&mut Fixed([0xff])), longest * 20);
            assert!(access.busy(&csma));
        }
        assert_eq!(access.delay(&mut Fixed([0xff])), 31 * 20);
        assert!(!access.busy(&csma));
    }

    #[test]
    fn an_exponent_beyond_the_standard_is_taken_as_its_largest() {
        let csma = Csma { min_be: 200, max_be: 200, max_backoffs: 0, max_retries: 0 };
        assert_eq!(Access::new(&csma).delay(&mut Fixed([0xff])), 255 * 20);
    }
}
