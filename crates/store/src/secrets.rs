//! Secrets: bytes that are wiped, random tokens and digests.

use sixlock_crypto::{Hashes, SHA_256_DIGEST, Soft, wipe};

use crate::error::Error;

/// Bytes that are wiped when dropped and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// Takes `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// `N` random bytes.
pub fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::Entropy)?;
    Ok(bytes)
}

/// A token nobody guesses: 32 random bytes in hexadecimal digits.
pub fn token() -> Result<String, Error> {
    Ok(hex(&random::<32>()?))
}

/// A new pre-shared key: 32 printable characters whose ASCII bytes are the key.
pub fn printable_key() -> Result<String, Error> {
    // 64 characters: six bits of each random byte choose one without bias.
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    Ok(random::<32>()?.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 63)])).collect())
}

/// The digest under which a token is kept.
pub fn digest(parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
    let mut crypto = Soft;
    let mut hash = crypto.sha256();
    for part in parts {
        crypto.sha256_update(&mut hash, &(part.len() as u64).to_be_bytes());
        crypto.sha256_update(&mut hash, part);
    }
    crypto.sha256_finish(hash)
}

/// Returns `bytes` in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Returns the bytes that these hexadecimal digits spell; `None` unless there are twice `N` digits.
pub(crate) fn unhex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high << 4 | low) as u8;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_depend_on_where_the_parts_end() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    }
}
