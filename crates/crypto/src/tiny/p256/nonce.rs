use zeroize::Zeroizing;

use super::number::{self, Number};
use crate::{Crypto, SHA_256_DIGEST};

/// The random numbers of a signature, derived from the private key and the digest
/// ([RFC 6979 section 3.2](https://www.rfc-editor.org/rfc/rfc6979#section-3.2)).
pub(super) struct Nonces<C: Crypto> {
    key: C::HmacKey,
    value: Zeroizing<[u8; SHA_256_DIGEST]>,
}

impl<C: Crypto> Nonces<C> {
    #[inline(never)]
    pub(super) fn new(crypto: &mut C, private_key: &Number, digest: &Number) -> Self {
        let private_key = Zeroizing::new(number::to_bytes(private_key));
        let digest = number::to_bytes(digest);
        let mut nonces =
            Self { key: crypto.hmac_key(&[0; SHA_256_DIGEST]), value: Zeroizing::new([1; SHA_256_DIGEST]) };
        nonces.update(crypto, &[&[0], &*private_key, &digest]);
        nonces.update(crypto, &[&[1], &*private_key, &digest]);
        nonces
    }

    /// The next one, which may be no scalar.
    pub(super) fn next(&mut self, crypto: &mut C) -> Zeroizing<Number> {
        *self.value = crypto.hmac_sha256(&self.key, &[&*self.value]);
        Zeroizing::new(number::from_bytes(&self.value))
    }

    /// To be called after a number that did not suit.
    pub(super) fn refuse(&mut self, crypto: &mut C) {
        self.update(crypto, &[&[0], &[], &[]]);
    }

    fn update(&mut self, crypto: &mut C, [separator, private_key, digest]: &[&[u8]; 3]) {
        let key = crypto.hmac_sha256(&self.key, &[&*self.value, separator, private_key, digest]);
        let key = Zeroizing::new(key);
        self.key = crypto.hmac_key(&*key);
        *self.value = crypto.hmac_sha256(&self.key, &[&*self.value]);
    }
}
