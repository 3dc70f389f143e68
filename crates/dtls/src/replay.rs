use sixlock_dtls_msg::SequenceNumber;

/// Which of the last 64 records of an epoch were received
/// ([RFC 6347 section 4.1.2.6](https://www.rfc-editor.org/rfc/rfc6347#section-4.1.2.6)).
///
/// The 64 bits are two words so that small processors shift 32 bits at most.
#[derive(Default)]
pub(crate) struct ReplayWindow {
    highest: SequenceNumber,
    /// Bit `n` of the first word stands for the record `n` before the highest, bit `n` of the
    /// second for the one 32 earlier.
    seen: [u32; 2],
}

impl ReplayWindow {
    /// Whether the record may still be accepted: it is neither older than the window nor known.
    pub(crate) fn is_fresh(&self, number: SequenceNumber) -> bool {
        match self.highest.since(number) {
            None => true,
            Some(age @ 0..32) => self.seen[0] >> age & 1 == 0,
            Some(age @ 32..64) => self.seen[1] >> (age - 32) & 1 == 0,
            Some(_) => false,
        }
    }

    /// Remembers a record that is fresh and authentic; true if it is newer than all before it.
    pub(crate) fn accept(&mut self, number: SequenceNumber) -> bool {
        let age = self.highest.since(number);
        match age {
            None => {
                let [recent, old] = self.seen;
                self.seen = match number.since(self.highest) {
                    Some(0) | None => self.seen,
                    Some(shift @ 1..32) => [recent << shift, old << shift | recent >> (32 - shift)],
                    Some(shift @ 32..64) => [0, recent << (shift - 32)],
                    Some(_) => [0, 0],
                };
                self.seen[0] |= 1;
                self.highest = number;
            }
            Some(age @ 0..32) => self.seen[0] |= 1 << age,
            Some(age @ 32..64) => self.seen[1] |= 1 << (age - 32),
            Some(_) => {}
        }
        age.is_none()
    }
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
            let mut window = ReplayWindow::default();
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
        let mut window = ReplayWindow::default();
        window.accept(SequenceNumber::new(0, u32::MAX));
        window.accept(SequenceNumber::new(1, 3));
        assert!(!window.is_fresh(SequenceNumber::new(0, u32::MAX)));
        assert!(window.is_fresh(SequenceNumber::new(0, u32::MAX - 1)));
        window.accept(SequenceNumber::MAX);
        assert!(!window.is_fresh(SequenceNumber::MAX));
        assert!(!window.is_fresh(SequenceNumber::new(1, 4)));
    }
}
