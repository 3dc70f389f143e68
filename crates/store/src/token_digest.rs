//! Digests of tokens.

use crate::secrets;

/// The digest of a token, by which the token is kept. It does not give the token away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// The digest of `token`.
    pub fn of(token: &str) -> Self {
        Self(secrets::digest(&[token.as_bytes()]))
    }

    /// The one of these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
