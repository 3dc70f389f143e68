//! CCM and GCM, whose keys and nonces a witness sees.

use sixlock_crypto::ipsec::Direction;
use sixlock_crypto::{AES_128_KEY, AuthenticationFailed, BlockCiphers, Call, CcmNonce, CcmTag, Soft, Tag};

use super::Accelerated;
use crate::trial::{Use, fingerprint};

/// A use of a key of CCM, by the tag of an empty message under the key.
fn ccm_use(key: &<Soft as BlockCiphers>::Aes128, nonce: &CcmNonce<'_>) -> Use {
    let mut name = Tag::empty(CcmTag::Sixteen);
    Soft.ccm_seal(key, CcmNonce::Twelve(&[0; 12]), &[], &mut [], &mut name);
    [name.bytes(), nonce.bytes()].concat()
}

/// The same of a key of GCM.
fn gcm_use(key: &<Soft as BlockCiphers>::AesGcm, nonce: &[u8; 12]) -> Use {
    [&Soft.gcm_seal(key, &[0; 12], &[], &mut [])[..], nonce].concat()
}

impl BlockCiphers for Accelerated {
    type Aes128 = <Soft as BlockCiphers>::Aes128;
    type AesGcm = <Soft as BlockCiphers>::AesGcm;

    fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128 {
        self.account(Call::Aes128Key).aes_128(key)
    }

    fn ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut Tag,
    ) {
        if let Some(witness) = &mut self.witness {
            witness.protects(ccm_use(key, &nonce), fingerprint(&[aad, data]));
        }
        let call = Call::ccm(Direction::Encrypt, nonce.bytes(), aad, data, tag.bytes());
        self.account(call).ccm_seal(key, nonce, aad, data, tag);
    }

    fn ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &Tag,
    ) -> Result<(), AuthenticationFailed> {
        let call = Call::ccm(Direction::Decrypt, nonce.bytes(), aad, data, tag.bytes());
        self.account(call).ccm_open(key, nonce, aad, data, tag)?;
        if let Some(witness) = &mut self.witness {
            witness.opens(ccm_use(key, &nonce), fingerprint(&[aad, data]));
        }
        Ok(())
    }

    fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm {
        self.account(Call::GcmKey).aes_gcm(key)
    }

    fn gcm_seal(&mut self, key: &Self::AesGcm, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        if let Some(witness) = &mut self.witness {
            witness.protects(gcm_use(key, nonce), fingerprint(&[aad, data]));
        }
        self.account(Call::Gcm { aad: aad.len(), data: data.len() }).gcm_seal(key, nonce, aad, data)
    }

    fn gcm_open(
        &mut self,
        key: &Self::AesGcm,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationFailed> {
        let call = Call::Gcm { aad: aad.len(), data: data.len() };
        self.account(call).gcm_open(key, nonce, aad, data, tag)?;
        if let Some(witness) = &mut self.witness {
            witness.opens(gcm_use(key, nonce), fingerprint(&[aad, data]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Witness;

    /// How many misuses are seen when this protects two messages, and opens what is left of the second one twice.
    fn misuses(mut act: impl FnMut(&mut Accelerated)) -> usize {
        let mut crypto = Accelerated::new(None);
        let witness = Witness::default();
        crypto.show(witness.of_device());
        act(&mut crypto);
        witness.take_misuses().len()
    }

    #[test]
    fn a_nonce_that_is_used_twice_and_a_message_that_is_opened_twice_are_seen() {
        let ccm = |data: &'static [u8]| {
            misuses(move |crypto| {
                let (key, nonce) = (crypto.aes_128(&[7; AES_128_KEY]), CcmNonce::Thirteen(&[1; 13]));
                let mut tag = Tag::empty(CcmTag::Eight);
                crypto.ccm_seal(&key, CcmNonce::Thirteen(&[1; 13]), b"other", &mut [], &mut tag);
                let mut sealed = data.to_vec();
                // Where nothing is encrypted, as in MIC-32 to MIC-128 of link security, too.
                crypto.ccm_seal(&key, nonce, b"header", &mut sealed, &mut tag);
                for _ in 0..2 {
                    let nonce = CcmNonce::Thirteen(&[1; 13]);
                    crypto.ccm_open(&key, nonce, b"header", &mut sealed.clone(), &tag).unwrap();
                }
            })
        };
        let gcm = misuses(|crypto| {
            let key = crypto.aes_128(&[7; AES_128_KEY]);
            let key = crypto.aes_gcm(&key);
            crypto.gcm_seal(&key, &[1; 12], b"other", &mut []);
            let mut sealed = *b"payload";
            let tag = crypto.gcm_seal(&key, &[1; 12], b"header", &mut sealed);
            for _ in 0..2 {
                crypto.gcm_open(&key, &[1; 12], b"header", &mut sealed.clone(), &tag).unwrap();
            }
        });
        assert_eq!([ccm(b"payload"), ccm(b""), gcm], [2; 3]);
    }
}
