//! Runs firmware images: Cortex-M3 in QEMU, MSP430 in mspdebug, AVR in simavr.
//!
//! All three are driven by one client of the GDB remote serial protocol. The image runs from one stop at a chosen
//! function to the next; in between its memory is read and written and what it took is counted. Nothing here
//! looks at a clock: the emulator stands still until it is told to go on.
//!
//! This crate runs on a host, beside the devices' floors: it uses `std`.

mod client;
mod emulator;
mod error;
mod image;
mod lockstep;
mod msp430;
mod packet;
mod process;

pub use emulator::Emulator;
pub use error::{Cause, Error};
pub use image::{Cpu, Image, ImageError, Symbol};
pub use lockstep::{Lockstep, Outcome, Request, Task};
