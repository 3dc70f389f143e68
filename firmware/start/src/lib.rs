//! From reset to an image's `run`: the stack, the initial values of statics, the vectors.
#![no_std]
#![cfg_attr(target_arch = "msp430", feature(asm_experimental_arch))]

#[cfg(target_arch = "arm")]
mod cortex_m3;

#[cfg(target_arch = "msp430")]
mod msp430f1611;

#[cfg(target_arch = "avr")]
mod atmega128;

unsafe extern "Rust" {
    /// The image's own code.
    safe fn run() -> !;
}
