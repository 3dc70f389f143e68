//! What Granjal et al. (2008) measured on the MicaZ: AES and triple DES with keys of 192 bits, SHA-1 and SHA-512.
//!
//! It is an image of its own because nothing else may contain these, and because with their vectors in the memory of
//! the ATmega128 there would be no stack for P-256.
#![no_std]
#![no_main]

use sixlock_crypto::Tiny;
use sixlock_crypto::tiny::benchmark::{aes_192, sha_1, sha_512, triple_des};
use sixlock_granjal_2008::{Aes192, TripleDes};
use sixlock_primitives::{Case, hex, keep, serve};

/// Those of the paper: 128 to 2048 bits.
const SIZES: &[u16] = &[16, 32, 64, 128, 256];

static CASES: &[Case] = &[
    Case::new("nothing", &[0], |_| (), |_| true),
    Case::new("aes-192-cbc", SIZES, aes::encrypt, |_| aes::is_right()),
    Case::new("aes-192-cbc-decrypt", SIZES, aes::decrypt, |_| aes::is_right()),
    Case::new("3des-cbc", SIZES, tdea::encrypt, |_| tdea::is_right()),
    Case::new("3des-cbc-decrypt", SIZES, tdea::decrypt, |_| tdea::is_right()),
    Case::new("sha-1", SIZES, |data| keep(&sha_1(data), data), |_| sha_1(b"abc") == SHA_1_OF_ABC),
    Case::new("sha-512", SIZES, |data| keep(&sha_512(data), data), |_| sha_512(b"abc") == SHA_512_OF_ABC),
];

#[unsafe(no_mangle)]
extern "Rust" fn run() -> ! {
    serve(CASES)
}

/// NIST SP 800-38A appendix F.2.3, blocks 1 and 2.
mod aes {
    use super::{Aes192, Tiny, aes_192, hex};

    const KEY: [u8; 24] = Aes192::KEY;
    const IV: [u8; 16] = Aes192::IV;
    const PLAIN: [u8; 32] = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
    const ENCRYPTED: [u8; 32] = hex("4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a");

    // The sizes are whole blocks, so that these do not fail.
    pub fn encrypt(data: &mut [u8]) {
        let _ = aes_192::cbc_encrypt(Tiny::new(), &KEY, &IV, data);
    }

    pub fn decrypt(data: &mut [u8]) {
        let _ = aes_192::cbc_decrypt(Tiny::new(), &KEY, &IV, data);
    }

    pub fn is_right() -> bool {
        let mut data = PLAIN;
        encrypt(&mut data);
        let is_encrypted = data == ENCRYPTED;
        decrypt(&mut data);
        is_encrypted && data == PLAIN
    }
}

/// NIST SP 800-67 appendix B.1, block 1: the first of a chain from zero.
mod tdea {
    use super::{Tiny, TripleDes, hex, triple_des};

    const KEY: [u8; 24] = TripleDes::KEY;
    const PLAIN: [u8; 8] = *b"The qufc";
    const ENCRYPTED: [u8; 8] = hex("a826fd8ce53b855f");

    // The sizes are whole blocks, so that these do not fail.
    pub fn encrypt(data: &mut [u8]) {
        let _ = triple_des::cbc_encrypt(Tiny::new(), &KEY, &[0; 8], data);
    }

    pub fn decrypt(data: &mut [u8]) {
        let _ = triple_des::cbc_decrypt(Tiny::new(), &KEY, &[0; 8], data);
    }

    pub fn is_right() -> bool {
        let mut data = PLAIN;
        encrypt(&mut data);
        let is_encrypted = data == ENCRYPTED;
        decrypt(&mut data);
        is_encrypted && data == PLAIN
    }
}

/// FIPS 180's "abc".
const SHA_1_OF_ABC: [u8; 20] = hex("a9993e364706816aba3e25717850c26c9cd0d89d");
const SHA_512_OF_ABC: [u8; 64] = hex(concat!(
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a",
    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
));
