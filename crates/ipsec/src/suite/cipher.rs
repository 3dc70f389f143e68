use sixlock_crypto::ipsec::{AES_BLOCK, Authenticate, CounterMode, Direction, MacAlgorithm, PacketCipher};

use super::{BadKey, EspPacket};

/// A cipher that does not authenticate, with its key.
pub trait Cipher<C> {
    /// Length of the initialization vector in bytes.
    fn iv_len(&self) -> usize;

    /// What the length of the data must be a multiple of.
    fn alignment(&self) -> usize {
        4
    }

    /// Whether initialization vectors are drawn at random.
    fn random_iv(&self) -> bool {
        false
    }

    /// Encrypts `data` in place.
    fn encrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]);

    /// Decrypts `data` in place.
    fn decrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]);

    /// Encrypts or decrypts the payload of `packet` in place; the code of what its ICV covers, with `key`. None, and nothing is done, unless
    /// `crypto` does both at once.
    #[inline(always)]
    fn in_one_pass<A: MacAlgorithm>(
        &self,
        _crypto: &mut C,
        _direction: Direction,
        _key: &C::Key,
        _packet: &mut EspPacket<'_>,
    ) -> Option<A::Code>
    where
        C: Authenticate<A>,
    {
        None
    }
}

/// AES in counter mode ([RFC 3686](https://www.rfc-editor.org/rfc/rfc3686)).
///
/// Two associations with the same key and nonce give everything away: each direction has keys of its own.
pub struct Ctr<C: PacketCipher> {
    key: C::Aes128,
    nonce: [u8; 4],
}

impl<C: PacketCipher> Ctr<C> {
    /// Prepares 20 bytes of keying material: a key of 16 and a nonce.
    pub fn new(crypto: &mut C, key: &[u8]) -> Result<Self, BadKey> {
        let Some((key, nonce)) = key.split_first_chunk() else { return Err(BadKey) };
        Ok(Self { nonce: nonce.try_into().map_err(|_| BadKey)?, key: crypto.aes_128(key) })
    }

    /// The first counter block.
    #[inline(always)]
    fn first(&self, iv: &[u8]) -> [u8; AES_BLOCK] {
        let mut first = [0; AES_BLOCK];
        first[..4].copy_from_slice(&self.nonce);
        if let Some(iv) = iv.first_chunk::<8>() {
            first[4..12].copy_from_slice(iv);
        }
        first[AES_BLOCK - 1] = 1;
        first
    }
}

impl<C: PacketCipher> Cipher<C> for Ctr<C> {
    fn iv_len(&self) -> usize {
        8
    }

    fn encrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]) {
        crypto.aes_ctr(&self.key, &self.first(iv), data);
    }

    fn decrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]) {
        self.encrypt(crypto, iv, data);
    }

    #[inline(always)]
    fn in_one_pass<A: MacAlgorithm>(
        &self,
        crypto: &mut C,
        direction: Direction,
        key: &C::Key,
        packet: &mut EspPacket<'_>,
    ) -> Option<A::Code>
    where
        C: Authenticate<A>,
    {
        let first = &self.first(packet.parts().iv);
        let data = packet.data_range();
        let cipher = CounterMode { key: &self.key, first };
        crypto.in_one_pass(direction, key, cipher, packet.authenticated(), data)
    }
}

/// AES in CBC mode ([RFC 3602](https://www.rfc-editor.org/rfc/rfc3602)).
pub struct Cbc<C: PacketCipher> {
    key: C::AesCbc,
}

impl<C: PacketCipher> Cbc<C> {
    /// Prepares a key of 16 bytes.
    pub fn new(crypto: &mut C, key: &[u8]) -> Result<Self, BadKey> {
        Ok(Self { key: crypto.aes_cbc(key.try_into().map_err(|_| BadKey)?) })
    }
}

impl<C: PacketCipher> Cipher<C> for Cbc<C> {
    fn iv_len(&self) -> usize {
        AES_BLOCK
    }

    fn alignment(&self) -> usize {
        AES_BLOCK
    }

    fn random_iv(&self) -> bool {
        true
    }

    fn encrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]) {
        // The trailer has made blocks of the data.
        if let Some(iv) = iv.first_chunk() {
            crypto.cbc_encrypt(&self.key, iv, data.as_chunks_mut().0);
        }
    }

    fn decrypt(&self, crypto: &mut C, iv: &[u8], data: &mut [u8]) {
        if let Some(iv) = iv.first_chunk() {
            crypto.cbc_decrypt(&self.key, iv, data.as_chunks_mut().0);
        }
    }
}

/// No encryption ([RFC 2410](https://www.rfc-editor.org/rfc/rfc2410)).
pub struct Null;

impl<C> Cipher<C> for Null {
    fn iv_len(&self) -> usize {
        0
    }

    fn encrypt(&self, _: &mut C, _: &[u8], _: &mut [u8]) {}

    fn decrypt(&self, _: &mut C, _: &[u8], _: &mut [u8]) {}
}
