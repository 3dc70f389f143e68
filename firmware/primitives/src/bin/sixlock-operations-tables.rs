//! What the costs of operations of the backend whose AES reads a table of columns are found from. That these give what they should is checked in the image
//! `sixlock-primitives`.
#![no_std]
#![no_main]

use core::hint::black_box;

use sixlock_crypto::{Provider, Tables, Tiny};
use sixlock_primitives::serve;

#[path = "../operations.rs"]
mod operations;

type Backend = Provider<Tables, Tiny, Tiny>;

fn backend() -> Backend {
    Provider { ciphers: Tables::new(), hashes: Tiny::new(), p256: Tiny::new() }
}

/// In a place of its own, as who authenticates something moves it there: 200 bytes, which are part of the key's cost and not of each message's.
#[inline(always)]
fn keep_code_key<K>(key: Option<K>) {
    if let Some(key) = key {
        black_box(&key);
    }
}

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    serve(operations::CASES)
}
