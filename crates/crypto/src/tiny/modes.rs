//! AES-128 in CBC and counter mode ([NIST SP 800-38A](https://doi.org/10.6028/NIST.SP.800-38A)), in place.

use core::fmt;

use super::{Tiny, aes};
use crate::AES_128_KEY;

/// Length of a block, in bytes.
pub const BLOCK: usize = 16;

/// Adds what `$encrypt` makes of `$first`, and of the counter blocks behind it, to `$data`. A function of a function would be larger.
macro_rules! add_key_stream {
    ($first:expr, $data:expr, |$block:ident| $encrypt:expr) => {
        let mut counter = *$first;
        for bytes in $data.chunks_mut($crate::tiny::modes::BLOCK) {
            let mut stream = counter;
            let $block = &mut stream;
            $encrypt;
            $crate::tiny::modes::xor(bytes, &stream);
            for byte in counter[$crate::tiny::modes::BLOCK - 4..].iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    };
}
pub(super) use add_key_stream;

/// The data are not whole blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotBlocks;

impl fmt::Display for NotBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the data is no whole number of blocks")
    }
}

impl core::error::Error for NotBlocks {}

/// Encrypts `data`, which must be whole blocks.
pub fn cbc_encrypt(
    _: Tiny,
    key: &[u8; AES_128_KEY],
    iv: &[u8; BLOCK],
    data: &mut [u8],
) -> Result<(), NotBlocks> {
    encrypt_chain(iv, data, |block| aes::encrypt(key, block))
}

/// Decrypts `data`, which must be whole blocks.
pub fn cbc_decrypt(
    _: Tiny,
    key: &[u8; AES_128_KEY],
    iv: &[u8; BLOCK],
    data: &mut [u8],
) -> Result<(), NotBlocks> {
    decrypt_chain(iv, data, |block| aes::decrypt(key, block))
}

/// Encrypts `data` block by block, each added to the one before.
pub(super) fn encrypt_chain<const N: usize>(
    iv: &[u8; N],
    data: &mut [u8],
    encrypt: impl Fn(&mut [u8; N]),
) -> Result<(), NotBlocks> {
    let mut before = iv;
    for block in whole_blocks(data)? {
        xor(block, before);
        encrypt(block);
        before = block;
    }
    Ok(())
}

/// Decrypts what [`encrypt_chain`] encrypted.
pub(super) fn decrypt_chain<const N: usize>(
    iv: &[u8; N],
    data: &mut [u8],
    decrypt: impl Fn(&mut [u8; N]),
) -> Result<(), NotBlocks> {
    let mut before = *iv;
    for block in whole_blocks(data)? {
        let encrypted = *block;
        decrypt(block);
        xor(block, &before);
        before = encrypted;
    }
    Ok(())
}

/// Encrypts or decrypts `data`: the two are the same. The last four bytes of `first`, the first counter block, count
/// the blocks ([RFC 3686 section 4](https://www.rfc-editor.org/rfc/rfc3686#section-4)).
pub fn ctr(_: Tiny, key: &[u8; AES_128_KEY], first: &[u8; BLOCK], data: &mut [u8]) {
    apply_key_stream(key, first, data);
}

/// [`ctr`], whose caller has proved that there is a [`Tiny`] when it made the key.
pub(super) fn apply_key_stream(key: &[u8; AES_128_KEY], first: &[u8; BLOCK], data: &mut [u8]) {
    add_key_stream!(first, data, |block| aes::encrypt(key, block));
}

fn whole_blocks<const N: usize>(data: &mut [u8]) -> Result<&mut [[u8; N]], NotBlocks> {
    match data.as_chunks_mut() {
        (blocks, []) => Ok(blocks),
        _ => Err(NotBlocks),
    }
}

/// Adds as many bytes of `other` as `bytes` has.
pub(super) fn xor<const N: usize>(bytes: &mut [u8], other: &[u8; N]) {
    for (byte, other) in bytes.iter_mut().zip(other) {
        *byte ^= other;
    }
}
