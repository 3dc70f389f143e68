//! Message authentication codes that are a CBC-MAC whose last block is masked: AES-XCBC-MAC and AES-CMAC, over any AES.

use zeroize::Zeroizing;

use crate::ipsec::AES_BLOCK;

/// AES in the forward direction.
pub trait BlockCipher {
    /// Encrypts a block in place.
    fn encrypt(&self, block: &mut [u8; AES_BLOCK]);

    /// For each whole block that `data` begins with, encrypts `chain` and adds the block to it. Returns the rest of `data`.
    ///
    /// A cipher implements it if it does many blocks faster than one by one; others return all of `data`.
    fn chain<'d>(&self, _chain: &mut [u8; AES_BLOCK], data: &'d [u8]) -> &'d [u8] {
        data
    }

    /// The same for a chain that begins with the first of these blocks. Returns `None`, and does nothing, if there is only one, or if the
    /// cipher does not implement it.
    fn begin<'d>(&self, _chain: &mut [u8; AES_BLOCK], _data: &'d [u8]) -> Option<&'d [u8]> {
        None
    }
}

/// A key, with the masks of last blocks that are whole and of those that were filled up.
pub struct MaskedKey<K> {
    cipher: K,
    whole: Zeroizing<[u8; AES_BLOCK]>,
    padded: Zeroizing<[u8; AES_BLOCK]>,
}

impl<K: BlockCipher> MaskedKey<K> {
    /// A key for AES-XCBC-MAC; `prepare` makes a cipher of a derived key
    /// ([RFC 3566 section 4](https://www.rfc-editor.org/rfc/rfc3566#section-4)).
    pub(crate) fn xcbc(key: &K, prepare: impl FnOnce(Zeroizing<[u8; AES_BLOCK]>) -> K) -> Self {
        let derived = |n| {
            let mut block = Zeroizing::new([n; AES_BLOCK]);
            key.encrypt(&mut block);
            block
        };
        Self { cipher: prepare(derived(1)), whole: derived(2), padded: derived(3) }
    }

    /// A key for AES-CMAC ([RFC 4493 section 2.3](https://www.rfc-editor.org/rfc/rfc4493#section-2.3)).
    pub(crate) fn cmac(cipher: K) -> Self {
        let mut whole = Zeroizing::new([0; AES_BLOCK]);
        cipher.encrypt(&mut whole);
        double(&mut whole);
        let mut padded = whole.clone();
        double(&mut padded);
        Self { cipher, whole, padded }
    }
}

/// Multiplies `block` by x in GF(2^128), in the same time whatever it is.
fn double(block: &mut [u8; AES_BLOCK]) {
    // What the highest bit leaves is added to the lowest byte, into which nothing is carried.
    let mut carry = 0x87 & highest_bit(block[0]).wrapping_neg();
    for byte in block.iter_mut().rev() {
        let next = highest_bit(*byte);
        *byte = (*byte << 1) ^ carry;
        carry = next;
    }
}

/// The highest bit of a secret byte, of which the compiler is to make no branch.
fn highest_bit(byte: u8) -> u8 {
    core::hint::black_box(byte >> 7)
}

/// A chain of blocks, of which the last is not encrypted yet, since that depends on whether more comes.
pub struct MaskedMac<'k, K> {
    key: &'k MaskedKey<K>,
    block: [u8; AES_BLOCK],
    /// How many bytes of the block are filled.
    place: usize,
}

impl<'k, K: BlockCipher> MaskedMac<'k, K> {
    pub(crate) fn new(key: &'k MaskedKey<K>) -> Self {
        Self { key, block: [0; AES_BLOCK], place: 0 }
    }

    pub(crate) fn update(&mut self, mut data: &[u8]) {
        // Nothing was added yet: once something was, a block is emptied only to be filled at once.
        if self.place == 0
            && let Some(rest) = self.key.cipher.begin(&mut self.block, data)
        {
            self.place = AES_BLOCK;
            data = rest;
        }
        while !data.is_empty() {
            if self.place == AES_BLOCK {
                data = self.key.cipher.chain(&mut self.block, data);
                if data.is_empty() {
                    return;
                }
                self.key.cipher.encrypt(&mut self.block);
                self.place = 0;
            }
            let room = self.block.get_mut(self.place..).unwrap_or_default();
            let taken = room.len().min(data.len());
            for (byte, other) in room.iter_mut().zip(data) {
                *byte ^= other;
            }
            self.place += taken;
            data = data.get(taken..).unwrap_or_default();
        }
    }

    /// Returns the cipher, and the block that it encrypts next if whole blocks follow; `None` while the last block is not whole.
    pub(crate) fn chain(&mut self) -> Option<(&'k K, &mut [u8; AES_BLOCK])> {
        (self.place == AES_BLOCK).then_some((&self.key.cipher, &mut self.block))
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn finish(mut self) -> [u8; AES_BLOCK] {
        if let Some(end) = self.block.get_mut(self.place) {
            *end ^= 0x80;
            xor(&mut self.block, &self.key.padded);
        } else {
            xor(&mut self.block, &self.key.whole);
        }
        self.key.cipher.encrypt(&mut self.block);
        self.block
    }
}

pub(crate) fn xor(block: &mut [u8; AES_BLOCK], other: &[u8; AES_BLOCK]) {
    for (byte, other) in block.iter_mut().zip(other) {
        *byte ^= other;
    }
}
