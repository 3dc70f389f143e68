//! What makes a handshake survive a network that loses, repeats, reorders and cuts.

use sixlock_base::{Duration, Entropy, Instant};
use sixlock_dtls_msg::{HandshakeHeader, HandshakeType, RECORD_HEADER, RecordHeader, SequenceNumber};

use crate::v12::{Flight, Incoming, Message};
use crate::{Config, Losses};

/// The longest message, in bytes, that is put together from fragments: a HelloVerifyRequest
/// with the longest cookie. A message in one piece may be longer.
pub const MAX_FRAGMENTED_MESSAGE: usize = 258;

/// The flight that is being sent or waits for its answer.
pub(crate) struct Outgoing {
    flight: Option<&'static Flight>,
    /// The number of the flight's first message.
    message_seq: u16,
    /// Which message of the flight is next, and from which byte of it.
    next: (u8, u16),
    /// The next record's number in epoch 0; none when they are used up.
    pub(crate) record_sequence: Option<SequenceNumber>,
    wait: Duration,
    deadline: Option<Instant>,
    retransmissions: u8,
    /// The peer's retransmission was answered since the flight was last sent by time.
    answered: bool,
}

/// What a deadline that has passed asks for.
pub(crate) enum Due {
    /// The flight goes out again.
    Again,
    /// Enough was tried.
    GiveUp,
}

impl Outgoing {
    /// Nothing is sent.
    pub(crate) const NONE: Self = Self {
        flight: None,
        message_seq: 0,
        next: (0, 0),
        record_sequence: None,
        wait: Duration::from_millis(0),
        deadline: None,
        retransmissions: 0,
        answered: false,
    };

    /// Begins a flight whose first message has number `message_seq`. Its first wait is this one, or that at which the flight
    /// before came through in the end: so long as something is lost to congestion, the waits stay as they are.
    pub(crate) fn send(
        &mut self,
        config: &Config,
        first_wait: Duration,
        flight: &'static Flight,
        message_seq: u16,
    ) {
        self.flight = Some(flight);
        self.message_seq = message_seq;
        let keeps = config.losses == Losses::Congestion && self.was_lost();
        self.wait = if keeps { self.wait.max(first_wait) } else { first_wait };
        self.retransmissions = 0;
        self.answered = false;
        self.again();
    }

    /// Sends the flight again from its beginning.
    pub(crate) fn again(&mut self) {
        self.next = (0, 0);
        self.deadline = None;
    }

    /// Sends the flight again because its answer shows that it was lost; true if that was not
    /// done since the last deadline already: a forger must not multiply our traffic.
    pub(crate) fn answer(&mut self) -> bool {
        let first = !self.answered;
        if first {
            self.answered = true;
            self.again();
        }
        first
    }

    /// Whether the flight, or its answer, is known to have been lost.
    pub(crate) fn was_lost(&self) -> bool {
        self.is_repeated() || self.answered
    }

    /// Whether the flight was sent again because its time was over.
    pub(crate) fn is_repeated(&self) -> bool {
        self.retransmissions > 0
    }

    /// Whether a message of type `kind` from the peer shows that the flight was lost.
    pub(crate) fn is_answer_to(&self, kind: HandshakeType) -> bool {
        self.flight.is_some_and(|flight| flight.answers == Some(kind))
    }

    /// The number of the first message of the flight that answers `kind`, which is the current flight or follows it.
    pub(crate) fn message_seq_answering(&self, kind: HandshakeType) -> u16 {
        if self.is_answer_to(kind) {
            return self.message_seq;
        }
        let messages = self.flight.map_or(&[][..], |flight| flight.messages);
        let numbered = messages.iter().filter(|message| message.kind().is_some()).count();
        self.message_seq.wrapping_add(numbered as u16)
    }

    /// The message to send next, its number and the first byte that was not sent yet.
    pub(crate) fn next(&self) -> Option<(Message, u16, u16)> {
        let (index, offset) = self.next;
        let messages = self.flight?.messages;
        let &message = messages.get(usize::from(index))?;
        let before = messages.iter().take(index.into()).filter(|message| message.kind().is_some()).count();
        Some((message, self.message_seq.wrapping_add(before as u16), offset))
    }

    /// The message to send next has been sent up to `offset`, or to its end.
    pub(crate) fn sent(&mut self, offset: Option<u16>) {
        self.next = match offset {
            Some(offset) => (self.next.0, offset),
            None => (self.next.0 + 1, 0),
        };
    }

    /// Sets the deadline when the whole flight is out; true if that is so now.
    pub(crate) fn arm<E: Entropy>(&mut self, now: Instant, losses: Losses, entropy: &mut E) -> bool {
        let is_out = self.flight.is_some() && self.next().is_none() && self.deadline.is_none();
        if is_out {
            let most = if losses == Losses::Radio { self.wait.millis() / 2 } else { 0 };
            let added = if most == 0 { 0 } else { entropy.next_u32() % most };
            self.deadline = Some(now + self.wait + Duration::from_millis(added));
        }
        is_out
    }

    /// The flight is the last: no answer comes, and it is kept for `linger` only.
    pub(crate) fn linger(&mut self, linger: Duration) {
        self.wait = linger;
    }

    /// The peer's last flight is here: nothing needs to be kept any longer.
    pub(crate) fn finish(&mut self, now: Instant) {
        self.flight = None;
        self.deadline = Some(now);
    }

    /// Nothing is sent any more.
    pub(crate) fn stop(&mut self) {
        self.flight = None;
        self.deadline = None;
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Takes note that the deadline has passed
    /// ([RFC 6347 section 4.2.4.1](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4.1)).
    pub(crate) fn expire(&mut self, config: &Config) -> Due {
        if self.retransmissions >= config.retransmissions {
            return Due::GiveUp;
        }
        self.retransmissions += 1;
        self.wait = self.wait.doubled().min(config.max_timeout);
        self.answered = false;
        self.again();
        Due::Again
    }
}

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

    /// Adds a fragment; false if there is no room for it. Fragments may overlap; one whose
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
        let same = match self.content {
            Content::Nothing => false,
            Content::Message { epoch: e, kind, message_seq, length } => {
                if message_seq != header.message_seq && !is_next {
                    return false;
                }
                (e, kind, message_seq, length) == (epoch, header.kind, header.message_seq, new_length)
            }
            Content::Record { .. } => return false,
        };
        if !same {
            self.clear();
            let HandshakeHeader { kind, message_seq, .. } = *header;
            self.content = Content::Message { epoch, kind, message_seq, length: new_length };
        }
        put(&mut self.bytes, &mut self.received, offset, fragment)
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

    /// Keeps a record until there are keys, unless one is kept already.
    pub(crate) fn hold(&mut self, header: &RecordHeader, body: &[u8]) {
        if matches!(self.content, Content::Record { .. }) {
            return;
        }
        let (front, rest) = self.bytes.split_at_mut(RECORD_HEADER);
        if let Some(room) = rest.get_mut(..body.len()) {
            front.copy_from_slice(&header.to_bytes());
            room.copy_from_slice(body);
            self.content = Content::Record { length: (RECORD_HEADER + body.len()) as u16 };
        }
    }

    /// Lends the record that was kept.
    pub(crate) fn record(&mut self) -> Option<(RecordHeader, &mut [u8])> {
        let Content::Record { length } = self.content else { return None };
        let (front, body) = self.bytes.get_mut(..length.into())?.split_at_mut_checked(RECORD_HEADER)?;
        Some((RecordHeader::parse(front).ok()?, body))
    }
}
