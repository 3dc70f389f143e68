use sixlock_base::Symbols;

use crate::Timestamp;

/// Symbols of 16 µs in a second.
const SECOND: u32 = 62_500;
/// How many symbols may pass unnoticed: far fewer than radio time wraps in.
const PATIENCE: u32 = 1 << 31;

/// Counts seconds by radio time, which wraps every 19 hours; the seconds wrap after 136 years.
#[derive(Clone, Debug)]
pub struct Clock {
    now: Symbols,
    seconds: u32,
    /// Of the second that has begun.
    symbols: u32,
}

impl Clock {
    /// A clock whose origin is `now`.
    pub const fn new(now: Symbols) -> Self {
        Self { now, seconds: 0, symbols: 0 }
    }

    /// It is `now`. To be called by [`Clock::poll_timeout`] at the latest.
    pub fn advance(&mut self, now: Symbols) {
        let passed = now.count().wrapping_sub(self.now.count());
        // The sum would have no room where all of radio time has passed.
        let symbols = self.symbols + passed % SECOND;
        self.seconds = self.seconds.wrapping_add(passed / SECOND + symbols / SECOND);
        self.symbols = symbols % SECOND;
        self.now = now;
    }

    /// When to call [`Clock::advance`], if there is no other reason to.
    pub const fn poll_timeout(&self) -> Symbols {
        self.now.after(PATIENCE)
    }

    /// The time `symbols` ago, at most a second.
    pub const fn ago(&self, symbols: u32) -> Timestamp {
        match self.symbols.checked_sub(symbols) {
            Some(symbols) => Timestamp { seconds: self.seconds, micros: symbols * 16 },
            None => Timestamp {
                seconds: self.seconds.wrapping_sub(1),
                micros: (self.symbols + SECOND).saturating_sub(symbols) * 16,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the clock shows, in microseconds.
    fn micros(at: Timestamp) -> u64 {
        u64::from(at.seconds) * 1_000_000 + u64::from(at.micros)
    }

    proptest! {
        #[test]
        fn it_counts_on_when_radio_time_wraps(start: u32, passed: [u32; 8]) {
            let mut clock = Clock::new(Symbols::new(start));
            let mut sum = 0;
            for passed in passed {
                sum += u64::from(passed);
                clock.advance(Symbols::new(start.wrapping_add(sum as u32)));
                prop_assert_eq!(micros(clock.ago(0)), sum * 16);
            }
        }

        #[test]
        fn it_says_what_the_time_was(passed in 1_000_000u32.., ago in 0u32..=62_500) {
            let mut clock = Clock::new(Symbols::new(7));
            clock.advance(Symbols::new(passed.wrapping_add(7)));
            prop_assert_eq!(micros(clock.ago(ago)), u64::from(passed - ago) * 16);
            prop_assert!(clock.ago(ago).micros < 1_000_000);
        }
    }

    #[test]
    fn it_asks_to_be_told_the_time_before_radio_time_wraps() {
        let clock = Clock::new(Symbols::new(9));
        assert_eq!(clock.poll_timeout().count(), 9 + (1 << 31));
    }
}
