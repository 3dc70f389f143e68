//! Frames of version 2 (IEEE 802.15.4-2015), with information elements, and nonces that may have the number of a time slot.

use std::collections::BTreeMap;

use sixlock_base::Eui64;
use sixlock_crypto::AES_128_KEY;
use sixlock_ieee802154::enhanced::{Asn, Follows, Header, NonceCounter, Security};
use sixlock_ieee802154::{Address, Error, FrameType, SecurityLevel};

use crate::elements::Elements;
use crate::layer::{Layer, LinkSecurity, Mac, Reason, Unread};
use crate::link;
use crate::sealed::{self, Sealed};
use crate::shown::LinkAddress;
use crate::slots::Slots;

/// A frame of version 2, its header read.
pub(crate) struct Frame<'f> {
    pub(crate) header: Header,
    /// Its sender, also if it does not name it.
    pub(crate) sender: Option<Address>,
    /// The bytes of the header.
    pub(crate) front: &'f [u8],
    /// The bytes behind it, without FCS.
    pub(crate) behind: &'f [u8],
    /// When it began, in microseconds since the capture's origin.
    pub(crate) us: u64,
}

/// Its header as a layer.
pub(crate) fn mac(header: &Header, fcs_len: usize, repeated: bool) -> Layer {
    let without = Header { security: None, ..*header };
    Layer::Mac(Mac {
        bytes: without.emitted_len() + fcs_len,
        version: 2,
        kind: link::kind(header.frame_type),
        sequence: header.sequence,
        pan: pan_id(header),
        source: header.source.map(LinkAddress),
        destination: header.destination.map(LinkAddress),
        ack_request: header.ack_request,
        repeated,
    })
}

fn pan_id(header: &Header) -> Option<u16> {
    header.destination_pan_id.or(header.source_pan_id)
}

impl Frame<'_> {
    /// Opens it and reads its elements, which become layers, as its security does; the payload behind them.
    pub(crate) fn payload(
        &self,
        keys: &BTreeMap<u8, [u8; AES_128_KEY]>,
        slots: &mut Slots,
        layers: &mut Vec<Layer>,
    ) -> Result<Vec<u8>, Unread> {
        let mut elements = Elements::default();
        let Some(security) = self.header.security else {
            let payload = self.read(&mut elements, self.behind);
            push(elements, layers);
            return payload;
        };
        let mut opening = Opening { frame: self, security, keys, elements, asn: None };
        let payload = opening.payload(slots);
        let Opening { elements, asn, .. } = opening;
        if let (Ok(_), Some(asn), false) = (&payload, asn, self.header.frame_type == FrameType::Ack) {
            slots.learn(pan_id(&self.header), self.us, asn, elements.times());
        }
        layers.push(self.link_security(&security, asn));
        push(elements, layers);
        payload
    }

    /// All elements, if there are any; the payload.
    fn read(&self, elements: &mut Elements, content: &[u8]) -> Result<Vec<u8>, Unread> {
        let (follows, rest) = self.read_header(elements, content)?;
        read_payload(elements, follows, rest)
    }

    fn read_header<'b>(
        &self,
        elements: &mut Elements,
        content: &'b [u8],
    ) -> Result<(Follows, &'b [u8]), Unread> {
        match self.header.elements {
            true => elements.read_header(content).map_err(|error| malformed(content, error)),
            false => Ok((Follows::Payload, content)),
        }
    }

    fn link_security(&self, security: &Security, asn: Option<Asn>) -> Layer {
        let without = Header { security: None, ..self.header };
        let auxiliary = self.header.emitted_len() - without.emitted_len();
        Layer::LinkSecurity(LinkSecurity {
            bytes: auxiliary + security.level.mic_len().min(self.behind.len()),
            level: sealed::level_name(security.level),
            key: sealed::key_index(security.key_id),
            counter: match security.counter {
                NonceCounter::FrameCounter(counter) => Some(counter),
                NonceCounter::Asn { frame_counter } => frame_counter,
            },
            asn: asn.map(Asn::number),
        })
    }
}

/// Adds the payload elements, if that is what `follows`; the payload behind them.
fn read_payload(elements: &mut Elements, follows: Follows, content: &[u8]) -> Result<Vec<u8>, Unread> {
    match elements.read_payload(follows, content) {
        Ok(payload) => Ok(payload.to_vec()),
        Err(error) => Err(malformed(content, error)),
    }
}

fn malformed(content: &[u8], error: Error) -> Unread {
    Unread::malformed("information elements", content.len(), error)
}

fn push(elements: Elements, layers: &mut Vec<Layer>) {
    if elements.bytes > 0 || !elements.elements.is_empty() {
        layers.push(Layer::Elements(elements));
    }
}

/// A secured frame, while it is opened.
struct Opening<'a> {
    frame: &'a Frame<'a>,
    security: Security,
    keys: &'a BTreeMap<u8, [u8; AES_128_KEY]>,
    elements: Elements,
    /// The slot in whose nonce it was sealed.
    asn: Option<Asn>,
}

impl Opening<'_> {
    fn payload(&mut self, slots: &Slots) -> Result<Vec<u8>, Unread> {
        let Frame { behind, front, .. } = *self.frame;
        let level = self.security.level;
        let Some((content, mic)) = behind.split_at_checked(behind.len().wrapping_sub(level.mic_len())) else {
            return Err(Unread::new("payload", behind.len(), Reason::Malformed, sealed::NO_MIC));
        };
        let (follows, rest) = self.frame.read_header(&mut self.elements, content)?;
        // Elements in the clear are read also if nothing proves them.
        let clear = match level.is_encrypted() {
            true => None,
            false => Some(read_payload(&mut self.elements, follows, rest)?),
        };
        if let (SecurityLevel::None, Some(payload)) = (level, &clear) {
            return Ok(payload.clone());
        }
        let refuse = |reason, why: &str| Unread::new("payload", rest.len(), reason, why);
        let keys =
            sealed::keys(self.keys, self.security.key_id).map_err(|why| refuse(Reason::NoKey, &why))?;
        let sender = self.sender().map_err(|(reason, why)| refuse(reason, why))?;
        let slots = self.slots(slots).map_err(|why| refuse(Reason::Missing, why))?;
        if mic.is_empty() && keys.len() * slots.len() > 1 {
            let why = "without a MIC nothing tells which key or which time slot is its own";
            return Err(refuse(Reason::Unsupported, why));
        }
        let front = [front, content.strip_suffix(rest).unwrap_or_default()].concat();
        let sealed = Sealed { level, front: &front, content: rest, mic };
        let opened = slots.into_iter().find_map(|slot| {
            // A nonce that has the frame counter has no slot.
            let nonce = self.security.nonce(sender, slot.unwrap_or(Asn::MAX));
            Some((slot, sealed.open(&keys, &nonce)?))
        });
        let (slot, opened) = opened.ok_or_else(|| refuse(Reason::BadMic, ""))?;
        self.asn = slot;
        match clear {
            Some(payload) => Ok(payload),
            None => read_payload(&mut self.elements, follows, &opened),
        }
    }

    /// The address of its sender, as its nonce has it.
    fn sender(&self) -> Result<Eui64, (Reason, &'static str)> {
        match self.frame.sender {
            Some(Address::Extended(sender)) => Ok(sender),
            None if self.frame.header.frame_type == FrameType::Ack => Err((
                Reason::Missing,
                "its nonce has the address of its sender, and no frame before it that it acknowledges tells that",
            )),
            _ => Err((Reason::Unsupported, sealed::NO_EXTENDED_SOURCE)),
        }
    }

    /// The slots that its nonce may have, the most likely first, and `None` if it has none.
    fn slots(&self, slots: &Slots) -> Result<Vec<Option<Asn>>, &'static str> {
        if let NonceCounter::FrameCounter(_) = self.security.counter {
            return Ok(vec![None]);
        }
        let candidates = match self.elements.asn() {
            Some(asn) => vec![asn],
            None => slots.of(pan_id(&self.frame.header), self.frame.us),
        };
        if candidates.is_empty() {
            return Err(
                "its nonce has the number of its time slot, and no beacon before it that could be opened tells that",
            );
        }
        Ok(candidates.into_iter().map(Some).collect())
    }
}
