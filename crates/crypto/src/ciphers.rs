//! AES in the modes that link security and DTLS use.

use core::fmt;

/// Length of an AES-128 key, in bytes.
pub const AES_128_KEY: usize = 16;

/// The authentication tag does not fit the data: nothing of it may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthenticationFailed;

impl fmt::Display for AuthenticationFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the authentication tag does not fit the data")
    }
}

impl core::error::Error for AuthenticationFailed {}

/// The length of a CCM tag, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CcmTag {
    /// No tag: CCM\* of IEEE 802.15.4 also encrypts alone. Whatever is opened with it counts as authentic.
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
    #[expect(clippy::len_without_is_empty, reason = "`Zero` says it")]
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
    /// The nonce's bytes.
    pub const fn bytes(&self) -> &[u8] {
        match self {
            Self::Twelve(nonce) => *nonce,
            Self::Thirteen(nonce) => *nonce,
        }
    }
}

/// A CCM tag.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    bytes: [u8; 16],
    length: CcmTag,
}

impl Tag {
    /// A tag of zeros, to be written by [`BlockCiphers::ccm_seal`].
    pub const fn empty(length: CcmTag) -> Self {
        Self { bytes: [0; 16], length }
    }

    /// Returns the tag in `bytes`, or `None` unless there are 4, 8 or 16 of them.
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

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.length.len()]
    }

    pub(crate) const fn length(&self) -> CcmTag {
        self.length
    }
}

/// A backend for AES-128 in CCM and GCM.
pub trait BlockCiphers {
    /// An AES-128 key, prepared for use and wiped when dropped.
    type Aes128;
    /// An AES-128 key, prepared for GCM and wiped when dropped.
    type AesGcm;

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
}
