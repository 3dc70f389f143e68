//! The device's own data, which is written into its flash before it runs.

use core::arch::asm;

use sixlock_lockstep::{BLANK, DEVICE as LENGTH};

#[unsafe(no_mangle)]
#[cfg_attr(target_arch = "avr", unsafe(link_section = ".progmem.data.device"))]
#[cfg_attr(not(target_arch = "avr"), unsafe(link_section = ".device"))]
static DEVICE: [u8; LENGTH] = BLANK;

/// Lends the data. What the compiler knows of it is not what is there.
#[cfg(not(target_arch = "avr"))]
pub(crate) fn with<T>(read: impl FnOnce(&[u8; LENGTH]) -> T) -> T {
    let mut place = core::ptr::addr_of!(DEVICE);
    // SAFETY: nothing is executed. To the compiler it may be another place than this one, where there is as much.
    unsafe {
        asm!("/* {0} */", inout(reg) place);
        read(&*place)
    }
}

/// Lends the data, out of flash: constants that lay where other processors have them would be copied to RAM at start.
#[cfg(target_arch = "avr")]
pub(crate) fn with<T>(read: impl FnOnce(&[u8; LENGTH]) -> T) -> T {
    let first = core::ptr::addr_of!(DEVICE).cast::<u8>();
    read(&core::array::from_fn(|n| {
        let byte;
        // SAFETY: `lpm` reads flash and changes nothing else. The address is within the static.
        unsafe {
            asm!("lpm {}, Z", out(reg) byte, in("Z") first.wrapping_add(n), options(readonly, nostack, preserves_flags));
        }
        byte
    }))
}
