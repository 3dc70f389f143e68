//! Algorithms. The types of associations say which of them are linked.

mod aead;
mod any;
mod cipher;
mod combined;
mod integrity;

use core::fmt;
use core::ops::Range;

use sixlock_crypto::AuthenticationFailed;
use sixlock_ipv6::esp::Header;

pub use aead::{Ccm, Gcm, Iv};
pub use any::{AnyCipher, AnyEsp, AnyIntegrity};
pub use cipher::{Cbc, Cipher, Ctr, Null};
pub use combined::{Combined, EncryptionOnly};
pub use integrity::{Cmac96, Code, HmacSha1_96, HmacSha256_128, Integrity, Message, Xcbc96};

use crate::SequenceNumber;

/// The longest ICV in bytes.
pub const MAX_ICV: usize = 16;
/// The longest initialization vector in bytes.
pub const MAX_IV: usize = 16;

/// Keying material has the wrong length for the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadKey;

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the keying material has the wrong length for the suite")
    }
}

impl core::error::Error for BadKey {}

/// The algorithms that ESP protects a payload with.
pub trait EspAlgorithm<C> {
    /// Length of the initialization vector that packets carry, in bytes.
    fn iv_len(&self) -> usize;

    /// The length of the encrypted bytes is a multiple of this: a power of two, at least four.
    fn alignment(&self) -> usize {
        4
    }

    /// Length of the ICV in bytes; zero if packets are not authenticated.
    fn icv_len(&self) -> usize;

    /// Whether initialization vectors are random. If not, they are the sequence number, which does not repeat.
    fn random_iv(&self) -> bool {
        false
    }

    /// Encrypts the payload of `packet` in place and writes the ICV.
    fn seal(&self, crypto: &mut C, packet: EspPacket<'_>);

    /// Decrypts the payload of `packet` in place. If the ICV is wrong, nothing of the payload is left in the clear.
    fn open(&self, crypto: &mut C, packet: EspPacket<'_>) -> Result<(), AuthenticationFailed>;
}

/// An ESP packet.
pub struct EspPacket<'a> {
    /// Its sequence number.
    pub sequence: SequenceNumber,
    /// Whether the high half of that is authenticated.
    pub extended: bool,
    bytes: &'a mut [u8],
    data_at: usize,
    icv_at: usize,
}

/// The parts of an ESP packet.
pub struct EspParts<'a> {
    /// The security parameters index and the sequence number, as they are carried.
    pub header: &'a [u8],
    /// The initialization vector, of [`EspAlgorithm::iv_len`] bytes.
    pub iv: &'a [u8],
    /// Payload and trailer.
    pub data: &'a mut [u8],
    /// The ICV, of [`EspAlgorithm::icv_len`] bytes.
    pub icv: &'a mut [u8],
}

impl<'a> EspPacket<'a> {
    /// The ESP packet in `bytes`, protected by `suite`. Returns `None` if they are too few.
    pub fn new<C>(
        suite: &impl EspAlgorithm<C>,
        bytes: &'a mut [u8],
        sequence: SequenceNumber,
        extended: bool,
    ) -> Option<Self> {
        let data_at = Header::LEN + suite.iv_len();
        let icv_at = bytes.len().checked_sub(suite.icv_len()).filter(|&at| at >= data_at)?;
        Some(Self { sequence, extended, bytes, data_at, icv_at })
    }

    /// Where payload and trailer are.
    pub fn data_range(&self) -> Range<usize> {
        self.data_at..self.icv_at
    }

    /// The bytes that the ICV covers. The high half of an extended sequence number, which is not sent, is written in place of the ICV.
    pub fn authenticated(&mut self) -> &mut [u8] {
        let mut end = self.icv_at;
        if let Some(field) = self.bytes.get_mut(end..end + 4).filter(|_| self.extended) {
            field.copy_from_slice(&self.sequence.high.to_be_bytes());
            end += 4;
        }
        self.bytes.get_mut(..end).unwrap_or_default()
    }

    /// Its parts.
    pub fn parts(&mut self) -> EspParts<'_> {
        let (front, icv) = self.bytes.split_at_mut_checked(self.icv_at).unwrap_or_default();
        let (front, data) = front.split_at_mut_checked(self.data_at).unwrap_or_default();
        let (header, iv) = front.split_at_checked(Header::LEN).unwrap_or_default();
        EspParts { header, iv, data, icv }
    }
}

/// The last bytes that an ICV covers: the high half of an extended sequence number, which is not sent.
pub(crate) fn high_half(sequence: SequenceNumber, extended: bool, bytes: &mut [u8; 4]) -> &[u8] {
    *bytes = sequence.high.to_be_bytes();
    if extended { bytes } else { &[] }
}
