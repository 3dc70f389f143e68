use sixlock_dtls_msg::SequenceNumber;

/// How many records are told apart.
const RECORDS: u32 = 64;
/// The length of a window as bytes.
#[cfg(not(target_os = "none"))]
pub(crate) const REPLAY_WINDOW: usize = 6 + RECORDS as usize / 8;

/// Which of the last 64 records of an epoch were received
/// ([RFC 6347 section 4.1.2.6](https://www.rfc-editor.org/rfc/rfc6347#section-4.1.2.6)).
///
/// The bits are bytes so that small processors shift no more at once.
pub(crate) struct ReplayWindow {
    highest: SequenceNumber,
    /// Bit `n % 8` of byte `n / 8` stands for the record `n` before the highest.
    seen: [u8; RECORDS as usize / 8],
}

impl ReplayWindow {
    /// Nothing was received.
    pub(crate) const EMPTY: Self = Self { highest: SequenceNumber::ZERO, seen: [0; RECORDS as usize / 8] };

    /// Whether the record may still be accepted: it is neither older than the window nor known.
    pub(crate) fn is_fresh(&self, number: SequenceNumber) -> bool {
        match self.highest.since(number) {
            None => true,
            Some(age @ 0..RECORDS) => self.seen[age as usize / 8] & bit(age) == 0,
            Some(_) => false,
        }
    }

    /// Remembers a record that is fresh and authentic; true if it is newer than all before it.
    #[inline(never)]
    pub(crate) fn accept(&mut self, number: SequenceNumber) -> bool {
        let age = self.highest.since(number);
        match age {
            None => {
                let steps = number.since(self.highest).unwrap_or(0);
                for _ in 0..steps.min(RECORDS) {
                    self.step();
                }
                self.seen[0] |= 1;
                self.highest = number;
            }
            Some(age @ 0..RECORDS) => self.seen[age as usize / 8] |= bit(age),
            Some(_) => {}
        }
        age.is_none()
    }

    /// As bytes: the highest number, then the bits.
    #[cfg(not(target_os = "none"))]
    pub(crate) fn to_bytes(&self) -> [u8; REPLAY_WINDOW] {
        let mut bytes = [0; REPLAY_WINDOW];
        let (highest, seen) = bytes.split_at_mut(6);
        highest.copy_from_slice(&self.highest.to_bytes());
        seen.copy_from_slice(&self.seen);
        bytes
    }

    /// What [`ReplayWindow::to_bytes`] wrote.
    #[cfg(not(target_os = "none"))]
    pub(crate) fn from_bytes(&[a, b, c, d, e, f, ref seen @ ..]: &[u8; REPLAY_WINDOW]) -> Self {
        Self { highest: SequenceNumber::from_bytes([a, b, c, d, e, f]), seen: *seen }
    }

    /// Makes room for the next record.
    fn step(&mut self) {
        let mut carried = 0;
        for byte in &mut self.seen {
            (*byte, carried) = (*byte << 1 | carried, *byte >> 7);
        }
    }
}

fn bit(age: u32) -> u8 {
    1 << (age % 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_window_is_that_of_a_set_of_64(steps in prop::collection::vec((any::<bool>(), 0u32..80), 1..200), start: u32) {
            let number = |n: u64| SequenceNumber::new((n >> 32) as u16, n as u32);
            let mut window = ReplayWindow::EMPTY;
            let mut seen = BTreeSet::new();
            let mut highest = u64::from(start);
            for (forward, step) in steps {
                let next = if forward { highest + u64::from(step) } else { highest.saturating_sub(step.into()) };
                let top = seen.last().copied().unwrap_or(0);
                let fresh = !seen.contains(&next) && next + 64 > top;
                prop_assert_eq!(window.is_fresh(number(next)), fresh);
                if fresh {
                    window.accept(number(next));
                    seen.insert(next);
                }
                highest = highest.max(next);
            }
        }
    }

    #[test]
    fn the_window_crosses_32_bits_and_reaches_the_last_number() {
        let mut window = ReplayWindow::EMPTY;
        window.accept(SequenceNumber::new(0, u32::MAX));
        window.accept(SequenceNumber::new(1, 3));
        assert!(!window.is_fresh(SequenceNumber::new(0, u32::MAX)));
        assert!(window.is_fresh(SequenceNumber::new(0, u32::MAX - 1)));
        window.accept(SequenceNumber::MAX);
        assert!(!window.is_fresh(SequenceNumber::MAX));
        assert!(!window.is_fresh(SequenceNumber::new(1, 4)));
    }
}
