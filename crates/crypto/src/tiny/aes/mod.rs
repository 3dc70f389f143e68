//! AES-128 in two ways: with each round's key made when it is needed, a byte at a time, or a column on processors of 32 bits; and with all
//! of them made beforehand, and a table of columns.

pub(super) mod bytes;
#[cfg(not(target_pointer_width = "16"))]
pub(super) mod columns;
pub(super) mod rounds;
pub(super) mod s_box;
pub(super) mod tables;

use zeroize::{Zeroize, Zeroizing};

use self::tables::Schedule;
use crate::AES_128_KEY;
use crate::masked::BlockCipher;

/// A way to do AES-128.
pub trait Aes: Copy + 'static {
    /// What is kept of a key.
    type Key: BlockCipher + Zeroize + Clone;

    /// Prepares a key.
    fn key(key: &[u8; AES_128_KEY]) -> Zeroizing<Self::Key>;

    /// Decrypts `block` in place.
    fn decrypt(key: &Self::Key, block: &mut [u8; 16]);
}

/// Each round's key is made when it is needed: a key takes 16 bytes of RAM, and the tables 512 bytes of flash.
#[derive(Clone, Copy, Debug)]
pub struct OnTheFly;

impl Aes for OnTheFly {
    type Key = [u8; AES_128_KEY];

    #[inline(always)]
    fn key(key: &[u8; AES_128_KEY]) -> Zeroizing<Self::Key> {
        Zeroizing::new(*key)
    }

    #[inline(always)]
    fn decrypt(key: &Self::Key, block: &mut [u8; 16]) {
        bytes::decrypt(key, block);
    }
}

impl BlockCipher for [u8; AES_128_KEY] {
    /// In the way that takes the least flash on the processor.
    #[inline(always)]
    fn encrypt(&self, block: &mut [u8; 16]) {
        #[cfg(target_pointer_width = "16")]
        bytes::encrypt(self, block);
        #[cfg(not(target_pointer_width = "16"))]
        columns::encrypt(self, block);
    }
}

/// The keys of all rounds are made when a key is prepared, which takes 176 bytes of RAM, and a round reads a table of 1,024 bytes of flash:
/// the form that the [proposal of Rijndael](https://csrc.nist.gov/csrc/media/projects/cryptographic-standards-and-guidelines/documents/aes-development/rijndael-ammended.pdf)
/// (section 5.2) has for processors of 32 bits. Blocks are decrypted as by [`OnTheFly`].
///
/// Like its tables, it is for processors without a cache alone.
#[derive(Clone, Copy, Debug)]
pub struct Tables;

impl Aes for Tables {
    type Key = Schedule;

    fn key(key: &[u8; AES_128_KEY]) -> Zeroizing<Self::Key> {
        let mut schedule = Zeroizing::new(Schedule::default());
        schedule.expand(key);
        schedule
    }

    fn decrypt(key: &Self::Key, block: &mut [u8; 16]) {
        bytes::decrypt(&key.first(), block);
    }
}
