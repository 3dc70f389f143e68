use sixlock_dtls_msg::{HandshakeHeader, HandshakeType};

use super::message::Incoming;
use super::reassembly::{eighths, is_complete, put};
use crate::OptionalPart;

/// How many bytes a [`MessageBuffer`] needs for messages of at most `longest`: a bit more for each of theirs.
pub const fn message_buffer(longest: usize) -> usize {
    longest + longest.div_ceil(8)
}

/// A long message of the peer, its certificates or a ticket: it comes in pieces, and stays until it was judged. One that is
/// longer than there is room for is dropped.
pub struct MessageBuffer<B: ?Sized = [u8]> {
    /// The number and length of the message that is there.
    message: Option<(u16, u16)>,
    /// It was taken by the handshake: nothing replaces it.
    kept: bool,
    /// The message, and behind it a bit for each byte that was received.
    bytes: B,
}

impl<const N: usize> OptionalPart<MessageBuffer> for MessageBuffer<[u8; N]> {
    const EMPTY: Self = Self { message: None, kept: false, bytes: [0; N] };

    fn get(&self) -> Option<&MessageBuffer> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut MessageBuffer> {
        Some(self)
    }
}

impl MessageBuffer {
    /// The longest message that there is room for.
    const fn longest(&self) -> usize {
        self.bytes.len() * 8 / 9
    }

    /// Whether there is room for messages as long as this one.
    pub(crate) const fn fits(&self, header: &HandshakeHeader) -> bool {
        header.length <= self.longest() as u32
    }

    /// Forgets what is there.
    pub(crate) fn clear(&mut self) {
        (self.message, self.kept) = (None, false);
        let longest = self.longest();
        self.bytes.split_at_mut(longest).1.fill(0);
    }

    /// Keeps what is there until it is cleared.
    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }

    /// Whether the handshake has taken what is there.
    pub(crate) const fn is_kept(&self) -> bool {
        self.kept
    }

    /// The number of the message that is there.
    pub(crate) fn message_seq(&self) -> Option<u16> {
        self.message.map(|(message_seq, _)| message_seq)
    }

    /// Adds a fragment; false if there is no room for it, or if another message made room. One whose message looks different from what is
    /// there begins anew. Fragments of a message that is not the next are added only if no other message is there.
    pub(crate) fn add(&mut self, header: &HandshakeHeader, fragment: &[u8], is_next: bool) -> bool {
        if !self.fits(header) || self.kept {
            return false;
        }
        let longest = self.longest();
        let message = Some((header.message_seq, header.length as u16));
        let other = self.message.is_some_and(|there| Some(there) != message);
        if self.message != message {
            if other && !is_next {
                return false;
            }
            self.clear();
            self.message = message;
        }
        let (bytes, received) = self.bytes.split_at_mut(longest);
        put(bytes, received, header.fragment_offset as usize, fragment) && !other
    }

    /// The message, if it is the one expected and complete.
    pub(crate) fn message(&self, kind: HandshakeType, expected_seq: u16) -> Option<Incoming<'_>> {
        let (message_seq, length) = self.message?;
        let received = self.bytes.split_at(self.longest()).1;
        let expected = message_seq == expected_seq && is_complete(received, length);
        expected.then_some(Incoming { kind, message_seq, body: self.body() })
    }

    /// How many full eighths are there of the message with this number, if any of it is; less than 8.
    pub(crate) fn eighths(&self, number: u16) -> Option<u8> {
        let (_, length) = self.message.filter(|(message_seq, _)| *message_seq == number)?;
        Some(eighths(self.bytes.split_at(self.longest()).1, length))
    }

    /// What is there.
    pub(crate) fn body(&self) -> &[u8] {
        let length = self.message.map_or(0, |(_, length)| length);
        self.bytes.get(..length.into()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use crate::MAX_CERTIFICATES;
    use std::vec;

    const KIND: HandshakeType = HandshakeType(11);

    fn add(room: &mut MessageBuffer, length: u32, fragment_offset: u32, fragment: &[u8]) -> bool {
        let fragment_length = fragment.len() as u32;
        let header = HandshakeHeader { kind: KIND, length, message_seq: 2, fragment_offset, fragment_length };
        room.add(&header, fragment, true)
    }

    fn holds_messages_of<const N: usize>(longest: usize) {
        let mut room = MessageBuffer::<[u8; N]>::EMPTY;
        let room = room.get_mut().unwrap();
        let (first, last) = (vec![1; longest - 1], [2]);
        assert!(!add(room, longest as u32 + 1, 0, &first), "too long");
        assert!(add(room, longest as u32, longest as u32 - 1, &last));
        assert!(room.message(KIND, 2).is_none());
        assert!(add(room, longest as u32, 0, &first));
        assert_eq!(room.message(KIND, 2).unwrap().body, [first, last.to_vec()].concat());
        room.clear();
        assert!(add(room, longest as u32, 0, &[3; 5]));
        assert!(room.message(KIND, 2).is_none(), "what came before is forgotten");
    }

    #[test]
    fn there_is_room_for_the_longest_message_and_no_longer() {
        holds_messages_of::<{ message_buffer(94) }>(94);
        holds_messages_of::<{ message_buffer(500) }>(500);
        holds_messages_of::<{ message_buffer(MAX_CERTIFICATES) }>(MAX_CERTIFICATES);
    }
}
