//! SHA-256 and HMAC-SHA256.

/// Length of a SHA-256 digest, in bytes.
pub const SHA_256_DIGEST: usize = 32;

/// A backend for SHA-256.
pub trait Hashes {
    /// A SHA-256 computation under way.
    type Sha256: Clone;
    /// A key of HMAC-SHA256, prepared for use and wiped when dropped.
    type HmacKey;

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
