//! The suites of IPsec.

use zeroize::{Zeroize, Zeroizing};

use super::aes::Aes;
use super::ccm::Ccm;
use super::hash::{Hmac, HmacKey};
use super::sha1::Sha1;
use super::sha256::Sha256;
use super::{Tiny, modes};
use crate::ipsec::{AES_BLOCK, Authenticate, Cmac, HmacSha1, HmacSha256, MacAlgorithm, PacketCipher, Xcbc};
use crate::masked::{BlockCipher, MaskedKey, MaskedMac};
use crate::{AES_128_KEY, AuthenticationFailed, constant_time_eq, wipe};

impl<K: BlockCipher + Zeroize> BlockCipher for Zeroizing<K> {
    #[inline(never)]
    fn encrypt(&self, block: &mut [u8; AES_BLOCK]) {
        K::encrypt(self, block);
    }
}

/// Implements codes that are a masked CBC-MAC, and those that are an HMAC.
macro_rules! authenticate {
    (masked $name:ident, |$key:ident| $prepared:expr) => {
        authenticate!(
            $name,
            MaskedKey<Zeroizing<A::Key>>,
            MaskedMac<'k, Zeroizing<A::Key>>,
            |$key| $prepared,
            |prepared| MaskedMac::new(prepared)
        );
    };
    (hmac $name:ident, $hash:ident) => {
        authenticate!(
            $name,
            HmacKey<$hash>,
            Hmac<'k, $hash>,
            |key| HmacKey::new::<{ size_of::<<$name as MacAlgorithm>::Code>() }>(key),
            |prepared| Hmac::new(prepared)
        );
    };
    (
        $name:ident, $prepared:ty, $state:ty, |$key:ident| $prepare:expr, |$from:ident| $begin:expr
    ) => {
        impl<A: Aes> Authenticate<$name> for Tiny<A> {
            type Key = $prepared;
            type State<'k> = $state;

            fn authentication_key(&mut self, key: &[u8]) -> Option<Self::Key> {
                let $key: &[u8; $name::KEY] = key.try_into().ok()?;
                Some($prepare)
            }

            fn begin<'k>(&mut self, $from: &'k Self::Key) -> Self::State<'k> {
                $begin
            }

            fn update(&mut self, state: &mut Self::State<'_>, data: &[u8]) {
                state.update(data);
            }

            fn finish(&mut self, state: Self::State<'_>) -> <$name as MacAlgorithm>::Code {
                state.finish()
            }
        }
    };
}

authenticate!(masked Xcbc, |key| MaskedKey::xcbc(&A::key(key), |derived| A::key(&derived)));
authenticate!(masked Cmac, |key| MaskedKey::cmac(A::key(key)));
authenticate!(hmac HmacSha1, Sha1);
authenticate!(hmac HmacSha256, Sha256);

impl<A: Aes> PacketCipher for Tiny<A> {
    type AesCbc = Zeroizing<A::Key>;

    fn aes_ctr(&mut self, key: &Self::Aes128, first: &[u8; AES_BLOCK], data: &mut [u8]) {
        modes::apply_key_stream(&**key, first, data);
    }

    fn aes_cbc(&mut self, key: &[u8; AES_128_KEY]) -> Self::AesCbc {
        A::key(key)
    }

    fn cbc_encrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        // Blocks are whole.
        let _ = modes::encrypt_chain(iv, blocks.as_flattened_mut(), |block| A::Key::encrypt(key, block));
    }

    fn cbc_decrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        // Blocks are whole.
        let _ = modes::decrypt_chain(iv, blocks.as_flattened_mut(), |block| A::decrypt(key, block));
    }

    fn packet_ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &mut [u8],
    ) {
        if !matches!(icv.len(), 8 | 12 | 16) {
            return wipe(data);
        }
        let ccm = Ccm::new(&**key, nonce);
        ccm.tag(aad, data, icv);
        ccm.apply_key_stream(data);
    }

    fn packet_ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &[u8],
    ) -> Result<(), AuthenticationFailed> {
        let mut expected = [0; AES_BLOCK];
        if let (8 | 12 | 16, Some(expected)) = (icv.len(), expected.get_mut(..icv.len())) {
            let ccm = Ccm::new(&**key, nonce);
            ccm.apply_key_stream(data);
            ccm.tag(aad, data, expected);
            if constant_time_eq(expected, icv) {
                return Ok(());
            }
        }
        wipe(data);
        Err(AuthenticationFailed)
    }
}
