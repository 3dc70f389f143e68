//! The connection ids of an endpoint's sessions.

use sixlock_dtls::ConnectionId;
use sixlock_dtls_msg::RecordHeader;

use crate::table::Slot;

/// How the sessions are named: by their slot, in as few bytes as tell all of them apart, and one byte of their serial
/// number, so that a session is hardly ever taken for the one before it. A name proves nothing: a record does.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    slot_length: usize,
}

impl Names {
    /// Names for at most `limit` sessions.
    pub(crate) const fn new(limit: u32) -> Self {
        let bits = u32::BITS - limit.saturating_sub(1).leading_zeros();
        let bytes = bits.div_ceil(8) as usize;
        Self { slot_length: if bytes == 0 { 1 } else { bytes } }
    }

    /// The name of a session.
    pub(crate) fn give(self, slot: Slot, serial: u32) -> Option<ConnectionId> {
        let mut name = [0; size_of::<Slot>() + 1];
        let slot = slot.to_be_bytes();
        let (front, rest) = name.split_at_mut(self.slot_length);
        front.copy_from_slice(slot.get(slot.len() - self.slot_length..)?);
        *rest.first_mut()? = serial as u8;
        ConnectionId::new(name.get(..=self.slot_length)?)
    }

    /// Where the session is that the first record of `datagram` names, and the end of its serial number.
    pub(crate) fn read(self, datagram: &[u8]) -> Option<(Slot, u8)> {
        let (_, name) = RecordHeader::parse_with_id(datagram, self.slot_length + 1).ok()?;
        let (&serial, slot) = name.split_last()?;
        Some((slot.iter().fold(0, |slot, &byte| slot << 8 | Slot::from(byte)), serial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_dtls_msg::{ContentType, RECORD_HEADER, SequenceNumber, Version, Window};

    #[test]
    fn every_session_is_found_by_its_name() {
        for limit in [0, 1, 2, 256, 257, 65_536, 65_537, u32::MAX] {
            let names = Names::new(limit);
            for slot in [0, 1, limit / 2, limit.saturating_sub(1)] {
                let id = names.give(slot, 0x1234).unwrap();
                let header = RecordHeader {
                    content_type: ContentType::ConnectionId,
                    version: Version::DTLS_1_2,
                    epoch: 1,
                    sequence_number: SequenceNumber::ZERO,
                    length: 0,
                };
                let mut record = [0; RECORD_HEADER + 5];
                header.emit_with_id(id.bytes(), &mut Window::new(0, &mut record));
                assert_eq!(names.read(&record), Some((slot, 0x34)), "slot {slot} of {limit}");
                assert_eq!(names.read(&record[..12]), None);
            }
        }
        assert_eq!(Names::new(10_000).give(7, 0).unwrap().bytes().len(), 3);
    }
}
