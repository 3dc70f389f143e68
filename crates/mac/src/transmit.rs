use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::{
    Address, BROADCAST as BROADCAST_SHORT, Endpoint, FCS, FrameType, Header, MAX_FRAME, MAX_SAFE_PAYLOAD,
    Version, fcs,
};

use crate::layer::SendError;
use crate::listening::Listening as _;
use crate::{BROADCAST, LinkLayer, Mac, TransmitId, contikimac};

/// Length of the header of a frame to one neighbour, both of whose addresses are extended and of one PAN, in bytes.
const HEADER: usize = 21;
/// What security adds to it, with a key that is named by its index.
const AUXILIARY_HEADER: usize = 6;

/// The sequence number behind the last one; the first is random, so that a neighbour does not take the first frame after a reboot for
/// a repetition.
#[inline(always)]
pub(crate) fn next_sequence<E: Entropy>(last: Option<u8>, entropy: &mut E) -> u8 {
    match last {
        Some(last) => last.wrapping_add(1),
        None => entropy.next_u32() as u8,
    }
}

/// Length of what security leaves in the clear behind the header, in bytes: of a command, its identifier (7.6.3.3.1).
#[inline(always)]
pub(crate) fn open_len(frame_type: FrameType) -> usize {
    usize::from(frame_type == FrameType::Command)
}

impl<C: Crypto, L: LinkLayer> Mac<C, L> {
    /// Bytes of payload that a frame to one neighbour carries.
    pub fn payload_capacity(&self) -> usize {
        let framed = self.listening.duty_cycle().map_or(0, |_| contikimac::HEADER);
        MAX_FRAME - HEADER - self.link().map_or(0, |link| AUXILIARY_HEADER + link.mic_len()) - framed - FCS
    }

    /// Whether a transmit frame is free.
    pub fn can_send(&self) -> bool {
        self.queue.has_room()
    }

    /// Takes a frame to `destination`, a neighbour or [`BROADCAST`], for transmission.
    ///
    /// It is secured once: each transmission of it is the same bytes. Its transmit frame
    /// is free again when its [`Event::Sent`](crate::Event::Sent) has been polled.
    pub fn send<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        destination: Eui64,
        payload: &[u8],
    ) -> Result<TransmitId, SendError> {
        let sent = self.send_frame(cx, at, FrameType::Data, destination, payload)?;
        if Self::HOLDS {
            self.sleepers.serve(destination, sent.0, at);
        }
        Ok(sent)
    }

    /// Takes a frame of this type for transmission.
    #[inline(always)]
    pub(crate) fn send_frame<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame_type: FrameType,
        destination: Eui64,
        payload: &[u8],
    ) -> Result<TransmitId, SendError> {
        let sequence = next_sequence(self.sequence, cx.entropy);
        let mut room = payload.len();
        let mut header = self.header(frame_type, destination, sequence, room);
        let mic_len = self.mic_len();
        if let Some(cycle) = self.listening.duty_cycle() {
            room = cycle.times().room(room, header.emitted_len() + mic_len);
            header = self.header(frame_type, destination, sequence, room);
        }
        let frame = self.queue.vacant().ok_or(SendError::QueueFull)?;
        let len = header.emitted_len() + room + mic_len + FCS;
        let bytes = frame.bytes.get_mut(..len).ok_or(SendError::TooLong)?;

        let mut link = self.link.get_mut().filter(|_| L::SECURED);
        let frame_counter = match &mut link {
            None => 0,
            Some(link) => link.take_counter(cx.nv).map_err(|error| {
                cx.counters.count(Counter::MacCounterExhausted);
                SendError::NoCounter(error)
            })?,
        };
        header.security = link.as_ref().map(|link| link.header(frame_counter));
        let (body, trailer) = bytes.split_at_mut(len - FCS);
        let header_len = header.emit(body).map_err(|_| SendError::TooLong)?;
        let (sealed, mic) = body.split_at_mut(header_len + room);
        if self.listening.duty_cycle().is_some() {
            // It is sealed when it is known whether another follows it.
            contikimac::padded(&mut sealed[header_len..], payload);
        } else {
            sealed[header_len..].copy_from_slice(payload);
            if let Some(link) = link {
                let private = header_len + open_len(frame_type);
                mic.copy_from_slice(
                    link.seal(cx.crypto, self.address, frame_counter, sealed, private).bytes(),
                );
            }
            trailer.copy_from_slice(&fcs(body).to_le_bytes());
        }

        frame.len = len as u8;
        frame.sequence = sequence;
        frame.ack_request = L::CSMA && self.ack && destination != BROADCAST;
        self.sequence = Some(sequence);
        self.queue.push();
        self.begin_frame_if_idle(cx, at);
        Ok(TransmitId(sequence))
    }

    fn mic_len(&self) -> usize {
        self.link().map_or(0, |link| link.mic_len())
    }

    fn header(&self, frame_type: FrameType, destination: Eui64, sequence: u8, payload_len: usize) -> Header {
        let pan_id = self.pan_id;
        let (address, ack_request) = if destination == BROADCAST {
            (Address::Short(BROADCAST_SHORT), false)
        } else {
            (Address::Extended(destination), L::CSMA && self.ack)
        };
        let security = self.link().map(|link| link.header(0));
        let version = if security.is_some() || payload_len > MAX_SAFE_PAYLOAD {
            Version::V2006
        } else {
            Version::V2003
        };
        Header {
            frame_type,
            pending: false,
            ack_request,
            version,
            sequence,
            destination: Some(Endpoint { pan_id, address }),
            source: Some(Endpoint { pan_id, address: Address::Extended(self.address) }),
            security,
        }
    }
}
