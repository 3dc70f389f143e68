//! Virtual time.

use core::fmt;
use core::ops::Add;

use sixlock_base::{Instant, Symbols};

/// Microseconds in a symbol of the 2.4 GHz O-QPSK radio.
pub(crate) const SYMBOL: u64 = 16;

/// A point in virtual time: microseconds since the simulation began. It does not wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(u64);

/// A span of virtual time in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span(u64);

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1000))
    }

    /// A span of `seconds` seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// So many symbols.
    pub(crate) const fn from_symbols(symbols: u32) -> Self {
        Self::from_micros(symbols as u64 * SYMBOL)
    }

    /// The span less `other`; none if that is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The span in microseconds.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The span in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Time {
    /// When the simulation begins.
    pub const ZERO: Self = Self(0);

    /// Microseconds since the simulation began.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The span from `earlier` to `self`.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The millisecond a protocol machine is told, wrapping.
    pub const fn instant(self) -> Instant {
        Instant::from_millis((self.0 / 1000) as u32)
    }

    /// The radio time a protocol machine is told, wrapping.
    pub const fn symbols(self) -> Symbols {
        Symbols::new((self.0 / SYMBOL) as u32)
    }

    /// The first symbol boundary that is not before `self`: what a radio does begins there.
    pub const fn symbol_boundary(self) -> Self {
        Self(self.0.next_multiple_of(SYMBOL))
    }

    /// When a machine's millisecond `deadline` comes; `self` if it has passed.
    pub fn of_instant(self, deadline: Instant) -> Self {
        let now = self.instant();
        if now.has_reached(deadline) {
            return self;
        }
        Self((self.0 / 1000 + u64::from(deadline.since(now).millis())) * 1000)
    }

    /// When a machine's radio time `deadline` comes; `self` if it has passed.
    pub fn of_symbols(self, deadline: Symbols) -> Self {
        let now = self.symbols();
        if now.has_reached(deadline) {
            return self;
        }
        let ahead = deadline.count().wrapping_sub(now.count());
        Self((self.0 / SYMBOL + u64::from(ahead)) * SYMBOL)
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}s", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_deadlines_come_back_as_the_times_they_were_told_also_past_the_wrap() {
        // 2^32 symbols are 19 hours, 2^32 ms 49.7 days: times on both sides of either wrap.
        for micros in [0, 17, 68_719_476_735, 68_719_476_799, 4_294_967_295_999, 4_294_967_296_001] {
            let now = Time(micros);
            let symbols = now.of_symbols(now.symbols().after(12));
            assert_eq!(symbols.0, (micros / 16 + 12) * 16);
            let instant = now.of_instant(now.instant() + sixlock_base::Duration::from_millis(7));
            assert_eq!(instant.0, (micros / 1000 + 7) * 1000);
            assert_eq!(now.of_symbols(now.symbols()), now);
            assert_eq!(now.of_instant(now.instant()), now);
        }
    }
}
