//! What the costs of operations are found from: each kind of operation, in numbers of which no two are in proportion.
//! That these give what they should is checked in the image `sixlock-primitives`.
#![no_std]
#![no_main]

use sixlock_crypto::{CcmNonce, CcmTag, Crypto, Tag, Tiny};
use sixlock_primitives::{Case, keep, serve};

/// Some end a block, most do not.
const SIZES: &[u16] = &[0, 7, 16, 40, 57, 64, 100, 128];

const KEY: [u8; 16] = [7; 16];
const NONCE: [u8; 13] = [1; 13];
/// As long as what a frame or a record has authenticated in the clear.
const CLEAR: [u8; 21] = [3; 21];

static CASES: &[Case] = &[
    Case::new("nothing", &[0], |_| (), |_| true),
    Case::new("aes-128-key", &[16], prepare, |_| true),
    Case::new("ccm-seal", SIZES, seal_only, |_| true),
    Case::new("ccm-seal-open", SIZES, seal_and_open, |_| true),
    Case::new("sha-256", SIZES, hash, |_| true),
    Case::new("hmac-sha-256", SIZES, |data| keep(&Tiny.hmac_sha256(&KEY, &[data]), data), |_| true),
];

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    serve(CASES)
}

fn prepare(data: &mut [u8]) {
    let key = Tiny.aes_128(core::hint::black_box(&KEY));
    core::hint::black_box(&key);
    keep(&[1], data);
}

fn seal(data: &mut [u8]) -> Tag {
    let key = Tiny.aes_128(&KEY);
    let mut tag = Tag::empty(CcmTag::Eight);
    Tiny.ccm_seal(&key, CcmNonce::Thirteen(&NONCE), &CLEAR, data, &mut tag);
    core::hint::black_box(tag)
}

fn seal_only(data: &mut [u8]) {
    seal(data);
}

fn seal_and_open(data: &mut [u8]) {
    let tag = seal(data);
    let key = Tiny.aes_128(&KEY);
    let opened = Tiny.ccm_open(&key, CcmNonce::Thirteen(&NONCE), &CLEAR, data, &tag);
    keep(&[opened.is_ok().into()], data);
}

fn hash(data: &mut [u8]) {
    let mut hash = Tiny.sha256();
    Tiny.sha256_update(&mut hash, data);
    keep(&Tiny.sha256_finish(hash), data);
}
