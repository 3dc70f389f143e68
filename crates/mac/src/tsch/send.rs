//! Frames of this device, sealed in the slot in which they go out.

use sixlock_base::{Cx, Entropy, Eui64, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::enhanced::{Asn, Header, Security};
use sixlock_ieee802154::{Address, BROADCAST as BROADCAST_SHORT, FCS, FrameType, MAX_FRAME, fcs};

use super::slot::{Sending, Tsch};
use crate::transmit::next_sequence;
use crate::{BROADCAST, LinkLayer, SendError, TransmitId};

/// Length of the header of a frame to one neighbour, in bytes: both addresses are extended and of one PAN.
const HEADER: usize = 21;
/// The bit of frame control that tells of another frame (7.2.2.4).
const PENDING: u8 = 1 << 4;
/// What security adds to it, with a key that is named by its index, and no frame counter.
const AUXILIARY_HEADER: usize = 2;

impl<C: Crypto, L: LinkLayer> Tsch<C, L> {
    /// Bytes of payload that a frame to one neighbour carries.
    pub fn payload_capacity(&self) -> usize {
        MAX_FRAME - HEADER - self.security().map_or(0, |security| AUXILIARY_HEADER + security.mic_len()) - FCS
    }

    /// Whether a transmit frame is free, and a network there to send it in.
    pub fn can_send(&self) -> bool {
        self.has_joined() && self.queue.has_room()
    }

    /// The frames that wait to be sent, or are being sent: their sequence numbers and lengths without MIC and FCS.
    pub fn waiting(&self) -> impl Iterator<Item = (u8, usize)> + '_ {
        self.queue.waiting().map(|frame| (frame.sequence, frame.bytes().len()))
    }

    /// How many transmit frames are in use, also by those whose [`Event::Sent`](crate::Event::Sent) was not polled yet.
    pub const fn occupied(&self) -> usize {
        self.queue.occupied()
    }

    pub(super) fn mic_len(&self) -> usize {
        self.security().map_or(0, |security| security.mic_len())
    }

    fn header(&self, destination: Eui64, sequence: u8) -> Header {
        let is_to_all = destination == BROADCAST;
        Header {
            frame_type: FrameType::Data,
            pending: false,
            ack_request: !is_to_all,
            sequence: Some(sequence),
            destination_pan_id: Some(self.pan_id),
            destination: Some(match is_to_all {
                true => Address::Short(BROADCAST_SHORT),
                false => Address::Extended(destination),
            }),
            source_pan_id: None,
            source: Some(Address::Extended(self.address)),
            security: self.security().map(|security| security.header(false)),
            elements: false,
        }
    }

    /// Takes a frame to `destination`, a neighbour or [`BROADCAST`], for transmission. It is secured anew each time it is sent.
    ///
    /// Its transmit frame is free again when its [`Event::Sent`](crate::Event::Sent) has been polled.
    pub fn send<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        destination: Eui64,
        payload: &[u8],
    ) -> Result<TransmitId, SendError> {
        if !self.queue.has_room() {
            return Err(SendError::QueueFull);
        }
        let mic_len = self.mic_len();
        let sequence = next_sequence(self.sequence, cx.entropy);
        let header = self.header(destination, sequence);
        let len = header.emitted_len() + payload.len();
        let frame = self.queue.vacant().ok_or(SendError::QueueFull)?;
        if len + mic_len + FCS > MAX_FRAME {
            return Err(SendError::TooLong);
        }
        let header_len = header.emit(&mut frame.bytes).map_err(|_| SendError::TooLong)?;
        frame.bytes[header_len..len].copy_from_slice(payload);
        frame.len = len as u8;
        frame.sequence = sequence;
        frame.ack_request = destination != BROADCAST;
        frame.attempts = 0;
        self.sequence = Some(sequence);
        self.queue.push();
        self.look_again(at);
        Ok(TransmitId(sequence))
    }

    /// Writes what is to be sent in this slot to `out`; false if it does not fit.
    pub(super) fn write<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        asn: Asn,
        sending: Sending,
    ) -> bool {
        self.awaited = None;
        match sending {
            Sending::Beacon => self.write_beacon(cx, asn),
            Sending::Frame => {
                let Some(frame) = self.queue.current() else { return false };
                let to = frame.destination();
                self.awaited = frame.ack_request.then_some((to, frame.sequence));
                let len = frame.bytes().len();
                self.out[..len].copy_from_slice(frame.bytes());
                self.is_followed = to != BROADCAST && self.has_more(to);
                if self.is_followed {
                    self.out[0] |= PENDING;
                }
                let private = self.header(to, 0).emitted_len();
                let security = self.security().map(|security| security.header(false));
                self.close(cx, asn, security, len, private)
            }
            Sending::KeepAlive => {
                let Some(time_source) = self.time_source else { return false };
                let sequence = next_sequence(self.sequence, cx.entropy);
                (self.sequence, self.awaited) = (Some(sequence), Some((time_source, sequence)));
                let header = self.header(time_source, sequence);
                let Ok(len) = header.emit(&mut self.out) else { return false };
                self.close(cx, asn, header.security, len, len)
            }
        }
    }

    /// Ends the frame in `out`, which has `len` bytes, with its MIC and its FCS; what follows its first `private` bytes is encrypted, if
    /// it is secured so.
    pub(super) fn close<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        asn: Asn,
        security: Option<Security>,
        mut len: usize,
        private: usize,
    ) -> bool {
        if let (Some(seals), Some(security)) = (self.security.get().filter(|_| L::SECURED), security) {
            let mic = seals.seal(cx.crypto, (self.address, asn), &security, &mut self.out[..len], private);
            let Some(place) = self.out.get_mut(len..len + mic.bytes().len()) else { return false };
            place.copy_from_slice(mic.bytes());
            len += mic.bytes().len();
        }
        let fcs = fcs(&self.out[..len]).to_le_bytes();
        let Some(place) = self.out.get_mut(len..len + FCS) else { return false };
        place.copy_from_slice(&fcs);
        self.out_len = (len + FCS) as u8;
        true
    }
}
