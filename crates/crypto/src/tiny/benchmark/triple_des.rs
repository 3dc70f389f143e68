//! Triple DES with three keys ([NIST SP 800-67](https://doi.org/10.6028/NIST.SP.800-67r2)) in CBC mode.

use super::des::{self, Direction, Halves};
use crate::tiny::Tiny;
use crate::tiny::modes::{self, NotBlocks};

/// Length of a key, parity bits included, in bytes.
pub const KEY: usize = 24;
/// Length of a block, in bytes.
pub const BLOCK: usize = des::BLOCK;

/// Encrypts `data`, which must be whole blocks.
pub fn cbc_encrypt(_: Tiny, key: &[u8; KEY], iv: &[u8; BLOCK], data: &mut [u8]) -> Result<(), NotBlocks> {
    modes::encrypt_chain(iv, data, |block| encrypt(key, block))
}

/// Decrypts `data`, which must be whole blocks.
pub fn cbc_decrypt(_: Tiny, key: &[u8; KEY], iv: &[u8; BLOCK], data: &mut [u8]) -> Result<(), NotBlocks> {
    modes::decrypt_chain(iv, data, |block| decrypt(key, block))
}

fn encrypt(key: &[u8; KEY], block: &mut [u8; BLOCK]) {
    apply(key.as_chunks().0.iter(), block, Direction::Encrypt);
}

fn decrypt(key: &[u8; KEY], block: &mut [u8; BLOCK]) {
    apply(key.as_chunks().0.iter().rev(), block, Direction::Decrypt);
}

/// DES with each of `keys`, there, back and there again.
fn apply<'a>(keys: impl Iterator<Item = &'a [u8; BLOCK]>, block: &mut [u8; BLOCK], first: Direction) {
    let mut halves = Halves::new(block);
    let mut direction = first;
    for key in keys {
        halves.apply(key, direction);
        direction = direction.opposite();
    }
    halves.write(block);
}
