//! Sends back what it is given: what the images with an algorithm have in common.
#![no_std]
#![no_main]

use sixlock_granjal_2008::NoAlgorithm;

#[path = "../alone.rs"]
mod alone;

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    alone::run::<NoAlgorithm>()
}
