use sixlock_base::{Counter, Cx, Slot};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{
    Alert, AlertDescription, AlertLevel, ContentType, HandshakeHeader, HandshakeType, RecordHeader,
};

use super::{End, MAX_REWINDS, Phase, Received, Session};
use crate::Failure;
use crate::handshake::{Handshake, HandshakeSlot};
use crate::profile::Profile;
use crate::record::{self, PLAIN, PROTECTED};
use crate::round_trip::RoundTrips;
use crate::schedule::Side;
use crate::v12::{FeaturesOf, HandshakeContext, Incoming, Outcome, Role, Wanted};
use crate::{FeatureSet, OptionalPart};

impl<C: Crypto, R: Role, H: HandshakeSlot<C, FeaturesOf<R>>> Session<C, R, H> {
    /// Takes a datagram up to its first application data, which it decrypts in place.
    ///
    /// Nothing in a datagram is an error: what does not parse, authenticate or fit is dropped
    /// and counted ([RFC 6347 section 4.1.2.7](https://www.rfc-editor.org/rfc/rfc6347#section-4.1.2.7)).
    #[inline(never)]
    pub fn handle<'d, E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, datagram: &'d mut [u8]) -> Received<'d> {
        let mut rest = datagram;
        while !rest.is_empty() {
            let Some((header, body, remaining)) = record::split(rest, self.own_id()) else {
                cx.counters.count(Counter::DtlsMalformed);
                break;
            };
            rest = remaining;
            if let Some((data, newest)) = self.handle_record(cx, header, body) {
                return Received { data: Some(data), newest, rest };
            }
        }
        Received { data: None, newest: false, rest: &mut [] }
    }

    pub(super) fn handle_record<'d, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        header: RecordHeader,
        body: &'d mut [u8],
    ) -> Option<(&'d mut [u8], bool)> {
        if self.phase == Phase::Over {
            return None;
        }
        match header.epoch {
            PLAIN => {
                self.handle_plain(cx, &header, body);
                None
            }
            PROTECTED => self.handle_protected(cx, &header, body),
            _ => {
                cx.counters.count(Counter::DtlsBadRecord);
                None
            }
        }
    }

    /// Takes a record that anyone may have sent: nothing in it ends the session.
    fn handle_plain<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, header: &RecordHeader, body: &[u8]) {
        let Some(handshake) = self.handshake.get_mut().filter(|_| self.phase == Phase::Handshake) else {
            // What is left of the handshake, or forged.
            cx.counters.count(Counter::DtlsBadRecord);
            return;
        };
        match (header.content_type, Alert::parse(body)) {
            (ContentType::Handshake, _) => self.handle_messages(cx, PLAIN, body),
            // The epoch of the records that follow says the same and is authentic.
            (ContentType::ChangeCipherSpec, _) => {}
            (ContentType::Alert, Ok(Alert { level: AlertLevel::Fatal, description })) => {
                cx.counters.count(Counter::DtlsBadRecord);
                handshake.clue = Slot::Full(Failure::Refused(description));
            }
            _ => cx.counters.count(Counter::DtlsBadRecord),
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
            cx.counters.count(Counter::DtlsBadRecord);
            return None;
        }
        // It may be, where that is hidden.
        let is_handshake = carries_id || header.content_type == ContentType::Handshake;
        let Slot::Full(protection) = &self.protection else {
            match self.handshake.get_mut() {
                // Only a client's proof comes before it is awaited: a server sends its own when it has the client's.
                Some(handshake)
                    if is_handshake
                        && matches!(R::SIDE, Side::Server)
                        && self.role.awaits().is_some_and(|wanted| wanted != Wanted::Session) =>
                {
                    handshake.reassembly.hold(header, body);
                }
                _ => cx.counters.count(Counter::DtlsBadRecord),
            }
            return None;
        };
        if !self.replay.is_fresh(header.sequence_number) {
            cx.counters.count(Counter::DtlsReplayed);
            return None;
        }
        let Ok((content_type, content)) = protection.open(cx.crypto, header, self.own_id(), body) else {
            cx.counters.count(Counter::DtlsBadRecord);
            self.count_bad_record(cx, is_handshake);
            return None;
        };
        // https://www.rfc-editor.org/rfc/rfc8449#section-4
        if content.len() > self.limits().1.into() {
            cx.counters.count(Counter::DtlsBadRecord);
            return None;
        }
        let newest = self.replay.accept(header.sequence_number);
        match content_type {
            ContentType::ApplicationData if self.phase == Phase::Connected => {
                // Data shows that our last flight has arrived.
                self.handshake.free();
                (!content.is_empty()).then_some((content, newest))
            }
            ContentType::Handshake if self.phase == Phase::Connected => {
                self.handle_late_messages(cx, content);
                None
            }
            ContentType::Handshake => {
                self.handle_messages(cx, PROTECTED, content);
                None
            }
            ContentType::Alert => {
                self.handle_alert(cx, content);
                None
            }
            ContentType::ApplicationData | ContentType::ChangeCipherSpec | ContentType::ConnectionId => {
                cx.counters.count(Counter::DtlsBadRecord);
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
        parts.bad_records = parts.bad_records.saturating_add(1);
        if parts.bad_records >= parts.config.bad_records {
            self.fail_authentication(cx);
        }
    }

    /// Takes the handshake messages or fragments of a record.
    fn handle_messages<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, epoch: u16, mut content: &[u8]) {
        while !content.is_empty() {
            let Ok((header, fragment, rest)) = HandshakeHeader::parse(content) else {
                cx.counters.count(Counter::DtlsMalformed);
                return;
            };
            content = rest;
            if !FeaturesOf::<R>::TICKETS || !self.handle_with_ticket(cx, epoch, &header, fragment) {
                self.handle_fragment(cx, epoch, &header, fragment);
            }
            while self.step(cx, None) {}
        }
    }

    /// Takes a fragment of the server's ticket, or of what comes behind it and may come before it. False if it is neither.
    fn handle_with_ticket<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        epoch: u16,
        header: &HandshakeHeader,
        fragment: &[u8],
    ) -> bool {
        let Some(parts) = self.handshake.get_mut().filter(|parts| self.role.awaits_ticket(&parts.parameters))
        else {
            return false;
        };
        let Handshake { parameters, transcript, reassembly, next_receive, .. } = parts;
        let ahead = header.message_seq.wrapping_sub(*next_receive);
        let fits = match (epoch, header.kind) {
            (PLAIN, HandshakeType::NEW_SESSION_TICKET) if ahead == 0 => {
                match parameters.new_ticket.get_mut().filter(|room| room.fits(header)) {
                    Some(room) => room.add(header, fragment, true),
                    None => {
                        let crypto = &mut *cx.crypto;
                        let mut exchange =
                            HandshakeContext { crypto, parameters, transcript, doubtful: false };
                        let taken = exchange.pass_over(header, fragment);
                        if !parameters.awaits_ticket() {
                            *next_receive = next_receive.wrapping_add(1);
                        }
                        taken
                    }
                }
            }
            (PROTECTED, _) if (1..=u16::MAX / 2).contains(&ahead) => {
                reassembly.add(epoch, header, fragment, false)
            }
            _ => return false,
        };
        if !fits {
            cx.counters.count(Counter::DtlsReassemblyFull);
        }
        true
    }

    fn handle_fragment<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        epoch: u16,
        header: &HandshakeHeader,
        fragment: &[u8],
    ) {
        let Some(parts) = self.handshake.get_mut() else { return };
        let message = header.is_whole().then_some(Incoming {
            kind: header.kind,
            message_seq: header.message_seq,
            body: fragment,
        });
        // How far ahead of the expected message: numbers of the past wrap to the far end.
        let ahead = header.message_seq.wrapping_sub(parts.next_receive);
        if ahead > u16::MAX / 2 {
            if parts.outgoing.is_answer_to(header.kind) {
                if header.fragment_offset == 0 && parts.outgoing.answer() {
                    cx.counters.count(Counter::DtlsRetransmissions);
                }
            } else if let Some(message) = message {
                self.receive_again(cx, message);
            }
        } else if self.role.expected_epoch(&parts.parameters) != Some(epoch) {
            cx.counters.count(Counter::DtlsBadRecord);
        } else if header.kind == HandshakeType::CERTIFICATE
            && let Some(certificates) = parts.certificates.get_mut()
        {
            // Of those that are yet to come none takes the place of the one that is awaited.
            let fits = certificates.add(header, fragment, ahead == 0);
            if !fits {
                cx.counters.count(Counter::DtlsReassemblyFull);
            }
        } else if let (0, Some(message)) = (ahead, message) {
            self.step(cx, Some(message));
        } else if !parts.reassembly.add(epoch, header, fragment, ahead == 0) {
            cx.counters.count(Counter::DtlsReassemblyFull);
        }
    }

    /// Takes the next message in order: `message`, or else one that was put together. False
    /// if there is none or the handshake does not go on.
    fn step<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, message: Option<Incoming<'_>>) -> bool {
        let Some(parts) = self.handshake.get_mut() else { return false };
        let Some(epoch) = self.role.expected_epoch(&parts.parameters) else { return false };
        let doubtful = parts.is_doubtful();
        let Handshake { parameters, transcript, reassembly, certificates, next_receive, .. } = parts;
        let mut message = message;
        if FeaturesOf::<R>::TICKETS && message.is_none() && parameters.has_ticket(*next_receive) {
            // The server's ticket stays where it was put together.
            let kind = HandshakeType::NEW_SESSION_TICKET;
            message = Some(Incoming { kind, message_seq: *next_receive, body: &[] });
        }
        let direct = message.is_some();
        let put_together = || {
            let kind = HandshakeType::CERTIFICATE;
            let certificate = certificates.get().and_then(|room| room.message(kind, *next_receive));
            certificate.or_else(|| reassembly.message(epoch, *next_receive))
        };
        let Some(message) = message.or_else(put_together) else { return false };
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful };
        let outcome = self.role.receive(&mut exchange, &message);
        let (message_seq, kind) = (message.message_seq, message.kind);
        if kind == HandshakeType::CERTIFICATE
            && let Some(certificates) = certificates.get_mut()
        {
            if matches!(outcome, Outcome::Accepted) { certificates.keep() } else { certificates.clear() }
        }
        // The room is free again once its message was taken, or shown to be none.
        if !direct || reassembly.concerns(message_seq) {
            reassembly.clear();
        }
        self.apply(cx, outcome, message_seq)
    }

    /// Takes a message again whose number was used already.
    fn receive_again<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, message: Incoming<'_>) {
        let Some(parts) = self.handshake.get_mut() else { return };
        let doubtful = parts.is_doubtful();
        if parts.rewinds >= MAX_REWINDS {
            return;
        }
        let Handshake { parameters, transcript, .. } = parts;
        let mut exchange = HandshakeContext { crypto: cx.crypto, parameters, transcript, doubtful };
        let outcome = self.role.receive_again(&mut exchange, &message);
        if let Outcome::Rewound(message_seq) = outcome {
            parts.rewinds += 1;
            parts.rewind(message_seq);
            self.step(cx, Some(message));
        } else if !matches!(outcome, Outcome::Refused(_)) {
            self.apply(cx, outcome, message.message_seq);
        }
    }

    /// Does what a step asks for; true if the next message may be taken.
    pub(super) fn apply<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        outcome: Outcome,
        message_seq: u16,
    ) -> bool {
        let Some(handshake) = self.handshake.get_mut() else { return false };
        let Handshake { config, parameters, outgoing, next_receive, clue, .. } = handshake;
        if let Outcome::Refused(reason) = outcome {
            cx.counters.count(Counter::DtlsMalformed);
            if let Some(keys) = parameters.keys.get_mut() {
                keys.contradicted = true;
            }
            if let Some(reason) = reason {
                *clue = Slot::Full(reason);
            }
            return false;
        }
        *next_receive = message_seq.wrapping_add(1);
        if let Outcome::Send(..) | Outcome::NeedWork | Outcome::Complete(_) = outcome {
            self.round_trip.answered(cx.now, outgoing.was_lost());
        }
        match outcome {
            Outcome::Send(flight, message_seq) => {
                *next_receive = message_seq;
                outgoing.send(config, self.round_trip.first_wait(config), flight, message_seq);
            }
            Outcome::NeedWork => {
                // After a forged identity there is a key already, which is not the one.
                if !FeaturesOf::<R>::TICKETS || self.role.awaits() != Some(Wanted::Ticket) {
                    self.unprotect();
                }
                self.pending.work = true;
            }
            Outcome::Resumed if R::Profile::RESUMPTION => {
                self.protect(cx.crypto);
            }
            Outcome::Complete(flight) => {
                match flight {
                    Some(flight) => {
                        let message_seq = outgoing.message_seq_answering(HandshakeType::FINISHED);
                        outgoing.send(config, config.linger, flight, message_seq);
                        outgoing.linger(config.linger);
                    }
                    None => outgoing.finish(cx.now),
                }
                self.phase = Phase::Connected;
                self.pending.connected = true;
                cx.counters.count(Counter::DtlsHandshakes);
                if R::Profile::RESUMPTION && parameters.resumed {
                    cx.counters.count(Counter::DtlsResumptions);
                }
            }
            Outcome::Fatal(description) => {
                self.alert = Some((Alert::fatal(description), R::HANDSHAKE_EPOCH));
                self.fail(cx, Failure::Authentication);
            }
            Outcome::Rewound(message_seq) if FeaturesOf::<R>::TICKETS => {
                handshake.rewind(message_seq);
                handshake.bad_records = handshake.bad_records.saturating_add(1);
                if handshake.bad_records >= handshake.config.bad_records {
                    self.fail_authentication(cx);
                }
            }
            Outcome::Accepted
            | Outcome::Keyed
            | Outcome::Resumed
            | Outcome::Refused(_)
            | Outcome::Rewound(_) => {}
        }
        true
    }

    /// Takes handshake messages of a peer that is connected.
    fn handle_late_messages<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, mut content: &[u8]) {
        while let Ok((header, _, rest)) = HandshakeHeader::parse(content) {
            content = rest;
            match header.kind {
                // The peer's last flight again: ours was lost.
                HandshakeType::FINISHED => {
                    if let Some(handshake) = self.handshake.get_mut() {
                        let outgoing = &mut handshake.outgoing;
                        if outgoing.is_answer_to(header.kind) {
                            cx.counters.count(Counter::DtlsRetransmissions);
                            outgoing.again();
                        }
                    }
                }
                // https://www.rfc-editor.org/rfc/rfc5746#section-4.5
                HandshakeType::HELLO_REQUEST | HandshakeType::CLIENT_HELLO if self.alert.is_none() => {
                    let (level, description) = (AlertLevel::Warning, AlertDescription::NO_RENEGOTIATION);
                    self.alert = Some((Alert { level, description }, PROTECTED));
                }
                _ => {}
            }
        }
    }

    /// Takes an authentic alert.
    fn handle_alert<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, content: &[u8]) {
        match Alert::parse(content) {
            Ok(alert) if alert.description == AlertDescription::CLOSE_NOTIFY => {
                // https://www.rfc-editor.org/rfc/rfc5246#section-7.2.1
                if self.phase == Phase::Connected {
                    self.alert = Some((Alert::CLOSE_NOTIFY, PROTECTED));
                    self.end(End::Closed);
                } else {
                    self.fail(cx, Failure::Alert(alert.description));
                }
            }
            Ok(Alert { level: AlertLevel::Fatal, description }) => self.fail(cx, Failure::Alert(description)),
            Ok(_) => {}
            Err(_) => cx.counters.count(Counter::DtlsMalformed),
        }
    }
}
