//! What the measurements of Granjal et al. (2008) are repeated with, and nothing else: AES-192 and triple DES in CBC
//! mode, SHA-1 and SHA-512.
//!
//! No protocol may use these: they are no part of [`Crypto`](crate::Crypto), `checks/` sees to it that only
//! `firmware/granjal2008` names them, and an image that does not use them does not contain them. The paper names no
//! mode; CBC is the one in which IPsec had both ciphers then.

pub mod aes_192;
mod des;
mod sha512;
#[cfg(test)]
mod tests;
pub mod triple_des;

pub use sha512::{SHA_512_DIGEST, sha_512};

use super::hash::Hash;
use super::mac::SHA_1_DIGEST;
use super::sha1::Sha1;

/// The SHA-1 digest of `message`.
pub fn sha_1(message: &[u8]) -> [u8; SHA_1_DIGEST] {
    let mut hash = Hash::<Sha1>::new();
    hash.update(message);
    hash.finish()
}
