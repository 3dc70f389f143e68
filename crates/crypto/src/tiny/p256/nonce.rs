use zeroize::Zeroizing;

use super::number::{self, Number};
use crate::{Hashes, SHA_256_DIGEST};

/// The random numbers of a signature, derived from the private key and the digest
/// ([RFC 6979 section 3.2](https://www.rfc-editor.org/rfc/rfc6979#section-3.2)).
pub(super) struct Nonces {
    key: Zeroizing<[u8; SHA_256_DIGEST]>,
    value: Zeroizing<[u8; SHA_256_DIGEST]>,
}

impl Nonces {
    #[inline(never)]
    pub(super) fn new<C: Hashes>(crypto: &mut C, private_key: &Number, digest: &Number) -> Self {
        let private_key = Zeroizing::new(number::to_bytes(private_key));
        let digest = number::to_bytes(digest);
        let mut nonces = Self { key: Zeroizing::new([0; 32]), value: Zeroizing::new([1; 32]) };
        nonces.update(crypto, &[&[0], &*private_key, &digest]);
        nonces.update(crypto, &[&[1], &*private_key, &digest]);
        nonces
    }

    /// The next one, which may be no scalar.
    pub(super) fn next<C: Hashes>(&mut self, crypto: &mut C) -> Zeroizing<Number> {
        *self.value = self.code(crypto, &[&*self.value]);
        Zeroizing::new(number::from_bytes(&self.value))
    }

    /// To be called after a number that did not suit.
    pub(super) fn refuse<C: Hashes>(&mut self, crypto: &mut C) {
        self.update(crypto, &[&[0], &[], &[]]);
    }

    fn update<C: Hashes>(&mut self, crypto: &mut C, [separator, private_key, digest]: &[&[u8]; 3]) {
        *self.key = self.code(crypto, &[&*self.value, separator, private_key, digest]);
        *self.value = self.code(crypto, &[&*self.value]);
    }

    /// The code of `parts` under the key, which is not kept prepared: it is twice as long then, and stands on the stack while the
    /// signature is computed.
    fn code<C: Hashes>(&self, crypto: &mut C, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
        let key = crypto.hmac_key(&*self.key);
        crypto.hmac_sha256(&key, parts)
    }
}
