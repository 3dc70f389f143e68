//! The suites of IPsec.

use core::ops::Range;

use aes::Aes128Enc;
use aes::cipher::array::Array;
use aes::cipher::array::typenum::{U8, U11, U12, U16};
use aes::cipher::{
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InnerIvInit, KeyInit, StreamCipher, StreamCipherCoreWrapper,
};
use ccm::aead::AeadInOut;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::Sha256;

use super::{Soft, one_pass};
use crate::ipsec::{
    AES_BLOCK, Authenticate, Cmac, CounterMode, Direction, HmacSha1, HmacSha256, MacAlgorithm, PacketCipher,
    Xcbc,
};
use crate::masked::{BlockCipher, MaskedKey, MaskedMac, xor};
use crate::{AES_128_KEY, AuthenticationFailed, BlockCiphers, wipe};

type Ccm<'k, M> = ccm::Ccm<&'k Aes128Enc, M, U11>;

impl BlockCipher for Aes128Enc {
    fn encrypt(&self, block: &mut [u8; AES_BLOCK]) {
        self.encrypt_block(block.into());
    }

    // Round keys are made ready once for all blocks.
    fn chain<'d>(&self, chain: &mut [u8; AES_BLOCK], data: &'d [u8]) -> &'d [u8] {
        let (blocks, rest) = data.as_chunks();
        if !blocks.is_empty() {
            self.encrypt_with_backend(Chain { chain, blocks });
        }
        rest
    }

    fn begin<'d>(&self, chain: &mut [u8; AES_BLOCK], data: &'d [u8]) -> Option<&'d [u8]> {
        let (first, rest) = data.split_first_chunk()?;
        let (second, rest) = rest.split_first_chunk()?;
        let (blocks, rest) = rest.as_chunks();
        if blocks.is_empty() {
            return None;
        }
        self.encrypt_with_backend(BeginClosure { first, second, blocks, chain });
        Some(rest)
    }
}

/// [`BlockCipher::chain`] with the CPU's own AES.
struct Chain<'a> {
    chain: &'a mut [u8; AES_BLOCK],
    blocks: &'a [[u8; AES_BLOCK]],
}

impl BlockSizeUser for Chain<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Chain<'_> {
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        *self.chain = chain(backend, *self.chain, self.blocks);
    }
}

/// Encrypts `chain` for each block and adds that to it.
#[inline(always)]
fn chain<B: BlockCipherEncBackend<BlockSize = U16>>(
    backend: &B,
    mut chain: [u8; AES_BLOCK],
    blocks: &[[u8; AES_BLOCK]],
) -> [u8; AES_BLOCK] {
    for block in blocks {
        backend.encrypt_block_inplace((&mut chain).into());
        xor(&mut chain, block);
    }
    chain
}

/// [`BlockCipher::begin`] with the CPU's own AES. The first block is read in two halves: of a packet, one was written a moment ago, and cannot be read
/// together with the other yet.
struct BeginClosure<'a> {
    first: &'a [u8; AES_BLOCK / 2],
    second: &'a [u8; AES_BLOCK / 2],
    blocks: &'a [[u8; AES_BLOCK]],
    chain: &'a mut [u8; AES_BLOCK],
}

impl BlockSizeUser for BeginClosure<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for BeginClosure<'_> {
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let mut first = [0; AES_BLOCK];
        first[..AES_BLOCK / 2].copy_from_slice(self.first);
        first[AES_BLOCK / 2..].copy_from_slice(self.second);
        *self.chain = chain(backend, first, self.blocks);
    }
}

/// Implements codes that are a masked CBC-MAC, and those that are an HMAC.
macro_rules! authenticate {
    (masked $name:ident, |$crypto:ident, $key:ident| $prepared:expr) => {
        impl Authenticate<$name> for Soft {
            type Key = MaskedKey<Aes128Enc>;
            type State<'k> = MaskedMac<'k, Aes128Enc>;

            fn authentication_key(&mut self, key: &[u8]) -> Option<Self::Key> {
                let $crypto = self;
                let $key = $crypto.aes_128(key.try_into().ok()?);
                Some($prepared)
            }

            fn begin<'k>(&mut self, key: &'k Self::Key) -> Self::State<'k> {
                MaskedMac::new(key)
            }

            fn update(&mut self, state: &mut Self::State<'_>, data: &[u8]) {
                state.update(data);
            }

            #[inline(always)]
            fn finish(&mut self, state: Self::State<'_>) -> [u8; AES_BLOCK] {
                state.finish()
            }

            fn in_one_pass(
                &mut self,
                direction: Direction,
                key: &Self::Key,
                cipher: CounterMode<'_, Aes128Enc>,
                message: &mut [u8],
                data: Range<usize>,
            ) -> Option<[u8; AES_BLOCK]> {
                one_pass::code(direction, key, cipher, message, data)
            }
        }
    };
    (hmac $name:ident, $hash:ident) => {
        impl Authenticate<$name> for Soft {
            type Key = Hmac<$hash>;
            type State<'k> = Hmac<$hash>;

            fn authentication_key(&mut self, key: &[u8]) -> Option<Self::Key> {
                if key.len() != $name::KEY {
                    return None;
                }
                Hmac::new_from_slice(key).ok()
            }

            fn begin<'k>(&mut self, key: &'k Self::Key) -> Self::State<'k> {
                key.clone()
            }

            fn update(&mut self, state: &mut Self::State<'_>, data: &[u8]) {
                state.update(data);
            }

            fn finish(&mut self, state: Self::State<'_>) -> <$name as MacAlgorithm>::Code {
                state.finalize().into_bytes().into()
            }
        }
    };
}

authenticate!(masked Xcbc, |crypto, key| MaskedKey::xcbc(&key, |derived| crypto.aes_128(&derived)));
authenticate!(masked Cmac, |_crypto, key| MaskedKey::cmac(key));
authenticate!(hmac HmacSha1, Sha1);
authenticate!(hmac HmacSha256, Sha256);

impl PacketCipher for Soft {
    type AesCbc = aes::Aes128;

    fn aes_ctr(&mut self, key: &Self::Aes128, first: &[u8; AES_BLOCK], data: &mut [u8]) {
        let counter = ctr::CtrCore::<&Aes128Enc, ctr::flavors::Ctr32BE>::inner_iv_init(key, first.into());
        StreamCipherCoreWrapper::from_core(counter).apply_keystream(data);
    }

    fn aes_cbc(&mut self, key: &[u8; AES_128_KEY]) -> Self::AesCbc {
        aes::Aes128::new(key.into())
    }

    fn cbc_encrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        let blocks = Array::cast_slice_from_core_mut(blocks);
        cbc::Encryptor::<&aes::Aes128>::inner_iv_init(key, iv.into()).encrypt_blocks(blocks);
    }

    fn cbc_decrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        let blocks = Array::cast_slice_from_core_mut(blocks);
        cbc::Decryptor::<&aes::Aes128>::inner_iv_init(key, iv.into()).decrypt_blocks(blocks);
    }

    fn packet_ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &mut [u8],
    ) {
        let nonce = nonce.into();
        let sealed = match icv.len() {
            8 => Ccm::<U8>::from(key)
                .encrypt_inout_detached(nonce, aad, (&mut *data).into())
                .map(|tag| icv.copy_from_slice(&tag)),
            12 => Ccm::<U12>::from(key)
                .encrypt_inout_detached(nonce, aad, (&mut *data).into())
                .map(|tag| icv.copy_from_slice(&tag)),
            16 => Ccm::<U16>::from(key)
                .encrypt_inout_detached(nonce, aad, (&mut *data).into())
                .map(|tag| icv.copy_from_slice(&tag)),
            _ => Err(ccm::aead::Error),
        };
        if sealed.is_err() {
            // Only what is beyond the trait's bounds gets here: better nothing leaves than plaintext.
            wipe(data);
        }
    }

    fn packet_ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &[u8],
    ) -> Result<(), AuthenticationFailed> {
        let nonce = nonce.into();
        let opened = if let Ok(icv) = icv.try_into() {
            Ccm::<U8>::from(key).decrypt_inout_detached(nonce, aad, (&mut *data).into(), icv)
        } else if let Ok(icv) = icv.try_into() {
            Ccm::<U12>::from(key).decrypt_inout_detached(nonce, aad, (&mut *data).into(), icv)
        } else if let Ok(icv) = icv.try_into() {
            Ccm::<U16>::from(key).decrypt_inout_detached(nonce, aad, (&mut *data).into(), icv)
        } else {
            Err(ccm::aead::Error)
        };
        opened.map_err(|_| {
            wipe(data);
            AuthenticationFailed
        })
    }
}
