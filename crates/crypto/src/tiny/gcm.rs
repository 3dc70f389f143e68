//! GCM ([NIST SP 800-38D](https://doi.org/10.6028/NIST.SP.800-38D)) with nonces of 12 bytes, a bit at a time.

use core::hint::black_box;

use zeroize::Zeroizing;

use super::aes_backend::Aes;
use super::modes::{BLOCK, xor};
use crate::masked::BlockCipher;

/// A key, wiped when dropped.
pub struct GcmKey<B: Aes> {
    cipher: Zeroizing<B::Key>,
    /// The factor of each multiplication.
    factor: Zeroizing<[u8; BLOCK]>,
}

impl<B: Aes> GcmKey<B> {
    pub(super) fn new(key: &Zeroizing<B::Key>) -> Self {
        let mut factor = Zeroizing::new([0; BLOCK]);
        B::Key::encrypt(key, &mut factor);
        Self { cipher: key.clone(), factor }
    }

    /// Encrypts or decrypts `data`: the two are the same.
    pub(super) fn apply_key_stream(&self, nonce: &[u8; 12], data: &mut [u8]) {
        B::count(&self.cipher, &counter_block(nonce, 2), data);
    }

    /// The tag of `aad` and the encrypted `data`.
    pub(super) fn tag(&self, nonce: &[u8; 12], aad: &[u8], data: &[u8]) -> [u8; BLOCK] {
        let mut tag = [0; BLOCK];
        for block in aad.chunks(BLOCK).chain(data.chunks(BLOCK)) {
            self.add(&mut tag, block);
        }
        let mut lengths = [0; BLOCK];
        for (half, bytes) in lengths.as_chunks_mut::<8>().0.iter_mut().zip([aad, data]) {
            // The length in bits, of 64 bits.
            let length = bytes.len() as u32;
            half[3] = (length >> 29) as u8;
            half[4..].copy_from_slice(&(length << 3).to_be_bytes());
        }
        self.add(&mut tag, &lengths);
        let mut mask = counter_block(nonce, 1);
        B::Key::encrypt(&self.cipher, &mut mask);
        xor(&mut tag, &mask);
        tag
    }

    /// Adds a block, filled up with zeros, and multiplies the sum in GF(2^128), in the same time whatever the values.
    fn add(&self, sum: &mut [u8; BLOCK], block: &[u8]) {
        for (byte, other) in sum.iter_mut().zip(block) {
            *byte ^= other;
        }
        let mut power = self.factor.clone();
        let mut product = [0; BLOCK];
        for byte in &*sum {
            for bit in (0..8).rev() {
                // Of a secret bit the compiler is to make no branch.
                let mask = black_box(byte >> bit & 1).wrapping_neg();
                for (byte, other) in product.iter_mut().zip(&*power) {
                    *byte ^= other & mask;
                }
                // The bits of a byte count backwards: what is shifted out is added to the first.
                let mut carry = 0;
                for byte in power.iter_mut() {
                    let next = *byte << 7;
                    *byte = *byte >> 1 | carry;
                    carry = next;
                }
                power[0] ^= 0xe1 & black_box(carry >> 7).wrapping_neg();
            }
        }
        *sum = product;
    }
}

fn counter_block(nonce: &[u8; 12], count: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..12].copy_from_slice(nonce);
    block[BLOCK - 1] = count;
    block
}
