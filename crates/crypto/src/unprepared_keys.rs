use zeroize::Zeroizing;

use crate::{AES_128_KEY, AuthenticationFailed, BlockCiphers, CcmNonce, Provider, Soft, Tag};

/// [`Soft`] for a host that holds very many keys.
pub type SmallKeys = Provider<UnpreparedKeys, Soft>;

/// The AES of [`Soft`], with a key kept as it is, in 16 bytes, and prepared each time that it is used: CPUs with AES do that in
/// less time than it takes to fetch a prepared key, of 704 bytes, from memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnpreparedKeys;

impl BlockCiphers for UnpreparedKeys {
    type Aes128 = Zeroizing<[u8; AES_128_KEY]>;
    type AesGcm = <Soft as BlockCiphers>::AesGcm;

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
}
