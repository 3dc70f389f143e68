//! P-256 ([FIPS 186-5](https://doi.org/10.6028/NIST.FIPS.186-5) and SP 800-186), multiplying in the words of the
//! processor: 8, 16 or 32 bits.
//!
//! An operation on a secret takes the same time, and touches the same memory, whatever the secret is.

mod nonce;
mod number;
mod point;
mod residue;
#[cfg(test)]
mod tests;
mod word;

use core::fmt;

use zeroize::Zeroizing;

use self::nonce::Nonces;
use self::number::Number;
use self::point::{Point, sum_products};
use self::residue::{Field, Modulus as _, Order, Residue};
use self::word::{Native, Word};
use super::Tiny;
use crate::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use crate::{AuthenticationFailed, Hashes, SHA_256_DIGEST};

/// Length of a private key, a coordinate and a shared secret, in bytes.
pub const P_256_NUMBER: usize = 32;

/// The bytes are not a point of the curve: the sender made a mistake, or wants to learn a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPoint;

impl fmt::Display for InvalidPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no point of the curve P-256")
    }
}

impl core::error::Error for InvalidPoint {}

/// A private key, wiped when dropped.
pub struct SecretKey(Zeroizing<Number>);

impl SecretKey {
    /// The key that `bytes` spell, unless they are zero or not below the group's order.
    ///
    /// A new key is made of random bytes; draw again should they be refused, as one of 2^32 is.
    pub fn from_bytes(bytes: &[u8; P_256_NUMBER]) -> Option<Self> {
        let number = Zeroizing::new(number::from_bytes(bytes));
        is_scalar(&number).then_some(Self(number))
    }

    /// Its bytes, to be stored.
    pub fn to_bytes(&self) -> Zeroizing<[u8; P_256_NUMBER]> {
        Zeroizing::new(number::to_bytes(&self.0))
    }

    /// The public key that belongs to it.
    pub fn public_key(&self) -> PublicKey {
        public_key::<Native>(&self.0)
    }

    /// The secret that it shares with the holder of `peer`'s private key
    /// ([SEC 1](https://www.secg.org/sec1-v2.pdf) section 3.3.1).
    pub fn agree(&self, peer: &PublicKey) -> Zeroizing<[u8; P_256_NUMBER]> {
        agree::<Native>(&self.0, peer)
    }

    /// The signature of a message with this digest: r, then s. It needs no random number, for `crypto`
    /// derives one from the key and the digest ([RFC 6979](https://www.rfc-editor.org/rfc/rfc6979)).
    pub fn sign<C: Hashes>(&self, crypto: &mut C, digest: &[u8; SHA_256_DIGEST]) -> [u8; 64] {
        sign::<Native, C>(crypto, &self.0, digest)
    }
}

/// A public key: a point of the curve, and not infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey {
    x: Number,
    y: Number,
}

impl PublicKey {
    /// The key that 65 bytes spell: 4, x and y ([RFC 5480 section 2.2](https://www.rfc-editor.org/rfc/rfc5480#section-2.2)).
    pub fn from_bytes(bytes: &[u8; 65]) -> Result<Self, InvalidPoint> {
        from_bytes::<Native>(bytes)
    }

    /// The opposite of [`PublicKey::from_bytes`].
    pub fn to_bytes(&self) -> [u8; 65] {
        let mut bytes = [4; 65];
        bytes[1..33].copy_from_slice(&number::to_bytes(&self.x));
        bytes[33..].copy_from_slice(&number::to_bytes(&self.y));
        bytes
    }

    /// Whether `signature`, r and then s, is that of a message with this digest.
    pub fn verify(
        &self,
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; 64],
    ) -> Result<(), AuthenticationFailed> {
        verify::<Native>(self, digest, signature)
    }
}

impl P256 for Tiny {
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]> {
        Some(SecretKey::from_bytes(secret)?.public_key().to_bytes())
    }

    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
        Some(SecretKey::from_bytes(secret)?.agree(&PublicKey::from_bytes(peer).ok()?))
    }

    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]> {
        Some(SecretKey::from_bytes(secret)?.sign(self, digest))
    }

    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed> {
        match &PublicKey::from_bytes(key) {
            Ok(key) => key.verify(digest, signature),
            Err(InvalidPoint) => Err(AuthenticationFailed),
        }
    }
}

/// Whether `number` may be a private key, or half a signature.
fn is_scalar(number: &Number) -> bool {
    number::is_below(number, Order::value()) & !number::is_zero(number)
}

/// Checks the point ([SP 800-56A](https://doi.org/10.6028/NIST.SP.800-56Ar3) section 5.6.2.3.3; all points of
/// this curve have the same order).
fn from_bytes<W: Word>(bytes: &[u8; 65]) -> Result<PublicKey, InvalidPoint> {
    let [form, coordinates @ ..] = bytes;
    let [x, y] = halves(coordinates);
    if *form != 4 || !number::is_below(&x, Field::value()) || !number::is_below(&y, Field::value()) {
        return Err(InvalidPoint);
    }
    let mut point = Point::<W>::BLANK;
    point.set(&x, &y);
    if point.is_on_curve() { Ok(PublicKey { x, y }) } else { Err(InvalidPoint) }
}

/// The two numbers that 64 bytes spell.
fn halves(bytes: &[u8; 64]) -> [Number; 2] {
    let mut halves = [[0; 8]; 2];
    for (half, bytes) in halves.iter_mut().zip(bytes.as_chunks().0) {
        *half = number::from_bytes(bytes);
    }
    halves
}

#[inline(never)]
fn public_key<W: Word>(key: &Number) -> PublicKey {
    let mut points = [Point::<W>::BLANK; 3];
    multiply_base(key, &mut points);
    PublicKey { x: points[2].x(), y: points[2].y() }
}

/// Makes the third of `points` the base point times `scalar`, whose two halves are multiplied at once.
fn multiply_base<W: Word>(scalar: &Number, points: &mut [Point<W>; 3]) {
    points[0].set_base();
    points[1].set_upper_base();
    let (lower, upper) = scalar.split_at(4);
    sum_products(points, lower, upper);
}

#[inline(never)]
fn agree<W: Word>(key: &Number, peer: &PublicKey) -> Zeroizing<[u8; P_256_NUMBER]> {
    let mut points = [Point::<W>::BLANK; 3];
    set_halves(&mut points, peer);
    let (lower, upper) = key.split_at(4);
    sum_products(&mut points, lower, upper);
    x_of(&points[2])
}

/// Makes the first of `points` the one of `key`, which the lower half of a scalar is to be multiplied by, and the second
/// that times 2^128, which the upper half is. The third is overwritten.
#[inline(never)]
fn set_halves<W: Word>([point, upper_point, other]: &mut [Point<W>; 3], key: &PublicKey) {
    point.set(&key.x, &key.y);
    *upper_point = *point;
    upper_point.double(128, other);
}

#[inline(never)]
fn x_of<W: Word>(point: &Point<W>) -> Zeroizing<[u8; P_256_NUMBER]> {
    Zeroizing::new(number::to_bytes(&point.x()))
}

/// The number that a digest is taken for ([FIPS 186-5](https://doi.org/10.6028/NIST.FIPS.186-5) section 6.4).
fn digest_number(digest: &[u8; SHA_256_DIGEST]) -> Number {
    reduced(number::from_bytes(digest))
}

/// `number` modulo the group's order, which is above half of what a number can be.
fn reduced(mut number: Number) -> Number {
    number::subtract_once(&mut number, false, Order::value());
    number
}

#[inline(never)]
fn sign<W: Word, C: Hashes>(crypto: &mut C, key: &Number, digest: &[u8; SHA_256_DIGEST]) -> [u8; 64] {
    let hash = digest_number(digest);
    let mut nonces = Nonces::new(crypto, key, &hash);
    loop {
        let nonce = nonces.next(crypto);
        if is_scalar(&nonce) {
            let r = base_x::<W>(&nonce);
            let s = second_half::<W>(key, &hash, &nonce, &r);
            if !number::is_zero(&r) && !number::is_zero(&s) {
                let mut signature = [0; 64];
                signature[..32].copy_from_slice(&number::to_bytes(&r));
                signature[32..].copy_from_slice(&number::to_bytes(&s));
                return signature;
            }
        }
        nonces.refuse(crypto);
    }
}

/// The x of the base point times `scalar`, modulo the group's order.
#[inline(never)]
fn base_x<W: Word>(scalar: &Number) -> Number {
    let mut points = [Point::<W>::BLANK; 3];
    multiply_base(scalar, &mut points);
    reduced(points[2].x())
}

/// The second half of a signature: (`hash` + `r` * `key`) / `nonce`.
#[inline(never)]
fn second_half<W: Word>(key: &Number, hash: &Number, nonce: &Number, r: &Number) -> Number {
    let mut s = Residue::<Order, W>::new(key);
    s *= &Residue::new(r);
    s += &Residue::new(hash);
    s *= &Residue::new(nonce).inverse();
    s.number()
}

#[inline(never)]
fn verify<W: Word>(
    key: &PublicKey,
    digest: &[u8; SHA_256_DIGEST],
    signature: &[u8; 64],
) -> Result<(), AuthenticationFailed> {
    let [r, s] = halves(signature);
    if !is_scalar(&r) || !is_scalar(&s) {
        return Err(AuthenticationFailed);
    }
    let [of_base, of_key] = quotients::<W>(digest_number(digest), r, &s);
    if sum_x::<W>(&of_base, key, &of_key) == r { Ok(()) } else { Err(AuthenticationFailed) }
}

/// `a` and `b`, each divided by `divisor`.
#[inline(never)]
fn quotients<W: Word>(a: Number, b: Number, divisor: &Number) -> [Number; 2] {
    let inverse = Residue::<Order, W>::new(divisor).inverse();
    [a, b].map(|number| {
        let mut quotient = Residue::new(&number);
        quotient *= &inverse;
        quotient.number()
    })
}

/// The x of the base point times `of_base` and `key` times `of_key`, modulo the group's order.
#[inline(never)]
fn sum_x<W: Word>(of_base: &Number, key: &PublicKey, of_key: &Number) -> Number {
    let mut points = [Point::<W>::BLANK; 3];
    points[0].set_base();
    points[1].set(&key.x, &key.y);
    sum_products(&mut points, of_base, of_key);
    reduced(points[2].x())
}
