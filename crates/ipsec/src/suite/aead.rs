use sixlock_crypto::ipsec::PacketCipher;
use sixlock_crypto::{AuthenticationFailed, Crypto};

use super::{BadKey, EspAlgorithm, EspPacket, EspParts};
use crate::SequenceNumber;

/// Whether packets carry their initialization vector, which is the sequence number, or elide it
/// ([RFC 8750](https://www.rfc-editor.org/rfc/rfc8750)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iv {
    /// Packets carry it.
    Explicit,
    /// Receivers derive it from the sequence number.
    Implicit,
}

impl Iv {
    fn len(self) -> usize {
        match self {
            Self::Explicit => 8,
            Self::Implicit => 0,
        }
    }

    /// The nonce: the salt and the initialization vector.
    fn nonce<const SALT: usize, const N: usize>(
        self,
        salt: &[u8; SALT],
        sequence: SequenceNumber,
        iv: &[u8],
    ) -> [u8; N] {
        const { assert!(N == SALT + 8, "a nonce is a salt and eight bytes") };
        let implicit = sequence.to_be_bytes();
        let iv = match self {
            Self::Explicit => iv.first_chunk(),
            Self::Implicit => Some(&implicit),
        };
        let mut nonce = [0; N];
        if let (Some((front, rest)), Some(iv)) = (nonce.split_first_chunk_mut(), iv) {
            *front = *salt;
            rest.copy_from_slice(iv);
        }
        nonce
    }
}

/// The associated data: the security parameters index and the sequence number
/// ([RFC 4106 section 5](https://www.rfc-editor.org/rfc/rfc4106#section-5)).
struct Associated {
    bytes: [u8; 12],
    len: usize,
}

impl Associated {
    fn new(sequence: SequenceNumber, extended: bool, header: &[u8]) -> Self {
        let mut bytes = [0; 12];
        if let Some(spi) = header.first_chunk::<4>() {
            bytes[..4].copy_from_slice(spi);
        }
        if extended {
            bytes[4..].copy_from_slice(&sequence.to_be_bytes());
            return Self { bytes, len: 12 };
        }
        bytes[4..8].copy_from_slice(&sequence.low.to_be_bytes());
        Self { bytes, len: 8 }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// AES-GCM with an ICV of 16 bytes ([RFC 4106](https://www.rfc-editor.org/rfc/rfc4106)).
pub struct Gcm<C: Crypto> {
    key: C::AesGcm,
    salt: [u8; 4],
    iv: Iv,
}

impl<C: Crypto> Gcm<C> {
    /// Prepares 20 bytes of keying material: a key of 16 and a salt.
    pub fn new(crypto: &mut C, key: &[u8], iv: Iv) -> Result<Self, BadKey> {
        let Some((key, salt)) = key.split_first_chunk() else { return Err(BadKey) };
        let key = crypto.aes_128(key);
        Ok(Self { salt: salt.try_into().map_err(|_| BadKey)?, key: crypto.aes_gcm(&key), iv })
    }
}

impl<C: Crypto> EspAlgorithm<C> for Gcm<C> {
    fn iv_len(&self) -> usize {
        self.iv.len()
    }

    fn icv_len(&self) -> usize {
        16
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn seal(&self, crypto: &mut C, mut packet: EspPacket<'_>) {
        let (sequence, extended) = (packet.sequence, packet.extended);
        let EspParts { header, iv, data, icv } = packet.parts();
        let nonce = self.iv.nonce(&self.salt, sequence, iv);
        let aad = Associated::new(sequence, extended, header);
        let tag = crypto.gcm_seal(&self.key, &nonce, aad.bytes(), data);
        for (byte, computed) in icv.iter_mut().zip(tag) {
            *byte = computed;
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn open(&self, crypto: &mut C, mut packet: EspPacket<'_>) -> Result<(), AuthenticationFailed> {
        let (sequence, extended) = (packet.sequence, packet.extended);
        let EspParts { header, iv, data, icv } = packet.parts();
        let nonce = self.iv.nonce(&self.salt, sequence, iv);
        let aad = Associated::new(sequence, extended, header);
        let tag = (&*icv).try_into().map_err(|_| AuthenticationFailed)?;
        crypto.gcm_open(&self.key, &nonce, aad.bytes(), data, tag)
    }
}

/// AES-CCM with an ICV of `ICV` bytes: 8, 12 or 16 ([RFC 4309](https://www.rfc-editor.org/rfc/rfc4309)).
pub struct Ccm<C: PacketCipher, const ICV: usize> {
    key: C::Aes128,
    salt: [u8; 3],
    iv: Iv,
}

impl<C: PacketCipher, const ICV: usize> Ccm<C, ICV> {
    /// Prepares 19 bytes of keying material: a key of 16 and a salt.
    pub fn new(crypto: &mut C, key: &[u8], iv: Iv) -> Result<Self, BadKey> {
        const { assert!(ICV == 8 || ICV == 12 || ICV == 16, "RFC 4309 has ICVs of 8, 12 and 16 bytes") };
        let Some((key, salt)) = key.split_first_chunk() else { return Err(BadKey) };
        Ok(Self { salt: salt.try_into().map_err(|_| BadKey)?, key: crypto.aes_128(key), iv })
    }
}

impl<C: PacketCipher, const ICV: usize> EspAlgorithm<C> for Ccm<C, ICV> {
    fn iv_len(&self) -> usize {
        self.iv.len()
    }

    fn icv_len(&self) -> usize {
        ICV
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn seal(&self, crypto: &mut C, mut packet: EspPacket<'_>) {
        let (sequence, extended) = (packet.sequence, packet.extended);
        let EspParts { header, iv, data, icv } = packet.parts();
        let nonce = self.iv.nonce(&self.salt, sequence, iv);
        let aad = Associated::new(sequence, extended, header);
        crypto.packet_ccm_seal(&self.key, &nonce, aad.bytes(), data, icv);
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn open(&self, crypto: &mut C, mut packet: EspPacket<'_>) -> Result<(), AuthenticationFailed> {
        let (sequence, extended) = (packet.sequence, packet.extended);
        let EspParts { header, iv, data, icv } = packet.parts();
        let nonce = self.iv.nonce(&self.salt, sequence, iv);
        let aad = Associated::new(sequence, extended, header);
        crypto.packet_ccm_open(&self.key, &nonce, aad.bytes(), data, icv)
    }
}
