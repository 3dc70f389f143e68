//! The ciphers and message authentication codes of IPsec. Each is linked only where it is called.

use crate::{AES_128_KEY, AuthenticationFailed, BlockCiphers, Hashes};
use core::ops::Range;

/// Length of an AES block, in bytes.
pub const AES_BLOCK: usize = 16;

/// A message authentication code, such as [`Xcbc`].
pub trait MacAlgorithm {
    /// Length of the key that protocols use it with, in bytes.
    const KEY: usize;
    /// How its work is counted.
    const WORK: MacWork;
    /// The code, of which protocols send the first bytes.
    type Code: AsRef<[u8]>;
}

/// The primitive that a code is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacWork {
    /// A chain of AES blocks.
    Aes,
    /// HMAC with SHA-1.
    Sha1,
    /// HMAC with SHA-256.
    Sha256,
}

macro_rules! algorithms {
    ($($(#[doc = $doc:literal])* $name:ident { key: $key:literal, work: $work:ident, code: $code:literal })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl MacAlgorithm for $name {
            const KEY: usize = $key;
            const WORK: MacWork = MacWork::$work;
            type Code = [u8; $code];
        }
    )*};
}

algorithms! {
    /// AES-XCBC-MAC ([RFC 3566](https://www.rfc-editor.org/rfc/rfc3566)).
    Xcbc { key: 16, work: Aes, code: 16 }
    /// AES-CMAC ([RFC 4493](https://www.rfc-editor.org/rfc/rfc4493)).
    Cmac { key: 16, work: Aes, code: 16 }
    /// HMAC-SHA1 ([RFC 2404](https://www.rfc-editor.org/rfc/rfc2404)).
    HmacSha1 { key: 20, work: Sha1, code: 20 }
    /// HMAC-SHA256 ([RFC 4868](https://www.rfc-editor.org/rfc/rfc4868)).
    HmacSha256 { key: 32, work: Sha256, code: 32 }
}

/// The direction of a cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

/// The key and the first block of a cipher in counter mode.
pub struct CounterMode<'a, K> {
    /// Its key.
    pub key: &'a K,
    /// Its first counter block.
    pub first: &'a [u8; AES_BLOCK],
}

/// A backend that computes the code `A` of messages that come in parts.
pub trait Authenticate<A: MacAlgorithm> {
    /// A key, prepared for use and wiped when dropped.
    type Key;
    /// A computation under way.
    type State<'k>;

    /// Prepares a key. Returns `None` unless it has [`MacAlgorithm::KEY`] bytes.
    fn authentication_key(&mut self, key: &[u8]) -> Option<Self::Key>;

    /// Begins a message.
    fn begin<'k>(&mut self, key: &'k Self::Key) -> Self::State<'k>;

    /// Adds `data` to the message.
    fn update(&mut self, state: &mut Self::State<'_>, data: &[u8]);

    /// Ends the message.
    fn finish(&mut self, state: Self::State<'_>) -> A::Code;

    /// Encrypts or decrypts the bytes `data` of `message` as [`PacketCipher::aes_ctr`] does, and returns the code of `message` with
    /// these bytes encrypted. Returns `None`, and does nothing, unless the backend does both at once faster than one after the other.
    #[inline(always)]
    fn in_one_pass(
        &mut self,
        _direction: Direction,
        _key: &Self::Key,
        _cipher: CounterMode<'_, Self::Aes128>,
        _message: &mut [u8],
        _data: Range<usize>,
    ) -> Option<A::Code>
    where
        Self: PacketCipher,
    {
        None
    }
}

/// Computes the code `A` of the concatenation of `parts`. Returns `None` unless the key has [`MacAlgorithm::KEY`] bytes.
pub fn code<A: MacAlgorithm>(
    crypto: &mut impl Authenticate<A>,
    key: &[u8],
    parts: &[&[u8]],
) -> Option<A::Code> {
    let key = crypto.authentication_key(key)?;
    let mut state = crypto.begin(&key);
    for part in parts {
        crypto.update(&mut state, part);
    }
    Some(crypto.finish(state))
}

/// The ciphers of ESP with AES-128.
pub trait PacketCipher: BlockCiphers {
    /// A key for AES-CBC, in both directions, wiped when dropped.
    type AesCbc;

    /// Encrypts or decrypts `data` in counter mode: the two are the same. The last four bytes of `first`, the first
    /// counter block, count the blocks ([RFC 3686 section 4](https://www.rfc-editor.org/rfc/rfc3686#section-4)).
    fn aes_ctr(&mut self, key: &Self::Aes128, first: &[u8; AES_BLOCK], data: &mut [u8]);

    /// Prepares a key for AES-CBC.
    fn aes_cbc(&mut self, key: &[u8; AES_128_KEY]) -> Self::AesCbc;

    /// Encrypts `blocks` with AES-CBC.
    fn cbc_encrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]);

    /// Decrypts `blocks` with AES-CBC.
    fn cbc_decrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]);

    /// Encrypts `data` in place with AES-CCM under the nonce of
    /// [RFC 4309 section 4](https://www.rfc-editor.org/rfc/rfc4309#section-4) and writes `icv`, of 8, 12 or 16 bytes.
    ///
    /// `aad` and `data` are at most 65,279 bytes.
    fn packet_ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &mut [u8],
    );

    /// Decrypts `data` in place; when `icv` is wrong or has another length, `data` is wiped.
    fn packet_ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &[u8],
    ) -> Result<(), AuthenticationFailed>;
}

/// A backend for every suite of IPsec.
pub trait IpsecCrypto:
    PacketCipher
    + Hashes
    + Authenticate<Xcbc>
    + Authenticate<Cmac>
    + Authenticate<HmacSha1>
    + Authenticate<HmacSha256>
{
}

impl<C> IpsecCrypto for C where
    C: PacketCipher
        + Hashes
        + Authenticate<Xcbc>
        + Authenticate<Cmac>
        + Authenticate<HmacSha1>
        + Authenticate<HmacSha256>
{
}
