//! What handshakes with public keys need beyond [`Crypto`]: P-256
//! ([SP 800-186](https://doi.org/10.6028/NIST.SP.800-186)). Linked only where it is called.

use zeroize::Zeroizing;

use crate::{AuthenticationFailed, Crypto, SHA_256_DIGEST};

/// Length of a private key and of a shared secret, in bytes.
pub const P_256_SECRET: usize = 32;
/// Length of a public key, in bytes: 4, x and y
/// ([RFC 5480 section 2.2](https://www.rfc-editor.org/rfc/rfc5480#section-2.2)).
pub const P_256_POINT: usize = 65;
/// Length of a signature, in bytes: r and s.
pub const P_256_SIGNATURE: usize = 64;

/// A backend for P-256. Keys are bytes: they are checked where they are used.
pub trait P256: Crypto {
    /// The public key of a private one; none if that is zero or not below the group's order. A new private key is made of
    /// random bytes, to be drawn again should they be refused, as one of 2^32 is.
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]>;

    /// The secret shared with the holder of `peer`'s private key
    /// ([SEC 1](https://www.secg.org/sec1-v2.pdf) section 3.3.1); none if either key is none.
    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>>;

    /// The signature of a message with this digest; none if the private key is none. It needs no random number
    /// ([RFC 6979](https://www.rfc-editor.org/rfc/rfc6979)), unless the backend draws its own.
    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]>;

    /// Whether `signature` is that of a message with this digest; it is of none if the public key is none.
    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed>;
}
