//! The device's own data, which is written into its flash before it runs.

use core::ptr::addr_of;

use sixlock_lockstep::{BLANK, DEVICE as LENGTH};

#[unsafe(no_mangle)]
#[cfg_attr(target_arch = "avr", unsafe(link_section = ".progmem.data.device"))]
#[cfg_attr(not(target_arch = "avr"), unsafe(link_section = ".device"))]
static DEVICE: [u8; LENGTH] = BLANK;

/// The data, out of flash. What the compiler knows of it is not what is there.
pub(crate) fn data() -> [u8; LENGTH] {
    let first = addr_of!(DEVICE).cast::<u8>();
    core::array::from_fn(|n| load(first.wrapping_add(n)))
}

#[cfg(not(target_arch = "avr"))]
fn load(address: *const u8) -> u8 {
    // SAFETY: the address is within the static.
    unsafe { address.read_volatile() }
}

/// Constants are where data is read from on other processors; here they would be copied to RAM, were they not in this section.
#[cfg(target_arch = "avr")]
fn load(address: *const u8) -> u8 {
    let byte;
    // SAFETY: `lpm` reads flash and changes nothing else. The address is within the static.
    unsafe {
        core::arch::asm!("lpm {}, Z", out(reg) byte, in("Z") address, options(readonly, nostack, preserves_flags));
    }
    byte
}
