//! The parts that every protocol needs.

use zeroize::Zeroizing;

use super::aes_backend::Aes;
use super::ccm::Ccm;
use super::gcm::GcmKey;
use super::hash::{Hash, Hmac, HmacKey};
use super::sha256::Sha256;
use super::{Tables, Tiny};
use crate::{
    AES_128_KEY, AuthenticationFailed, BlockCiphers, CcmNonce, CcmTag, Hashes, SHA_256_DIGEST, Tag,
    constant_time_eq, wipe,
};

/// AES in the way of `$backend`. It is no generic implementation: these are compiled with the crates that use them, for less room.
macro_rules! ciphers {
    ($backend:ident) => {
        impl BlockCiphers for $backend {
            type Aes128 = Zeroizing<<Self as Aes>::Key>;
            type AesGcm = GcmKey<Self>;

            fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128 {
                Self::prepared(key)
            }

            fn ccm_seal(
                &mut self,
                key: &Self::Aes128,
                nonce: CcmNonce<'_>,
                aad: &[u8],
                data: &mut [u8],
                tag: &mut Tag,
            ) {
                let ccm = Ccm::new(&**key, nonce.bytes());
                if tag.length() != CcmTag::Zero {
                    ccm.tag(aad, data, tag.bytes_mut());
                }
                ccm.apply_key_stream(data);
            }

            fn ccm_open(
                &mut self,
                key: &Self::Aes128,
                nonce: CcmNonce<'_>,
                aad: &[u8],
                data: &mut [u8],
                tag: &Tag,
            ) -> Result<(), AuthenticationFailed> {
                let ccm = Ccm::new(&**key, nonce.bytes());
                ccm.apply_key_stream(data);
                if tag.length() == CcmTag::Zero {
                    return Ok(());
                }
                let mut expected = Tag::empty(tag.length());
                ccm.tag(aad, data, expected.bytes_mut());
                if constant_time_eq(expected.bytes(), tag.bytes()) {
                    return Ok(());
                }
                wipe(data);
                Err(AuthenticationFailed)
            }

            fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm {
                GcmKey::new(key)
            }

            fn gcm_seal(
                &mut self,
                key: &Self::AesGcm,
                nonce: &[u8; 12],
                aad: &[u8],
                data: &mut [u8],
            ) -> [u8; 16] {
                key.apply_key_stream(nonce, data);
                key.tag(nonce, aad, data)
            }

            fn gcm_open(
                &mut self,
                key: &Self::AesGcm,
                nonce: &[u8; 12],
                aad: &[u8],
                data: &mut [u8],
                tag: &[u8; 16],
            ) -> Result<(), AuthenticationFailed> {
                if constant_time_eq(&key.tag(nonce, aad, data), tag) {
                    key.apply_key_stream(nonce, data);
                    return Ok(());
                }
                wipe(data);
                Err(AuthenticationFailed)
            }
        }
    };
}

ciphers!(Tiny);
ciphers!(Tables);

impl Hashes for Tiny {
    type Sha256 = Hash<Sha256>;
    type HmacKey = HmacKey<Sha256>;

    fn sha256(&mut self) -> Self::Sha256 {
        Hash::new()
    }

    fn sha256_update(&mut self, hash: &mut Self::Sha256, data: &[u8]) {
        hash.update(data);
    }

    fn sha256_finish(&mut self, mut hash: Self::Sha256) -> [u8; SHA_256_DIGEST] {
        hash.finish()
    }

    fn hmac_key(&mut self, key: &[u8]) -> Self::HmacKey {
        HmacKey::new::<SHA_256_DIGEST>(key)
    }

    fn hmac_sha256(&mut self, key: &Self::HmacKey, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
        Hmac::new(key).over(parts)
    }
}
