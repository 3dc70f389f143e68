use std::collections::BTreeMap;

use sixlock_base::Eui64;
use sixlock_ieee802154::{Address, BROADCAST, Endpoint, FrameType, Header, enhanced};
use sixlock_ipsec::Contexts;
use sixlock_ipv6::{Header as Ipv6Header, checksum, next_header};
use sixlock_sixlowpan::ipsec::{Context, TELL_WHOLE};
use sixlock_sixlowpan::{
    Decompressed, ElidedChecksum, Error, FragmentHeader, LinkAddresses, MAX_DATAGRAM, PayloadCompression,
    WithAddresses, decompress_with,
};

use crate::capture::Record;
use crate::contexts::AddressPrefixes;
use crate::datagrams::{Datagrams, Whole};
use crate::dtls::Sessions;
use crate::keys::Keys;
use crate::layer::{Compression, Data, Datagram, Fragment, Layer, Reason, TellWhole, Unread};
use crate::slots::Slots;
use crate::{contikimac, enhanced as version_2, ipv6, link};

/// Senders whose last frame is remembered, to tell which are sent again; beyond, one of them is forgotten.
const SENDERS: usize = 4096;

/// Flows of AH and ESP whose sequence numbers are remembered; beyond, the one heard longest ago is forgotten.
const FLOWS: usize = 256;

/// The first bits of the dispatch bytes that mark a frame as none of 6LoWPAN.
const NOT_LOWPAN: u8 = 0b00;

/// Reads frame after frame, and remembers what later ones need: datagrams under way, sessions and time slots.
pub struct Decoder {
    keys: Keys,
    datagrams: Datagrams,
    sessions: Sessions,
    contexts: Contexts<FLOWS, true, Option<PayloadCompression>>,
    prefixes: AddressPrefixes,
    last: BTreeMap<Eui64, Vec<u8>>,
    slots: Slots,
}

impl Decoder {
    /// A decoder that opens what `keys` open.
    pub fn new(keys: Keys) -> Self {
        let mut contexts = Contexts::new();
        contexts.start(keys.format, keys.default_spi);
        Self {
            prefixes: keys.contexts,
            keys,
            datagrams: Datagrams::default(),
            sessions: Sessions::default(),
            contexts,
            last: BTreeMap::new(),
            slots: Slots::default(),
        }
    }

    /// The layers of a frame, the outermost first.
    pub fn decode(&mut self, record: &Record) -> Vec<Layer> {
        let mut layers = Vec::new();
        if let Err(unread) = self.frame(record, &mut layers) {
            layers.push(unread.into());
        }
        layers
    }

    fn frame(&mut self, record: &Record, layers: &mut Vec<Layer>) -> Result<(), Unread> {
        let body = link::body(record)?;
        let malformed = |error| Unread::malformed("MAC header", body.len(), error);
        let (header, header_len) = match Header::parse(body) {
            Err(sixlock_ieee802154::Error::Version) => return self.enhanced(record, body, layers),
            read => read.map_err(malformed)?,
        };
        let without = Header { security: None, ..header };
        let auxiliary_len = header.emitted_len() - without.emitted_len();
        let fcs_len = record.frame.len() - body.len();
        let [source, destination] = [header.source, header.destination]
            .map(|endpoint| endpoint.map(|Endpoint { address, .. }| address));
        let repeated = self.is_repeated(source, &record.frame);
        layers.push(link::mac(&header, header_len.saturating_sub(auxiliary_len) + fcs_len, repeated));
        let (front, rest) = body.split_at_checked(header_len).unwrap_or_default();
        let payload = match &header.security {
            None => rest.to_vec(),
            Some(auxiliary) => {
                layers.push(link::security(auxiliary, &header, rest.len()));
                link::open(&self.keys.link, auxiliary, &header, front, rest)?
            }
        };
        self.carried(record.us, header.frame_type, link_addresses(source, destination), &payload, layers)
    }

    /// Reads a frame of version 2.
    fn enhanced(&mut self, record: &Record, body: &[u8], layers: &mut Vec<Layer>) -> Result<(), Unread> {
        let malformed = |error| Unread::malformed("MAC header", body.len(), error);
        let (header, header_len) = enhanced::Header::parse(body).map_err(malformed)?;
        let repeated = self.is_repeated(header.source, &record.frame);
        layers.push(version_2::mac(&header, record.frame.len() - body.len(), repeated));
        let (front, behind) = body.split_at_checked(header_len).unwrap_or_default();
        let sender = header.source.or_else(|| self.acknowledges(&header));
        let frame = version_2::Frame { header, sender, front, behind, us: record.us };
        let payload = frame.payload(&self.keys.link, &mut self.slots, layers)?;
        let link = link_addresses(header.source, header.destination);
        self.carried(record.us, header.frame_type, link, &payload, layers)
    }

    /// The sender of an acknowledgement that names none: the device that the last frame of its receiver was for.
    fn acknowledges(&self, ack: &enhanced::Header) -> Option<Address> {
        let asks = self.last.get(&eui64(ack.destination?))?;
        let (asks, _) = enhanced::Header::parse(asks).ok()?;
        let is_answer = ack.frame_type == FrameType::Ack && asks.ack_request && asks.sequence == ack.sequence;
        asks.destination.filter(|_| is_answer)
    }

    /// Reads what a frame carries.
    fn carried(
        &mut self,
        us: u64,
        frame_type: FrameType,
        link: Option<LinkAddresses>,
        payload: &[u8],
        layers: &mut Vec<Layer>,
    ) -> Result<(), Unread> {
        match (frame_type, link) {
            _ if payload.is_empty() => Ok(()),
            (FrameType::Data, Some(link)) => match contikimac::payload(payload, layers) {
                [] => Ok(()),
                payload => self.lowpan(us, link, payload, layers),
            },
            _ => {
                layers.push(Layer::Data(Data { bytes: payload.len() }));
                Ok(())
            }
        }
    }

    /// Whether a frame is the one that its sender sent last.
    fn is_repeated(&mut self, source: Option<Address>, frame: &[u8]) -> bool {
        let Some(address) = source else { return false };
        if self.last.len() >= SENDERS && !self.last.contains_key(&eui64(address)) {
            self.last.pop_first();
        }
        self.last.insert(eui64(address), frame.to_vec()).is_some_and(|last| last == frame)
    }

    fn lowpan(
        &mut self,
        now: u64,
        link: LinkAddresses,
        payload: &[u8],
        layers: &mut Vec<Layer>,
    ) -> Result<(), Unread> {
        if payload == [TELL_WHOLE] {
            layers.push(Layer::TellWhole(TellWhole { bytes: payload.len() }));
            return Ok(());
        }
        if payload.first().is_some_and(|dispatch| dispatch >> 6 == NOT_LOWPAN) {
            layers.push(Layer::Data(Data { bytes: payload.len() }));
            return Ok(());
        }
        let malformed = |error| Unread::malformed("fragment header", payload.len(), error);
        let (fragment, rest) = FragmentHeader::parse(payload).map_err(malformed)?;
        let Some(fragment) = fragment else {
            let (mut packet, elided_checksum) = self.restore(link, None, rest, layers)?;
            return self.packet(&mut packet, elided_checksum, layers);
        };
        let FragmentHeader { datagram_size: size, tag, offset } = fragment;
        let (mut headers, mut restored) = (Vec::new(), Ok((rest.to_vec(), None)));
        if offset == 0 {
            restored = self.restore(link, Some(size), rest, &mut headers);
        }
        let carried = restored.as_ref().map_or(0, |(bytes, _)| bytes.len());
        let bytes = payload.len() - rest.len();
        layers.push(Layer::Fragment(Fragment { bytes, tag, offset, carried, size }));
        layers.append(&mut headers);
        let (bytes, elided_checksum) = restored?;
        let added = self.datagrams.add(now, link, fragment, &bytes, elided_checksum);
        let refused = |error| Unread::malformed("fragment", rest.len(), error);
        if let Some(Whole { mut packet, frames, elided_checksum }) = added.map_err(refused)? {
            layers.push(Layer::Datagram(Datagram { bytes: 0, size: packet.len(), frames }));
            return self.packet(&mut packet, elided_checksum, layers);
        }
        Ok(())
    }

    fn packet(
        &mut self,
        packet: &mut [u8],
        elided_checksum: Option<ElidedChecksum>,
        layers: &mut Vec<Layer>,
    ) -> Result<(), Unread> {
        if let Some(elided) = elided_checksum {
            write_checksum(packet, elided).ok_or_else(|| {
                Unread::new("UDP", packet.len(), Reason::Malformed, "its checksum cannot be made")
            })?;
        }
        self.prefixes.learn(packet);
        ipv6::decode(&self.keys, &mut self.sessions, packet, layers)
    }

    /// Restores the headers at the front of `payload`; by what the payload of UDP is compressed, if it is: the bytes that announce
    /// that are others for each kind.
    fn decompress(
        &mut self,
        link: LinkAddresses,
        size: Option<u16>,
        payload: &[u8],
        packet: &mut [u8],
    ) -> (Option<&'static str>, Result<Decompressed, Error>) {
        self.contexts.payloads = None;
        let mut restored = self.decompress_as_now(link, size, payload, packet);
        for (name, payloads) in PayloadCompression::ALL {
            if restored != Err(Error::UnknownNextHeader) {
                break;
            }
            self.contexts.payloads = Some(payloads);
            restored = self.decompress_as_now(link, size, payload, packet);
            if restored != Err(Error::UnknownNextHeader) {
                return (Some(name), restored);
            }
        }
        (None, restored)
    }

    /// The same by the compression of payloads that is chosen now.
    fn decompress_as_now(
        &mut self,
        link: LinkAddresses,
        size: Option<u16>,
        payload: &[u8],
        packet: &mut [u8],
    ) -> Result<Decompressed, Error> {
        let context = WithAddresses::new(&mut self.contexts, &self.prefixes, |_| true);
        decompress_with(&context, payload, link, size, packet)
    }

    /// Restores the headers at the front of `payload`, and learns from them.
    fn restore(
        &mut self,
        link: LinkAddresses,
        size: Option<u16>,
        payload: &[u8],
        layers: &mut Vec<Layer>,
    ) -> Result<(Vec<u8>, Option<ElidedChecksum>), Unread> {
        let mut packet = vec![0; MAX_DATAGRAM];
        let refused = |error| match error {
            Error::UnknownSequence => {
                let why = "a sequence number has its last bits only, and none was heard whole before";
                Unread::new("6LoWPAN header", payload.len(), Reason::Missing, why)
            }
            error => Unread::malformed("6LoWPAN header", payload.len(), error),
        };
        let (payloads, restored) = self.decompress(link, size, payload, &mut packet);
        let Decompressed { consumed, written, elided_checksum } = restored.map_err(refused)?;
        layers.push(Layer::Compression(Compression { bytes: consumed, headers: written, payloads }));
        packet.truncate(written);
        packet.extend_from_slice(payload.get(consumed..).unwrap_or_default());
        self.contexts.received(&packet);
        Ok((packet, elided_checksum))
    }
}

/// Computes a UDP checksum that was left out.
fn write_checksum(packet: &mut [u8], elided: ElidedChecksum) -> Option<()> {
    let (ipv6, _) = Ipv6Header::parse(packet.get(usize::from(elided.ipv6_at)..)?).ok()?;
    let datagram = packet.get_mut(usize::from(elided.udp_at)..)?;
    let sum = match checksum(ipv6.source, ipv6.destination, next_header::UDP, datagram) {
        0 => 0xffff,
        sum => sum,
    };
    datagram.get_mut(6..8)?.copy_from_slice(&sum.to_be_bytes());
    Some(())
}

/// The addresses that elided interface identifiers are made of.
fn link_addresses(source: Option<Address>, destination: Option<Address>) -> Option<LinkAddresses> {
    Some(LinkAddresses { source: eui64(source?), destination: eui64(destination?) })
}

/// An address as the EUI-64 that has its interface identifier
/// ([RFC 6282 section 3.2.2](https://www.rfc-editor.org/rfc/rfc6282#section-3.2.2)).
fn eui64(address: Address) -> Eui64 {
    match address {
        Address::Extended(address) => address,
        Address::Short(BROADCAST) => Eui64([0xff; 8]),
        Address::Short(address) => {
            let [high, low] = address.to_be_bytes();
            Eui64::from_interface_id([0, 0, 0, 0xff, 0xfe, 0, high, low])
        }
    }
}
