//! AES-128 with each round's key made when it is needed; a byte at a time, or a column on processors of 32 bits.

pub(super) mod bytes;
#[cfg(not(target_pointer_width = "16"))]
pub(super) mod columns;
pub(super) mod rounds;
pub(super) mod s_box;

use zeroize::Zeroizing;

pub(super) use self::bytes::decrypt;
use crate::AES_128_KEY;

/// A key of AES-128, wiped when dropped.
pub(super) type Key = Zeroizing<[u8; AES_128_KEY]>;

/// Encrypts `block` in place: in the way that takes the least flash on the processor.
pub(super) fn encrypt(key: &[u8; AES_128_KEY], block: &mut [u8; 16]) {
    #[cfg(target_pointer_width = "16")]
    bytes::encrypt(key, block);
    #[cfg(not(target_pointer_width = "16"))]
    columns::encrypt(key, block);
}
