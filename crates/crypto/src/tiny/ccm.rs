//! CCM ([RFC 3610](https://www.rfc-editor.org/rfc/rfc3610)), with AES-128 in the forward direction only.

use super::aes;
use crate::{AES_128_KEY, CcmNonce, Tag};

const BLOCK: usize = 16;

/// One message under one key and nonce.
pub(super) struct Ccm<'a> {
    key: &'a [u8; AES_128_KEY],
    nonce: CcmNonce<'a>,
}

impl<'a> Ccm<'a> {
    pub(super) fn new(key: &'a [u8; AES_128_KEY], nonce: CcmNonce<'a>) -> Self {
        Self { key, nonce }
    }

    /// A block of the nonce, with flags before and a counter or length behind it.
    fn block(&self, flags: u8, counter: u16) -> [u8; BLOCK] {
        let nonce: &[u8] = match self.nonce {
            CcmNonce::Twelve(nonce) => nonce,
            CcmNonce::Thirteen(nonce) => nonce,
        };
        let mut block = [0; BLOCK];
        // The width of the length field, less one.
        block[0] = flags | (14 - nonce.len() as u8);
        block[1..1 + nonce.len()].copy_from_slice(nonce);
        block[14..].copy_from_slice(&counter.to_be_bytes());
        block
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
        let mut stream = self.block(0, counter);
        aes::encrypt(self.key, &mut stream);
        for (byte, mask) in bytes.iter_mut().zip(stream) {
            *byte ^= mask;
        }
    }

    /// Writes the tag of `aad` and the plaintext `data`.
    pub(super) fn tag(&self, aad: &[u8], data: &[u8], tag: &mut Tag) {
        let tag = tag.bytes_mut();
        let mut flags = (tag.len() as u8 - 2) << 2;
        if !aad.is_empty() {
            flags |= 0x40;
        }
        let mut mac = self.block(flags, data.len() as u16);
        aes::encrypt(self.key, &mut mac);
        let mut place = 0;
        if !aad.is_empty() {
            self.authenticate(&mut mac, &mut place, &(aad.len() as u16).to_be_bytes());
            self.authenticate(&mut mac, &mut place, aad);
            self.pad(&mut mac, &mut place);
        }
        self.authenticate(&mut mac, &mut place, data);
        self.pad(&mut mac, &mut place);
        self.mask(&mut mac, 0);
        tag.copy_from_slice(&mac[..tag.len()]);
    }

    /// Adds `bytes` to the CBC-MAC, of whose block `place` bytes are filled.
    fn authenticate(&self, mac: &mut [u8; BLOCK], place: &mut usize, bytes: &[u8]) {
        for byte in bytes {
            mac[*place % BLOCK] ^= byte;
            *place += 1;
            if *place == BLOCK {
                self.pad(mac, place);
            }
        }
    }

    /// Fills the block up with zeros, unless it is empty.
    fn pad(&self, mac: &mut [u8; BLOCK], place: &mut usize) {
        if *place > 0 {
            aes::encrypt(self.key, mac);
            *place = 0;
        }
    }
}
