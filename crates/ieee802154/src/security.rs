use sixlock_base::Eui64;

use crate::Error;
use crate::fields::{Reader, Writer};

/// What a secured frame's security level protects (7.6.2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SecurityLevel {
    /// Nothing.
    None,
    /// Authenticity, by a MIC of 32 bits.
    Mic32,
    /// Authenticity, by a MIC of 64 bits.
    Mic64,
    /// Authenticity, by a MIC of 128 bits.
    Mic128,
    /// Confidentiality only.
    Enc,
    /// Confidentiality, and authenticity by a MIC of 32 bits.
    EncMic32,
    /// Confidentiality, and authenticity by a MIC of 64 bits.
    EncMic64,
    /// Confidentiality, and authenticity by a MIC of 128 bits.
    EncMic128,
}

impl SecurityLevel {
    /// The level of the three low bits of `bits`.
    pub(crate) const fn from_bits(bits: u8) -> Self {
        match bits & 7 {
            0 => Self::None,
            1 => Self::Mic32,
            2 => Self::Mic64,
            3 => Self::Mic128,
            4 => Self::Enc,
            5 => Self::EncMic32,
            6 => Self::EncMic64,
            _ => Self::EncMic128,
        }
    }

    /// The level's number, as in the security control field and the nonce.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Length of the MIC in bytes.
    pub const fn mic_len(self) -> usize {
        match self {
            Self::None | Self::Enc => 0,
            Self::Mic32 | Self::EncMic32 => 4,
            Self::Mic64 | Self::EncMic64 => 8,
            Self::Mic128 | Self::EncMic128 => 16,
        }
    }

    /// Whether the payload is encrypted.
    pub const fn is_encrypted(self) -> bool {
        self.number() & 4 != 0
    }
}

/// Which key secures a frame (7.6.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyId {
    /// Mode 0: the key follows from who sends and who receives.
    Implicit,
    /// Mode 1: the key of this index, of the default key source.
    Index(u8),
    /// Mode 2: the key of this index, of a source named by 4 bytes.
    ShortSource {
        /// The source, in the order it is sent.
        source: [u8; 4],
        /// The index.
        index: u8,
    },
    /// Mode 3: the key of this index, of a source named by 8 bytes.
    LongSource {
        /// The source, in the order it is sent.
        source: [u8; 8],
        /// The index.
        index: u8,
    },
}

impl KeyId {
    const fn mode(self) -> u8 {
        match self {
            Self::Implicit => 0,
            Self::Index(_) => 1,
            Self::ShortSource { .. } => 2,
            Self::LongSource { .. } => 3,
        }
    }

    /// The bits that say in a security control field of how many bytes the key identifier is.
    #[inline(always)]
    pub(crate) const fn control(self) -> u8 {
        self.mode() << 3
    }

    /// Length of the key identifier field in bytes.
    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Implicit => 0,
            Self::Index(_) => 1,
            Self::ShortSource { .. } => 5,
            Self::LongSource { .. } => 9,
        }
    }

    /// The key identifier field behind a security control field.
    #[inline(always)]
    pub(crate) fn read(control: u8, fields: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(match control >> 3 & 3 {
            0 => Self::Implicit,
            1 => Self::Index(fields.u8()?),
            2 => Self::ShortSource { source: fields.take()?, index: fields.u8()? },
            _ => Self::LongSource { source: fields.take()?, index: fields.u8()? },
        })
    }

    #[inline(always)]
    pub(crate) fn write(self, fields: &mut Writer<'_>) -> Result<(), Error> {
        match self {
            Self::Implicit => Ok(()),
            Self::Index(index) => fields.put([index]),
            Self::ShortSource { source, index } => {
                fields.put(source)?;
                fields.put([index])
            }
            Self::LongSource { source, index } => {
                fields.put(source)?;
                fields.put([index])
            }
        }
    }
}

/// The auxiliary security header (7.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuxiliaryHeader {
    /// What is protected.
    pub level: SecurityLevel,
    /// By which key.
    pub key_id: KeyId,
    /// The sender's frame counter, part of the nonce.
    pub frame_counter: u32,
}

impl AuxiliaryHeader {
    /// The CCM* nonce of a frame from `source` (7.6.3.2): the sender, its frame counter and the level, highest byte first.
    pub fn nonce(&self, source: Eui64) -> [u8; 13] {
        let mut nonce = [0; 13];
        nonce[..8].copy_from_slice(&source.0);
        nonce[8..12].copy_from_slice(&self.frame_counter.to_be_bytes());
        nonce[12] = self.level.number();
        nonce
    }

    pub(crate) const fn len(&self) -> usize {
        5 + self.key_id.len()
    }

    pub(crate) fn read(fields: &mut Reader<'_>) -> Result<Self, Error> {
        let control = fields.u8()?;
        let frame_counter = fields.u32()?;
        let key_id = KeyId::read(control, fields)?;
        Ok(Self { level: SecurityLevel::from_bits(control), key_id, frame_counter })
    }

    pub(crate) fn write(&self, fields: &mut Writer<'_>) -> Result<(), Error> {
        fields.put([self.level.number() | self.key_id.control()])?;
        fields.put(self.frame_counter.to_le_bytes())?;
        self.key_id.write(fields)
    }
}
