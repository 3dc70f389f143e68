//! P-256 ([SP 800-186](https://doi.org/10.6028/NIST.SP.800-186)), for handshakes with public keys. Linked only where it is called.

use zeroize::Zeroizing;

use crate::{AuthenticationFailed, SHA_256_DIGEST};

/// Length of a private key and of a shared secret, in bytes.
pub const P_256_SECRET: usize = 32;
/// Length of a public key, in bytes: 4, x and y
/// ([RFC 5480 section 2.2](https://www.rfc-editor.org/rfc/rfc5480#section-2.2)).
pub const P_256_POINT: usize = 65;
/// Length of a signature, in bytes: r and s.
pub const P_256_SIGNATURE: usize = 64;

/// A backend for P-256. Keys are bytes: they are checked where they are used.
pub trait P256 {
    /// Returns the public key of a private key, or `None` if the private key is zero or not below the group's order.
    ///
    /// A new private key is 32 random bytes. Draw again if they are refused, which happens once in 2^32 times.
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]>;

    /// Returns the secret shared with the holder of `peer`'s private key
    /// ([SEC 1](https://www.secg.org/sec1-v2.pdf) section 3.3.1), or `None` if either key is invalid.
    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>>;

    /// Signs the message that has this digest. Returns `None` if the private key is invalid.
    ///
    /// It needs no random number ([RFC 6979](https://www.rfc-editor.org/rfc/rfc6979)), unless the backend draws its own.
    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]>;

    /// Verifies the signature of the message that has this digest. Fails, too, if the public key is invalid.
    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed>;
}
