//! What makes a sequence counter durable.

use sixlock_base::{New, Nv, NvError, NvSlot, lollipop};

/// A counter that outlasts reboots: who has heard it before takes its next value for a newer one.
///
/// Values are reserved in blocks. A reboot leaves out the rest of a block: as many values in a row may be left out, unheard, as fit in
/// the window in which they can be compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequence {
    next: u32,
    left: u8,
    value: u8,
}

impl New for Sequence {
    const NEW: Self = Self { next: 0, left: 0, value: 0 };
}

impl Sequence {
    /// Raises it, of which `block` values at a time are made durable; its value then. If the storage fails, it stays.
    pub(crate) fn raise<N: Nv>(&mut self, nv: &mut N, block: u8) -> Result<u8, NvError> {
        if self.left == 0 {
            self.next = nv.reserve(NvSlot::RplSequence, block.into())?;
            self.left = block;
        }
        self.left -= 1;
        self.value = lollipop::value(self.next);
        self.next = self.next.wrapping_add(1);
        Ok(self.value)
    }
}

#[cfg(test)]
mod tests {
    use core::cmp::Ordering;

    use super::*;

    /// What a reboot leaves of storage.
    struct Storage(u32);

    impl Nv for Storage {
        fn reserve(&mut self, _: NvSlot, count: u32) -> Result<u32, NvError> {
            let first = self.0;
            self.0 = first.checked_add(count).ok_or(NvError::Exhausted)?;
            Ok(first)
        }
    }

    /// Mistake 12: a counter outlasts a reboot.
    #[test]
    fn after_a_reboot_the_next_value_is_newer_and_none_comes_twice() {
        for block in [1, 8] {
            let mut nv = Storage(0);
            let mut last = None;
            for raised in 0..300 {
                // It reboots after any number of values.
                let mut sequence = Sequence::NEW;
                for _ in 0..=raised % 11 {
                    let value = sequence.raise(&mut nv, block).unwrap();
                    assert_eq!(value, sequence.value);
                    if let Some(last) = last {
                        assert_eq!(lollipop::compare(value, last), Some(Ordering::Greater), "{raised}");
                    }
                    last = Some(value);
                }
            }
        }
        let mut sequence = Sequence::NEW;
        let mut full = Storage(u32::MAX);
        assert_eq!(sequence.raise(&mut full, 1), Err(NvError::Exhausted));
    }
}
