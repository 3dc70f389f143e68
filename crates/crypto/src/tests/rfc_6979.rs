//! Signatures of those backends of P-256 that draw no random numbers.

use super::p256::{RFC_6979_SECRET, RFC_6979_SIGNATURES, array, digest};
use crate::p256::P256;

for_each_backend!([soft = crate::Soft, tiny = crate::Tiny::new()], [signatures_are_those_of_rfc_6979]);

fn signatures_are_those_of_rfc_6979(crypto: &mut impl P256) {
    for (message, signature) in RFC_6979_SIGNATURES {
        let signed = crypto.p256_sign(&array(RFC_6979_SECRET), &digest(message.as_bytes()));
        assert_eq!(signed, Some(array(signature)));
    }
}
