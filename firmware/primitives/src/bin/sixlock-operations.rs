//! What the costs of operations of the usual backend are found from. That these give what they should is checked in the image
//! `sixlock-primitives`.
#![no_std]
#![no_main]

use core::hint::black_box;

use sixlock_crypto::Tiny;
use sixlock_primitives::serve;

#[path = "../operations.rs"]
mod operations;

type Backend = Tiny;

fn backend() -> Backend {
    Tiny::new()
}

/// Where it is.
#[inline(always)]
fn keep_code_key<K>(key: Option<K>) {
    black_box(&key);
}

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    serve(operations::CASES)
}
