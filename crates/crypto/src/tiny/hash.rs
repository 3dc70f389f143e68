//! The common parts of SHA-1 and SHA-256: blocks of 64 bytes, the padding, and HMAC.

use zeroize::Zeroize;

use crate::wipe;

pub(super) const BLOCK: usize = 64;

/// The words that a block is mixed into.
pub trait State: Clone + Zeroize {
    /// The words before the first block.
    const INITIAL: Self;

    /// Mixes a block into them.
    fn compress(&mut self, block: &[u8; BLOCK]);

    /// The words.
    fn words(&self) -> &[u32];
}

/// A computation under way.
#[derive(Clone)]
pub struct Hash<S> {
    state: S,
    block: [u8; BLOCK],
    /// Bytes taken so far; the wrap at 2^32 is far beyond what a device hashes at once.
    length: u32,
}

impl<S: State> Hash<S> {
    pub(super) fn new() -> Self {
        Self { state: S::INITIAL, block: [0; BLOCK], length: 0 }
    }

    /// Begins anew, after a block that has led to `state`.
    fn begin_behind_block(&mut self, state: &S) {
        self.state = state.clone();
        self.length = BLOCK as u32;
    }

    pub(super) fn update(&mut self, data: &[u8]) {
        for &byte in data {
            self.push(byte);
            self.length = self.length.wrapping_add(1);
        }
    }

    fn place(&self) -> usize {
        self.length as usize % BLOCK
    }

    fn push(&mut self, byte: u8) {
        let place = self.place();
        self.block[place] = byte;
        if place == BLOCK - 1 {
            self.state.compress(&self.block);
        }
    }

    /// The digest, whose length is that of the words; ends the computation.
    pub(super) fn finish<const LENGTH: usize>(&mut self) -> [u8; LENGTH] {
        let length = self.length;
        self.update(&[0x80]);
        while self.place() != BLOCK - 8 {
            self.update(&[0]);
        }
        // The length in bits, of 64 bits.
        self.update(&[0, 0, 0, (length >> 29) as u8]);
        self.update(&(length << 3).to_be_bytes());
        let mut digest = [0; LENGTH];
        for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(self.state.words()) {
            *bytes = word.to_be_bytes();
        }
        digest
    }
}

/// A key for HMAC ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)), wiped when dropped: the states of the inner and the outer
/// computation after the block of the key that each begins with.
pub struct HmacKey<S: State>([S; 2]);

impl<S: State> HmacKey<S> {
    /// Prepares a key of any length, for codes of `LENGTH` bytes.
    pub(super) fn new<const LENGTH: usize>(key: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        if let Some(front) = block.get_mut(..key.len()) {
            front.copy_from_slice(key);
        } else if let Some(front) = block.first_chunk_mut::<LENGTH>() {
            let mut hash = Hash::<S>::new();
            hash.update(key);
            *front = hash.finish();
        }
        let mut prepared = Self([S::INITIAL; 2]);
        // The inner padding, and what makes it the outer one.
        for (state, padding) in prepared.0.iter_mut().zip(&[0x36, 0x36 ^ 0x5c]) {
            for byte in &mut block {
                *byte ^= padding;
            }
            state.compress(&block);
        }
        wipe(&mut block);
        prepared
    }
}

impl<S: State> Drop for HmacKey<S> {
    #[inline(never)]
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// A message under such a key.
pub struct Hmac<'k, S: State> {
    key: &'k HmacKey<S>,
    hash: Hash<S>,
}

impl<'k, S: State> Hmac<'k, S> {
    pub(super) fn new(key: &'k HmacKey<S>) -> Self {
        let mut hash = Hash::new();
        hash.begin_behind_block(&key.0[0]);
        Self { key, hash }
    }

    pub(super) fn update(&mut self, data: &[u8]) {
        self.hash.update(data);
    }

    pub(super) fn finish<const LENGTH: usize>(mut self) -> [u8; LENGTH] {
        let inner: [u8; LENGTH] = self.hash.finish();
        self.hash.begin_behind_block(&self.key.0[1]);
        self.hash.update(&inner);
        self.hash.finish()
    }

    /// The code of the concatenation of `parts`.
    pub(super) fn over<const LENGTH: usize>(mut self, parts: &[&[u8]]) -> [u8; LENGTH] {
        for part in parts {
            self.update(part);
        }
        self.finish()
    }
}
