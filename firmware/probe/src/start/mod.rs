//! From reset to [`run`](crate::run): the stack, the initial values of statics, the vectors.

#[cfg(target_arch = "arm")]
mod cortex_m3;

#[cfg(target_arch = "msp430")]
mod msp430f1611;

#[cfg(target_arch = "avr")]
mod atmega128;
