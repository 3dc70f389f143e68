//! Wrapping time. A protocol machine never reads a clock; it is told the time.

use core::ops::Add;

/// A point in time, in milliseconds, wrapping every 49.7 days.
///
/// Two instants may be compared when they lie less than 2^31 ms (24.8 days) apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instant(u32);

/// A span of time in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u32);

/// Radio time in IEEE 802.15.4 symbols of 16 µs (2.4 GHz O-QPSK), wrapping every 19 hours.
///
/// Two values may be compared when they lie less than 2^31 symbols (9.5 hours) apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbols(u32);

impl Instant {
    /// The instant at `millis` milliseconds.
    pub const fn from_millis(millis: u32) -> Self {
        Self(millis)
    }

    /// Milliseconds since the (arbitrary) origin.
    pub const fn millis(self) -> u32 {
        self.0
    }

    /// The span from `earlier` to `self`, wrapping.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.wrapping_sub(earlier.0))
    }

    /// Whether `deadline` is now or in the past.
    pub const fn has_reached(self, deadline: Self) -> bool {
        self.0.wrapping_sub(deadline.0) < 1 << 31
    }

    /// The span from now to `deadline`; zero if it has passed.
    pub const fn until(self, deadline: Self) -> Duration {
        if self.has_reached(deadline) { Duration(0) } else { deadline.since(self) }
    }

    /// The earlier of two optional deadlines.
    pub fn earliest(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.has_reached(a) { a } else { b }),
            (a, b) => a.or(b),
        }
    }

    /// Puts the deadline `other` in the place of `due`, if it is the earlier.
    // Where many timers are asked, that takes fewer instructions than [`Instant::earliest`].
    #[inline(never)]
    pub fn bring_forward(due: &mut Option<Self>, other: Option<Self>) {
        *due = Self::earliest(*due, other);
    }

    /// Whether `due` is `now` or past; if so, it is taken away.
    // It is asked of many timers, and takes 16-bit processors as many instructions as a call does thrice.
    #[inline(never)]
    pub fn take_due(due: &mut Option<Self>, now: Self) -> bool {
        due.take_if(|due| now.has_reached(*due)).is_some()
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.wrapping_add(span.0))
    }
}

impl Duration {
    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u32) -> Self {
        Self(millis)
    }

    /// A span of `seconds` seconds, saturating at 49.7 days.
    pub const fn from_secs(seconds: u32) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// The span in milliseconds.
    pub const fn millis(self) -> u32 {
        self.0
    }

    /// Twice the span, saturating.
    pub const fn doubled(self) -> Self {
        Self(self.0.saturating_mul(2))
    }
}

impl Symbols {
    /// The radio time of `symbols` symbols.
    pub const fn new(symbols: u32) -> Self {
        Self(symbols)
    }

    /// Symbols since the (arbitrary) origin.
    pub const fn count(self) -> u32 {
        self.0
    }

    /// `self` moved forward by `symbols`.
    pub const fn after(self, symbols: u32) -> Self {
        Self(self.0.wrapping_add(symbols))
    }

    /// `self` moved back by `symbols`.
    pub const fn before(self, symbols: u32) -> Self {
        Self(self.0.wrapping_sub(symbols))
    }

    /// Whether `deadline` is now or in the past.
    pub const fn has_reached(self, deadline: Self) -> bool {
        self.0.wrapping_sub(deadline.0) < 1 << 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_survive_the_wrap() {
        let before = Instant::from_millis(u32::MAX - 5);
        let after = before + Duration::from_millis(10);
        assert!(after.has_reached(before));
        assert!(!before.has_reached(after));
        assert_eq!(after.since(before).millis(), 10);
        assert_eq!(Instant::earliest(Some(after), Some(before)), Some(before));
        let mut due = Some(after);
        assert!(!Instant::take_due(&mut due, before) && due.is_some());
        assert!(Instant::take_due(&mut due, after) && due.is_none() && !Instant::take_due(&mut due, after));
        assert!(Symbols::new(3).has_reached(Symbols::new(u32::MAX)));
    }
}
