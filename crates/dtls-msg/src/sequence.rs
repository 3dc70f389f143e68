/// A record's 48-bit sequence number.
///
/// Kept in two parts so that 8- and 16-bit processors never handle 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SequenceNumber {
    high: u16,
    low: u32,
}

impl SequenceNumber {
    /// The first sequence number of an epoch.
    pub const ZERO: Self = Self { high: 0, low: 0 };
    /// The last one.
    pub const MAX: Self = Self { high: u16::MAX, low: u32::MAX };

    /// The number with these upper 16 and lower 32 bits.
    pub const fn new(high: u16, low: u32) -> Self {
        Self { high, low }
    }

    /// The number in its six bytes on the wire.
    pub const fn from_bytes([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self { high: u16::from_be_bytes([a, b]), low: u32::from_be_bytes([c, d, e, f]) }
    }

    /// The number's six bytes on the wire.
    pub const fn to_bytes(self) -> [u8; 6] {
        let [a, b] = self.high.to_be_bytes();
        let [c, d, e, f] = self.low.to_be_bytes();
        [a, b, c, d, e, f]
    }

    /// The next number, or none after the last.
    #[inline(never)]
    pub const fn next(self) -> Option<Self> {
        match (self.low.checked_add(1), self.high.checked_add(1)) {
            (Some(low), _) => Some(Self { high: self.high, low }),
            (None, Some(high)) => Some(Self { high, low: 0 }),
            (None, None) => None,
        }
    }

    /// How far `self` lies behind `earlier`, at most `u32::MAX`; none if it lies before.
    pub const fn since(self, earlier: Self) -> Option<u32> {
        let (low, borrow) = self.low.overflowing_sub(earlier.low);
        let Some(high) = self.high.checked_sub(earlier.high) else { return None };
        match high.checked_sub(borrow as u16) {
            None => None,
            Some(0) => Some(low),
            Some(_) => Some(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wide(number: SequenceNumber) -> u64 {
        number.to_bytes().iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_48_bits(a_high: u16, a_low: u32, b_high: u16, b_low: u32, near: bool) {
            let a = SequenceNumber::new(a_high, a_low);
            let b = SequenceNumber::new(if near { a_high.wrapping_add(b_high & 1) } else { b_high }, b_low);
            prop_assert_eq!(SequenceNumber::from_bytes(a.to_bytes()), a);
            prop_assert_eq!(a < b, wide(a) < wide(b));
            let distance = wide(a).checked_sub(wide(b)).map(|d| d.min(u32::MAX.into()) as u32);
            prop_assert_eq!(a.since(b), distance);
            prop_assert_eq!(a.next().map(wide), (wide(a) + 1 < 1 << 48).then_some(wide(a) + 1));
        }
    }

    #[test]
    fn the_last_number_has_no_next() {
        assert_eq!(SequenceNumber::MAX.next(), None);
        assert_eq!(SequenceNumber::new(0, u32::MAX).next(), Some(SequenceNumber::new(1, 0)));
    }
}
