//! Encrypts what it is given by triple DES, and does nothing else.
#![no_std]
#![no_main]

use sixlock_granjal_2008::TripleDes;

#[path = "../alone.rs"]
mod alone;

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    alone::run::<TripleDes>()
}
