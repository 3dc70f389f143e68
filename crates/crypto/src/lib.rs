//! Cryptographic primitives behind one trait, so that a machine runs over whichever
//! backend its place links.
#![no_std]
#![cfg_attr(target_arch = "avr", feature(asm_experimental_arch))]

// By this name tests know it that other crates include.
#[cfg(test)]
extern crate self as sixlock_crypto;

#[cfg(any(target_os = "none", test))]
mod flash;
pub mod ipsec;
mod masked;
mod metered;
pub mod p256;
mod prf;
#[cfg(not(target_os = "none"))]
mod small_keys;
mod soft;
#[cfg(test)]
mod tests;
#[cfg(any(target_os = "none", test))]
pub mod tiny;

pub use metered::{Metered, MeteredHash, Operation, Operations};
pub use prf::prf_sha256;
#[cfg(not(target_os = "none"))]
pub use small_keys::SmallKeys;
pub use soft::Soft;
#[cfg(any(target_os = "none", test))]
pub use tiny::Tiny;

/// Length of an AES-128 key, in bytes.
pub const AES_128_KEY: usize = 16;
/// Length of a SHA-256 digest, in bytes.
pub const SHA_256_DIGEST: usize = 32;

/// The authentication tag does not fit the data: nothing of it may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthenticationFailed;

/// The length of a CCM tag, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CcmTag {
    /// None: CCM\* of IEEE 802.15.4 also encrypts alone. Whatever is opened with it counts as authentic.
    Zero,
    /// 32 bits.
    Four,
    /// 64 bits.
    Eight,
    /// 128 bits.
    Sixteen,
}

impl CcmTag {
    /// The length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "that of a tag which is none says so")]
    pub const fn len(self) -> usize {
        match self {
            Self::Zero => 0,
            Self::Four => 4,
            Self::Eight => 8,
            Self::Sixteen => 16,
        }
    }
}

/// A CCM nonce, whose length fixes the longest message.
#[derive(Clone, Copy, Debug)]
pub enum CcmNonce<'a> {
    /// 12 bytes: TLS and DTLS ([RFC 6655 section 3](https://www.rfc-editor.org/rfc/rfc6655#section-3)).
    Twelve(&'a [u8; 12]),
    /// 13 bytes: IEEE 802.15.4.
    Thirteen(&'a [u8; 13]),
}

impl CcmNonce<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Twelve(nonce) => *nonce,
            Self::Thirteen(nonce) => *nonce,
        }
    }
}

/// A set of primitives.
pub trait Crypto {
    /// An AES-128 key, prepared for use and wiped when dropped.
    type Aes128;
    /// An AES-128 key, prepared for GCM and wiped when dropped.
    type AesGcm;
    /// A SHA-256 computation under way.
    type Sha256: Clone;
    /// A key of HMAC-SHA256, prepared for use and wiped when dropped.
    type HmacKey;

    /// Prepares an AES-128 key.
    fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128;

    /// Encrypts `data` in place with AES-CCM and writes the tag, of `tag.len()` bytes.
    ///
    /// `aad` is at most 65,279 bytes and `data` at most 65,535.
    fn ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut Tag,
    );

    /// Decrypts `data` in place; when the tag is wrong, `data` is wiped.
    fn ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &Tag,
    ) -> Result<(), AuthenticationFailed>;

    /// Prepares a key for AES-GCM with nonces of 12 and tags of 16 bytes.
    fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm;

    /// Encrypts `data` in place with AES-GCM and returns the tag.
    fn gcm_seal(&mut self, key: &Self::AesGcm, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16];

    /// Decrypts `data` in place; when the tag is wrong, `data` is wiped.
    fn gcm_open(
        &mut self,
        key: &Self::AesGcm,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationFailed>;

    /// Begins a SHA-256 computation.
    fn sha256(&mut self) -> Self::Sha256;

    /// Adds `data` to a SHA-256 computation.
    fn sha256_update(&mut self, hash: &mut Self::Sha256, data: &[u8]);

    /// Ends a SHA-256 computation.
    fn sha256_finish(&mut self, hash: Self::Sha256) -> [u8; SHA_256_DIGEST];

    /// Prepares a key of any length for HMAC-SHA256.
    fn hmac_key(&mut self, key: &[u8]) -> Self::HmacKey;

    /// HMAC-SHA256 over the concatenation of `parts`.
    fn hmac_sha256(&mut self, key: &Self::HmacKey, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST];
}

/// A CCM tag.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    bytes: [u8; 16],
    length: CcmTag,
}

impl Tag {
    /// A tag of zeros, to be written by [`Crypto::ccm_seal`].
    pub const fn empty(length: CcmTag) -> Self {
        Self { bytes: [0; 16], length }
    }

    /// The tag in `bytes`, if their number is that of a tag, which none is not.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let length = match bytes.len() {
            4 => CcmTag::Four,
            8 => CcmTag::Eight,
            16 => CcmTag::Sixteen,
            _ => return None,
        };
        let mut tag = Self::empty(length);
        tag.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(tag)
    }

    /// The tag's bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length.len()]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length.len()]
    }
}

/// Whether `a` and `b` are the same, in a time that depends on their lengths only.
pub fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    let difference = a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b));
    // The compiler is to know nothing of it: neither that it cannot become zero again, nor what it is for.
    a.len() == b.len() && core::hint::black_box(difference) == 0
}

/// Overwrites `secret` with zeros in a way the compiler keeps.
#[inline(never)]
pub fn wipe(secret: &mut [u8]) {
    zeroize::Zeroize::zeroize(secret);
}
