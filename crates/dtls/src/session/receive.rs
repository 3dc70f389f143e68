use sixlock_base::{Counter, Cx, Slot};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{Alert, AlertDescription, AlertLevel, ContentType, HandshakeHeader, RecordHeader};

use super::{End, MAX_REWINDS, Phase, Received, Session};
use crate::engine::epochs::{Epoch, Epochs};
use crate::engine::flight::Flight;
use crate::engine::handshake::{Handshake, HandshakeSlot};
use crate::engine::message::Incoming;
use crate::engine::reassembly::MAX_FRAGMENTED_MESSAGE;
use crate::engine::record::{self, PLAIN, RecordCodec};
use crate::engine::role::{
    HandshakeContext, HandshakeRole, HandshakeState, Late, MessageOf, Outcome, OutcomeOf, Parameters,
    PassedOver, Target, Version,
};
use crate::engine::round_trip::RoundTrips;
use crate::{Failure, Refusal};

impl<C: Crypto, R: HandshakeRole, H: HandshakeSlot<C, R::Version>> Session<C, R, H> {
    /// Takes a datagram up to its first application data, which it decrypts in place. A datagram may hold several records:
    /// hand [`Received::rest`] in again until it is empty, or call [`Session::handle_all`].
    ///
    /// Nothing in a datagram is an error: what does not parse, authenticate or fit is dropped
    /// and counted ([RFC 6347 section 4.1.2.7](https://www.rfc-editor.org/rfc/rfc6347#section-4.1.2.7)).
    #[inline(never)]
    pub fn handle<'d, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, datagram: &'d mut [u8]) -> Received<'d> {
        let mut rest = datagram;
        while !rest.is_empty() {
            let (header, body, remaining) = match record::split(rest, self.own_id()) {
                Ok(record) => record,
                Err(refusal) => {
                    self.refusal.count(cx, Counter::DtlsMalformed, refusal);
                    break;
                }
            };
            rest = remaining;
            if let Some((data, newest)) = self.handle_record(cx, header, body) {
                return Received { data: Some(data), newest, rest };
            }
        }
        Received { data: None, newest: false, rest: &mut [] }
    }

    /// Takes a whole datagram, and calls `on_data` with the application data of each record, decrypted in place. Returns whether one of
    /// them is newer than all before it, as [`Received::newest`] tells.
    pub fn handle_all<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        datagram: &mut [u8],
        mut on_data: impl FnMut(&mut [u8]),
    ) -> bool {
        let (mut rest, mut newest) = (datagram, false);
        while !rest.is_empty() {
            let received = self.handle(cx, rest);
            newest |= received.newest;
            if let Some(data) = received.data {
                on_data(data);
            }
            rest = received.rest;
        }
        newest
    }

    pub(super) fn handle_record<'d, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        header: RecordHeader,
        body: &'d mut [u8],
    ) -> Option<(&'d mut [u8], bool)> {
        if self.phase == Phase::Over {
            self.refusal.count(cx, Counter::DtlsNoSession, Refusal::NoSession);
            return None;
        }
        match header.epoch {
            PLAIN => self.handle_plain(cx, &header, body),
            _ => return self.handle_protected(cx, &header, body),
        }
        None
    }

    /// Takes a record that anyone may have sent: nothing in it ends the session.
    fn handle_plain<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, header: &RecordHeader, body: &[u8]) {
        let Some(handshake) = self.handshake.get_mut().filter(|_| self.phase == Phase::Handshake) else {
            // What is left of the handshake, or forged.
            self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::Unprotected);
            return;
        };
        match (header.content_type, Alert::parse(body)) {
            (ContentType::Handshake, _) => self.handle_messages(cx, PLAIN, body),
            (ContentType::Alert, Ok(Alert { level: AlertLevel::Fatal, description })) => {
                self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::UnprotectedAlert);
                handshake.state.clue = Slot::Full(Failure::Refused(description));
            }
            (ContentType::Alert, _) => {
                self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::UnprotectedAlert)
            }
            (content_type, _) if R::Version::SIGNAL.is_some_and(|(signal, _)| signal == content_type) => {}
            _ => self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::UnprotectedContent),
        }
    }

    fn handle_protected<'d, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        header: &RecordHeader,
        body: &'d mut [u8],
    ) -> Option<(&'d mut [u8], bool)> {
        let carries_id = header.content_type == ContentType::ConnectionId;
        // https://www.rfc-editor.org/rfc/rfc9146#section-3
        if carries_id == self.own_id().is_empty() {
            self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::ConnectionIdUse);
            return None;
        }
        // It may be, where that is hidden.
        let is_handshake = carries_id || header.content_type == ContentType::Handshake;
        let longest = self.limits().1;
        let own_id = if R::CONNECTION_IDS { self.own_id.bytes() } else { &[] };
        let Some(Epoch { codec, replay, .. }) = self.epochs.get_mut(header.epoch) else {
            self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::Epoch);
            return None;
        };
        let Slot::Full(codec) = codec else {
            match self.handshake.get_mut() {
                Some(handshake) if is_handshake && self.role.holds_early_records() => {
                    if handshake.reassembly.holds_record() {
                        self.refusal.count(cx, Counter::DtlsDuplicates, Refusal::Repeated);
                    } else if !handshake.reassembly.hold(header, body) {
                        self.refusal.count(cx, Counter::DtlsReassemblyFull, Refusal::EarlyRecord);
                    }
                }
                _ => self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::NoKeys),
            }
            return None;
        };
        if !replay.is_fresh(header.sequence_number) {
            self.refusal.count(cx, Counter::DtlsReplayed, Refusal::Replayed);
            return None;
        }
        let Ok((content_type, content)) = codec.open(cx.crypto, header, own_id, body) else {
            self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::BadRecord);
            self.count_bad_record(cx, is_handshake);
            return None;
        };
        // https://www.rfc-editor.org/rfc/rfc8449#section-4
        if content.len() > longest.into() {
            self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::RecordLimit);
            return None;
        }
        let newest = replay.accept(header.sequence_number);
        match content_type {
            ContentType::ApplicationData
                if self.phase == Phase::Connected && self.epochs.carries_data(header.epoch) =>
            {
                // Data shows that our last flight has arrived.
                self.handshake.free();
                (!content.is_empty()).then_some((content, newest))
            }
            ContentType::Handshake => {
                self.handle_messages(cx, header.epoch, content);
                None
            }
            ContentType::Alert => {
                self.handle_alert(cx, content);
                None
            }
            _ => {
                self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::ContentType);
                None
            }
        }
    }

    /// A Finished that does not decrypt comes from who does not know the key, or is forged:
    /// only several of them end the handshake.
    fn count_bad_record<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, is_handshake: bool) {
        if self.phase != Phase::Handshake || !is_handshake {
            return;
        }
        let Some(parts) = self.handshake.get_mut() else { return };
        parts.state.bad_records = parts.state.bad_records.saturating_add(1);
        if parts.state.bad_records >= parts.state.config.bad_records {
            self.fail_authentication(cx);
        }
    }

    /// Takes the handshake messages or fragments of a record.
    fn handle_messages<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, epoch: u16, mut content: &[u8]) {
        while !content.is_empty() {
            let (header, fragment, rest) = match HandshakeHeader::parse(content) {
                Ok(message) => message,
                Err(error) => {
                    let refusal = Refusal::of_handshake_header(error);
                    self.refusal.count(cx, Counter::DtlsMalformed, refusal);
                    return;
                }
            };
            content = rest;
            if self.phase == Phase::Connected {
                self.handle_late_message(cx, &header);
                continue;
            }
            self.handle_fragment(cx, epoch, &header, fragment);
            while self.step(cx, None) {}
        }
    }

    fn handle_fragment<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        epoch: u16,
        header: &HandshakeHeader,
        fragment: &[u8],
    ) {
        let Some(parts) = self.handshake.get_mut() else {
            // A message before it in the record has ended the session.
            return self.refusal.count(cx, Counter::DtlsNoSession, Refusal::NoSession);
        };
        let message = header.is_whole().then_some(Incoming {
            kind: header.kind,
            message_seq: header.message_seq,
            body: fragment,
        });
        // How far ahead of the expected message: numbers of the past wrap to the far end.
        let ahead = header.message_seq.wrapping_sub(parts.state.next_receive);
        if ahead > u16::MAX / 2 {
            let is_taken = if parts.state.outgoing.is_answer_to(header.kind) {
                let answers = header.fragment_offset == 0 && parts.state.outgoing.answer();
                if answers {
                    cx.counters.count(Counter::DtlsRetransmissions);
                }
                answers
            } else {
                message.is_some_and(|message| self.receive_again(cx, message))
            };
            if !is_taken {
                self.refusal.count(cx, Counter::DtlsDuplicates, Refusal::Repeated);
            }
            return;
        }
        let (fits, is_too_long) = match self.role.target(&mut parts.state.parameters, epoch, header, ahead) {
            Target::Nowhere => return self.refusal.count(cx, Counter::DtlsBadRecord, Refusal::MessageEpoch),
            Target::Short => match message.filter(|_| ahead == 0) {
                Some(message) => {
                    self.step(cx, Some(message));
                    return;
                }
                None => (
                    parts.reassembly.add(epoch, header, fragment, ahead == 0),
                    header.length > MAX_FRAGMENTED_MESSAGE as u32,
                ),
            },
            // Of those that are yet to come none takes the place of the one that is awaited.
            Target::Buffer(buffer) => (buffer.add(header, fragment, ahead == 0), !buffer.fits(header)),
            Target::PassOver => {
                let passed = self.role.pass_over(
                    &mut HandshakeContext { crypto: cx.crypto, state: &mut parts.state },
                    header,
                    fragment,
                );
                if passed == PassedOver::Complete {
                    parts.state.next_receive = parts.state.next_receive.wrapping_add(1);
                }
                (passed != PassedOver::Refused, false)
            }
        };
        if !fits {
            let refusal = if is_too_long { Refusal::MessageLength } else { Refusal::Reassembly };
            self.refusal.count(cx, Counter::DtlsReassemblyFull, refusal);
        }
    }

    /// Takes the next message in order: `message`, or else one that was put together. False
    /// if there is none or the handshake does not go on.
    fn step<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, message: Option<Incoming<'_>>) -> bool {
        let Some(parts) = self.handshake.get_mut() else { return false };
        let Some(epoch) = self.role.expected_epoch(&parts.state.parameters) else { return false };
        let next = parts.state.next_receive;
        let buffered = match message {
            None => self.role.buffered(&parts.state.parameters, next),
            Some(_) => None,
        };
        let Handshake { state, reassembly, .. } = parts;
        let mut x = HandshakeContext { crypto: cx.crypto, state };
        let own = message.or(buffered.map(|kind| Incoming { kind, message_seq: next, body: &[] }));
        let Some(taken) = own.or_else(|| reassembly.message(epoch, next)) else { return false };
        let outcome = self.role.receive(&mut x, &taken);
        let message_seq = taken.message_seq;
        // The buffer is free again once its message was taken, or shown to be none.
        if own.is_none() || reassembly.concerns(message_seq) {
            reassembly.clear();
        }
        self.apply(cx, outcome, message_seq.wrapping_add(1))
    }

    /// Takes a message again whose number was used already; false if nothing comes of it.
    fn receive_again<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, message: Incoming<'_>) -> bool {
        let Some(parts) = self.handshake.get_mut().filter(|parts| parts.state.rewinds < MAX_REWINDS) else {
            return false;
        };
        let outcome = self
            .role
            .receive_again(&mut HandshakeContext { crypto: cx.crypto, state: &mut parts.state }, &message);
        if let Outcome::Rewound(message_seq) = outcome {
            parts.state.rewinds += 1;
            parts.rewind(message_seq);
            self.step(cx, Some(message));
            return true;
        }
        let is_taken = !matches!(outcome, Outcome::Refused(_));
        if is_taken {
            self.apply(cx, outcome, message.message_seq.wrapping_add(1));
        }
        is_taken
    }

    /// Does what a step asks for, after which the message with number `next_receive` is awaited; true if that may be taken.
    pub(crate) fn apply<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        outcome: OutcomeOf<R>,
        next_receive: u16,
    ) -> bool {
        let Some(handshake) = self.handshake.get_mut() else { return false };
        let HandshakeState { config, outgoing, clue, next_receive: next, .. } = &mut handshake.state;
        if let Outcome::Refused(refusal) = outcome {
            self.refusal.count(cx, Counter::DtlsMalformed, refusal);
            *clue = Slot::Full(Failure::Negotiation(refusal));
            return false;
        }
        *next = next_receive;
        if let Outcome::Send(..) | Outcome::NeedWork | Outcome::Complete(_) = outcome {
            self.round_trip.answered(cx.now, outgoing.was_lost());
        }
        match outcome {
            Outcome::Send(flight, message_seq) => {
                *next = message_seq;
                outgoing.send(config, self.round_trip.first_wait(config), flight, message_seq);
            }
            Outcome::NeedWork => {
                // After a forged identity there is a key already, which is not the one.
                if !self.role.is_proved() {
                    self.unprotect();
                }
                self.pending.work = true;
            }
            Outcome::Resumed if R::RESUMPTION => self.protect(cx.crypto),
            Outcome::Complete(flight) => self.connected(cx, flight),
            Outcome::Unproved => {
                let failure = Failure::Authentication(Refusal::Finished);
                self.refuse(cx, AlertDescription::DECRYPT_ERROR, failure);
            }
            Outcome::Rewound(message_seq) if R::PROOF_REWINDS => {
                handshake.state.doubt.replace((), Refusal::Finished);
                self.go_back(cx, message_seq);
            }
            Outcome::Accepted | Outcome::Resumed | Outcome::Refused(_) | Outcome::Rewound(_) => {}
        }
        true
    }

    /// The peer is authentic. The last flight follows, if it is ours.
    pub(super) fn connected<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        flight: Option<&'static Flight<MessageOf<R>>>,
    ) {
        let Some(parts) = self.handshake.get_mut() else { return };
        let HandshakeState { config, parameters, outgoing, .. } = &mut parts.state;
        match flight {
            Some(flight) => {
                outgoing.send(config, config.linger, flight, outgoing.message_seq_of(flight));
                outgoing.linger(config.linger);
            }
            None => outgoing.finish(cx.now),
        }
        self.phase = Phase::Connected;
        self.pending.connected = true;
        cx.counters.count(Counter::DtlsHandshakes);
        if R::RESUMPTION && parameters.is_resumed() {
            cx.counters.count(Counter::DtlsResumptions);
        }
    }

    /// Sends a flight whose first message has this number.
    pub(super) fn send(&mut self, flight: &'static Flight<MessageOf<R>>, message_seq: u16) {
        let Some(parts) = self.handshake.get_mut() else { return };
        let HandshakeState { config, outgoing, .. } = &mut parts.state;
        outgoing.send(config, self.round_trip.first_wait(config), flight, message_seq);
    }

    /// Awaits the message with this number again, unless too much was refused.
    pub(super) fn go_back<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, message_seq: u16) {
        let Some(parts) = self.handshake.get_mut() else { return };
        parts.rewind(message_seq);
        if let Some(refusal) = parts.state.doubt.get() {
            self.refusal.note((), refusal);
        }
        parts.state.bad_records = parts.state.bad_records.saturating_add(1);
        if parts.state.bad_records >= parts.state.config.bad_records {
            self.fail_authentication(cx);
        }
    }

    /// Takes a handshake message, or a fragment of one, of a peer that is connected.
    fn handle_late_message<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, header: &HandshakeHeader) {
        if let Some(handshake) = self.handshake.get_mut()
            && handshake.state.outgoing.is_answer_to(header.kind)
        {
            // The peer's last flight again: ours was lost.
            cx.counters.count(Counter::DtlsRetransmissions);
            handshake.state.outgoing.again();
            return;
        }
        let (counter, refusal) = match R::Version::late(header.kind) {
            Late::Renegotiation => {
                if self.alert.is_none() {
                    let (level, description) = (AlertLevel::Warning, AlertDescription::NO_RENEGOTIATION);
                    self.alert = Some((Alert { level, description }, self.epochs.sending()));
                }
                (Counter::DtlsMalformed, Refusal::Renegotiation)
            }
            Late::Repeated => (Counter::DtlsDuplicates, Refusal::Repeated),
            Late::Unexpected => (Counter::DtlsMalformed, Refusal::UnexpectedMessage),
        };
        self.refusal.count(cx, counter, refusal);
    }

    /// Takes an authentic alert.
    fn handle_alert<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, content: &[u8]) {
        match Alert::parse(content) {
            Ok(alert) if alert.description == AlertDescription::CLOSE_NOTIFY => {
                // https://www.rfc-editor.org/rfc/rfc5246#section-7.2.1
                if self.phase == Phase::Connected {
                    self.alert = Some((Alert::CLOSE_NOTIFY, self.epochs.sending()));
                    self.end(End::Closed);
                } else {
                    self.fail(cx, Failure::Alert(alert.description));
                }
            }
            Ok(Alert { level: AlertLevel::Fatal, description }) => self.fail(cx, Failure::Alert(description)),
            // A warning is taken: nothing follows from it.
            Ok(_) => {}
            Err(_) => self.refusal.count(cx, Counter::DtlsMalformed, Refusal::Alert),
        }
    }
}
