//! What images with a protocol, and one without, have in common: a block of memory by which datagrams come in and go out.
//! What the first take more than the second is what their protocols take.
#![no_std]
#![cfg_attr(any(target_arch = "msp430", target_arch = "avr"), feature(asm_experimental_arch))]

mod client;
mod transform;

use core::arch::asm;
use core::ptr::addr_of_mut;

use sixlock_base::{Entropy, Instant};
use sixlock_start as _;

pub use client::{Context, Session, answer, serve};
pub use transform::echo;

/// The longest datagram, in bytes.
pub const DATAGRAM: usize = 256;
/// How many random bytes there are in a task: more than a hello needs.
const ENTROPY: usize = 64;

/// What is told and answered, in memory. Numbers have the low byte first.
#[repr(C)]
struct Exchange {
    /// The length of the datagram that has come in, or is to go out; 0 for none.
    length: [u8; 2],
    /// The time, in milliseconds.
    now: [u8; 4],
    /// Whether the device wants to be called at a time, and at which.
    wants_timer: u8,
    timer: [u8; 4],
    entropy: [u8; ENTROPY],
    datagram: [u8; DATAGRAM],
}

#[unsafe(no_mangle)]
static mut EXCHANGE: Exchange = Exchange {
    length: [0; 2],
    now: [0; 4],
    wants_timer: 0,
    timer: [0; 4],
    entropy: [0; ENTROPY],
    datagram: [0; DATAGRAM],
};

/// Where the other side stops this one.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn exchange() {
    // SAFETY: nothing is executed. To the compiler it may have changed all memory.
    unsafe { asm!("") }
}

/// What begins a task.
pub struct Task {
    /// The time.
    pub now: Instant,
    /// The length of the datagram that has come in; 0 for none.
    pub length: usize,
}

/// Ends a task, with so many bytes of `datagram` to go out, and returns with what begins the next.
pub fn wait(length: usize, timer: Option<Instant>) -> Task {
    let block = addr_of_mut!(EXCHANGE);
    // SAFETY: fields that nobody has a reference to.
    unsafe {
        (*block).length = (length as u16).to_le_bytes();
        (*block).wants_timer = timer.is_some().into();
        if let Some(timer) = timer {
            (*block).timer = timer.millis().to_le_bytes();
        }
    }
    exchange();
    // SAFETY: as above.
    unsafe {
        Task {
            now: Instant::from_millis(u32::from_le_bytes((*block).now)),
            length: usize::from(u16::from_le_bytes((*block).length)).min(DATAGRAM),
        }
    }
}

/// Where datagrams come in and go out; asked for once.
pub fn datagram() -> &'static mut [u8; DATAGRAM] {
    // SAFETY: nothing else here names the field, and the other side leaves it alone while a task runs.
    unsafe { &mut *addr_of_mut!(EXCHANGE.datagram) }
}

/// The random bytes of a task, in turn.
#[derive(Default)]
pub struct Random {
    used: usize,
}

impl Entropy for Random {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            // SAFETY: a byte within the field, which nobody has a reference to.
            *byte = unsafe { (*addr_of_mut!(EXCHANGE)).entropy[self.used % ENTROPY] };
            self.used += 1;
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
