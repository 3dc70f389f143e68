//! The outside world, of which the compiler knows nothing: so nothing is optimised away.

use core::ptr::{addr_of_mut, read_volatile, write_volatile};

use sixlock_base::{Entropy, Nv, NvError, NvSlot};

/// What a device would have as a register.
static mut PORT: u8 = 0;

/// The next byte from outside.
pub fn byte() -> u8 {
    // SAFETY: one aligned byte of a static that nothing else touches; there are no interrupts.
    unsafe { read_volatile(addr_of_mut!(PORT)) }
}

/// The next number from outside.
pub fn number() -> u32 {
    u32::from_le_bytes([byte(), byte(), byte(), byte()])
}

/// Fills `out` from outside.
#[inline(never)]
pub fn read(out: &mut [u8]) {
    out.fill_with(byte);
}

/// `N` bytes from outside.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut out = [0; N];
    read(&mut out);
    out
}

/// Sends `bytes` outside.
#[inline(never)]
pub fn write(bytes: &[u8]) {
    for &byte in bytes {
        // SAFETY: as in `byte`.
        unsafe { write_volatile(addr_of_mut!(PORT), byte) }
    }
}

/// Entropy from outside.
pub struct Noise;

impl Entropy for Noise {
    fn fill(&mut self, out: &mut [u8]) {
        read(out);
    }
}

/// Durable counters, kept outside.
pub struct Flash;

impl Nv for Flash {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        write(&[slot as u8]);
        write(&count.to_le_bytes());
        match byte() {
            0 => Ok(number()),
            1 => Err(NvError::Exhausted),
            _ => Err(NvError::Storage),
        }
    }
}
