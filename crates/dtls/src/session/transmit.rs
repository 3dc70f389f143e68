use sixlock_base::{Cx, Entropy, Slot};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{
    Alert, CHANGE_CIPHER_SPEC, ContentType, HANDSHAKE_HEADER, HandshakeHeader, RECORD_HEADER, RecordHeader,
    SequenceNumber, Version, Window,
};

use super::{Error, Phase, Session};
use crate::Config;
use crate::handshake::{Facts, Handshake, HandshakeRoom};
use crate::record::{PLAIN, PROTECTED, Protection, RECORD_FRONT, emit_plain};
use crate::reliability::Outgoing;
use crate::v12::{Message, Role};

impl<C: Crypto, R: Role, H: HandshakeRoom<C>> Session<C, R, H> {
    /// Protects application data in place: `length` bytes that stand at
    /// `buffer[RECORD_FRONT..]`, with room behind them so that `buffer` takes
    /// [`Session::overhead`] bytes more than the data. Returns the length of the datagram in `buffer`.
    pub fn seal<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        length: usize,
    ) -> Result<usize, Error> {
        let (Phase::Connected, Slot::Full(protection)) = (self.phase, &self.protection) else {
            return Err(Error::NotConnected);
        };
        if length > self.max_data() || buffer.len() < length + protection.overhead() {
            return Err(Error::Room);
        }
        let number = self.write_sequence.ok_or(Error::SequenceExhausted)?;
        self.write_sequence = number.next();
        protection.seal(cx.crypto, ContentType::ApplicationData, number, buffer, length).ok_or(Error::Room)
    }

    /// Writes the next datagram of the handshake or an alert and returns its length; `out` has
    /// room for [`Config::MIN_DATAGRAM`] bytes at least, and a client's for its hello: 75
    /// bytes and the server's cookie.
    #[inline(never)]
    pub fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        out: &mut [u8],
    ) -> Option<usize> {
        if let Some(handshake) = self.handshake.get_mut() {
            let Handshake { facts, outgoing, config, .. } = handshake;
            // A hello is never cut: a server that keeps nothing could not put it together.
            let limit = match outgoing.next() {
                Some((Message::ClientHello, ..)) => out.len(),
                _ => out.len().min(config.max_datagram.max(Config::MIN_DATAGRAM).into()),
            };
            let mut filled = 0;
            while let Some(length) = emit_next::<C, R>(
                cx.crypto,
                facts,
                outgoing,
                self.protection.get(),
                &mut self.write_sequence,
                &mut out[filled..limit],
                limit,
            ) {
                filled += length;
            }
            outgoing.arm(cx.now, config.spread, cx.entropy);
            if filled > 0 {
                return Some(filled);
            }
        }
        self.emit_alert(cx, out)
    }

    fn emit_alert<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, out: &mut [u8]) -> Option<usize> {
        let (alert, epoch) = self.alert?;
        let content = alert.to_bytes();
        let length = if epoch == PLAIN {
            let number = self.handshake.get_mut()?.outgoing.take_record_sequence()?;
            emit_plain(Version::DTLS_1_2, ContentType::Alert, number, &content, out)?
        } else {
            out.get_mut(RECORD_FRONT..)?.get_mut(..Alert::LENGTH)?.copy_from_slice(&content);
            let number = self.write_sequence?;
            self.write_sequence = number.next();
            self.protection.get()?.seal(cx.crypto, ContentType::Alert, number, out, Alert::LENGTH)?
        };
        self.alert = None;
        if self.phase == Phase::Over {
            self.release();
        }
        Some(length)
    }
}

/// Writes the next record of the flight and returns its length; none if it does not fit or
/// the flight is all out.
fn emit_next<C: Crypto, R: Role>(
    crypto: &mut C,
    facts: &Facts,
    outgoing: &mut Outgoing,
    protection: Option<&Protection<C>>,
    write_sequence: &mut Option<SequenceNumber>,
    out: &mut [u8],
    limit: usize,
) -> Option<usize> {
    let (message, message_seq, offset) = outgoing.next()?;
    let Some(kind) = message.kind() else {
        if out.len() < RECORD_HEADER + CHANGE_CIPHER_SPEC.len() {
            return None;
        }
        let number = outgoing.take_record_sequence()?;
        outgoing.sent(None);
        return emit_plain(
            Version::DTLS_1_2,
            ContentType::ChangeCipherSpec,
            number,
            &CHANGE_CIPHER_SPEC,
            out,
        );
    };

    let (front, tail) = if message.epoch() == PLAIN {
        (RECORD_HEADER, 0)
    } else {
        (RECORD_FRONT, protection?.overhead() - RECORD_FRONT)
    };
    let length = message.length::<R>(facts);
    let remaining = length - offset;
    let room = out.len().checked_sub(front + HANDSHAKE_HEADER + tail)?.min(u16::MAX.into()) as u16;
    let whole = front + HANDSHAKE_HEADER + tail + usize::from(remaining);
    // A message is cut only if no datagram takes it whole: each cut costs headers.
    let starts_afresh = out.len() == limit;
    if room < remaining && (room == 0 || message == Message::ClientHello || !starts_afresh && whole <= limit)
    {
        return None;
    }
    let fragment_length = room.min(remaining);
    let header = HandshakeHeader {
        kind,
        length: length.into(),
        message_seq,
        fragment_offset: offset.into(),
        fragment_length: fragment_length.into(),
    };
    let content = HANDSHAKE_HEADER + usize::from(fragment_length);
    let record = out.get_mut(..front + content + tail)?;
    record[front..front + HANDSHAKE_HEADER].copy_from_slice(&header.to_bytes());
    let body = &mut record[front + HANDSHAKE_HEADER..front + content];
    message.emit::<R>(facts, &mut Window::new(offset, body));
    let written = if message.epoch() == PROTECTED {
        let number = (*write_sequence)?;
        *write_sequence = number.next();
        protection?.seal(crypto, ContentType::Handshake, number, record, content)?
    } else {
        let header = RecordHeader {
            content_type: ContentType::Handshake,
            version: Version::DTLS_1_2,
            epoch: PLAIN,
            sequence_number: outgoing.take_record_sequence()?,
            length: content as u16,
        };
        record[..RECORD_HEADER].copy_from_slice(&header.to_bytes());
        record.len()
    };
    outgoing.sent((fragment_length < remaining).then_some(offset + fragment_length));
    Some(written)
}
