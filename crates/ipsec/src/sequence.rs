/// A sequence number of 64 bits, of which packets carry the low half.
///
/// Two halves, since 64-bit arithmetic is large on small processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SequenceNumber {
    /// The high half; always zero unless sequence numbers are extended.
    pub high: u32,
    /// The low half.
    pub low: u32,
}

impl SequenceNumber {
    /// The number made of these halves.
    pub const fn new(high: u32, low: u32) -> Self {
        Self { high, low }
    }

    /// The next number; the last is followed by zero.
    pub fn next(self) -> Self {
        let (low, wrapped) = self.low.overflowing_add(1);
        Self { high: self.high.wrapping_add(wrapped.into()), low }
    }

    /// How many numbers this one is after `earlier`, `u32::MAX` if there are more; none if it is before.
    pub fn since(self, earlier: Self) -> Option<u32> {
        let (low, borrow) = self.low.overflowing_sub(earlier.low);
        match self.high.checked_sub(earlier.high)?.checked_sub(borrow.into())? {
            0 => Some(low),
            _ => Some(u32::MAX),
        }
    }

    /// The eight bytes of the number.
    pub fn to_be_bytes(self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&self.high.to_be_bytes());
        bytes[4..].copy_from_slice(&self.low.to_be_bytes());
        bytes
    }

    /// The number whose low half is `low`, at a receiver that has seen this one as the highest and keeps a window of
    /// `window` numbers: one that is in the window or above it, and not 2^32 or more above its lower end
    /// ([RFC 4303 appendix A2.2](https://www.rfc-editor.org/rfc/rfc4303#appendix-A2.2)).
    ///
    /// None if it would be before the first number.
    pub fn recover(self, low: u32, window: u32) -> Option<Self> {
        let lowest = self.low.wrapping_sub(window - 1);
        let high = match (self.low >= window - 1, low >= lowest) {
            (true, true) | (false, false) => Some(self.high),
            (true, false) => self.high.checked_add(1),
            (false, true) => self.high.checked_sub(1),
        };
        Some(Self { high: high?, low })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wide(number: SequenceNumber) -> u64 {
        u64::from_be_bytes(number.to_be_bytes())
    }

    fn number(wide: u64) -> SequenceNumber {
        SequenceNumber::new((wide >> 32) as u32, wide as u32)
    }

    proptest! {
        #[test]
        fn halves_count_like_one_number(a: u64, near in 0..1u64 << 34, up: bool) {
            let b = if up { a.saturating_add(near) } else { a.saturating_sub(near) };
            prop_assert_eq!(wide(number(a).next()), a.wrapping_add(1));
            let since = b.checked_sub(a).map(|distance| u32::try_from(distance).unwrap_or(u32::MAX));
            prop_assert_eq!(number(b).since(number(a)), since);
            prop_assert_eq!(number(a).cmp(&number(b)), a.cmp(&b));
        }

        #[test]
        fn the_high_half_is_recovered_within_the_window_and_nearly_2_to_the_32_above(
            top in (0..4u64, prop_oneof![0..2000u64, (1 << 32) - 2000..1u64 << 32, 0..1u64 << 32]).prop_map(|(high, low)| high << 32 | low),
            age in 0..1024u64, ahead in 0..(1u64 << 32) - 1024,
        ) {
            if let Some(aged) = top.checked_sub(age) {
                prop_assert_eq!(number(top).recover(aged as u32, 1024), Some(number(aged)));
            }
            prop_assert_eq!(number(top).recover((top + ahead) as u32, 1024), Some(number(top + ahead)));
        }
    }

    #[test]
    fn what_would_be_before_the_first_number_is_none() {
        assert_eq!(number(5).recover(u32::MAX, 64), None);
        assert_eq!(number(1 << 32).recover(u32::MAX, 64), Some(number((1 << 32) - 1)));
        assert_eq!(SequenceNumber::new(u32::MAX, u32::MAX).recover(1, 64), None);
    }
}
