//! What P-256 counts: each call is one operation, hashes within it included.

use zeroize::Zeroizing;

use super::{Metered, Operation};
use crate::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use crate::{AuthenticationFailed, SHA_256_DIGEST};

impl<B: P256> P256 for Metered<B> {
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]> {
        self.operations.add(Operation::P256PublicKey, 1);
        self.backend.p256_public_key(secret)
    }

    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
        self.operations.add(Operation::P256Agree, 1);
        self.backend.p256_agree(secret, peer)
    }

    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]> {
        self.operations.add(Operation::P256Sign, 1);
        self.backend.p256_sign(secret, digest)
    }

    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed> {
        self.operations.add(Operation::P256Verify, 1);
        self.backend.p256_verify(key, digest, signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Soft;

    #[test]
    fn each_call_is_one_operation_and_gives_what_the_backend_gives() {
        let mut metered = Metered::new(Soft);
        let (secret, digest) = ([7; P_256_SECRET], [3; SHA_256_DIGEST]);
        let point = metered.p256_public_key(&secret).unwrap();
        let shared = metered.p256_agree(&secret, &point).unwrap();
        let signature = metered.p256_sign(&secret, &digest).unwrap();
        assert_eq!(metered.p256_verify(&point, &digest, &signature), Ok(()));
        assert_eq!(Soft.p256_public_key(&secret), Some(point));
        assert_eq!(Soft.p256_agree(&secret, &point), Some(shared));
        let done = metered.take();
        let ours =
            [Operation::P256PublicKey, Operation::P256Agree, Operation::P256Sign, Operation::P256Verify];
        for (operation, count) in done.iter() {
            assert_eq!(count, u32::from(ours.contains(&operation)), "{}", operation.name());
        }
    }
}
