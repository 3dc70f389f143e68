//! The device's own data, which is written into its flash before it runs.

use core::arch::asm;
use core::ptr::addr_of;

use sixlock_lockstep::{BLANK, DEVICE as LENGTH, NETWORK as NETWORK_LENGTH};

#[unsafe(no_mangle)]
#[cfg_attr(target_arch = "avr", unsafe(link_section = ".progmem.data.device"))]
#[cfg_attr(not(target_arch = "avr"), unsafe(link_section = ".device"))]
static DEVICE: [u8; LENGTH] = BLANK;

/// What it knows of IPsec. Nothing in images without that names it, and its section is left out of them.
#[unsafe(no_mangle)]
#[cfg_attr(target_arch = "avr", unsafe(link_section = ".progmem.data.device.network"))]
#[cfg_attr(not(target_arch = "avr"), unsafe(link_section = ".device.network"))]
static NETWORK: [u8; NETWORK_LENGTH] = [0xff; NETWORK_LENGTH];

/// Lends the data.
pub(crate) fn with<T>(read: impl FnOnce(&[u8; LENGTH]) -> T) -> T {
    lend(addr_of!(DEVICE), read)
}

/// Lends what it knows of IPsec.
pub(crate) fn with_network<T>(read: impl FnOnce(&[u8; NETWORK_LENGTH]) -> T) -> T {
    lend(addr_of!(NETWORK), read)
}

/// Lends what lies at `place`, which is a static.
#[cfg(not(target_arch = "avr"))]
fn lend<const N: usize, T>(place: *const [u8; N], read: impl FnOnce(&[u8; N]) -> T) -> T {
    // SAFETY: it is a static.
    read(unsafe { given(place) })
}

/// What lies at `place`. What the compiler knows of it is not what is there.
///
/// # Safety
///
/// It is a static.
#[cfg(not(target_arch = "avr"))]
pub(crate) unsafe fn given<const N: usize>(mut place: *const [u8; N]) -> &'static [u8; N] {
    // SAFETY: nothing is executed. To the compiler it may be another place than this one, where there is as much.
    unsafe {
        asm!("/* {0} */", inout(reg) place);
        &*place
    }
}

/// The same, out of flash: constants that lay where other processors have them would be copied to RAM at start.
#[cfg(target_arch = "avr")]
fn lend<const N: usize, T>(place: *const [u8; N], read: impl FnOnce(&[u8; N]) -> T) -> T {
    let first = place.cast::<u8>();
    read(&core::array::from_fn(|n| {
        let byte;
        // SAFETY: `lpm` reads flash and changes nothing else. The address is within the static.
        unsafe {
            asm!("lpm {}, Z", out(reg) byte, in("Z") first.wrapping_add(n), options(readonly, nostack, preserves_flags));
        }
        byte
    }))
}
