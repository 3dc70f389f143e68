//! Backends that have other backends do their work. This is the one place where calls are forwarded.

use zeroize::Zeroizing;

use crate::ipsec::{
    AES_BLOCK, Authenticate, Cmac, Direction, HmacSha1, HmacSha256, MacAlgorithm, MacWork, PacketCipher, Xcbc,
};
use crate::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE, P256};
use crate::{AES_128_KEY, AuthenticationFailed, BlockCiphers, CcmNonce, Hashes, SHA_256_DIGEST, Tag};

/// A call of a backend, and how much work it is. Lengths are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A key for AES-128 is prepared.
    Aes128Key,
    /// A message is sealed or opened with CCM.
    Ccm {
        /// Which of the two.
        direction: Direction,
        /// The length of the nonce: 11 in IPsec, 12 in DTLS, 13 in IEEE 802.15.4.
        nonce: usize,
        /// The length of the associated data.
        aad: usize,
        /// The length of the plaintext.
        data: usize,
        /// The length of the tag.
        tag: usize,
    },
    /// A key for GCM is prepared.
    GcmKey,
    /// A message is sealed or opened with GCM.
    Gcm {
        /// The length of the associated data.
        aad: usize,
        /// The length of the plaintext.
        data: usize,
    },
    /// A message is encrypted or decrypted in counter mode.
    Ctr {
        /// Its length.
        data: usize,
    },
    /// A key for CBC is prepared.
    CbcKey,
    /// A message is encrypted or decrypted with CBC.
    Cbc {
        /// Which of the two.
        direction: Direction,
        /// How many blocks it has.
        blocks: usize,
    },
    /// A key for a message authentication code of IPsec is prepared.
    MacKey(MacWork),
    /// Such a code is begun.
    MacBegin,
    /// A part of the message is added to it.
    MacUpdate,
    /// Such a code is ended.
    Mac {
        /// The primitive that it is made of.
        work: MacWork,
        /// The length of the whole message.
        message: usize,
    },
    /// A SHA-256 computation is begun.
    Sha256Begin,
    /// Data are added to it.
    Sha256Update {
        /// How much was added before.
        before: usize,
        /// How much is added.
        data: usize,
    },
    /// A SHA-256 computation is ended.
    Sha256Finish {
        /// The length of the whole message.
        message: usize,
    },
    /// A key for HMAC-SHA256 is prepared.
    HmacKey {
        /// The length of the key.
        key: usize,
    },
    /// An HMAC-SHA256 is computed.
    Hmac {
        /// The length of the message.
        message: usize,
    },
    /// A public key of P-256 is made of a private one.
    P256PublicKey,
    /// A secret is agreed on with P-256.
    P256Agree,
    /// A digest is signed with P-256.
    P256Sign,
    /// A signature with P-256 is verified.
    P256Verify,
}

impl Call {
    /// A message is sealed or opened with CCM.
    pub const fn ccm(direction: Direction, nonce: &[u8], aad: &[u8], data: &[u8], tag: &[u8]) -> Self {
        Self::Ccm { direction, nonce: nonce.len(), aad: aad.len(), data: data.len(), tag: tag.len() }
    }
}

/// The parts of a backend, each of which a [`Delegate`] may leave to another backend.
pub mod part {
    /// [`BlockCiphers`](crate::BlockCiphers).
    pub struct Ciphers;
    /// [`PacketCipher`](crate::ipsec::PacketCipher), AES-XCBC-MAC and AES-CMAC.
    pub struct PacketCiphers;
    /// [`Hashes`](crate::Hashes), HMAC-SHA1 and HMAC-SHA256 of IPsec.
    pub struct Hashes;
    /// [`P256`](crate::p256::P256).
    pub struct P256;
}

/// A backend that forwards each call of the part `P` to another backend. It implements the traits of the part that the other one
/// implements.
pub trait Delegate<P> {
    /// The other backend.
    type Backend;

    /// Returns the backend for this call.
    fn backend(&mut self, call: Call) -> &mut Self::Backend;
}

/// A computation under way in the backend of a [`Delegate`], and how many bytes it has taken.
#[derive(Clone)]
pub struct Measured<S> {
    state: S,
    length: usize,
}

impl<S> Measured<S> {
    const fn new(state: S) -> Self {
        Self { state, length: 0 }
    }
}

impl<D: Delegate<part::Ciphers, Backend: BlockCiphers>> BlockCiphers for D {
    type Aes128 = <D::Backend as BlockCiphers>::Aes128;
    type AesGcm = <D::Backend as BlockCiphers>::AesGcm;

    fn aes_128(&mut self, key: &[u8; AES_128_KEY]) -> Self::Aes128 {
        self.backend(Call::Aes128Key).aes_128(key)
    }

    fn ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: CcmNonce<'_>,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut Tag,
    ) {
        let call = Call::ccm(Direction::Encrypt, nonce.bytes(), aad, data, tag.bytes());
        self.backend(call).ccm_seal(key, nonce, aad, data, tag);
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
        self.backend(call).ccm_open(key, nonce, aad, data, tag)
    }

    fn aes_gcm(&mut self, key: &Self::Aes128) -> Self::AesGcm {
        self.backend(Call::GcmKey).aes_gcm(key)
    }

    fn gcm_seal(&mut self, key: &Self::AesGcm, nonce: &[u8; 12], aad: &[u8], data: &mut [u8]) -> [u8; 16] {
        self.backend(Call::Gcm { aad: aad.len(), data: data.len() }).gcm_seal(key, nonce, aad, data)
    }

    fn gcm_open(
        &mut self,
        key: &Self::AesGcm,
        nonce: &[u8; 12],
        aad: &[u8],
        data: &mut [u8],
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationFailed> {
        self.backend(Call::Gcm { aad: aad.len(), data: data.len() }).gcm_open(key, nonce, aad, data, tag)
    }
}

impl<D: Delegate<part::Hashes, Backend: Hashes>> Hashes for D {
    type Sha256 = Measured<<D::Backend as Hashes>::Sha256>;
    type HmacKey = <D::Backend as Hashes>::HmacKey;

    fn sha256(&mut self) -> Self::Sha256 {
        Measured::new(self.backend(Call::Sha256Begin).sha256())
    }

    fn sha256_update(&mut self, hash: &mut Self::Sha256, data: &[u8]) {
        let call = Call::Sha256Update { before: hash.length, data: data.len() };
        hash.length = hash.length.wrapping_add(data.len());
        self.backend(call).sha256_update(&mut hash.state, data);
    }

    fn sha256_finish(&mut self, hash: Self::Sha256) -> [u8; SHA_256_DIGEST] {
        self.backend(Call::Sha256Finish { message: hash.length }).sha256_finish(hash.state)
    }

    fn hmac_key(&mut self, key: &[u8]) -> Self::HmacKey {
        self.backend(Call::HmacKey { key: key.len() }).hmac_key(key)
    }

    fn hmac_sha256(&mut self, key: &Self::HmacKey, parts: &[&[u8]]) -> [u8; SHA_256_DIGEST] {
        let message = parts.iter().map(|part| part.len()).sum();
        self.backend(Call::Hmac { message }).hmac_sha256(key, parts)
    }
}

impl<D: Delegate<part::P256, Backend: P256>> P256 for D {
    fn p256_public_key(&mut self, secret: &[u8; P_256_SECRET]) -> Option<[u8; P_256_POINT]> {
        self.backend(Call::P256PublicKey).p256_public_key(secret)
    }

    fn p256_agree(
        &mut self,
        secret: &[u8; P_256_SECRET],
        peer: &[u8; P_256_POINT],
    ) -> Option<Zeroizing<[u8; P_256_SECRET]>> {
        self.backend(Call::P256Agree).p256_agree(secret, peer)
    }

    fn p256_sign(
        &mut self,
        secret: &[u8; P_256_SECRET],
        digest: &[u8; SHA_256_DIGEST],
    ) -> Option<[u8; P_256_SIGNATURE]> {
        self.backend(Call::P256Sign).p256_sign(secret, digest)
    }

    fn p256_verify(
        &mut self,
        key: &[u8; P_256_POINT],
        digest: &[u8; SHA_256_DIGEST],
        signature: &[u8; P_256_SIGNATURE],
    ) -> Result<(), AuthenticationFailed> {
        self.backend(Call::P256Verify).p256_verify(key, digest, signature)
    }
}

impl<D, B> PacketCipher for D
where
    B: PacketCipher,
    D: Delegate<part::PacketCiphers, Backend = B> + BlockCiphers<Aes128 = B::Aes128>,
{
    type AesCbc = B::AesCbc;

    fn aes_ctr(&mut self, key: &Self::Aes128, first: &[u8; AES_BLOCK], data: &mut [u8]) {
        self.backend(Call::Ctr { data: data.len() }).aes_ctr(key, first, data);
    }

    fn aes_cbc(&mut self, key: &[u8; AES_128_KEY]) -> Self::AesCbc {
        self.backend(Call::CbcKey).aes_cbc(key)
    }

    fn cbc_encrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        let call = Call::Cbc { direction: Direction::Encrypt, blocks: blocks.len() };
        self.backend(call).cbc_encrypt(key, iv, blocks);
    }

    fn cbc_decrypt(&mut self, key: &Self::AesCbc, iv: &[u8; AES_BLOCK], blocks: &mut [[u8; AES_BLOCK]]) {
        let call = Call::Cbc { direction: Direction::Decrypt, blocks: blocks.len() };
        self.backend(call).cbc_decrypt(key, iv, blocks);
    }

    fn packet_ccm_seal(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &mut [u8],
    ) {
        let call = Call::ccm(Direction::Encrypt, nonce, aad, data, icv);
        self.backend(call).packet_ccm_seal(key, nonce, aad, data, icv);
    }

    fn packet_ccm_open(
        &mut self,
        key: &Self::Aes128,
        nonce: &[u8; 11],
        aad: &[u8],
        data: &mut [u8],
        icv: &[u8],
    ) -> Result<(), AuthenticationFailed> {
        let call = Call::ccm(Direction::Decrypt, nonce, aad, data, icv);
        self.backend(call).packet_ccm_open(key, nonce, aad, data, icv)
    }
}

/// Forwards the code `$name` to the backend of its part. Nothing is encrypted in the same pass.
macro_rules! authenticate {
    ($($name:ident: $part:ident,)*) => {$(
        impl<D: Delegate<part::$part, Backend: Authenticate<$name>>> Authenticate<$name> for D {
            type Key = <D::Backend as Authenticate<$name>>::Key;
            type State<'k> = Measured<<D::Backend as Authenticate<$name>>::State<'k>>;

            fn authentication_key(&mut self, key: &[u8]) -> Option<Self::Key> {
                self.backend(Call::MacKey($name::WORK)).authentication_key(key)
            }

            fn begin<'k>(&mut self, key: &'k Self::Key) -> Self::State<'k> {
                Measured::new(self.backend(Call::MacBegin).begin(key))
            }

            fn update(&mut self, mac: &mut Self::State<'_>, data: &[u8]) {
                mac.length = mac.length.wrapping_add(data.len());
                self.backend(Call::MacUpdate).update(&mut mac.state, data);
            }

            fn finish(&mut self, mac: Self::State<'_>) -> <$name as MacAlgorithm>::Code {
                self.backend(Call::Mac { work: $name::WORK, message: mac.length }).finish(mac.state)
            }
        }
    )*};
}

authenticate! {
    Xcbc: PacketCiphers,
    Cmac: PacketCiphers,
    HmacSha1: Hashes,
    HmacSha256: Hashes,
}
