mod ipsec;
mod one_pass;
#[cfg(not(target_os = "none"))]
mod p256;

use aes::cipher::array::Array;
use aes::cipher::array::typenum::{U4, U8, U12, U13, U16};
use aes::cipher::{BlockCipherEncrypt, KeyInit as _};
use aes_gcm::AesGcm;
use ccm::aead::AeadInOut;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::ipsec::AES_BLOCK;
use crate::{
    AES_128_KEY, AuthenticationFailed, BlockCiphers, CcmNonce, CcmTag, Hashes, SHA_256_DIGEST, Tag, wipe,
};

/// The RustCrypto backend: portable, constant-time software, with AES-NI where the CPU has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Soft;

/// Encrypts or decrypts `data`, as CCM does: the two are the same.
fn apply_key_stream(key: &aes::Aes128Enc, nonce: CcmNonce<'_>, data: &mut [u8]) {
    let nonce = nonce.bytes();
    for (bytes, number) in data.chunks_mut(AES_BLOCK).zip(1_u16..) {
        let mut stream = [0; AES_BLOCK];
        // The width of the length field, less one; and the number of the block at the end.
        stream[0] = (AES_BLOCK - 2 - nonce.len()) as u8;
        stream[1..=nonce.len()].copy_from_slice(nonce);
        stream[AES_BLOCK - 2..].copy_from_slice(&number.to_be_bytes());
        key.encrypt_block((&mut stream).into());
        for (byte, stream) in bytes.iter_mut().zip(stream) {
            *byte ^= stream;
        }
    }
}

type Ccm<'k, M, N> = ccm::Ccm<&'k aes::Aes128Enc, M, N>;

/// Runs `$body` with `$ccm` bound to the CCM instance for this tag and nonce length.
macro_rules! with_ccm {
    ($key:expr, $nonce:expr, $tag:expr, |$ccm:ident, $n:ident| $body:expr) => {
        match ($nonce, $tag) {
            (_, CcmTag::Zero) => Err(ccm::aead::Error),
            (CcmNonce::Twelve(n), CcmTag::Four) => with_ccm!(@ $key, n, U4, U12, $ccm, $n, $body),
            (CcmNonce::Twelve(n), CcmTag::Eight) => with_ccm!(@ $key, n, U8, U12, $ccm, $n, $body),
            (CcmNonce::Twelve(n), CcmTag::Sixteen) => with_ccm!(@ $key, n, U16, U12, $ccm, $n, $body),
            (CcmNonce::Thirteen(n), CcmTag::Four) => with_ccm!(@ $key, n, U4, U13, $ccm, $n, $body),
            (CcmNonce::Thirteen(n), CcmTag::Eight) => with_ccm!(@ $key, n, U8, U13, $ccm, $n, $body),
            (CcmNonce::Thirteen(n), CcmTag::Sixteen) => with_ccm!(@ $key, n, U16, U13, $ccm, $n, $body),
        }
    };
    (@ $key:expr, $nonce:ident, $m:ty, $l:ty, $ccm:ident, $n:ident, $body:expr) => {{
        let $ccm = Ccm::<'_, $m, $l>::from($key);
        let $n = &Array(*$nonce);
        $body
    }};
}

impl BlockCiphers for Soft {
    type Aes128 = aes::Aes128Enc;
    type AesGcm = AesGcm<aes::Aes128Enc, U12>;

    fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128 {
        aes::Aes128Enc::new(&Array(*key))
    }

    fn ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut Tag,
    ) {
        let length = tag.length();
        if length == CcmTag::Zero {
            return apply_key_stream(key, nonce, data);
        }
        let sealed = with_ccm!(key, nonce, length, |ccm, nonce| {
            ccm.encrypt_inout_detached(nonce, aad, (&mut *data).into())
                .map(|computed| tag.bytes_mut().copy_from_slice(&computed))
        });
        if sealed.is_err() {
            // Only data beyond the trait's bounds gets here: better nothing leaves than plaintext.
            wipe(data);
        }
    }

    fn ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &Tag,
    ) -> Result<(), AuthenticationFailed> {
        if tag.length() == CcmTag::Zero {
            apply_key_stream(key, nonce, data);
            return Ok(());
        }
        let opened = with_ccm!(key, nonce, tag.length(), |ccm, nonce| {
            let Ok(expected) = tag.bytes().try_into() else { return Err(AuthenticationFailed) };
            ccm.decrypt_inout_detached(nonce, aad, (&mut *data).into(), expected)
        });
        opened.map_err(|_| {
            wipe(data);
            AuthenticationFailed
        })
    }

    fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm {
        AesGcm::from(key.clone())
    }

    fn gcm_seal(&mut self, key: &Self::AesGcm, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        match key.encrypt_inout_detached(nonce.into(), aad, (&mut *data).into()) {
            Ok(tag) => tag.into(),
            Err(_) => {
                // Only data beyond what GCM takes get here: better nothing leaves than plaintext.
                wipe(data);
                [0; 16]
            }
        }
    }

    fn gcm_open(
        &mut self,
        key: &Self::AesGcm,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationFailed> {
        key.decrypt_inout_detached(nonce.into(), aad, (&mut *data).into(), tag.into()).map_err(|_| {
            wipe(data);
            AuthenticationFailed
        })
    }
}

impl Hashes for Soft {
    type Sha256 = Sha256;
    type HmacKey = Hmac<Sha256>;

    fn sha256(&mut self) -> Self::Sha256 {
        Sha256::new()
    }

    fn sha256_update(&mut self, hash: &mut Self::Sha256, data: &[u8]) {
        hash.update(data);
    }

    fn sha256_finish(&mut self, hash: Self::Sha256) -> [u8; SHA_256_DIGEST] {
        hash.finalize().into()
    }

    fn hmac_key(&mut self, key: &[u8]) -> Self::HmacKey {
        // HMAC takes keys of any length, so this cannot fail; the other keeps a panic out of the image.
        Hmac::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Array::default()))
    }

    fn hmac_sha256(&mut self, key: &Self::HmacKey, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
        let mut mac = key.clone();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}
