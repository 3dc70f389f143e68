//! One image a target that calls the entry points of every crate on the device floors.
//!
//! It is linked, not only compiled: an allocation, a 64-bit division or a symbol that the
//! target lacks fails the build, and its size is a bound on what a device needs.
#![no_std]
#![no_main]
#![cfg_attr(target_arch = "msp430", feature(asm_experimental_arch))]

mod crypto;
mod io;
mod start;

use sixlock_base::{Counters, Cx, Instant};
use sixlock_crypto::Soft;

/// Calls everything, again and again, with what comes in.
fn run() -> ! {
    let (mut soft, mut entropy, mut nv, mut counters) = (Soft, io::Noise, io::Flash, Counters::new());
    loop {
        let cx = &mut Cx {
            now: Instant::from_millis(io::number()),
            crypto: &mut soft,
            entropy: &mut entropy,
            nv: &mut nv,
            counters: &mut counters,
        };
        crypto::probe(cx);
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
