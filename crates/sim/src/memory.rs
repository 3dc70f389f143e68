//! Storage that outlasts a reboot.

use sixlock_base::{Nv, NvError, NvSlot};
use sixlock_nv::COUNTERS;

/// The bytes that a device writes to keep a counter: one of its two cells.
const CELL: u32 = (COUNTERS / NvSlot::COUNT / 2) as u32;

/// Storage that a simulated device never loses.
#[derive(Default)]
pub(crate) struct Memory {
    link_frame_counter: u32,
    pub(crate) ipsec_sequence: u32,
    rpl_sequence: u32,
    /// How many bytes it has written since it was last asked.
    written: u32,
    /// What outlasts the simulation, if anything does; then it is used instead.
    pub(crate) outlasting: Option<Box<dyn Nv + Send>>,
}

impl Memory {
    /// How many bytes firmware would have written to storage since this was last called.
    pub(crate) fn take_written(&mut self) -> u32 {
        core::mem::take(&mut self.written)
    }
}

impl Nv for Memory {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        if let Some(outlasting) = &mut self.outlasting {
            return outlasting.reserve(slot, count);
        }
        let counter = match slot {
            NvSlot::LinkFrameCounter => &mut self.link_frame_counter,
            NvSlot::IpsecSequence => &mut self.ipsec_sequence,
            NvSlot::RplSequence => &mut self.rpl_sequence,
        };
        let first = *counter;
        *counter = first.checked_add(count).ok_or(NvError::Exhausted)?;
        self.written += CELL;
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_hands_out_each_counter_once_and_then_no_more() {
        let mut memory = Memory::default();
        let slot = NvSlot::LinkFrameCounter;
        assert_eq!(memory.reserve(slot, 1024), Ok(0));
        assert_eq!(memory.reserve(slot, u32::MAX - 1024), Ok(1024));
        assert_eq!(memory.reserve(slot, 1), Err(NvError::Exhausted));
        assert_eq!(
            [memory.take_written(), memory.take_written()],
            [2 * CELL, 0],
            "what is refused is not written"
        );
    }
}
