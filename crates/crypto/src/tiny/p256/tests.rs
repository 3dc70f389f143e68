//! Each word size against published vectors and RustCrypto.

extern crate std;

use std::vec::Vec;

use p256::ecdsa::signature::hazmat::{PrehashSigner as _, PrehashVerifier as _};
use p256::ecdsa::{Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use proptest::prelude::*;

use super::nonce::Nonces;
use super::number;
use super::point::{Point, sum_products};
use super::residue::{Field, Modulus, Order, Residue};
use super::word::Word;
use super::{InvalidPoint, PublicKey, SecretKey};
use crate::tests::p256 as shared;
use crate::{AuthenticationFailed, Soft, Tiny};

/// Runs each of `tests` with each size of words.
macro_rules! for_each_word {
    ([$($name:ident = $word:ty),*], $tests:tt) => {
        $(for_each_word!(@ $name, $word, $tests);)*
    };
    (@ $name:ident, $word:ty, [$($(#[$doc:meta])* $test:ident),* $(,)?]) => {
        mod $name {
            $($(#[$doc])* #[test] fn $test() { super::$test::<$word>(); })*
        }
    };
}

for_each_word!(
    [bytes = u8, half_words = u16, words = u32],
    [
        signatures_are_those_of_rfc_6979,
        signatures_are_judged_as_wycheproof_says,
        secrets_are_those_of_wycheproof,
        sums_of_any_points_are_right,
        what_is_no_coordinate_is_refused,
        residues_at_the_edges_are_right,
        any_keys_do_what_rustcrypto_does,
    ]
);

fn hex<const N: usize>(text: &str) -> [u8; N] {
    crate::tests::hex(text).try_into().unwrap()
}

fn signatures_are_those_of_rfc_6979<W: Word>() {
    let key = number::from_bytes(&hex(shared::RFC_6979_SECRET));
    let public = super::public_key::<W>(&key);
    assert_eq!(public.to_bytes(), hex(shared::RFC_6979_POINT));
    for (message, signature) in shared::RFC_6979_SIGNATURES {
        let digest = shared::digest(message.as_bytes());
        assert_eq!(super::sign::<W, _>(&mut Tiny::new(), &key, &digest), hex(signature));
        assert_eq!(super::verify::<W>(&public, &digest, &hex(signature)), Ok(()));
    }
}

fn signatures_are_judged_as_wycheproof_says<W: Word>() {
    shared::judge_signatures(|key, digest, signature| {
        super::from_bytes::<W>(key).is_ok_and(|key| super::verify::<W>(&key, digest, signature).is_ok())
    });
}

fn secrets_are_those_of_wycheproof<W: Word>() {
    shared::judge_secrets(|secret, peer| {
        let peer = super::from_bytes::<W>(peer).ok()?;
        Some(*super::agree::<W>(&number::from_bytes(secret), &peer))
    });
}

/// Among them equal ones, opposite ones and infinity, which other formulas take exception to.
fn sums_of_any_points_are_right<W: Word>() {
    let times = |scalar: &[u32]| {
        let mut points = [Point::<W>::BLANK; 3];
        points[0].set_base();
        points[1].set_infinity();
        sum_products(&mut points, scalar, &[0; 8][..scalar.len()]);
        points[2]
    };
    let coordinates = |point: &Point<W>| (point.x(), point.y());
    for (a, b) in [(1, 1), (1, 2), (2, 1), (3, 3), (5, 8)] {
        let mut sum = times(&[a]);
        sum.add(&times(&[b]));
        sum.normalize();
        assert_eq!(coordinates(&sum), coordinates(&times(&[a + b])));
    }
    let (mut base, mut zero) = (Point::<W>::BLANK, Point::<W>::BLANK);
    base.set_base();
    zero.set_infinity();
    let mut sum = base;
    sum.add(&zero);
    sum.normalize();
    assert_eq!(coordinates(&sum), coordinates(&base));
    let mut sum = zero;
    sum.add(&base);
    sum.normalize();
    assert_eq!(coordinates(&sum), coordinates(&base));
    let infinity = ([0; 8], [0; 8]);
    assert_eq!(coordinates(&times(&[0])), infinity);
    let mut order = number::load(Order::value());
    assert_eq!(coordinates(&times(&order)), infinity);
    order[0] -= 1;
    let mut sum = times(&order);
    assert_eq!(sum.x(), base.x(), "the opposite of the base point");
    assert_ne!(sum.y(), base.y());
    sum.add(&base);
    sum.normalize();
    assert_eq!(coordinates(&sum), infinity);

    base.double(128, &mut sum);
    base.normalize();
    let mut upper = Point::<W>::BLANK;
    upper.set_upper_base();
    assert_eq!(coordinates(&base), coordinates(&upper));
}

fn what_is_no_coordinate_is_refused<W: Word>() {
    let prime: [u8; 32] = number::to_bytes(&number::load(Field::value()));
    // There is a point with x = 0; its y is this.
    let y: [u8; 32] = hex("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4");
    for (form, x, y, is_valid) in [
        (4, [0; 32], y, true),
        (4, prime, y, false),
        (4, [0; 32], prime, false),
        (4, [0xff; 32], y, false),
        (4, [0; 32], [0; 32], false),
        (2, [0; 32], y, false),
        (0, [0; 32], y, false),
    ] {
        let mut bytes = [form; 65];
        bytes[1..33].copy_from_slice(&x);
        bytes[33..].copy_from_slice(&y);
        assert_eq!(super::from_bytes::<W>(&bytes).map_err(|InvalidPoint| ()).is_ok(), is_valid);
    }
}

fn residues_at_the_edges_are_right<W: Word>() {
    residues_at_the_edges::<Field, W>();
    residues_at_the_edges::<Order, W>();
}

fn residues_at_the_edges<M: Modulus, W: Word>() {
    let one = [1, 0, 0, 0, 0, 0, 0, 0];
    let mut last = number::load(M::value());
    last[0] -= 1;
    let (mut minus_one, one) = (Residue::<M, W>::new(&last), Residue::<M, W>::new(&one));
    let mut sum = minus_one;
    sum += &one;
    assert!(sum.is_zero());
    assert!(sum.inverse().is_zero());
    sum -= &one;
    assert_eq!(sum.number(), last);
    assert_eq!(minus_one.inverse().number(), last);
    let other = minus_one;
    minus_one *= &other;
    assert_eq!(minus_one.number(), one.number());
}

fn any_keys_do_what_rustcrypto_does<W: Word>() {
    proptest!(ProptestConfig::with_cases(20), |(a: [u8; 32], b: [u8; 32], digest: [u8; 32], flipped in 0usize..512)| {
        prop_assume!(SecretKey::from_bytes(&a).is_some() && SecretKey::from_bytes(&b).is_some());
        let (key, other) = (number::from_bytes(&a), number::from_bytes(&b));
        let (public, peer) = (super::public_key::<W>(&key), super::public_key::<W>(&other));
        let oracle = p256::SecretKey::from_slice(&a).unwrap();
        let expected = oracle.public_key().to_sec1_point(false);
        prop_assert_eq!(&public.to_bytes()[..], expected.as_bytes());
        prop_assert_eq!(super::from_bytes::<W>(&peer.to_bytes()), Ok(peer));

        let secret = super::agree::<W>(&key, &peer);
        prop_assert_eq!(&*secret, &*super::agree::<W>(&other, &public));
        let peer = p256::PublicKey::from_sec1_bytes(&peer.to_bytes()).unwrap();
        let expected = p256::ecdh::diffie_hellman(oracle.to_nonzero_scalar(), peer.as_affine());
        prop_assert_eq!(&secret[..], &expected.raw_secret_bytes()[..]);

        let signature = super::sign::<W, _>(&mut Soft, &key, &digest);
        let expected: Signature = SigningKey::from(&oracle).sign_prehash(&digest).unwrap();
        prop_assert_eq!(&signature[..], &expected.to_bytes()[..]);
        prop_assert_eq!(super::verify::<W>(&public, &digest, &signature), Ok(()));
        VerifyingKey::from(oracle.public_key()).verify_prehash(&digest, &expected).unwrap();

        let mut forged = signature;
        forged[flipped / 8] ^= 1 << (flipped % 8);
        prop_assert_eq!(super::verify::<W>(&public, &digest, &forged), Err(AuthenticationFailed));
    });
}

/// The one that is taken is the first in all but one of 2^32 signatures.
#[test]
fn further_nonces_are_those_of_rfc_6979() {
    let order = rfc6979::bigint::U256::from_be_slice(&number::to_bytes(&number::load(Order::value())));
    let (key, digest) = ([3; 32], [7; 32]);
    let mut expected = rfc6979::KGenerator::<sha2::Sha256, _>::new(&key, &digest, &[], &order);
    let mut nonces = Nonces::new(&mut Tiny::new(), &number::from_bytes(&key), &number::from_bytes(&digest));
    for _ in 0..5 {
        let mut nonce = [0; 32];
        expected.fill_next_k(&mut nonce);
        assert_eq!(number::to_bytes(&nonces.next(&mut Tiny::new())), nonce);
        nonces.refuse(&mut Tiny::new());
    }
}

#[test]
fn a_private_key_is_a_number_below_the_order() {
    let order = number::load(Order::value());
    let refused: [[u32; 8]; 3] = [[0; 8], order, [u32::MAX; 8]];
    assert!(refused.iter().all(|number| SecretKey::from_bytes(&number::to_bytes(number)).is_none()));
    let mut last = order;
    last[0] -= 1;
    let key = SecretKey::from_bytes(&number::to_bytes(&last)).unwrap();
    assert_eq!(*key.to_bytes(), number::to_bytes(&last));
}

#[test]
fn the_words_of_this_processor_are_used_by_the_methods() {
    let keys: Vec<SecretKey> = [3, 200].map(|byte| SecretKey::from_bytes(&[byte; 32]).unwrap()).into();
    let publics: Vec<PublicKey> = keys.iter().map(SecretKey::public_key).collect();
    assert_eq!(keys[0].agree(&publics[1]), keys[1].agree(&publics[0]));
    let signature = keys[0].sign(&mut Tiny::new(), &[1; 32]);
    assert_eq!(publics[0].verify(&[1; 32], &signature), Ok(()));
    assert_eq!(publics[1].verify(&[1; 32], &signature), Err(AuthenticationFailed));
    assert_eq!(PublicKey::from_bytes(&publics[1].to_bytes()), Ok(publics[1]));
}
