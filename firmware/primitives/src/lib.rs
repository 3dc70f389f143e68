//! What images have in common that do what they are told to, one cryptographic primitive at a time.
//!
//! One that measures stops at `exchange` three times for each: for the number of what is to be done, before that and
//! after it. Then it checks the primitive against published vectors.
#![no_std]
#![cfg_attr(any(target_arch = "msp430", target_arch = "avr"), feature(asm_experimental_arch))]

mod case;

use core::arch::asm;
use core::ptr::addr_of_mut;

use sixlock_start as _;

pub use crate::case::{Case, Keys, Work};

/// The longest name, in bytes.
const NAME: usize = 20;

/// What is told and answered, in memory.
#[repr(C)]
struct Exchange {
    /// The number of the case, from 0 on.
    number: u8,
    /// Whether there is such a case, and the primitive gave what the vectors say.
    is_right: u8,
    /// How many bytes the case is about, the low byte first.
    size: [u8; 2],
    /// The primitive's name, in ASCII, and zeros behind it.
    name: [u8; NAME],
}

#[unsafe(no_mangle)]
static mut EXCHANGE: Exchange = Exchange { number: 0, is_right: 0, size: [0; 2], name: [0; NAME] };

/// Where the other side stops this one.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn exchange() {
    // SAFETY: nothing is executed. To the compiler it may have changed all memory.
    unsafe { asm!("") }
}

// What the primitives work on is static, so that it does not count as stack.
static mut DATA: [u8; 1024] = [0; 1024];
static mut KEYS: Option<Keys> = None;

/// Does those of `cases` that the other side asks for. It must be called once only.
pub fn serve(cases: &'static [Case]) -> ! {
    // SAFETY: this is called once, and nothing else names the statics.
    let (data, keys) = unsafe { (&mut *addr_of_mut!(DATA), &mut *addr_of_mut!(KEYS)) };
    loop {
        exchange();
        // SAFETY: nobody has a reference to the block, here and below.
        let number = unsafe { (*addr_of_mut!(EXCHANGE)).number };
        let Some((case, size)) = case::numbered(cases, number) else {
            // SAFETY: as above. The other side asks for no case after this.
            unsafe { (*addr_of_mut!(EXCHANGE)).name = [0; NAME] };
            continue;
        };
        // SAFETY: as above.
        unsafe {
            (*addr_of_mut!(EXCHANGE)).size = size.to_le_bytes();
            (*addr_of_mut!(EXCHANGE)).name = padded(case.name);
        }
        let bytes = &mut data[..size.into()];
        case.run(keys, bytes, exchange);
        let is_right = (case.check)(bytes);
        // SAFETY: as above.
        unsafe { (*addr_of_mut!(EXCHANGE)).is_right = is_right.into() };
    }
}

fn padded(name: &str) -> [u8; NAME] {
    let mut padded = [0; NAME];
    for (to, byte) in padded.iter_mut().zip(name.bytes()) {
        *to = byte;
    }
    padded
}

/// Writes `result`, or as much of it as there is room for, to `data`, so that it is not left out.
pub fn keep(result: &[u8], data: &mut [u8]) {
    for (to, byte) in data.iter_mut().zip(result) {
        *to = *byte;
    }
}

/// The bytes that hexadecimal digits spell.
pub const fn hex<const N: usize>(digits: &str) -> [u8; N] {
    const fn value(digit: u8) -> u8 {
        match digit {
            b'0'..=b'9' => digit - b'0',
            _ => digit - b'a' + 10,
        }
    }
    let digits = digits.as_bytes();
    let mut bytes = [0; N];
    let mut n = 0;
    while n < N {
        bytes[n] = value(digits[2 * n]) << 4 | value(digits[2 * n + 1]);
        n += 1;
    }
    bytes
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
