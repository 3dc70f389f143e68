use sixlock_base::{Nv, NvError, NvSlot};

use crate::exchange::{persist, restore};

/// Durable counters: each in two cells of non-volatile memory, of which the one with the lower
/// value is written next.
///
/// A cell is the first value that was not reserved, and its complement. However much of a write
/// is done when the power fails, the cell then holds the value before, the value after or none,
/// and the other cell is untouched.
pub(crate) struct Storage;

/// The bytes of a cell.
const CELL: usize = 8;

fn read(address: u16) -> Option<u32> {
    let cell = u32::from_le_bytes(restore(address));
    let complement = u32::from_le_bytes(restore(address + CELL as u16 / 2));
    (cell == !complement).then_some(cell)
}

impl Nv for Storage {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        let low = slot as u16 * 2 * CELL as u16;
        let high = low + CELL as u16;
        let (at_low, at_high) = (read(low), read(high));
        let first = at_low.max(at_high).unwrap_or(0);
        let next = first.checked_add(count).ok_or(NvError::Exhausted)?;
        let mut cell = [0; CELL];
        let (value, complement) = cell.split_at_mut(CELL / 2);
        value.copy_from_slice(&next.to_le_bytes());
        complement.copy_from_slice(&(!next).to_le_bytes());
        persist(if at_low == Some(first) { high } else { low }, &cell);
        Ok(first)
    }
}
