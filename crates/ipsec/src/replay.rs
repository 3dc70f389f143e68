use crate::SequenceNumber;

/// The replay window: which of the last `BYTES` × 8 packets of a security association were received
/// ([RFC 4303 section 3.4.3](https://www.rfc-editor.org/rfc/rfc4303#section-3.4.3)): 64 packets in 8 bytes to 1,024 in 128.
///
/// The place of a number does not move when others come: it is the number modulo the window.
#[derive(Clone)]
pub(crate) struct ReplayWindow<const BYTES: usize> {
    highest: SequenceNumber,
    seen: [u8; BYTES],
}

impl<const BYTES: usize> ReplayWindow<BYTES> {
    /// The size of the window in sequence numbers.
    pub(crate) const SIZE: u32 = {
        assert!(BYTES >= 8 && BYTES <= 128 && BYTES.is_power_of_two(), "a window has 64 to 1,024 numbers");
        BYTES as u32 * 8
    };

    pub(crate) const fn new() -> Self {
        Self { highest: SequenceNumber::new(0, 0), seen: [0; BYTES] }
    }

    /// The whole sequence number of a packet that carries `low`, if the packet may be accepted: the number is neither older than the
    /// window nor received before, nor zero. It is in the window or above it, and not 2^32 or more above its lower end
    /// ([RFC 4303 appendix A2.2](https://www.rfc-editor.org/rfc/rfc4303#appendix-A2.2)).
    pub(crate) fn fresh(&self, low: u32) -> Option<SequenceNumber> {
        let SequenceNumber { high, low: highest } = self.highest;
        let is_above = low > highest;
        let is_inside = highest.wrapping_sub(low) < Self::SIZE;
        let seen = self.seen.get(byte::<BYTES>(low as u16)).copied().unwrap_or(u8::MAX);
        if is_inside && seen & bit(low as u16) != 0 {
            return None;
        }
        // Low halves that count up across their end have other high halves.
        let high = match (is_inside, is_above) {
            (true, true) => high.checked_sub(1)?,
            (false, false) => high.checked_add(1)?,
            _ => high,
        };
        (low | high != 0).then_some(SequenceNumber { high, low })
    }

    /// Remembers an authentic packet whose number is fresh.
    pub(crate) fn accept(&mut self, number: SequenceNumber) {
        let SequenceNumber { low, .. } = number;
        let highest = self.highest.low;
        if highest.wrapping_sub(low) >= Self::SIZE {
            // The numbers that were passed have places in turn.
            let steps = low.wrapping_sub(highest).min(Self::SIZE) as u16;
            for passed in 0..steps {
                let place = (low as u16).wrapping_sub(passed);
                if let Some(byte) = self.seen.get_mut(byte::<BYTES>(place)) {
                    *byte &= !bit(place);
                }
            }
            self.highest = number;
        }
        if let Some(byte) = self.seen.get_mut(byte::<BYTES>(low as u16)) {
            *byte |= bit(low as u16);
        }
    }
}

/// The place of a number, of which the last bits say it.
fn byte<const BYTES: usize>(low: u16) -> usize {
    usize::from(low / 8) % BYTES
}

fn bit(low: u16) -> u8 {
    1 << (low % 8)
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
        let mut window = ReplayWindow::<BYTES> { highest: number(start), seen: [0; BYTES] };
        let (mut seen, mut highest) = (BTreeSet::new(), start);
        for (forward, step) in steps {
            let next = if forward { highest + step } else { highest.saturating_sub(step) };
            let fresh = next != 0 && !seen.contains(&next) && next + BYTES as u64 * 8 > highest;
            let recovered = window.fresh(next as u32);
            if fresh {
                prop_assert_eq!(recovered, Some(number(next)));
                window.accept(number(next));
                seen.insert(next);
            } else {
                // A number too old is taken for one to come, and its ICV is wrong.
                prop_assert_ne!(recovered, Some(number(next)));
            }
            highest = highest.max(next);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_window_is_that_of_a_set(
            steps in prop::collection::vec((any::<bool>(), 0..1300u64), 1..200),
            start in prop_oneof![0..100u64, (1 << 16) - 100..1u64 << 16, (1 << 32) - 2000..(1u64 << 32) + 2000, any::<u32>().prop_map(|high| u64::from(high) << 31)],
        ) {
            is_that_of_a_set::<8>(start, steps.iter().map(|&(forward, step)| (forward, step / 16)).collect())?;
            is_that_of_a_set::<128>(start, steps)?;
        }

        #[test]
        fn a_number_is_recovered_within_the_window_and_nearly_2_to_the_32_above(
            top in (0..4u64, prop_oneof![0..2000u64, (1 << 32) - 2000..1u64 << 32, 0..1u64 << 32]).prop_map(|(high, low)| high << 32 | low),
            age in 0..1024u64, ahead in 1..(1u64 << 32) - 1024,
        ) {
            let window = ReplayWindow::<128> { highest: number(top), seen: [0; 128] };
            if let Some(aged @ 1..) = top.checked_sub(age) {
                prop_assert_eq!(window.fresh(aged as u32), Some(number(aged)));
            }
            prop_assert_eq!(window.fresh((top + ahead) as u32), Some(number(top + ahead)));
        }
    }

    #[test]
    fn what_would_be_before_the_first_number_or_behind_the_last_is_not_accepted() {
        let window = |highest| ReplayWindow::<8> { highest, seen: [0; 8] };
        assert_eq!(window(number(5)).fresh(u32::MAX), None);
        assert_eq!(window(number(0)).fresh(0), None);
        assert_eq!(window(number(1 << 32)).fresh(u32::MAX), Some(number((1 << 32) - 1)));
        assert_eq!(window(SequenceNumber::new(u32::MAX, u32::MAX)).fresh(1), None);
    }
}
