//! What SHA-1 and SHA-256 have in common: blocks of 64 bytes, the padding, and HMAC.

use zeroize::Zeroizing;

use crate::wipe;

pub(super) const BLOCK: usize = 64;

/// The words that a block is mixed into.
pub trait State: Clone {
    /// What they are before the first block.
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

/// A message under a key of at most a block ([RFC 2104](https://www.rfc-editor.org/rfc/rfc2104)).
pub struct Hmac<'k, S> {
    key: &'k [u8],
    inner: Hash<S>,
}

impl<'k, S: State> Hmac<'k, S> {
    pub(super) fn new(key: &'k [u8]) -> Self {
        Self { key, inner: keyed(key, 0x36) }
    }

    pub(super) fn update(&mut self, data: &[u8]) {
        self.inner.update(data);
    }

    pub(super) fn finish<const LENGTH: usize>(mut self) -> [u8; LENGTH] {
        let inner: [u8; LENGTH] = self.inner.finish();
        let mut outer = keyed::<S>(self.key, 0x5c);
        outer.update(&inner);
        outer.finish()
    }
}

/// The code of `parts` under a key of any length.
pub(super) fn hmac<S: State, const LENGTH: usize>(key: &[u8], parts: &[&[u8]]) -> [u8; LENGTH] {
    let digest: Zeroizing<[u8; LENGTH]>;
    let key = if key.len() > BLOCK {
        let mut hash = Hash::<S>::new();
        hash.update(key);
        digest = Zeroizing::new(hash.finish());
        &digest[..]
    } else {
        key
    };
    let mut mac = Hmac::<S>::new(key);
    for part in parts {
        mac.update(part);
    }
    mac.finish()
}

/// A computation that begins with a block of the key, padded.
fn keyed<S: State>(key: &[u8], pad: u8) -> Hash<S> {
    let mut hash = Hash { state: S::INITIAL, block: [pad; BLOCK], length: BLOCK as u32 };
    for (pad, byte) in hash.block.iter_mut().zip(key) {
        *pad ^= byte;
    }
    hash.state.compress(&hash.block);
    wipe(&mut hash.block);
    hash
}
