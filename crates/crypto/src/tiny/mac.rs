//! Message authentication codes, over the concatenation of parts. Protocols send the first bytes of them.

use zeroize::Zeroizing;

use super::aes;
use super::hash::hmac;
use super::modes::{BLOCK, xor};
use super::sha1::Sha1;
use crate::{AES_128_KEY, constant_time_eq};

/// Length of a SHA-1 digest, in bytes.
pub const SHA_1_DIGEST: usize = 20;

/// Whether `received` is what `mac` begins with, in a time that does not depend on it.
pub fn is_truncated<const N: usize>(mac: &[u8], received: &[u8; N]) -> bool {
    mac.get(..N).is_some_and(|mac| constant_time_eq(mac, received))
}

/// CBC-MAC with AES-128, the last block filled up with zeros.
///
/// It proves nothing unless all messages under a key have the same length or begin with it: CMAC does without.
pub fn cbc_mac(key: &[u8; AES_128_KEY], parts: &[&[u8]]) -> [u8; BLOCK] {
    let mut chain = Chain::new(key);
    chain.add(parts);
    chain.finish()
}

/// A key for AES-XCBC-MAC ([RFC 3566](https://www.rfc-editor.org/rfc/rfc3566)), wiped when dropped.
pub struct Xcbc {
    keys: Zeroizing<[[u8; BLOCK]; 3]>,
}

impl Xcbc {
    /// Prepares `key`.
    pub fn new(key: &[u8; AES_128_KEY]) -> Self {
        let mut keys = Zeroizing::new([[1; BLOCK], [2; BLOCK], [3; BLOCK]]);
        for derived in keys.iter_mut() {
            aes::encrypt(key, derived);
        }
        Self { keys }
    }

    /// The code of `parts`, of which AES-XCBC-MAC-96 sends 12 bytes.
    pub fn mac(&self, parts: &[&[u8]]) -> [u8; BLOCK] {
        let [key, whole, padded] = &*self.keys;
        masked_mac(key, whole, padded, parts)
    }
}

/// A key for AES-CMAC ([RFC 4493](https://www.rfc-editor.org/rfc/rfc4493)), wiped when dropped.
pub struct Cmac {
    key: Zeroizing<[u8; AES_128_KEY]>,
    masks: Zeroizing<[[u8; BLOCK]; 2]>,
}

impl Cmac {
    /// Prepares `key`.
    pub fn new(key: &[u8; AES_128_KEY]) -> Self {
        let mut masks = Zeroizing::new([[0; BLOCK]; 2]);
        let [whole, padded] = &mut *masks;
        aes::encrypt(key, whole);
        double(whole);
        *padded = *whole;
        double(padded);
        Self { key: Zeroizing::new(*key), masks }
    }

    /// The code of `parts`, of which AES-CMAC-96 sends 12 bytes.
    pub fn mac(&self, parts: &[&[u8]]) -> [u8; BLOCK] {
        let [whole, padded] = &*self.masks;
        masked_mac(&self.key, whole, padded, parts)
    }
}

/// Multiplies `block` by x in GF(2^128), in the same time whatever it is.
fn double(block: &mut [u8; BLOCK]) {
    // What the highest bit leaves is added to the lowest byte, into which nothing is carried.
    let mut carry = 0x87 & aes::highest_bit(block[0]).wrapping_neg();
    for byte in block.iter_mut().rev() {
        let next = aes::highest_bit(*byte);
        *byte = (*byte << 1) ^ carry;
        carry = next;
    }
}

/// HMAC-SHA1 ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)), of which HMAC-SHA1-96 sends 12 bytes.
pub fn hmac_sha1(key: &[u8], parts: &[&[u8]]) -> [u8; SHA_1_DIGEST] {
    hmac::<Sha1, SHA_1_DIGEST>(key, parts)
}

/// A CBC-MAC whose last block is masked by `whole`, or by `padded` when it had to be filled up.
fn masked_mac(
    key: &[u8; AES_128_KEY],
    whole: &[u8; BLOCK],
    padded: &[u8; BLOCK],
    parts: &[&[u8]],
) -> [u8; BLOCK] {
    let mut chain = Chain::new(key);
    chain.add(parts);
    if let Some(end) = chain.block.get_mut(chain.place) {
        *end ^= 0x80;
        xor(&mut chain.block, padded);
    } else {
        xor(&mut chain.block, whole);
    }
    aes::encrypt(key, &mut chain.block);
    chain.block
}

/// A chain of blocks, of which the last is not encrypted yet, since that depends on whether more comes.
pub(super) struct Chain<'a> {
    key: &'a [u8; AES_128_KEY],
    block: [u8; BLOCK],
    /// How many bytes of the block are filled.
    place: usize,
}

impl<'a> Chain<'a> {
    pub(super) fn new(key: &'a [u8; AES_128_KEY]) -> Self {
        Self { key, block: [0; BLOCK], place: 0 }
    }

    /// Fills the block up with zeros.
    pub(super) fn pad(&mut self) {
        if self.place > 0 {
            self.place = BLOCK;
        }
    }

    /// The last block, filled up with zeros; zeros if nothing was added.
    pub(super) fn finish(mut self) -> [u8; BLOCK] {
        if self.place > 0 {
            aes::encrypt(self.key, &mut self.block);
        }
        self.block
    }

    pub(super) fn add(&mut self, parts: &[&[u8]]) {
        for byte in parts.iter().copied().flatten() {
            if self.place == BLOCK {
                aes::encrypt(self.key, &mut self.block);
                self.place = 0;
            }
            self.block[self.place] ^= byte;
            self.place += 1;
        }
    }
}
