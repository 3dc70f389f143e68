//! What the costs of a backend's operations are found from: each kind of operation, in numbers of which no two are in proportion.
//! Each image that includes this says which backend it is, as `Backend`, made by `backend()`, and by `keep_code_key()`
//! where a prepared key of a code is kept.

use core::hint::black_box;

use sixlock_crypto::ipsec::{Authenticate, HmacSha1, MacAlgorithm, PacketCipher, Xcbc, code};
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Hashes, Tag};
use sixlock_primitives::{Case, keep};

use super::{Backend, backend, keep_code_key};

/// Some end a block, most do not.
const SIZES: &[u16] = &[0, 7, 16, 40, 57, 64, 100, 128];

/// Whole blocks of AES.
const BLOCKS: &[u16] = &[16, 48, 64, 128];

const KEY: [u8; 16] = [7; 16];
const NONCE: [u8; 13] = [1; 13];
/// As long as what a frame or a record has authenticated in the clear.
const CLEAR: [u8; 21] = [3; 21];

pub static CASES: &[Case] = &[
    Case::new("nothing", &[0], |_| (), |_| true),
    Case::new("aes-128-key", &[16], prepare, |_| true),
    Case::new("ccm-seal", SIZES, seal_only, |_| true),
    Case::new("ccm-seal-open", SIZES, seal_and_open, |_| true),
    Case::new("sha-256", SIZES, hash, |_| true),
    Case::new("hmac-sha-256-key", &[16], prepare_hmac, |_| true),
    Case::new("hmac-sha-256", SIZES, mac, |_| true),
    Case::new("aes-ctr", SIZES, count, |_| true),
    Case::new("cbc-encrypt", BLOCKS, chain, |_| true),
    Case::new("cbc-decrypt", BLOCKS, unchain, |_| true),
    Case::new("xcbc-key", &[16], prepare_xcbc, |_| true),
    Case::new("xcbc", SIZES, authenticate::<Xcbc, 16>, |_| true),
    Case::new("hmac-sha-1-key", &[20], prepare_hmac_sha_1, |_| true),
    Case::new("hmac-sha-1", SIZES, authenticate::<HmacSha1, 20>, |_| true),
    Case::new("gcm-seal", SIZES, seal_gcm, |_| true),
];

fn prepare(_: &mut [u8]) {
    let key = backend().aes_128(black_box(&KEY));
    black_box(&key);
}

fn seal(data: &mut [u8]) -> Tag {
    let key = backend().aes_128(black_box(&KEY));
    let mut tag = Tag::empty(CcmTag::Eight);
    backend().ccm_seal(&key, CcmNonce::Thirteen(&NONCE), &CLEAR, data, &mut tag);
    black_box(tag)
}

fn seal_only(data: &mut [u8]) {
    seal(data);
}

fn seal_and_open(data: &mut [u8]) {
    let tag = seal(data);
    let key = backend().aes_128(black_box(&KEY));
    let opened = backend().ccm_open(&key, CcmNonce::Thirteen(&NONCE), &CLEAR, data, &tag);
    keep(&[opened.is_ok().into()], data);
}

fn hash(data: &mut [u8]) {
    let mut hash = backend().sha256();
    backend().sha256_update(&mut hash, data);
    keep(&backend().sha256_finish(hash), data);
}

fn prepare_hmac(_: &mut [u8]) {
    let key = backend().hmac_key(black_box(&KEY));
    black_box(&key);
}

fn mac(data: &mut [u8]) {
    let key = backend().hmac_key(black_box(&KEY));
    keep(&backend().hmac_sha256(&key, &[data]), data);
}

fn count(data: &mut [u8]) {
    let key = backend().aes_128(black_box(&KEY));
    backend().aes_ctr(&key, &KEY, data);
}

fn chain(data: &mut [u8]) {
    let key = backend().aes_cbc(black_box(&KEY));
    backend().cbc_encrypt(&key, &KEY, data.as_chunks_mut().0);
}

fn unchain(data: &mut [u8]) {
    let key = backend().aes_cbc(black_box(&KEY));
    backend().cbc_decrypt(&key, &KEY, data.as_chunks_mut().0);
}

fn prepare_xcbc(_: &mut [u8]) {
    keep_code_key(Authenticate::<Xcbc>::authentication_key(&mut backend(), black_box(&KEY)));
}

fn prepare_hmac_sha_1(_: &mut [u8]) {
    let key = Authenticate::<HmacSha1>::authentication_key(&mut backend(), black_box(&[7; HmacSha1::KEY]));
    black_box(&key);
}

fn authenticate<A: MacAlgorithm, const KEY_LEN: usize>(data: &mut [u8])
where
    Backend: Authenticate<A>,
{
    if let Some(code) = code::<A>(&mut backend(), &[7; KEY_LEN], &[data]) {
        keep(code.as_ref(), data);
    }
}

fn seal_gcm(data: &mut [u8]) {
    let key = backend().aes_128(black_box(&KEY));
    let key = backend().aes_gcm(&key);
    let tag = backend().gcm_seal(&key, NONCE.first_chunk().unwrap_or(&[1; 12]), &CLEAR, data);
    keep(&tag, data);
}
