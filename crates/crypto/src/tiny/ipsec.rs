//! The suites of IPsec.

use zeroize::Zeroizing;

use super::aes;
use super::aes::tables::Schedule;
use super::aes_backend::Aes;
use super::ccm::Ccm;
use super::hash::{Hmac, HmacKey};
use super::sha1::Sha1;
use super::sha256::Sha256;
use super::{Tables, Tiny};
use crate::ipsec::{AES_BLOCK, Authenticate, Cmac, HmacSha1, HmacSha256, MacAlgorithm, PacketCipher, Xcbc};
use crate::masked::{BlockCipher, MaskedKey, MaskedMac};
use crate::{AES_128_KEY, AuthenticationFailed, constant_time_eq, wipe};

impl BlockCipher for Zeroizing<[u8; AES_128_KEY]> {
    #[inline(never)]
    fn encrypt(&self, block: &mut [u8; AES_BLOCK]) {
        aes::encrypt(self, block);
    }
}

impl BlockCipher for Zeroizing<Schedule> {
    fn encrypt(&self, block: &mut [u8; AES_BLOCK]) {
        Schedule::encrypt(self, block);
    }
}

/// Implements codes that are a masked CBC-MAC, and those that are an HMAC.
macro_rules! authenticate {
    (masked $backend:ident $name:ident, |$key:ident| $prepared:expr) => {
        authenticate!(
            $backend $name,
            MaskedKey<Zeroizing<<Self as Aes>::Key>>,
            MaskedMac<'k, Zeroizing<<Self as Aes>::Key>>,
            |$key| $prepared,
            |prepared| MaskedMac::new(prepared)
        );
    };
    (hmac $name:ident, $hash:ident) => {
        authenticate!(
            Tiny $name,
            HmacKey<$hash>,
            Hmac<'k, $hash>,
            |key| HmacKey::new::<{ size_of::<<$name as MacAlgorithm>::Code>() }>(key),
            |prepared| Hmac::new(prepared)
        );
    };
    (
        $backend:ident $name:ident, $prepared:ty, $state:ty, |$key:ident| $prepare:expr, |$from:ident| $begin:expr
    ) => {
        impl Authenticate<$name> for $backend {
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

authenticate!(hmac HmacSha1, Sha1);
authenticate!(hmac HmacSha256, Sha256);

/// The ciphers with AES in the way of `$backend`.
macro_rules! ciphers {
    ($backend:ident, |$derived:ident| $prepared:expr) => {
        authenticate!(masked $backend Xcbc, |key| MaskedKey::xcbc(&Self::prepared(key), |$derived| $prepared));
        authenticate!(masked $backend Cmac, |key| MaskedKey::cmac(Self::prepared(key)));

        impl PacketCipher for $backend {
            type AesCbc = Zeroizing<<Self as Aes>::Key>;

            fn aes_ctr(&mut self, key: &Self::Aes128, first: &[u8; AES_BLOCK], data: &mut [u8]) {
                Self::count(key, first, data);
            }

            fn aes_cbc(&mut self, key: &[u8; AES_128_KEY]) -> Self::AesCbc {
                Self::prepared(key)
            }

            fn cbc_encrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
                Self::chain(key, iv, blocks);
            }

            fn cbc_decrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
                Self::unchain(key, iv, blocks);
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
    };
}

ciphers!(Tiny, |derived| derived);
ciphers!(Tables, |derived| Self::prepared(&derived));
