//! Encrypts what it is given by AES-192, and does nothing else.
#![no_std]
#![no_main]

use sixlock_granjal_2008::Aes192;

#[path = "../alone.rs"]
mod alone;

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    alone::run::<Aes192>()
}
