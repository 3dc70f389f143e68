//! The backend `fast`: P-256 by AWS-LC.

use std::sync::Arc;

use aws_lc_rs::agreement::{self, ECDH_P256, PrivateKey};
use aws_lc_rs::digest::{Digest, SHA256};
use aws_lc_rs::encoding::{AsBigEndian, EcPrivateKeyBin};
use aws_lc_rs::signature::{self, ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use sixlock_crypto::{
    AuthenticationFailed, Provider, SHA_256_DIGEST, Soft, UnpreparedKeys, constant_time_eq,
};
use zeroize::Zeroizing;

/// P-256 by AWS-LC; the rest is [`sixlock_crypto::SmallKeys`].
pub type Fast = Provider<UnpreparedKeys, Soft, AwsLc>;

/// P-256 by AWS-LC, which takes a tenth of the time that [`Soft`] takes or less, and draws the random numbers of its signatures
/// itself. Clones share the key that is prepared.
#[derive(Clone, Default)]
pub struct AwsLc {
    prepared: Option<Arc<Prepared>>,
}

/// A private key, and what signatures are made with.
struct Prepared {
    secret: Zeroizing<[u8; P_256_SECRET]>,
    pair: EcdsaKeyPair,
}

impl AwsLc {
    /// With a private key prepared that is to sign often: each of its signatures takes a third of the time.
    pub fn prepared(secret: &[u8; P_256_SECRET]) -> Self {
        let prepared = key_pair(secret).map(|pair| Prepared { secret: Zeroizing::new(*secret), pair });
        Self { prepared: prepared.map(Arc::new) }
    }
}

/// A key pair made for one handshake. To take it in again would take AWS-LC longer than to make it, as it computes the public
/// key of each private key that it takes, and checks it.
pub(crate) struct Ephemeral {
    secret: Zeroizing<[u8; P_256_SECRET]>,
    point: [u8; P_256_POINT],
    key: PrivateKey,
}

impl Ephemeral {
    /// A new one; none if the system has no random numbers.
    pub(crate) fn generate() -> Option<Self> {
        let key = PrivateKey::generate(&ECDH_P256).ok()?;
        let secret: EcPrivateKeyBin<'_> = key.as_be_bytes().ok()?;
        Some(Self { secret: Zeroizing::new(secret.as_ref().try_into().ok()?), point: point(&key)?, key })
    }

    /// The private key.
    pub(crate) const fn secret(&self) -> &Zeroizing<[u8; P_256_SECRET]> {
        &self.secret
    }

    /// The public key.
    pub(crate) const fn point(&self) -> &[u8; P_256_POINT] {
        &self.point
    }

    /// As [`P256::p256_agree`].
    pub(crate) fn agree(&self, peer: &[u8; P_256_POINT]) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
        agree(&self.key, peer)
    }
}

fn agree(key: &PrivateKey, peer: &[u8; P_256_POINT]) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
    let peer = Some(peer).filter(|peer| is_uncompressed(peer))?;
    let take = |shared: &[u8]| shared.try_into().map(Zeroizing::new).map_err(|_| ());
    agreement::agree(key, agreement::UnparsedPublicKey::new(&ECDH_P256, peer), (), take).ok()
}

fn private_key(secret: &[u8; P_256_SECRET]) -> Option<PrivateKey> {
    PrivateKey::from_private_key(&ECDH_P256, secret).ok()
}

fn point(key: &PrivateKey) -> Option<[u8; P_256_POINT]> {
    key.compute_public_key().ok()?.as_ref().try_into().ok()
}

fn key_pair(secret: &[u8; P_256_SECRET]) -> Option<EcdsaKeyPair> {
    let public = point(&private_key(secret)?)?;
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    EcdsaKeyPair::from_private_key_and_public_key(algorithm, secret, &public).ok()
}

/// AWS-LC takes public keys in other forms, too.
fn is_uncompressed(key: &[u8; P_256_POINT]) -> bool {
    key[0] == 4
}

impl P256 for AwsLc {
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]> {
        point(&private_key(secret)?)
    }

    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
        agree(&private_key(secret)?, peer)
    }

    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]> {
        let digest = Digest::import_less_safe(digest, &SHA256).ok()?;
        let signature = match &self.prepared {
            Some(prepared) if constant_time_eq(&*prepared.secret, secret) => {
                prepared.pair.sign_digest(&digest)
            }
            _ => key_pair(secret)?.sign_digest(&digest),
        };
        signature.ok()?.as_ref().try_into().ok()
    }

    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed> {
        let key = Some(key).filter(|key| is_uncompressed(key)).ok_or(AuthenticationFailed)?;
        let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key);
        let digest = Digest::import_less_safe(digest, &SHA256).map_err(|_| AuthenticationFailed)?;
        key.verify_digest(&digest, signature).map_err(|_| AuthenticationFailed)
    }
}

/// Runs each test of the list that all backends are held to, with this one: with a key prepared, which is one of the
/// list's, and without.
#[cfg(test)]
macro_rules! for_each_p256 {
    ([$($test:ident),* $(,)?]) => {
        mod fast {
            $(#[test] fn $test() { super::$test(&mut crate::fast::AwsLc::default()); })*
        }
        mod prepared {
            $(#[test] fn $test() {
                super::$test(&mut crate::fast::AwsLc::prepared(&super::array(super::RFC_6979_SECRET)));
            })*
        }
    };
}

#[cfg(test)]
#[test]
fn who_has_either_key_of_a_pair_made_for_a_handshake_agrees_with_who_has_the_other() {
    let ([a, b], mut fast) = ([0; 2].map(|_| Ephemeral::generate().unwrap()), AwsLc::default());
    let shared = a.agree(b.point()).unwrap();
    assert_eq!(b.agree(a.point()).unwrap(), shared);
    assert_eq!(fast.p256_agree(a.secret(), b.point()).unwrap(), shared);
    assert_eq!(fast.p256_public_key(a.secret()).unwrap(), *a.point());
    assert_ne!(a.secret(), b.secret());
    let mut outside = *b.point();
    outside[64] ^= 1;
    assert!(a.agree(&outside).is_none(), "the point is not on the curve");
}

#[cfg(test)]
#[path = "../../crypto/src/tests/p256.rs"]
mod p256;
