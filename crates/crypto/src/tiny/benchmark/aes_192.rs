//! AES-192 in CBC mode: the rounds of AES-128, two more of them, with keys made when they are needed.

use core::array;

use crate::tiny::Tiny;
use crate::tiny::aes::bytes::{add, last_round, round, unmix_columns, unsubstitute};
use crate::tiny::aes::rounds::{next_constant, previous_constant};
use crate::tiny::aes::s_box::substitute;
use crate::tiny::modes::{self, BLOCK, NotBlocks};

/// Length of a key, in bytes.
pub const KEY: usize = 24;

/// Encrypts `data`, which must be whole blocks.
pub fn cbc_encrypt(_: Tiny, key: &[u8; KEY], iv: &[u8; BLOCK], data: &mut [u8]) -> Result<(), NotBlocks> {
    modes::encrypt_chain(iv, data, |block| encrypt(key, block))
}

/// Decrypts `data`, which must be whole blocks.
pub fn cbc_decrypt(_: Tiny, key: &[u8; KEY], iv: &[u8; BLOCK], data: &mut [u8]) -> Result<(), NotBlocks> {
    modes::decrypt_chain(iv, data, |block| decrypt(key, block))
}

fn encrypt(key: &[u8; KEY], block: &mut [u8; BLOCK]) {
    let mut words = Words { bytes: *key, constant: 1 };
    let mut other = [0; BLOCK];
    add(block, &words.first());
    for group in 0..4 {
        let last = words.last();
        words.advance();
        round(block, &joined(&last, &words.first()), &mut other);
        round(&other, &words.last(), block);
        words.advance();
        other = *block;
        if group < 3 {
            round(&other, &words.first(), block);
        } else {
            last_round(&other, &words.first(), block);
        }
    }
}

fn decrypt(key: &[u8; KEY], block: &mut [u8; BLOCK]) {
    let mut words = Words { bytes: *key, constant: 1 };
    for _ in 0..8 {
        words.advance();
    }
    add(block, &words.first());
    for group in (0..4).rev() {
        if group < 3 {
            unmix_columns(block);
        }
        unsubstitute(block);
        words.retreat();
        add(block, &words.last());
        unmix_columns(block);
        unsubstitute(block);
        let first = words.first();
        words.retreat();
        add(block, &joined(&words.last(), &first));
        unmix_columns(block);
        unsubstitute(block);
        add(block, &words.first());
    }
}

/// Six words of the key schedule, of which a round takes four: so three rounds take two such.
struct Words {
    bytes: [u8; KEY],
    /// The constant of the next six.
    constant: u8,
}

impl Words {
    /// The first four: the key of a round.
    fn first(&self) -> [u8; BLOCK] {
        array::from_fn(|n| self.bytes[n])
    }

    /// The last four: the key of a round.
    fn last(&self) -> [u8; BLOCK] {
        array::from_fn(|n| self.bytes[8 + n])
    }

    #[inline(never)]
    fn advance(&mut self) {
        let mut before = self.transformed();
        for word in self.bytes.as_chunks_mut::<4>().0 {
            for (byte, before) in word.iter_mut().zip(&mut before) {
                *byte ^= *before;
                *before = *byte;
            }
        }
        self.constant = next_constant(self.constant);
    }

    #[inline(never)]
    fn retreat(&mut self) {
        for n in (4..KEY).rev() {
            self.bytes[n] ^= self.bytes[n - 4];
        }
        self.constant = previous_constant(self.constant);
        let before = self.transformed();
        for (byte, before) in self.bytes.iter_mut().zip(before) {
            *byte ^= before;
        }
    }

    /// What is added to the first word: the last one, rotated and substituted, and the constant.
    fn transformed(&self) -> [u8; 4] {
        let [.., a, b, c, d] = self.bytes;
        [substitute(b) ^ self.constant, substitute(c), substitute(d), substitute(a)]
    }
}

/// The key of a round between two times six words: the last two of the four in `last`, and the first two in `first`.
fn joined(last: &[u8; BLOCK], first: &[u8; BLOCK]) -> [u8; BLOCK] {
    array::from_fn(|n| if n < 8 { last[8 + n] } else { first[n - 8] })
}
