//! What an engine does of P-256: it multiplies points. What else a signature takes is little beside that, and left out.

use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use sixlock_crypto::{AuthenticationFailed, Metered, SHA_256_DIGEST, Soft};
use zeroize::Zeroizing;

use super::{Accelerated, Job};

impl Accelerated {
    /// Who multiplies so many points.
    fn points(&mut self, multiplications: u64) -> &mut Metered<Soft> {
        let effort = self.effort(Job::P256Multiplication, |engines| engines.transport);
        self.lasts += multiplications * effort.unwrap_or(0);
        if effort.is_some() { &mut self.done } else { &mut self.cpu }
    }
}

impl P256 for Accelerated {
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]> {
        self.points(1).p256_public_key(secret)
    }

    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
        self.points(1).p256_agree(secret, peer)
    }

    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]> {
        self.points(1).p256_sign(secret, digest)
    }

    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed> {
        self.points(2).p256_verify(key, digest, signature)
    }
}
