use core::{ptr, slice};

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use sixlock_nv::FlashCounters;

/// Where flash begins, and how long it is.
const START: u32 = 0x0020_0000;
const SIZE: usize = 512 * 1024;
const PAGE: usize = 2048;
const _: () = assert!(FlashCounters::<Flash>::SIZE == 12 * 1024, "memory.x leaves 12 KB to the counters");
/// Where the counters begin: `memory.x` leaves the end of flash to them, but for the lock bit page.
pub(crate) const COUNTERS: u32 = (SIZE - PAGE - FlashCounters::<Flash>::SIZE) as u32;

/// Where ROM has the addresses of its functions to erase and to program flash: the fourth and fifth entry of a table at
/// 0x48 (SWRU333, API functions).
const ERASE: *const EraseFunction = 0x54 as *const _;
const PROGRAM: *const ProgramFunction = 0x58 as *const _;

/// With an address and a number of bytes; 0 when it succeeds.
type EraseFunction = unsafe extern "C" fn(u32, u32) -> i32;
/// With words in RAM, an address and a number of bytes; 0 when it succeeds.
type ProgramFunction = unsafe extern "C" fn(*const u32, u32, u32) -> i32;

/// The chip's flash. No interrupt is enabled that could fetch instructions from it while it is written.
pub(crate) struct Flash;

fn done(result: i32) -> Result<(), NorFlashErrorKind> {
    if result == 0 { Ok(()) } else { Err(NorFlashErrorKind::Other) }
}

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        // SAFETY: it is within flash, as was checked, and nothing writes it meanwhile.
        bytes.copy_from_slice(unsafe { slice::from_raw_parts((START + offset) as *const u8, bytes.len()) });
        Ok(())
    }

    fn capacity(&self) -> usize {
        SIZE
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        // SAFETY: ROM has the function there, and these are whole pages of flash.
        done(unsafe { ptr::read_volatile(ERASE)(START + from, to - from) })
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        for (place, word) in (START + offset..).step_by(4).zip(bytes.as_chunks().0) {
            let word = u32::from_ne_bytes(*word);
            // SAFETY: ROM has the function there, and this is a word of flash.
            done(unsafe { ptr::read_volatile(PROGRAM)(&word, place, 4) })?;
        }
        Ok(())
    }
}
