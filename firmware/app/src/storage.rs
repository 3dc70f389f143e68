use sixlock_nv::Memory;

use crate::exchange::{persist, restore};

/// The device's non-volatile memory.
pub(crate) struct Storage;

impl Memory for Storage {
    fn read<const N: usize>(&mut self, address: u16) -> [u8; N] {
        restore(address)
    }

    fn write<const N: usize>(&mut self, address: u16, bytes: &[u8; N]) {
        persist(address, bytes);
    }
}
