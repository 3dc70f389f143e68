//! AES-128 in two ways: with each round's key made when it is needed, a byte at a time, or a column on processors of 32 bits; and with all
//! of them made beforehand, and a table of columns.

pub(super) mod bytes;
#[cfg(not(target_pointer_width = "16"))]
pub(super) mod columns;
pub(super) mod rounds;
pub(super) mod s_box;
pub(super) mod tables;

pub(super) use self::bytes::decrypt;

use crate::AES_128_KEY;
use crate::masked::BlockCipher;

/// Encrypts `block` in place: in the way that takes the least flash on the processor.
pub(super) fn encrypt(key: &[u8; AES_128_KEY], block: &mut [u8; 16]) {
    #[cfg(target_pointer_width = "16")]
    bytes::encrypt(key, block);
    #[cfg(not(target_pointer_width = "16"))]
    columns::encrypt(key, block);
}

impl BlockCipher for [u8; AES_128_KEY] {
    #[inline(always)]
    fn encrypt(&self, block: &mut [u8; 16]) {
        encrypt(self, block);
    }
}
