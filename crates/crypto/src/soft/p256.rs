use p256::ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey};
use zeroize::Zeroizing;

use super::Soft;
use crate::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use crate::{AuthenticationFailed, SHA_256_DIGEST};

/// The public key that bytes spell. Other forms than the one of 65 bytes that begins with 4 are refused.
fn public_key(bytes: &[u8; P_256_POINT]) -> Option<PublicKey> {
    PublicKey::from_sec1_bytes(bytes).ok().filter(|_| bytes[0] == 4)
}

impl P256 for Soft {
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]> {
        let key = SecretKey::from_slice(secret).ok()?;
        key.public_key().to_sec1_point(false).as_bytes().try_into().ok()
    }

    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
        let (key, peer) = (SecretKey::from_slice(secret).ok()?, public_key(peer)?);
        let shared = p256::ecdh::diffie_hellman(key.to_nonzero_scalar(), peer.as_affine());
        Some(Zeroizing::new((*shared.raw_secret_bytes()).into()))
    }

    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]> {
        let key = SigningKey::from_slice(secret).ok()?;
        let signature: Signature = key.sign_prehash(digest).ok()?;
        Some(signature.to_bytes().into())
    }

    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed> {
        let key = public_key(key).ok_or(AuthenticationFailed)?;
        let signature = Signature::from_slice(signature).map_err(|_| AuthenticationFailed)?;
        VerifyingKey::from(key).verify_prehash(digest, &signature).map_err(|_| AuthenticationFailed)
    }
}
