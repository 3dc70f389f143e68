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
        self.account(Call::Gcm { aad: aad.len(), data: data.len() }).gcm_open(key, nonce, aad, data, tag)
    }
}
