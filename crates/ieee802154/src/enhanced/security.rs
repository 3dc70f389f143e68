use sixlock_base::Eui64;

use super::Asn;
use crate::fields::{Reader, Writer};
use crate::{Error, KeyId, SecurityLevel};

const FRAME_COUNTER_SUPPRESSION: u8 = 1 << 5;
const ASN_IN_NONCE: u8 = 1 << 6;

/// What makes the nonce of a frame one of its own, beside its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonceCounter {
    /// The sender's frame counter.
    FrameCounter(u32),
    /// The slot in which it is sent, which the receiver knows. The frame counter may be there all the same.
    Asn {
        /// The sender's frame counter, which the nonce does not have.
        frame_counter: Option<u32>,
    },
}

/// The auxiliary security header (9.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Security {
    /// What is protected.
    pub level: SecurityLevel,
    /// By which key.
    pub key_id: KeyId,
    /// By what no two frames of a sender have the same nonce.
    pub counter: NonceCounter,
}

impl Security {
    /// The CCM* nonce of a frame that `source` sends in the slot `asn` (9.3.2.2): the sender, and the frame counter and the level, or the
    /// slot's number; highest byte first.
    pub fn nonce(&self, source: Eui64, asn: Asn) -> [u8; 13] {
        let mut nonce = [0; 13];
        nonce[..8].copy_from_slice(&source.0);
        match self.counter {
            NonceCounter::FrameCounter(frame_counter) => {
                nonce[8..12].copy_from_slice(&frame_counter.to_be_bytes());
                nonce[12] = self.level.number();
            }
            NonceCounter::Asn { .. } => nonce[8..].copy_from_slice(&asn.to_be_bytes()),
        }
        nonce
    }

    const fn frame_counter(&self) -> Option<u32> {
        match self.counter {
            NonceCounter::FrameCounter(frame_counter) => Some(frame_counter),
            NonceCounter::Asn { frame_counter } => frame_counter,
        }
    }

    pub(super) const fn len(&self) -> usize {
        let frame_counter = if self.frame_counter().is_some() { 4 } else { 0 };
        1 + frame_counter + self.key_id.len()
    }

    pub(super) fn read(fields: &mut Reader<'_>) -> Result<Self, Error> {
        let control = fields.u8()?;
        let frame_counter = match control & FRAME_COUNTER_SUPPRESSION {
            0 => Some(fields.u32()?),
            _ => None,
        };
        let counter = match (control & ASN_IN_NONCE, frame_counter) {
            (0, Some(frame_counter)) => NonceCounter::FrameCounter(frame_counter),
            (0, None) => return Err(Error::NoFrameCounter),
            (_, frame_counter) => NonceCounter::Asn { frame_counter },
        };
        let key_id = KeyId::read(control, fields)?;
        Ok(Self { level: SecurityLevel::from_bits(control), key_id, counter })
    }

    pub(super) fn write(&self, fields: &mut Writer<'_>) -> Result<(), Error> {
        let mut control = self.level.number() | self.key_id.control();
        if matches!(self.counter, NonceCounter::Asn { .. }) {
            control |= ASN_IN_NONCE;
        }
        match self.frame_counter() {
            Some(frame_counter) => {
                fields.put([control])?;
                fields.put(frame_counter.to_le_bytes())?;
            }
            None => fields.put([control | FRAME_COUNTER_SUPPRESSION])?,
        }
        self.key_id.write(fields)
    }
}
