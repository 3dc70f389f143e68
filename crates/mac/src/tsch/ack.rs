//! What is heard, and acknowledgements that tell the time.

use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::enhanced::{
    Asn, ElementWriter, Header, HeaderElements, TIME_CORRECTION, TimeCorrection,
};
use sixlock_ieee802154::{Address, BROADCAST as BROADCAST_SHORT, FrameType};

use super::beacon::Beacon;
use super::slot::{Step, Tsch};
use super::times::SYMBOL;
use crate::neighbours::{Freshness, SLOTTED_REPETITION};
use crate::receive::body_len;
use crate::{BROADCAST, LinkLayer, Received};

impl<C: Crypto, L: LinkLayer> Tsch<C, L> {
    /// Takes in a received `frame`, FCS included, whose last symbol came in at `at`, and lends the payload out of it if there is one for
    /// this device. What is dropped is counted.
    ///
    /// A frame for this device is acknowledged when it is authentic, also a repetition.
    pub fn handle_frame<'f, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &'f mut [u8],
    ) -> Option<Received<'f>> {
        let heard = match self.step {
            Step::Scan => self.hear_beacon(cx, at, frame).map(|()| None),
            Step::Listen | Step::Detect | Step::Receive => self.receive(cx, at, frame),
            Step::AwaitAck | Step::DetectAck | Step::ReceiveAck => {
                self.hear_ack(cx, at, frame).map(|()| None)
            }
            Step::Stopped | Step::Rest | Step::Sleep | Step::Acknowledge | Step::Send => return None,
        };
        heard.unwrap_or_else(|drop| {
            cx.counters.count(drop);
            None
        })
    }

    /// The header of a frame, its length and the frame's without FCS.
    fn header_of(&self, frame: &[u8]) -> Result<(Header, usize, usize), Counter> {
        let body_len = body_len(frame)?;
        let (header, header_len) = Header::parse(&frame[..body_len]).map_err(|_| Counter::MacMalformed)?;
        Ok((header, header_len, body_len))
    }

    /// The frame without its MIC, if it is as authentic as it must be.
    fn open<'f, E, N>(
        &self,
        cx: &mut Cx<'_, C, E, N>,
        (source, asn): (Eui64, Asn),
        header: &Header,
        body: &'f mut [u8],
        private: usize,
    ) -> Result<&'f mut [u8], Counter> {
        match (self.security(), header.security) {
            (None, None) => Ok(body),
            (None, Some(_)) => Err(Counter::MacBadMic),
            (Some(_), None) => Err(Counter::MacUnsecured),
            (Some(security), Some(told)) => {
                let policy = security.header(header.frame_type == FrameType::Beacon);
                if told.level != policy.level || told.counter != policy.counter {
                    return Err(Counter::MacUnsecured);
                }
                if told.key_id != policy.key_id {
                    return Err(Counter::MacBadMic);
                }
                security.open(cx.crypto, (source, asn), &told, body, private).ok_or(Counter::MacBadMic)
            }
        }
    }

    /// An authentic beacon of this network, and who sent it. Its own slot is that of its nonce: it stands in the clear.
    fn beacon<E, N>(
        &self,
        cx: &mut Cx<'_, C, E, N>,
        header: &Header,
        header_len: usize,
        body: &mut [u8],
    ) -> Result<(Eui64, Beacon), Counter> {
        let Some(Address::Extended(source)) = header.source else { return Err(Counter::MacMalformed) };
        if !header.elements {
            return Err(Counter::MacMalformed);
        }
        let elements = body.len().checked_sub(self.mic_len()).and_then(|end| body.get(header_len..end));
        let beacon = elements.and_then(Beacon::read).ok_or(Counter::MacMalformed)?;
        self.open(cx, (source, beacon.synchronization.asn), header, body, header_len)?;
        Ok((source, beacon))
    }

    fn hear_beacon<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
    ) -> Result<(), Counter> {
        let (header, header_len, body_len) = self.header_of(frame)?;
        if header.frame_type != FrameType::Beacon || header.destination_pan_id != Some(self.pan_id) {
            return Ok(());
        }
        let len = frame.len();
        let (source, beacon) = self.beacon(cx, &header, header_len, &mut frame[..body_len])?;
        if self.leads_nearer(at, len, beacon.synchronization) {
            self.join_by(at, len, source, &beacon);
        }
        Ok(())
    }

    fn receive<'f, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &'f mut [u8],
    ) -> Result<Option<Received<'f>>, Counter> {
        let (asn, len) = (self.clock.asn, frame.len());
        let heard = self.hear(cx, at, frame, asn, len);
        if self.step != Step::Acknowledge {
            self.sleep(at);
        }
        heard
    }

    fn hear<'f, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &'f mut [u8],
        asn: Asn,
        len: usize,
    ) -> Result<Option<Received<'f>>, Counter> {
        let (header, header_len, body_len) = self.header_of(frame)?;
        if header.destination_pan_id != Some(self.pan_id) {
            return Ok(None);
        }
        let Some(Address::Extended(source)) = header.source.filter(|_| header.source != self.own()) else {
            return Err(Counter::MacMalformed);
        };
        let late = self.lateness(at, len);
        let body = &mut frame[..body_len];
        if header.frame_type == FrameType::Beacon {
            let (source, beacon) = self.beacon(cx, &header, header_len, body)?;
            if beacon.synchronization.asn != asn {
                return Err(Counter::MacReplayed);
            }
            self.heed(at, source, late);
            self.hear_metric(source, beacon.synchronization.join_metric);
            return Ok(None);
        }
        let destination = match header.destination {
            Some(Address::Short(BROADCAST_SHORT)) => BROADCAST,
            destination if destination == self.own() => self.address,
            _ => return Ok(None),
        };
        if header.frame_type != FrameType::Data || header.elements {
            return Err(Counter::MacMalformed);
        }
        let payload = self.open(cx, (source, asn), &header, body, header_len)?.get(header_len..);
        let payload = payload.ok_or(Counter::MacMalformed)?;
        if header.ack_request && destination == self.address {
            let correction = -late.saturating_mul(SYMBOL.cast_signed());
            let microseconds = correction.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
            self.answer(cx, at, (source, &header), TimeCorrection { microseconds, is_nack: false });
        }
        self.heed(at, source, late);
        let sequence = header.sequence.ok_or(Counter::MacMalformed)?;
        let freshness = self.neighbours.repeated(source, sequence, at, SLOTTED_REPETITION);
        self.neighbours.remember(source, sequence, at, 0);
        match freshness {
            Freshness::Fresh if payload.is_empty() => Ok(None),
            Freshness::Fresh => Ok(Some(Received { source, destination, payload })),
            _ => Err(Counter::MacDuplicate),
        }
    }

    fn own(&self) -> Option<Address> {
        Some(Address::Extended(self.address))
    }

    /// Takes the time from a frame of its time source.
    fn heed(&mut self, at: Symbols, source: Eui64, late: i32) {
        if !self.is_coordinator && self.time_source == Some(source) {
            self.synchronize(at, late);
        }
    }

    /// Acknowledges a frame of the neighbour `to` with the header `told`.
    fn answer<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        (to, told): (Eui64, &Header),
        correction: TimeCorrection,
    ) {
        let asn = self.clock.asn;
        let header = Header {
            frame_type: FrameType::Ack,
            pending: false,
            ack_request: false,
            sequence: told.sequence,
            destination_pan_id: Some(self.pan_id),
            destination: Some(Address::Extended(to)),
            source_pan_id: None,
            source: None,
            security: self.security().map(|security| security.header(false)),
            elements: true,
        };
        if !self.may_send(cx, asn) {
            return;
        }
        let Ok(header_len) = header.emit(&mut self.out) else { return };
        let mut writer = ElementWriter::new(&mut self.out[header_len..]);
        let written = writer.header(TIME_CORRECTION, &correction.emit());
        let len = header_len + writer.len();
        if written.is_ok() && self.close(cx, asn, header.security, len, len) {
            self.acknowledge(at, told.pending);
        }
    }

    fn hear_ack<E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &mut [u8],
    ) -> Result<(), Counter> {
        let (header, header_len, body_len) = self.header_of(frame)?;
        let (Some((from, sequence)), asn) = (self.awaited, self.clock.asn) else { return Ok(()) };
        let is_awaited = header.frame_type == FrameType::Ack
            && header.destination == self.own()
            && header.destination_pan_id == Some(self.pan_id)
            && header.sequence == Some(sequence)
            && header.elements;
        if !is_awaited {
            return Ok(());
        }
        let in_clear = body_len.saturating_sub(self.mic_len());
        let body = self.open(cx, (from, asn), &header, &mut frame[..body_len], in_clear)?;
        let mut elements = HeaderElements::new(body.get(header_len..).unwrap_or_default());
        let correction = elements.find_map(|element| {
            let element = element.ok().filter(|element| element.id == TIME_CORRECTION)?;
            TimeCorrection::parse(element.content).ok()
        });
        self.acknowledged(at, from, correction.ok_or(Counter::MacMalformed)?);
        Ok(())
    }
}
