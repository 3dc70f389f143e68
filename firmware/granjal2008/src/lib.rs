//! The algorithms that Granjal et al. (2008) measured on the MicaZ, which nothing else may use: one at a time is linked into a program that does nothing
//! else, or into a node.
#![no_std]

use sixlock_crypto::Tiny;
use sixlock_crypto::tiny::benchmark::{aes_192, sha_1, sha_512, triple_des};

/// An algorithm, under a key of its own if it has one.
pub trait Algorithm {
    /// Puts what it makes of the first `length` bytes of `data` in their place. How long that is; nothing if there is no room for it, or if
    /// these are no whole blocks of a cipher.
    fn run(data: &mut [u8], length: usize) -> Option<usize>;
}

/// None: what comes in goes out.
pub enum NoAlgorithm {}

impl Algorithm for NoAlgorithm {
    fn run(_: &mut [u8], length: usize) -> Option<usize> {
        Some(length)
    }
}

/// AES-192 in CBC mode, which encrypts.
pub enum Aes192 {}

impl Aes192 {
    /// That of NIST SP 800-38A appendix F.2.3.
    pub const KEY: [u8; aes_192::KEY] = [
        0x8e, 0x73, 0xb0, 0xf7, 0xda, 0x0e, 0x64, 0x52, 0xc8, 0x10, 0xf3, 0x2b, 0x80, 0x90, 0x79, 0xe5, 0x62,
        0xf8, 0xea, 0xd2, 0x52, 0x2c, 0x6b, 0x7b,
    ];
    /// The initialization vector there.
    pub const IV: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
}

impl Algorithm for Aes192 {
    fn run(data: &mut [u8], length: usize) -> Option<usize> {
        aes_192::cbc_encrypt(Tiny::new(), &Self::KEY, &Self::IV, data.get_mut(..length)?).ok()?;
        Some(length)
    }
}

/// Triple DES with three keys in CBC mode, which encrypts.
pub enum TripleDes {}

impl TripleDes {
    /// That of NIST SP 800-67 appendix B.1.
    pub const KEY: [u8; triple_des::KEY] = [
        0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x45,
        0x67, 0x89, 0xab, 0xcd, 0xef, 0x01, 0x23,
    ];
}

impl Algorithm for TripleDes {
    fn run(data: &mut [u8], length: usize) -> Option<usize> {
        triple_des::cbc_encrypt(Tiny::new(), &Self::KEY, &[0; 8], data.get_mut(..length)?).ok()?;
        Some(length)
    }
}

/// SHA-1.
pub enum Sha1 {}

impl Algorithm for Sha1 {
    fn run(data: &mut [u8], length: usize) -> Option<usize> {
        put(&sha_1(data.get(..length)?), data)
    }
}

/// SHA-512.
pub enum Sha512 {}

impl Algorithm for Sha512 {
    fn run(data: &mut [u8], length: usize) -> Option<usize> {
        put(&sha_512(data.get(..length)?), data)
    }
}

/// Puts a digest to the front of `data`, and says how long it is.
fn put(digest: &[u8], data: &mut [u8]) -> Option<usize> {
    data.get_mut(..digest.len())?.copy_from_slice(digest);
    Some(digest.len())
}
