use zeroize::Zeroizing;

use crate::{AES_128_KEY, AuthenticationFailed, CcmNonce, Crypto, SHA_256_DIGEST, Soft, Tag};

/// [`Soft`] for a host that holds very many keys: a key of AES is kept as it is, in 16 bytes, and prepared each time that it is
/// used, which CPUs with AES do in less time than it takes to fetch a prepared one, of 704 bytes, from memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct SmallKeys;

impl Crypto for SmallKeys {
    type Aes128 = Zeroizing<[u8; AES_128_KEY]>;
    type AesGcm = <Soft as Crypto>::AesGcm;
    type Sha256 = <Soft as Crypto>::Sha256;
    type HmacKey = <Soft as Crypto>::HmacKey;

    fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128 {
        Zeroizing::new(*key)
    }

    fn ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut Tag,
    ) {
        let key = Soft.aes_128(key);
        Soft.ccm_seal(&key, nonce, aad, data, tag);
    }

    fn ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &Tag,
    ) -> Result<(), AuthenticationFailed> {
        let key = Soft.aes_128(key);
        Soft.ccm_open(&key, nonce, aad, data, tag)
    }

    fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm {
        let key = Soft.aes_128(key);
        Soft.aes_gcm(&key)
    }

    fn gcm_seal(&mut self, key: &Self::AesGcm, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        Soft.gcm_seal(key, nonce, aad, data)
    }

    fn gcm_open(
        &mut self,
        key: &Self::AesGcm,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationFailed> {
        Soft.gcm_open(key, nonce, aad, data, tag)
    }

    fn sha256(&mut self) -> Self::Sha256 {
        Soft.sha256()
    }

    fn sha256_update(&mut self, hash: &mut Self::Sha256, data: &[u8]) {
        Soft.sha256_update(hash, data);
    }

    fn sha256_finish(&mut self, hash: Self::Sha256) -> [u8; SHA_256_DIGEST] {
        Soft.sha256_finish(hash)
    }

    fn hmac_key(&mut self, key: &[u8]) -> Self::HmacKey {
        Soft.hmac_key(key)
    }

    fn hmac_sha256(&mut self, key: &Self::HmacKey, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
        Soft.hmac_sha256(key, parts)
    }
}
