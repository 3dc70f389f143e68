//! Flights that are sent, and sent again when they are lost.

use sixlock_base::{Duration, Entropy, Instant};
use sixlock_dtls_msg::{HandshakeType, SequenceNumber};

use super::message::OutgoingMessage;
use crate::{Config, Losses};

/// Messages that are sent together, and together again when no answer comes
/// ([RFC 6347 section 4.2.4](https://www.rfc-editor.org/rfc/rfc6347#section-4.2.4)).
#[derive(Debug)]
pub struct Flight<M: 'static> {
    /// Its messages in order.
    pub(crate) messages: &'static [M],
    /// The last message of the peer's flight that this one answers: when it comes again, this
    /// flight was lost. What a server says that keeps nothing shows nothing of the kind.
    pub(crate) answers: Option<HandshakeType>,
}

/// The flight that is being sent or waits for its answer.
pub(crate) struct Outgoing<M: 'static> {
    flight: Option<&'static Flight<M>>,
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
pub(crate) enum TimeoutAction {
    /// The flight goes out again.
    Again,
    /// Enough was tried.
    GiveUp,
}

impl<M: OutgoingMessage> Outgoing<M> {
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
        flight: &'static Flight<M>,
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

    /// The number of the first message of this flight, which is the current one or follows it.
    pub(crate) fn message_seq_of(&self, flight: &Flight<M>) -> u16 {
        flight.answers.map_or(self.message_seq, |kind| self.message_seq_answering(kind))
    }

    /// The message to send next, its number and the first byte that was not sent yet.
    pub(crate) fn next(&self) -> Option<(M, u16, u16)> {
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

    /// The flight is not sent again, as the peer's that it answers is awaited anew. Its messages keep their numbers, and its time
    /// goes on.
    pub(crate) fn withdraw(&mut self) {
        self.flight = Some(&Flight { messages: &[], answers: None });
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
    pub(crate) fn expire(&mut self, config: &Config) -> TimeoutAction {
        if self.retransmissions >= config.retransmissions {
            return TimeoutAction::GiveUp;
        }
        self.retransmissions += 1;
        self.wait = self.wait.doubled().min(config.max_timeout);
        self.answered = false;
        self.again();
        TimeoutAction::Again
    }
}
