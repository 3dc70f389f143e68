//! Message authentication codes, over the concatenation of parts. Protocols send the first bytes of them.

use super::Tiny;
use super::hash::{Hmac, HmacKey};
use super::modes::BLOCK;
use super::sha1::Sha1;
use crate::masked::BlockCipher;
use crate::{AES_128_KEY, constant_time_eq};

/// Length of a SHA-1 digest, in bytes.
pub const SHA_1_DIGEST: usize = 20;

/// Whether `mac` begins with `received`, in a time that does not depend on `received`.
pub fn is_truncated<const N: usize>(mac: &[u8], received: &[u8; N]) -> bool {
    mac.get(..N).is_some_and(|mac| constant_time_eq(mac, received))
}

/// CBC-MAC with AES-128, the last block filled up with zeros.
///
/// It proves nothing unless all messages under a key have the same length or begin with it: CMAC does without.
pub fn cbc_mac(_: Tiny, key: &[u8; AES_128_KEY], parts: &[&[u8]]) -> [u8; BLOCK] {
    let mut chain = Chain::new(key);
    chain.add(parts);
    chain.finish()
}

/// HMAC-SHA1 ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)), of which HMAC-SHA1-96 sends 12 bytes.
pub fn hmac_sha1(key: &[u8], parts: &[&[u8]]) -> [u8; SHA_1_DIGEST] {
    Hmac::<Sha1>::new(&HmacKey::new::<SHA_1_DIGEST>(key)).over(parts)
}

/// A chain of blocks, of which the last is not encrypted yet, since that depends on whether more comes.
pub(super) struct Chain<'a, K> {
    key: &'a K,
    block: [u8; BLOCK],
    /// How many bytes of the block are filled.
    place: usize,
}

impl<'a, K: BlockCipher> Chain<'a, K> {
    pub(super) fn new(key: &'a K) -> Self {
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
            self.key.encrypt(&mut self.block);
        }
        self.block
    }

    pub(super) fn add(&mut self, parts: &[&[u8]]) {
        for byte in parts.iter().copied().flatten() {
            if self.place == BLOCK {
                self.key.encrypt(&mut self.block);
                self.place = 0;
            }
            self.block[self.place] ^= byte;
            self.place += 1;
        }
    }
}
