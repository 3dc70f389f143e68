use crate::SequenceNumber;

/// Which of the last `BYTES` × 8 packets of a security association were received
/// ([RFC 4303 section 3.4.3](https://www.rfc-editor.org/rfc/rfc4303#section-3.4.3)): 64 packets in 8 bytes to 1,024 in 128.
///
/// The place of a number does not move when others come: it is the number modulo the window.
#[derive(Clone)]
pub(crate) struct ReplayWindow<const BYTES: usize> {
    highest: SequenceNumber,
    seen: [u8; BYTES],
}

impl<const BYTES: usize> ReplayWindow<BYTES> {
    /// How many numbers are told apart.
    pub(crate) const SIZE: u32 = {
        assert!(BYTES >= 8 && BYTES <= 128 && BYTES.is_power_of_two(), "a window has 64 to 1,024 numbers");
        BYTES as u32 * 8
    };

    pub(crate) const fn new() -> Self {
        Self { highest: SequenceNumber::new(0, 0), seen: [0; BYTES] }
    }

    /// The highest number that was accepted.
    pub(crate) fn highest(&self) -> SequenceNumber {
        self.highest
    }

    /// Whether the packet may still be accepted: it is neither older than the window nor known, nor zero.
    pub(crate) fn is_fresh(&self, number: SequenceNumber) -> bool {
        if number == SequenceNumber::default() {
            return false;
        }
        match self.highest.since(number) {
            None => true,
            Some(age) => {
                age < Self::SIZE
                    && self.seen.get(byte::<BYTES>(number)).is_some_and(|byte| byte & bit(number) == 0)
            }
        }
    }

    /// Remembers a packet that is fresh and authentic.
    pub(crate) fn accept(&mut self, number: SequenceNumber) {
        if let Some(steps @ 1..) = number.since(self.highest) {
            if steps >= Self::SIZE {
                self.seen = [0; BYTES];
            } else {
                while self.highest != number {
                    self.highest = self.highest.next();
                    let highest = self.highest;
                    if let Some(byte) = self.seen.get_mut(byte::<BYTES>(highest)) {
                        *byte &= !bit(highest);
                    }
                }
            }
            self.highest = number;
        }
        if let Some(byte) = self.seen.get_mut(byte::<BYTES>(number)) {
            *byte |= bit(number);
        }
    }
}

fn byte<const BYTES: usize>(number: SequenceNumber) -> usize {
    (number.low as usize / 8) % BYTES
}

fn bit(number: SequenceNumber) -> u8 {
    1 << (number.low % 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn number(wide: u64) -> SequenceNumber {
        SequenceNumber::new((wide >> 32) as u32, wide as u32)
    }

    fn is_that_of_a_set<const BYTES: usize>(
        start: u64,
        steps: Vec<(bool, u64)>,
    ) -> Result<(), TestCaseError> {
        let mut window = ReplayWindow::<BYTES>::new();
        let mut seen = BTreeSet::new();
        let mut highest = start;
        for (forward, step) in steps {
            let next = if forward { highest + step } else { highest.saturating_sub(step) };
            let top = seen.last().copied().unwrap_or(0);
            let fresh = next != 0 && !seen.contains(&next) && next + BYTES as u64 * 8 > top;
            prop_assert_eq!(window.is_fresh(number(next)), fresh, "{}", next);
            if fresh {
                window.accept(number(next));
                seen.insert(next);
                prop_assert_eq!(window.highest(), number(next.max(top)));
            }
            highest = highest.max(next);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_window_is_that_of_a_set(
            steps in prop::collection::vec((any::<bool>(), 0..1300u64), 1..200),
            start in prop_oneof![0..100u64, (1 << 16) - 100..1u64 << 16, (1 << 32) - 100..1u64 << 32],
        ) {
            is_that_of_a_set::<8>(start, steps.iter().map(|&(forward, step)| (forward, step / 16)).collect())?;
            is_that_of_a_set::<128>(start, steps)?;
        }
    }
}
