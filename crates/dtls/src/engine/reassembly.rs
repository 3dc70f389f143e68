//! Messages that arrive in fragments.

use sixlock_dtls_msg::{HandshakeHeader, HandshakeType, RECORD_HEADER, RecordHeader};

use super::message::Incoming;

/// The longest message, in bytes, that is put together from fragments: what a server says that keeps nothing, with the longest
/// cookie. A message in one piece may be longer.
pub const MAX_FRAGMENTED_MESSAGE: usize = 258;

/// Puts a fragment where it belongs and fingerprints its bytes as received; false if it does not fit.
pub(crate) fn put(bytes: &mut [u8], received: &mut [u8], offset: usize, fragment: &[u8]) -> bool {
    let range = offset..offset + fragment.len();
    let Some(room) = bytes.get_mut(range.clone()) else { return false };
    room.copy_from_slice(fragment);
    for byte in range {
        if let Some(bits) = received.get_mut(byte / 8) {
            *bits |= 1 << (byte % 8);
        }
    }
    true
}

/// How many full eighths of `length` bytes were received, at most 7.
pub(crate) fn eighths(received: &[u8], length: u16) -> u8 {
    let bytes: u32 = received.iter().map(|bits| bits.count_ones()).sum();
    (8 * bytes / u32::from(length.max(1))).min(7) as u8
}

/// Whether the first `length` bytes were received.
pub(crate) fn is_complete(received: &[u8], length: u16) -> bool {
    (0..usize::from(length))
        .all(|byte| received.get(byte / 8).is_some_and(|bits| bits >> (byte % 8) & 1 == 1))
}

/// One message in the making, or one record that came before its key.
///
/// There is room for one: the next message expected, or one of the few after it while the
/// next does not need the room. What finds no room is dropped; the peer sends it again.
pub(crate) struct Reassembly {
    content: Content,
    received: [u8; MAX_FRAGMENTED_MESSAGE.div_ceil(8)],
    bytes: [u8; RECORD_HEADER + MAX_FRAGMENTED_MESSAGE],
}

enum Content {
    Nothing,
    Message { epoch: u16, kind: HandshakeType, message_seq: u16, length: u16 },
    Record { length: u16 },
}

impl Reassembly {
    pub(crate) const fn new() -> Self {
        Self {
            content: Content::Nothing,
            received: [0; MAX_FRAGMENTED_MESSAGE.div_ceil(8)],
            bytes: [0; RECORD_HEADER + MAX_FRAGMENTED_MESSAGE],
        }
    }

    /// Forgets what is there.
    pub(crate) fn clear(&mut self) {
        self.content = Content::Nothing;
        self.received.fill(0);
    }

    /// Adds a fragment; false if there is no room for it, or if another message made room. Fragments may overlap; one whose
    /// message looks different from what is there begins anew, so that a forged one costs a
    /// retransmission at most.
    pub(crate) fn add(
        &mut self,
        epoch: u16,
        header: &HandshakeHeader,
        fragment: &[u8],
        is_next: bool,
    ) -> bool {
        if header.length > MAX_FRAGMENTED_MESSAGE as u32 {
            return false;
        }
        let (offset, new_length) = (header.fragment_offset as usize, header.length as u16);
        let (same, displaces) = match self.content {
            Content::Nothing => (false, false),
            Content::Message { epoch: e, kind, message_seq, length } => {
                if message_seq != header.message_seq && !is_next {
                    return false;
                }
                let same =
                    (e, kind, message_seq, length) == (epoch, header.kind, header.message_seq, new_length);
                (same, !same)
            }
            Content::Record { .. } => return false,
        };
        if !same {
            self.clear();
            let HandshakeHeader { kind, message_seq, .. } = *header;
            self.content = Content::Message { epoch, kind, message_seq, length: new_length };
        }
        put(&mut self.bytes, &mut self.received, offset, fragment) && !displaces
    }

    /// The message, if it is the one expected and complete.
    pub(crate) fn message(&self, expected_epoch: u16, expected_seq: u16) -> Option<Incoming<'_>> {
        let Content::Message { epoch, kind, message_seq, length } = self.content else { return None };
        let complete = is_complete(&self.received, length);
        let expected = (epoch, message_seq) == (expected_epoch, expected_seq);
        let body = self.bytes.get(..length.into())?;
        (complete && expected).then_some(Incoming { kind, message_seq, body })
    }

    /// How many full eighths are there of the message with this number, if any of it is; less than 8.
    pub(crate) fn eighths(&self, number: u16) -> Option<u8> {
        match self.content {
            Content::Message { message_seq, length, .. } if message_seq == number => {
                Some(eighths(&self.received, length))
            }
            _ => None,
        }
    }

    /// Whether what is there belongs to the message with this number.
    pub(crate) fn concerns(&self, number: u16) -> bool {
        matches!(self.content, Content::Message { message_seq, .. } if message_seq == number)
    }

    /// Whether a record is kept.
    pub(crate) fn holds_record(&self) -> bool {
        matches!(self.content, Content::Record { .. })
    }

    /// Keeps a record until there are keys; false if it is too long.
    pub(crate) fn hold(&mut self, header: &RecordHeader, body: &[u8]) -> bool {
        let (front, rest) = self.bytes.split_at_mut(RECORD_HEADER);
        let Some(room) = rest.get_mut(..body.len()) else { return false };
        front.copy_from_slice(&header.to_bytes());
        room.copy_from_slice(body);
        self.content = Content::Record { length: (RECORD_HEADER + body.len()) as u16 };
        true
    }

    /// Lends the record that was kept.
    pub(crate) fn record(&mut self) -> Option<(RecordHeader, &mut [u8])> {
        let Content::Record { length } = self.content else { return None };
        let (front, body) = self.bytes.get_mut(..length.into())?.split_at_mut_checked(RECORD_HEADER)?;
        Some((RecordHeader::parse(front).ok()?, body))
    }
}
