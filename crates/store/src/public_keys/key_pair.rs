//! Key pairs of P-256.

use sixlock_crypto::p256::P256;
use sixlock_crypto::{Hashes as _, Soft};
use sixlock_x509::public_key_info;
use zeroize::Zeroizing;

use crate::error::Error;
use crate::secrets::{hex, random};

/// A key pair of P-256.
pub struct KeyPair {
    /// The private key.
    pub secret: Zeroizing<[u8; 32]>,
    /// The public key: a point, uncompressed.
    pub point: [u8; 65],
}

impl KeyPair {
    /// A new one.
    pub fn random() -> Result<Self, Error> {
        loop {
            let secret = Zeroizing::new(random()?);
            if let Some(pair) = Self::of(secret) {
                return Ok(pair);
            }
        }
    }

    /// That of a private key; `None` if the key is invalid.
    pub fn of(secret: Zeroizing<[u8; 32]>) -> Option<Self> {
        let point = Soft.p256_public_key(&secret)?;
        Some(Self { secret, point })
    }
}

/// What a raw public key is known by: SHA-256 of its SubjectPublicKeyInfo, in hexadecimal digits.
pub fn fingerprint(point: &[u8; 65]) -> String {
    let mut hash = Soft.sha256();
    Soft.sha256_update(&mut hash, &public_key_info(point));
    hex(&Soft.sha256_finish(hash))
}
