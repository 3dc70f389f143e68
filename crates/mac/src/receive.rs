use sixlock_base::{Counter, Cx, Entropy, Eui64, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_ieee802154::{
    Address, AuxiliaryHeader, BROADCAST as BROADCAST_SHORT, Endpoint, FrameType, Header, MAX_FRAME, check_fcs,
};

use crate::contikimac;
use crate::indirect::DATA_REQUEST;
use crate::layer::Received;
use crate::listening::Listening as _;
use crate::neighbours::Freshness;
use crate::transmit::open_len;
use crate::{BROADCAST, LinkLayer, Mac};

/// Length of a frame without its FCS, if it is no longer than a frame may be and its FCS is right.
#[inline(always)]
pub(crate) fn body_len(frame: &[u8]) -> Result<usize, Counter> {
    if frame.len() > MAX_FRAME {
        return Err(Counter::MacMalformed);
    }
    check_fcs(frame).map(<[u8]>::len).map_err(|_| Counter::MacMalformed)
}

impl<C: Crypto, L: LinkLayer> Mac<C, L> {
    /// Takes in a received `frame`, FCS included, whose last symbol came in at `at`, and lends
    /// the payload out of it if there is one for this device. What is dropped is counted.
    ///
    /// A frame that asks for it is acknowledged when its FCS is right and it is addressed to
    /// this device, as the standard has it: also a repetition, or one that security refuses.
    pub fn handle_frame<'f, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &'f mut [u8],
    ) -> Option<Received<'f>> {
        let is_data = self.listening.duty_cycle().is_some() && contikimac::is_data(frame);
        let pending = is_data && contikimac::is_pending(frame);
        let received = self.receive(cx, at, frame);
        if let Some(polling) = self.listening.polling_mut() {
            polling.at(at);
            if let Ok(Some(Received { destination, .. })) = &received
                && *destination != BROADCAST
            {
                polling.received(at);
            }
        }
        if let Some(cycle) = self.listening.duty_cycle_mut() {
            let is_own = matches!(received, Ok(Some(_)) | Err(Counter::MacDuplicate));
            cycle.received(at, is_data && !matches!(received, Err(Counter::MacMalformed)), is_own, pending);
        }
        received.unwrap_or_else(|drop| {
            cx.counters.count(drop);
            None
        })
    }

    fn receive<'f, E: Entropy, N: Nv>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        frame: &'f mut [u8],
    ) -> Result<Option<Received<'f>>, Counter> {
        let body_len = body_len(frame)?;
        let body = frame.get_mut(..body_len).ok_or(Counter::MacMalformed)?;
        let (header, header_len) = Header::parse(body).map_err(|_| Counter::MacMalformed)?;

        match header.frame_type {
            FrameType::Data | FrameType::Command => {}
            FrameType::Ack
                if header.destination.is_none() && header.source.is_none() && body_len == header_len =>
            {
                self.handle_ack(cx, at, header.sequence, header.pending);
                return Ok(None);
            }
            FrameType::Ack | FrameType::Beacon => return Err(Counter::MacMalformed),
        }
        let Some(destination) = self.addressed(header.destination) else { return Ok(None) };
        if header.ack_request && destination == self.address {
            let turnaround = self.rules().ack_turnaround;
            self.radio.owe_ack(at, turnaround, header.sequence);
            self.interrupted();
        }
        // Devices of this network have extended addresses only; the own one is an echo.
        let source = match header.source {
            Some(Endpoint { address: Address::Extended(source), .. }) if source != self.address => source,
            _ => return Err(Counter::MacMalformed),
        };
        let is_request = Self::HOLDS
            && header.frame_type == FrameType::Command
            && destination != BROADCAST
            && body.get(header_len) == Some(&DATA_REQUEST);
        if header.frame_type != FrameType::Data && !is_request {
            return Err(Counter::MacMalformed);
        }
        let open = header_len + open_len(header.frame_type);
        let payload = self.admit(cx, at, source, (header.sequence, header.security), body, open)?;
        if is_request {
            if !self.sleepers.ask(source, at) {
                return Err(Counter::MacSleepersFull);
            }
            self.send_kept(cx, at, source);
            return Ok(None);
        }
        let payload = match self.listening.duty_cycle() {
            Some(_) => contikimac::unpadded(payload).ok_or(Counter::MacMalformed)?,
            None => payload,
        };
        Ok(Some(Received { source, destination, payload }))
    }

    /// Whom a frame to `destination` is for, if this device is to take it in (7.5.6.2).
    fn addressed(&self, destination: Option<Endpoint>) -> Option<Eui64> {
        let Endpoint { pan_id, address } = destination?;
        if pan_id != self.pan_id && pan_id != BROADCAST_SHORT {
            return None;
        }
        match address {
            Address::Extended(address) if address == self.address => Some(address),
            Address::Short(BROADCAST_SHORT) => Some(BROADCAST),
            _ => None,
        }
    }

    /// What follows the first `private` bytes of a frame, if it is new and secured as it must be (7.5.8.2.3).
    fn admit<'f, E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        at: Symbols,
        source: Eui64,
        (sequence, security): (u8, Option<AuxiliaryHeader>),
        body: &'f mut [u8],
        private: usize,
    ) -> Result<&'f [u8], Counter> {
        let (payload, frame_counter) = match (self.link(), security) {
            (None, None) => {
                if self.neighbours.unsecured(source, sequence, at) == Freshness::Duplicate {
                    self.neighbours.remember(source, sequence, at, 0);
                    return Err(Counter::MacDuplicate);
                }
                (body.get_mut(private..).ok_or(Counter::MacMalformed)?, 0)
            }
            (None, Some(_)) => return Err(Counter::MacBadMic),
            (Some(_), None) => return Err(Counter::MacUnsecured),
            (Some(link), Some(security)) => {
                let frame_counter = security.frame_counter;
                let policy = link.header(frame_counter);
                if security.level != policy.level {
                    return Err(Counter::MacUnsecured);
                }
                if security.key_id != policy.key_id {
                    return Err(Counter::MacBadMic);
                }
                match self.neighbours.secured(source, sequence, frame_counter) {
                    Freshness::Fresh if frame_counter != u32::MAX => {}
                    Freshness::Duplicate => return Err(Counter::MacDuplicate),
                    _ => return Err(Counter::MacReplayed),
                }
                if !self.neighbours.can_remember(source) {
                    return Err(Counter::MacNeighboursFull);
                }
                let payload =
                    link.open(cx.crypto, source, frame_counter, body, private).ok_or(Counter::MacBadMic)?;
                (payload, frame_counter)
            }
        };
        self.neighbours.remember(source, sequence, at, frame_counter);
        Ok(payload)
    }
}
