//! The connection ids of an endpoint's sessions.

use sixlock_dtls::ConnectionId;
use sixlock_dtls_msg::RecordHeader;

use crate::Shard;
use crate::table::Slot;

/// How the sessions are named: by their slot, in as few bytes as tell all of them apart, and one byte of their serial
/// number, so that a session is hardly ever taken for the one before it. A name proves nothing: a record does. Of several
/// [shards](Shard), a name says also which, and is enciphered.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    slot_length: usize,
}

impl Names {
    /// Names for at most `limit` sessions of each shard.
    pub(crate) const fn new(limit: u32, shard: Option<&Shard>) -> Self {
        let limit = match shard {
            Some(shard) => limit.saturating_mul(shard.count() as u32),
            None => limit,
        };
        let bits = u32::BITS - limit.saturating_sub(1).leading_zeros();
        let bytes = bits.div_ceil(8) as usize;
        Self { slot_length: if bytes == 0 { 1 } else { bytes } }
    }

    /// The name of a session.
    pub(crate) fn give(self, shard: Option<&Shard>, slot: Slot, serial: u32) -> Option<ConnectionId> {
        let mut name = [0; size_of::<Slot>() + 1];
        let place = shard.map_or(slot, |shard| shard.place(slot)).to_be_bytes();
        let (front, rest) = name.split_at_mut(self.slot_length);
        front.copy_from_slice(place.get(place.len() - self.slot_length..)?);
        *rest.first_mut()? = serial as u8;
        let name = name.get_mut(..=self.slot_length)?;
        if let Some(shard) = shard {
            shard.encipher(name);
        }
        ConnectionId::new(name)
    }

    /// The session that the first record of `datagram` names.
    pub(crate) fn read(self, shard: Option<&Shard>, datagram: &[u8]) -> Option<SessionLocation> {
        let (_, name) = RecordHeader::parse_with_id(datagram, self.slot_length + 1).ok()?;
        let mut room = [0; size_of::<Slot>() + 1];
        let copy = room.get_mut(..name.len())?;
        copy.copy_from_slice(name);
        if let Some(shard) = shard {
            shard.decipher(copy);
        }
        let (&mut serial, place) = copy.split_last_mut()?;
        let place = place.iter().fold(0, |place, &byte| place << 8 | u32::from(byte));
        let (number, slot) = shard.map_or((0, place), |shard| shard.find(place));
        Some(SessionLocation { shard: number, slot, serial })
    }
}

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionLocation {
    pub(crate) shard: u16,
    pub(crate) slot: Slot,
    /// The end of the session's serial number.
    pub(crate) serial: u8,
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_dtls_msg::{ContentType, RECORD_HEADER, SequenceNumber, Version, Window};

    /// A record of the session with this name.
    fn record(id: ConnectionId) -> [u8; RECORD_HEADER + 5] {
        let header = RecordHeader {
            content_type: ContentType::ConnectionId,
            version: Version::DTLS_1_2,
            epoch: 1,
            sequence_number: SequenceNumber::ZERO,
            length: 0,
        };
        let mut record = [0; RECORD_HEADER + 5];
        header.emit_with_id(id.bytes(), &mut Window::new(0, &mut record));
        record
    }

    #[test]
    fn every_session_is_found_by_its_name() {
        for limit in [0, 1, 2, 256, 257, 65_536, 65_537, u32::MAX] {
            let names = Names::new(limit, None);
            for slot in [0, 1, limit / 2, limit.saturating_sub(1)] {
                let record = record(names.give(None, slot, 0x1234).unwrap());
                let named = SessionLocation { shard: 0, slot, serial: 0x34 };
                assert_eq!(names.read(None, &record), Some(named), "slot {slot} of {limit}");
                assert_eq!(names.read(None, &record[..12]), None);
            }
        }
        let id = Names::new(10_000, None).give(None, 7, 0).unwrap();
        assert_eq!(id.bytes().len(), 3);
    }

    #[test]
    fn each_shard_finds_out_whose_a_session_is() {
        let shards = [0, 1, 2].map(|number| Shard::new(number, 3, *b"a key for names!"));
        let names = Names::new(10_000, Some(&shards[0]));
        for shard in &shards {
            for slot in [0, 1, 255, 9_999] {
                let id = names.give(Some(shard), slot, 0x1234).unwrap();
                assert_eq!(id.bytes().len(), 3);
                let named = Some(SessionLocation { shard: shard.number(), slot, serial: 0x34 });
                for other in &shards {
                    assert_eq!(names.read(Some(other), &record(id)), named);
                }
            }
        }
    }
}
