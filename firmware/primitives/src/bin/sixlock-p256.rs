//! What the costs of P-256 are found from: each of its operations. That these give what they should is checked in the image
//! `sixlock-primitives`.
//!
//! It is an image of its own, for what compilers make of hashes depends on who else calls them.
#![no_std]
#![no_main]

use core::hint::black_box;

use sixlock_crypto::Tiny;
use sixlock_crypto::p256::P256;
use sixlock_primitives::{Case, hex, keep, serve};

/// A public key ([RFC 6979](https://www.rfc-editor.org/rfc/rfc6979#appendix-A.2.5)).
const POINT: [u8; 65] = hex(
    "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
);
/// A private key, or a digest.
const NUMBER: [u8; 32] = [5; 32];

static CASES: &[Case] = &[
    Case::new("nothing", &[0], |_| (), |_| true),
    Case::new("p-256-public-key", &[65], make_key, |_| true),
    Case::new("p-256-agree", &[32], agree, |_| true),
    Case::new("p-256-sign", &[64], sign, |_| true),
    Case::new("p-256-verify", &[1], verify, |_| true),
];

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    serve(CASES)
}

fn make_key(data: &mut [u8]) {
    if let Some(point) = Tiny::new().p256_public_key(black_box(&NUMBER)) {
        keep(&point, data);
    }
}

fn agree(data: &mut [u8]) {
    if let Some(shared) = Tiny::new().p256_agree(black_box(&NUMBER), &POINT) {
        keep(&*shared, data);
    }
}

fn sign(data: &mut [u8]) {
    if let Some(signature) = Tiny::new().p256_sign(black_box(&NUMBER), &NUMBER) {
        keep(&signature, data);
    }
}

/// One that is wrong, which is found out at the end.
fn verify(data: &mut [u8]) {
    let verified = Tiny::new().p256_verify(&POINT, black_box(&NUMBER), &[9; 64]);
    keep(&[verified.is_ok().into()], data);
}
