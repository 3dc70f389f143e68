//! How AES is done by each backend: what it keeps of a key, and its modes.

use zeroize::{Zeroize, Zeroizing};

use super::aes::decrypt;
use super::aes::tables::Schedule;
use super::{Tables, Tiny, modes};
use crate::AES_128_KEY;
use crate::masked::BlockCipher;

/// A backend's way to do AES-128.
pub trait Aes: Sized {
    /// What is kept of a key.
    type Key: BlockCipher + Zeroize + Clone;

    /// What is kept of `key`.
    fn prepared(key: &[u8; AES_128_KEY]) -> Zeroizing<Self::Key>;

    /// Encrypts or decrypts `data` in counter mode.
    fn count(key: &Self::Key, first: &[u8; 16], data: &mut [u8]);

    /// Encrypts `blocks` with CBC.
    fn chain(key: &Self::Key, iv: &[u8; 16], blocks: &mut [[u8; 16]]);

    /// Decrypts `blocks` with CBC.
    fn unchain(key: &Self::Key, iv: &[u8; 16], blocks: &mut [[u8; 16]]);
}

impl Aes for Tiny {
    type Key = [u8; AES_128_KEY];

    #[inline(always)]
    fn prepared(key: &[u8; AES_128_KEY]) -> Zeroizing<Self::Key> {
        Zeroizing::new(*key)
    }

    #[inline(always)]
    fn count(key: &Self::Key, first: &[u8; 16], data: &mut [u8]) {
        modes::ctr(Self(()), key, first, data);
    }

    #[inline(always)]
    fn chain(key: &Self::Key, iv: &[u8; 16], blocks: &mut [[u8; 16]]) {
        // Blocks are whole.
        let _ = modes::cbc_encrypt(Self(()), key, iv, blocks.as_flattened_mut());
    }

    #[inline(always)]
    fn unchain(key: &Self::Key, iv: &[u8; 16], blocks: &mut [[u8; 16]]) {
        // Blocks are whole.
        let _ = modes::cbc_decrypt(Self(()), key, iv, blocks.as_flattened_mut());
    }
}

impl Aes for Tables {
    type Key = Schedule;

    fn prepared(key: &[u8; AES_128_KEY]) -> Zeroizing<Self::Key> {
        let mut schedule = Zeroizing::new(Schedule::default());
        schedule.expand(key);
        schedule
    }

    fn count(key: &Self::Key, first: &[u8; 16], data: &mut [u8]) {
        modes::add_key_stream!(first, data, |block| key.encrypt(block));
    }

    fn chain(key: &Self::Key, iv: &[u8; 16], blocks: &mut [[u8; 16]]) {
        // Blocks are whole.
        let _ = modes::encrypt_chain(iv, blocks.as_flattened_mut(), |block| key.encrypt(block));
    }

    fn unchain(key: &Self::Key, iv: &[u8; 16], blocks: &mut [[u8; 16]]) {
        let key = key.first();
        // Blocks are whole.
        let _ = modes::decrypt_chain(iv, blocks.as_flattened_mut(), |block| decrypt(&key, block));
    }
}
