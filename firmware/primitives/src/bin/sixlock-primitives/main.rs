//! The primitives that protocols use.
#![no_std]
#![no_main]

mod vectors;

#[cfg(target_arch = "arm")]
use sixlock_crypto::Soft;
use sixlock_crypto::ipsec::{Authenticate, Cmac, MacAlgorithm, Xcbc, code};
use sixlock_crypto::tiny::mac::{cbc_mac, hmac_sha1};
use sixlock_crypto::tiny::modes::{cbc_decrypt, cbc_encrypt, ctr};
use sixlock_crypto::tiny::p256::PublicKey;
use sixlock_crypto::{CcmNonce, CcmTag, Crypto, Tag, Tiny};
use sixlock_primitives::{Case, Keys, Work, keep, serve};

use crate::vectors::{cbc, ccm, cmac, ctr as counter, ecdh, ecdsa, hash, xcbc};

const SIZES: &[u16] = &[16, 64, 128, 512, 1024];

/// Room for a key, a signature or a point.
const ROOM: &[u16] = &[65];

const fn ecdsa_case(name: &'static str, work: fn(&Keys, &mut [u8]), check: fn(&[u8]) -> bool) -> Case {
    Case { name, sizes: ROOM, work: Work::Keys(&ecdsa::KEY, &ecdsa::PUBLIC, work), check }
}

const fn ecdh_case(name: &'static str, work: fn(&Keys, &mut [u8]), check: fn(&[u8]) -> bool) -> Case {
    Case { name, sizes: ROOM, work: Work::Keys(&ecdh::KEY, &ecdh::PEER, work), check }
}

static CASES: &[Case] = &[
    Case::new("nothing", &[0], |_| (), |_| true),
    Case::new("aes-128-cbc", SIZES, encrypt_cbc, |_| cbc_is_right()),
    Case::new("aes-128-cbc-decrypt", SIZES, decrypt_cbc, |_| cbc_is_right()),
    Case::new(
        "aes-128-ctr",
        SIZES,
        |data| ctr(Tiny::new(), &counter::KEY, &counter::FIRST, data),
        |_| ctr_is_right(),
    ),
    Case::new(
        "aes-128-ccm-8",
        SIZES,
        |data| seal(&mut Tiny::new(), data),
        |_| ccm_is_right(&mut Tiny::new()),
    ),
    Case::new(
        "aes-128-cbc-mac",
        SIZES,
        |data| keep(&cbc_mac(Tiny::new(), &cbc::KEY, &[data]), data),
        |_| cbc_mac_is_right(),
    ),
    Case::new("aes-xcbc-mac", SIZES, |data| authenticate::<Xcbc>(&xcbc::KEY, data), |_| xcbc_is_right()),
    Case::new("aes-cmac", SIZES, |data| authenticate::<Cmac>(&cmac::KEY, data), |_| cmac_is_right()),
    Case::new(
        "sha-256",
        SIZES,
        |data| hash_256(&mut Tiny::new(), data),
        |_| sha_256_is_right(&mut Tiny::new()),
    ),
    Case::new(
        "hmac-sha256",
        SIZES,
        |data| mac_256(&mut Tiny::new(), data),
        |_| hmac_sha256_is_right(&mut Tiny::new()),
    ),
    Case::new(
        "hmac-sha1",
        SIZES,
        |data| keep(&hmac_sha1(&hash::KEY, &[data]), data),
        |_| hmac_sha1_is_right(),
    ),
    ecdsa_case("p-256-public-key", public_key, |data| data == ecdsa::PUBLIC),
    ecdh_case("p-256-other-key", public_key, |data| data[0] == 4),
    Case::new("p-256-check", ROOM, check_point, |data| data[0] == 1),
    ecdh_case("p-256-agree", agree, |data| data[..32] == ecdh::SECRET),
    ecdsa_case("p-256-sign", sign, |data| data[..64] == ecdsa::SIGNATURE),
    ecdsa_case("p-256-verify", verify, |data| data[0] == 1),
    #[cfg(target_arch = "arm")]
    Case::new("soft-aes-128-ccm-8", SIZES, |data| seal(&mut Soft, data), |_| ccm_is_right(&mut Soft)),
    #[cfg(target_arch = "arm")]
    Case::new("soft-sha-256", SIZES, |data| hash_256(&mut Soft, data), |_| sha_256_is_right(&mut Soft)),
    #[cfg(target_arch = "arm")]
    Case::new(
        "soft-hmac-sha256",
        SIZES,
        |data| mac_256(&mut Soft, data),
        |_| hmac_sha256_is_right(&mut Soft),
    ),
];

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    serve(CASES)
}

// The sizes are whole blocks, so that these do not fail.
fn encrypt_cbc(data: &mut [u8]) {
    let _ = cbc_encrypt(Tiny::new(), &cbc::KEY, &cbc::IV, data);
}

fn decrypt_cbc(data: &mut [u8]) {
    let _ = cbc_decrypt(Tiny::new(), &cbc::KEY, &cbc::IV, data);
}

fn cbc_is_right() -> bool {
    let mut data = cbc::PLAIN;
    encrypt_cbc(&mut data);
    let is_encrypted = data == cbc::ENCRYPTED;
    decrypt_cbc(&mut data);
    is_encrypted && data == cbc::PLAIN
}

fn ctr_is_right() -> bool {
    let mut data = counter::PLAIN;
    ctr(Tiny::new(), &counter::KEY, &counter::FIRST, &mut data);
    data == counter::ENCRYPTED
}

fn seal<C: Crypto>(crypto: &mut C, data: &mut [u8]) {
    let key = crypto.aes_128(&ccm::KEY);
    let mut tag = Tag::empty(CcmTag::Eight);
    crypto.ccm_seal(&key, CcmNonce::Thirteen(&ccm::NONCE), &ccm::AAD, data, &mut tag);
    keep(tag.bytes(), data);
}

fn ccm_is_right<C: Crypto>(crypto: &mut C) -> bool {
    let key = crypto.aes_128(&ccm::KEY);
    let nonce = CcmNonce::Thirteen(&ccm::NONCE);
    let (mut data, mut tag) = (ccm::PLAIN, Tag::empty(CcmTag::Eight));
    crypto.ccm_seal(&key, nonce, &ccm::AAD, &mut data, &mut tag);
    let is_sealed = data == ccm::ENCRYPTED && tag.bytes() == ccm::TAG;
    let is_open = crypto.ccm_open(&key, nonce, &ccm::AAD, &mut data, &tag).is_ok() && data == ccm::PLAIN;
    let forged = Tag::empty(CcmTag::Eight);
    is_sealed && is_open && crypto.ccm_open(&key, nonce, &ccm::AAD, &mut data, &forged).is_err()
}

/// There is no vector for it; it is what CBC ends with, from zero.
fn cbc_mac_is_right() -> bool {
    let mut data = cbc::PLAIN;
    cbc_encrypt(Tiny::new(), &cbc::KEY, &[0; 16], &mut data).is_ok()
        && data == cbc_mac(Tiny::new(), &cbc::KEY, &[&cbc::PLAIN])
}

fn authenticate<A: MacAlgorithm>(key: &[u8], data: &mut [u8])
where
    Tiny: Authenticate<A>,
{
    if let Some(code) = code::<A>(&mut Tiny::new(), key, &[data]) {
        keep(code.as_ref(), data);
    }
}

fn xcbc_is_right() -> bool {
    code::<Xcbc>(&mut Tiny::new(), &xcbc::KEY, &[&xcbc::MESSAGE]) == Some(xcbc::MAC)
}

fn cmac_is_right() -> bool {
    code::<Cmac>(&mut Tiny::new(), &cmac::KEY, &[&cmac::MESSAGE]) == Some(cmac::MAC)
}

fn sha_256<C: Crypto>(crypto: &mut C, data: &[u8]) -> [u8; 32] {
    let mut hash = crypto.sha256();
    crypto.sha256_update(&mut hash, data);
    crypto.sha256_finish(hash)
}

fn hash_256<C: Crypto>(crypto: &mut C, data: &mut [u8]) {
    keep(&sha_256(crypto, data), data);
}

fn sha_256_is_right<C: Crypto>(crypto: &mut C) -> bool {
    sha_256(crypto, b"abc") == hash::SHA_256_OF_ABC
}

fn mac_256<C: Crypto>(crypto: &mut C, data: &mut [u8]) {
    let key = crypto.hmac_key(&hash::KEY);
    keep(&crypto.hmac_sha256(&key, &[data]), data);
}

fn hmac_sha256_is_right<C: Crypto>(crypto: &mut C) -> bool {
    let key = crypto.hmac_key(&hash::KEY);
    crypto.hmac_sha256(&key, &[&hash::MESSAGE]) == hash::HMAC_SHA256
}

fn hmac_sha1_is_right() -> bool {
    hmac_sha1(&hash::KEY, &[&hash::MESSAGE]) == hash::HMAC_SHA1
}

fn public_key(keys: &Keys, data: &mut [u8]) {
    keep(&keys.private.public_key().to_bytes(), data);
}

/// A point that is on the curve, and one that is not.
fn check_point(data: &mut [u8]) {
    let mut bytes = ecdsa::PUBLIC;
    let is_point = PublicKey::from_bytes(&bytes).is_ok();
    bytes[64] ^= 1;
    keep(&[(is_point && PublicKey::from_bytes(&bytes).is_err()).into()], data);
}

fn agree(keys: &Keys, data: &mut [u8]) {
    keep(&*keys.private.agree(&keys.public), data);
}

fn sign(keys: &Keys, data: &mut [u8]) {
    keep(&keys.private.sign(&mut Tiny::new(), &ecdsa::DIGEST), data);
}

fn verify(keys: &Keys, data: &mut [u8]) {
    keep(&[keys.public.verify(&ecdsa::DIGEST, &ecdsa::SIGNATURE).is_ok().into()], data);
}
