//! What the suites of IPsec count.

use super::{AES_BLOCK, Metered, Operation, Operations, SHA_BLOCK, SHA_PADDING};
use crate::ipsec::{Authenticate, MacAlgorithm, MacWork, PacketCipher};
use crate::{AES_128_KEY, AuthenticationFailed};

/// Length of a SHA-1 digest, in bytes.
const SHA_1_DIGEST: usize = 20;

/// A code under way, the length of whose message is known.
pub struct MeteredMac<S> {
    state: S,
    len: usize,
}

impl Operations {
    /// The key of a code is prepared.
    fn mac_key(&mut self, work: MacWork) {
        match work {
            MacWork::Aes => self.add(Operation::AesMacKey, 1),
            MacWork::Sha1 => {
                self.add(Operation::HmacSha1Key, 1);
                self.add(Operation::Sha1Block, 2);
            }
            MacWork::Sha256 => self.hmac_sha256_key(),
        }
    }

    /// A code of `len` bytes is computed.
    fn mac(&mut self, work: MacWork, len: usize) {
        match work {
            MacWork::Aes => {
                self.add(Operation::AesMac, 1);
                self.add(Operation::AesMacBlock, len.div_ceil(AES_BLOCK).max(1));
                self.add(Operation::AesMacByte, len);
            }
            MacWork::Sha1 => {
                self.add(Operation::HmacSha1, 1);
                for len in [len, SHA_1_DIGEST] {
                    let padded = (len + SHA_PADDING).next_multiple_of(SHA_BLOCK);
                    self.add(Operation::Sha1Byte, len);
                    self.add(Operation::Sha1Padding, padded - len);
                    self.add(Operation::Sha1Block, padded / SHA_BLOCK);
                }
            }
            MacWork::Sha256 => self.hmac_sha256(len),
        }
    }

    pub(super) fn gcm(&mut self, aad: &[u8], data: &[u8]) {
        self.add(Operation::Gcm, 1);
        // The last multiplied block is that of the lengths; the tag is masked by a block of key stream.
        self.add(Operation::GcmBlock, aad.len().div_ceil(AES_BLOCK) + data.len().div_ceil(AES_BLOCK) + 1);
        self.ctr(AES_BLOCK);
        self.ctr(data.len());
    }

    pub(super) fn ctr(&mut self, bytes: usize) {
        self.add(Operation::AesCtr, 1);
        self.add(Operation::AesCtrBlock, bytes.div_ceil(AES_BLOCK));
        self.add(Operation::AesCtrByte, bytes);
    }
}

impl<A: MacAlgorithm, B: Authenticate<A>> Authenticate<A> for Metered<B> {
    type Key = B::Key;
    type State<'k>
        = MeteredMac<B::State<'k>>
    where
        Self: 'k;

    fn authentication_key(&mut self, key: &[u8]) -> Option<Self::Key> {
        self.operations.mac_key(A::WORK);
        self.backend.authentication_key(key)
    }

    fn begin<'k>(&mut self, key: &'k Self::Key) -> Self::State<'k> {
        MeteredMac { state: self.backend.begin(key), len: 0 }
    }

    fn update(&mut self, mac: &mut Self::State<'_>, data: &[u8]) {
        mac.len = mac.len.wrapping_add(data.len());
        self.backend.update(&mut mac.state, data);
    }

    fn finish(&mut self, mac: Self::State<'_>) -> A::Code {
        self.operations.mac(A::WORK, mac.len);
        self.backend.finish(mac.state)
    }
}

impl<B: PacketCipher> PacketCipher for Metered<B> {
    type AesCbc = B::AesCbc;

    fn aes_ctr(&mut self, key: &Self::Aes128, first: &[u8; AES_BLOCK], data: &mut [u8]) {
        self.operations.ctr(data.len());
        self.backend.aes_ctr(key, first, data);
    }

    fn aes_cbc(&mut self, key: &[u8; AES_128_KEY]) -> Self::AesCbc {
        self.operations.add(Operation::Aes128Key, 1);
        self.backend.aes_cbc(key)
    }

    fn cbc_encrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        self.operations.add(Operation::AesCbcEncrypt, 1);
        self.operations.add(Operation::AesCbcEncryptBlock, blocks.len());
        self.backend.cbc_encrypt(key, iv, blocks);
    }

    fn cbc_decrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        self.operations.add(Operation::AesCbcDecrypt, 1);
        self.operations.add(Operation::AesCbcDecryptBlock, blocks.len());
        self.backend.cbc_decrypt(key, iv, blocks);
    }

    fn packet_ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &mut [u8],
    ) {
        self.operations.ccm(Operation::CcmSeal, aad, data);
        self.backend.packet_ccm_seal(key, nonce, aad, data, icv);
    }

    fn packet_ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &[u8],
    ) -> Result<(), AuthenticationFailed> {
        self.operations.ccm(Operation::CcmOpen, aad, data);
        self.backend.packet_ccm_open(key, nonce, aad, data, icv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipsec::{Cmac, HmacSha1, HmacSha256, Xcbc};
    use crate::{Crypto, Soft};

    fn counted(work: impl FnOnce(&mut Metered<Soft>)) -> impl Fn(Operation) -> u32 {
        let mut metered = Metered::new(Soft);
        work(&mut metered);
        let operations = metered.take();
        move |operation| operations.get(operation)
    }

    fn mac<A: MacAlgorithm>(len: usize) -> impl Fn(Operation) -> u32
    where
        Soft: Authenticate<A>,
    {
        counted(move |crypto| {
            let key = Authenticate::<A>::authentication_key(crypto, &[0; 64][..A::KEY]).unwrap();
            let mut state = Authenticate::<A>::begin(crypto, &key);
            Authenticate::<A>::update(crypto, &mut state, &[0; 200][..len]);
            Authenticate::<A>::finish(crypto, state);
        })
    }

    #[test]
    fn codes_count_their_blocks() {
        for (len, blocks) in [(0, 1), (16, 1), (17, 2), (48, 3)] {
            for count in [mac::<Xcbc>(len)(Operation::AesMacBlock), mac::<Cmac>(len)(Operation::AesMacBlock)]
            {
                assert_eq!(count, blocks);
            }
            assert_eq!(mac::<Xcbc>(len)(Operation::AesMacByte), len as u32);
        }
        for (len, blocks) in [(0, 4), (55, 4), (56, 5), (119, 5), (120, 6)] {
            assert_eq!(mac::<HmacSha1>(len)(Operation::Sha1Block), blocks);
            assert_eq!(mac::<HmacSha256>(len)(Operation::Sha256Block), blocks);
            // The second hash is that of a digest.
            let bytes = [Operation::Sha1Byte, Operation::Sha1Padding].map(mac::<HmacSha1>(len));
            assert_eq!(bytes, [len as u32 + 20, (blocks - 3) * 64 - len as u32 + 44]);
        }
    }

    #[test]
    fn ciphers_count_their_blocks() {
        let count = counted(|crypto| {
            let key = crypto.aes_128(&[0; 16]);
            crypto.aes_ctr(&key, &[0; 16], &mut [0; 33]);
            let key = crypto.aes_cbc(&[0; 16]);
            crypto.cbc_encrypt(&key, &[0; 16], &mut [[0; 16]; 4]);
            crypto.cbc_decrypt(&key, &[0; 16], &mut [[0; 16]; 5]);
            let key = crypto.aes_128(&[0; 16]);
            let key = crypto.aes_gcm(&key);
            crypto.gcm_seal(&key, &[0; 12], &[0; 8], &mut [0; 20]);
        });
        assert_eq!((count(Operation::AesCtr), count(Operation::AesCtrBlock)), (4, 3 + 1 + 1 + 2));
        assert_eq!(count(Operation::AesCtrByte), 33 + 16 + 16 + 20);
        assert_eq!([Operation::AesCbcEncrypt, Operation::AesCbcDecrypt].map(&count), [1, 1]);
        assert_eq!(count(Operation::AesCbcEncryptBlock), 4);
        assert_eq!(count(Operation::AesCbcDecryptBlock), 5);
        assert_eq!((count(Operation::Gcm), count(Operation::GcmBlock)), (1, 4));
    }
}
