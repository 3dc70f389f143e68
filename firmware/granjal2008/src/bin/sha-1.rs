//! Hashes what it is given by SHA-1, and does nothing else.
#![no_std]
#![no_main]

use sixlock_granjal_2008::Sha1;

#[path = "../alone.rs"]
mod alone;

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    alone::run::<Sha1>()
}
