//! Counter ranges in memory.

use sixlock_base::{Nv, NvError, NvSlot};

/// Counter ranges that outlast a reboot of the machine they are lent to, and whose storage may fail.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The value that is reserved next, of each slot.
    next: [u32; NvSlot::COUNT],
    failed: bool,
}

impl Ranges {
    /// Ranges of which none can be reserved: each attempt is [`NvError::Storage`].
    pub fn failed() -> Self {
        Self { failed: true, ..Self::default() }
    }

    /// Ranges of which that of `slot` begins with `next`.
    pub fn starting_at(slot: NvSlot, next: u32) -> Self {
        let mut ranges = Self::default();
        ranges.next[slot as usize] = next;
        ranges
    }

    /// The value of `slot` that is reserved next.
    pub fn next(&self, slot: NvSlot) -> u32 {
        self.next[slot as usize]
    }
}

impl Nv for Ranges {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        if self.failed {
            return Err(NvError::Storage);
        }
        let next = &mut self.next[slot as usize];
        let first = *next;
        *next = first.checked_add(count).ok_or(NvError::Exhausted)?;
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_its_own_values_and_gives_each_once() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.reserve(NvSlot::LinkFrameCounter, 10), Ok(0));
        assert_eq!(ranges.reserve(NvSlot::LinkFrameCounter, 1), Ok(10));
        assert_eq!(ranges.reserve(NvSlot::IpsecSequence, 5), Ok(0));
        assert_eq!([NvSlot::LinkFrameCounter, NvSlot::IpsecSequence].map(|slot| ranges.next(slot)), [11, 5]);
    }

    #[test]
    fn values_end_and_a_range_that_does_not_fit_takes_none() {
        let mut ranges = Ranges::starting_at(NvSlot::IpsecSequence, u32::MAX - 1);
        assert_eq!(ranges.reserve(NvSlot::IpsecSequence, 2), Err(NvError::Exhausted));
        assert_eq!(ranges.reserve(NvSlot::IpsecSequence, 1), Ok(u32::MAX - 1));
    }

    #[test]
    fn storage_that_has_failed_reserves_nothing() {
        assert_eq!(Ranges::failed().reserve(NvSlot::LinkFrameCounter, 1), Err(NvError::Storage));
    }
}
