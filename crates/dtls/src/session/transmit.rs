use sixlock_base::{Cx, Entropy};
use sixlock_crypto::Crypto;
use sixlock_dtls_msg::{
    Alert, ContentType, HANDSHAKE_HEADER, HandshakeHeader, RECORD_HEADER, RecordHeader, Version as Number,
    Window,
};

use super::{Phase, Session};
use crate::engine::epochs::{Epoch, Epochs};
use crate::engine::handshake::{Handshake, HandshakeSlot};
use crate::engine::message::OutgoingMessage;
use crate::engine::record::{PLAIN, RecordCodec};
use crate::engine::role::{HandshakeRole, HandshakeState, Version};
use crate::engine::round_trip::RoundTrips;
use crate::{Config, Error, RECORD_FRONT};

impl<C: Crypto, R: HandshakeRole, H: HandshakeSlot<C, R::Version>> Session<C, R, H> {
    /// Protects application data in place: `length` bytes that stand at
    /// `buffer[RECORD_FRONT..]`, with room behind them so that `buffer` takes
    /// [`Session::overhead`] bytes more than the data. Returns the length of the datagram in `buffer`.
    pub fn seal<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        buffer: &mut [u8],
        length: usize,
    ) -> Result<usize, Error> {
        if self.phase != Phase::Connected {
            return Err(Error::NotConnected);
        }
        if length > self.max_data() || buffer.len() < length + self.overhead() {
            return Err(Error::TooLong);
        }
        let sending = self.epochs.sending();
        if self.epochs.get(sending).is_none_or(|epoch| epoch.write_sequence.is_none()) {
            return Err(Error::SequenceExhausted);
        }
        self.wrap(cx.crypto, sending, ContentType::ApplicationData, buffer, length).ok_or(Error::TooLong)
    }

    /// Protects `data` and writes the datagram into `out`, which takes [`Session::overhead`] bytes more than the data. Returns the datagram's
    /// length. [`Session::seal`] does the same without a copy.
    ///
    /// # Errors
    /// As [`Session::seal`]; then nothing was sent.
    pub fn seal_into<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        data: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        out.get_mut(RECORD_FRONT..)
            .and_then(|out| out.get_mut(..data.len()))
            .ok_or(Error::TooLong)?
            .copy_from_slice(data);
        self.seal(cx, out, data.len())
    }

    /// Makes a record of the content of `length` bytes that stands in `buffer` where [`front`] says, and returns the
    /// record's length; none if it does not fit or no number is left.
    #[inline(never)]
    fn wrap(
        &mut self,
        crypto: &mut C,
        epoch: u16,
        content_type: ContentType,
        buffer: &mut [u8],
        length: usize,
    ) -> Option<usize> {
        let (codec, next) = match epoch {
            PLAIN => (None, &mut self.handshake.get_mut()?.state.outgoing.record_sequence),
            _ => {
                let Epoch { codec, write_sequence, .. } = self.epochs.get_mut(epoch)?;
                (Some(codec.get()?), write_sequence)
            }
        };
        let sequence_number = (*next)?;
        *next = sequence_number.next();
        if let Some(codec) = codec {
            return codec.seal(crypto, content_type, sequence_number, buffer, length);
        }
        let header = RecordHeader {
            content_type,
            version: Number::DTLS_1_2,
            epoch,
            sequence_number,
            length: length as u16,
        };
        *buffer.first_chunk_mut()? = header.to_bytes();
        Some(RECORD_HEADER + length)
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
        if let Some(Handshake { state: HandshakeState { config, outgoing, .. }, .. }) = self.handshake.get() {
            // A hello is never cut: a server that keeps nothing could not put it together.
            let limit = match outgoing.next() {
                Some((message, ..)) if message.is_atomic() => out.len(),
                _ => out.len().min(config.max_datagram.max(Config::MIN_DATAGRAM).into()),
            };
            let mut filled = 0;
            while let Some(length) = self.emit_next(cx.crypto, &mut out[filled..limit], limit) {
                filled += length;
            }
            if let Some(Handshake { state: HandshakeState { config, outgoing, .. }, .. }) =
                self.handshake.get_mut()
                && outgoing.arm(cx.now, config.losses, cx.entropy)
            {
                self.round_trip.sent(cx.now);
            }
            if filled > 0 {
                return Some(filled);
            }
        }
        let (alert, epoch) = self.alert?;
        out.get_mut(front::<C, R>(epoch)..)?.first_chunk_mut().map(|content| *content = alert.to_bytes())?;
        let length = self.wrap(cx.crypto, epoch, ContentType::Alert, out, Alert::LENGTH)?;
        self.alert = None;
        if self.phase == Phase::Over {
            self.release();
        }
        Some(length)
    }

    /// Writes the next record of the flight and returns its length; none if it does not fit or
    /// the flight is all out. What is left of a datagram of `limit` bytes is `out`.
    fn emit_next(&mut self, crypto: &mut C, out: &mut [u8], limit: usize) -> Option<usize> {
        let HandshakeState { parameters, outgoing, .. } = &self.handshake.get()?.state;
        let (message, message_seq, offset) = outgoing.next()?;
        let front = front::<C, R>(message.epoch());
        let Some(kind) = message.kind() else {
            let (content_type, content) = R::Version::SIGNAL?;
            out.get_mut(front..)?.get_mut(..content.len())?.copy_from_slice(content);
            let length = self.wrap(crypto, PLAIN, content_type, out, content.len())?;
            self.handshake.get_mut()?.state.outgoing.sent(None);
            return Some(length);
        };
        let tail = match message.epoch() {
            PLAIN => 0,
            epoch => self.overhead_in(epoch) - R::Codec::<C>::FRONT,
        };
        let length = R::length(message, parameters);
        let remaining = length - offset;
        let room = out.len().checked_sub(front + HANDSHAKE_HEADER + tail)?.min(u16::MAX.into()) as u16;
        let whole = front + HANDSHAKE_HEADER + tail + usize::from(remaining);
        // A message is cut only if no datagram takes it whole: each cut costs headers.
        let starts_afresh = out.len() == limit;
        if room < remaining && (room == 0 || message.is_atomic() || !starts_afresh && whole <= limit) {
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
        let (head, body) = out.get_mut(front..)?.split_first_chunk_mut()?;
        *head = header.to_bytes();
        R::emit(message, parameters, &mut Window::new(offset, body.get_mut(..fragment_length.into())?));
        let written = self.wrap(crypto, message.epoch(), ContentType::Handshake, out, content)?;
        let sent = (fragment_length < remaining).then_some(offset + fragment_length);
        self.handshake.get_mut()?.state.outgoing.sent(sent);
        Some(written)
    }
}

/// Bytes of a record of this epoch before its content.
fn front<C: Crypto, R: HandshakeRole>(epoch: u16) -> usize {
    if epoch == PLAIN { RECORD_HEADER } else { R::Codec::<C>::FRONT }
}
