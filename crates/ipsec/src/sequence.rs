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

    /// The eight bytes of the number.
    pub fn to_be_bytes(self) -> [u8; 8] {
        if cfg!(target_pointer_width = "64") {
            // One store, which one load can read without waiting.
            return (u64::from(self.high) << 32 | u64::from(self.low)).to_be_bytes();
        }
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&self.high.to_be_bytes());
        bytes[4..].copy_from_slice(&self.low.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(wide: u64) -> SequenceNumber {
        SequenceNumber::new((wide >> 32) as u32, wide as u32)
    }

    proptest! {
        #[test]
        fn halves_count_like_one_number(a: u64, b: u64) {
            prop_assert_eq!(u64::from_be_bytes(number(a).to_be_bytes()), a);
            prop_assert_eq!(number(a).next(), number(a.wrapping_add(1)));
            prop_assert_eq!(number(a).cmp(&number(b)), a.cmp(&b));
        }
    }
}
