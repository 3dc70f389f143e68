//! CCM ([RFC 3610](https://www.rfc-editor.org/rfc/rfc3610)), with AES-128 in the forward direction only.

use super::mac::Chain;
use super::modes::{BLOCK, xor};
use crate::masked::BlockCipher;

/// Where a block has its counter, or the length of the data.
const COUNTER: usize = BLOCK - 2;

/// One message under one key and nonce.
pub(super) struct Ccm<'a, K> {
    key: &'a K,
    /// The block with number 0.
    block: [u8; BLOCK],
}

impl<'a, K: BlockCipher> Ccm<'a, K> {
    /// The nonce has 11 to 13 bytes.
    pub(super) fn new(key: &'a K, nonce: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        // The width of the length field, less one.
        block[0] = COUNTER as u8 - nonce.len() as u8;
        block[1..1 + nonce.len()].copy_from_slice(nonce);
        Self { key, block }
    }

    /// Encrypts or decrypts `data`: the two are the same.
    pub(super) fn apply_key_stream(&self, data: &mut [u8]) {
        let mut counter = 0;
        for bytes in data.chunks_mut(BLOCK) {
            counter += 1;
            self.mask(bytes, counter);
        }
    }

    fn mask(&self, bytes: &mut [u8], counter: u16) {
        let mut stream = self.block;
        stream[COUNTER..].copy_from_slice(&counter.to_be_bytes());
        self.key.encrypt(&mut stream);
        xor(bytes, &stream);
    }

    /// Writes the tag of `aad` and the plaintext `data`.
    pub(super) fn tag(&self, aad: &[u8], data: &[u8], tag: &mut [u8]) {
        let mut first = self.block;
        first[0] |= (tag.len() as u8 - 2) << 2;
        first[COUNTER..].copy_from_slice(&(data.len() as u16).to_be_bytes());
        let mut chain = Chain::new(self.key);
        if aad.is_empty() {
            chain.add(&[&first]);
        } else {
            first[0] |= 0x40;
            chain.add(&[&first, &(aad.len() as u16).to_be_bytes(), aad]);
            chain.pad();
        }
        chain.add(&[data]);
        let mut mac = chain.finish();
        self.mask(&mut mac, 0);
        tag.copy_from_slice(&mac[..tag.len()]);
    }
}
