//! The capture of a run without link security, read as whoever listens on the air reads it.

use std::collections::{BTreeMap, BTreeSet};

use sixlock_base::Eui64;
use sixlock_ieee802154::{Address, BROADCAST, Endpoint, FCS, FrameType, Header};
use sixlock_ipv6::{extension, next_header};
use sixlock_lowpan::LinkAddresses;
use sixlock_sixlowpan::{FragmentHeader, MAX_DATAGRAM, decompress};

/// The port of CoAP, and that of an echo.
const COAP: u16 = 5683;
const COAPS: u16 = 5684;
const ECHO: u16 = 7;
/// The codes of CoAP.
const POST: u8 = 0x02;
const CHANGED: u8 = 0x44;

/// A data frame.
pub(crate) struct Frame {
    pub(crate) micros: u64,
    /// The station in whose name it is.
    pub(crate) from: u32,
    /// The one that it is for, if it is not for all.
    pub(crate) to: Option<u32>,
    sequence: u8,
    /// The packet that begins in it, if one does: as much of it as there is.
    packet: Option<Vec<u8>>,
}

/// The data frames of a capture, in their order.
pub(crate) struct Capture(pub(crate) Vec<Frame>);

/// A message of CoAP: its code and its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Coap {
    code: u8,
    id: u16,
}

fn node(endpoint: Option<Endpoint>) -> Option<Option<u32>> {
    match endpoint?.address {
        Address::Extended(address) => address.node_id().map(Some),
        Address::Short(BROADCAST) => Some(None),
        Address::Short(_) => None,
    }
}

impl Frame {
    fn parse(micros: u64, frame: &[u8]) -> Option<Self> {
        let (header, header_len) = Header::parse(frame).ok()?;
        if header.frame_type != FrameType::Data {
            return None;
        }
        let (from, to) = (node(header.source)??, node(header.destination)?);
        let payload = frame.get(header_len..frame.len().checked_sub(FCS)?)?;
        let address = |id: Option<u32>| id.map_or(Eui64([0xff; 8]), Eui64::of_node);
        let link = LinkAddresses { source: address(Some(from)), destination: address(to) };
        let packet = packet(payload, link);
        Some(Self { micros, from, to, sequence: header.sequence, packet })
    }

    /// In whose name the packet is, by its address.
    fn author(&self) -> Option<u32> {
        self.address(8)
    }

    /// The node that the packet is for.
    fn destination(&self) -> Option<u32> {
        self.address(24)
    }

    fn address(&self, at: usize) -> Option<u32> {
        let octets: [u8; 16] = *self.inner()?.get(at..)?.first_chunk()?;
        Eui64::of_address(octets.into()).node_id()
    }

    /// The packet without headers of IPv6 around it.
    fn inner(&self) -> Option<&[u8]> {
        let packet = self.packet.as_deref()?;
        let upper = extension::skip(packet)?;
        if upper.protocol == next_header::IPV6 { packet.get(upper.at..) } else { Some(packet) }
    }

    /// The ports of UDP, and what follows.
    fn udp(&self) -> Option<(u16, u16, &[u8])> {
        let packet = self.inner()?;
        let upper = extension::skip(packet).filter(|upper| upper.protocol == next_header::UDP)?;
        let (&[a, b, c, d, ..], payload) = packet.get(upper.at..)?.split_first_chunk::<8>()?;
        Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]), payload))
    }

    fn coap(&self, is_request: bool) -> Option<Coap> {
        let (source, destination, payload) = self.udp()?;
        let port = if is_request { destination } else { source };
        let &[_, code, high, low] = payload.first_chunk()?;
        (port == COAP).then_some(Coap { code, id: u16::from_be_bytes([high, low]) })
    }

    /// Whether it carries a control message of RPL.
    pub(crate) fn is_control(&self) -> bool {
        let upper = self.packet.as_deref().and_then(|packet| Some((packet, extension::skip(packet)?)));
        upper.is_some_and(|(packet, upper)| {
            upper.protocol == next_header::ICMPV6 && packet.get(upper.at) == Some(&155)
        })
    }
}

fn packet(payload: &[u8], link: LinkAddresses) -> Option<Vec<u8>> {
    let (fragment, rest) = FragmentHeader::parse(payload).ok()?;
    if fragment.is_some_and(|fragment| fragment.offset > 0) {
        return None;
    }
    let size = fragment.map(|fragment| fragment.datagram_size);
    let mut packet = vec![0; MAX_DATAGRAM];
    let headers = decompress(rest, link, size, &mut packet).ok()?;
    packet.truncate(headers.written);
    packet.extend_from_slice(&rest[headers.consumed..]);
    Some(packet)
}

impl Capture {
    /// Those of a classic pcap.
    pub(crate) fn new(pcap: &[u8]) -> Self {
        let (mut frames, mut rest) = (Vec::new(), &pcap[24..]);
        while let Some((header, after)) = rest.split_at_checked(16) {
            let word = |at: usize| u64::from(u32::from_le_bytes(*header[at..].first_chunk().unwrap()));
            let (frame, after) = after.split_at(word(8) as usize);
            frames.extend(Frame::parse(word(0) * 1_000_000 + word(4), frame));
            rest = after;
        }
        Self(frames)
    }

    /// The readings in this node's name that have come as far as the border router from `since` on: their ids, and when they came.
    pub(crate) fn arrived(&self, node: u32, since: u64) -> BTreeMap<u16, BTreeSet<u64>> {
        let mut arrived: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for frame in self.0.iter().filter(|frame| frame.to == Some(0) && frame.micros >= since) {
            if let Some(Coap { code: POST, id }) = frame.coap(true)
                && frame.author() == Some(node)
            {
                arrived.entry(id).or_default().insert(frame.micros);
            }
        }
        arrived
    }

    /// The readings that this node has sent itself: their ids.
    pub(crate) fn sent(&self, node: u32) -> BTreeSet<u16> {
        let own = self.0.iter().filter(|frame| frame.from == node && frame.author() == Some(node));
        own.filter_map(|frame| Some(frame.coap(true)?.id)).collect()
    }

    /// The readings that the cloud has told this node it accepts, as the border router sends that on: their ids, and when.
    pub(crate) fn accepted(&self, node: u32) -> Vec<(u16, u64)> {
        let down = self.0.iter().filter(|frame| frame.from == 0 && frame.destination() == Some(node));
        let accepted = |frame: &Frame| match frame.coap(false)? {
            Coap { code: CHANGED, id } => Some((id, frame.micros)),
            _ => None,
        };
        down.filter_map(accepted).collect()
    }

    /// How many frames these stations have sent that were no repetition of the one before, of which `counts` holds.
    pub(crate) fn count(&self, stations: core::ops::Range<u32>, counts: impl Fn(&Frame) -> bool) -> usize {
        self.0.iter().filter(|frame| stations.contains(&frame.from) && counts(frame)).count()
    }

    /// How many echoes this node has answered.
    pub(crate) fn echoes(&self, node: u32) -> usize {
        let is_echo = |frame: &Frame| {
            frame.author() == Some(node) && frame.udp().is_some_and(|(source, ..)| source == ECHO)
        };
        self.count(node..node + 1, is_echo)
    }

    /// How many different ClientHellos have come as far as the border router.
    pub(crate) fn hellos(&self) -> usize {
        let hello = |frame: &Frame| match frame.udp()? {
            (port, COAPS, [22, ..]) if frame.to == Some(0) => Some((frame.author(), port)),
            _ => None,
        };
        self.0.iter().filter_map(hello).collect::<BTreeSet<_>>().len()
    }

    /// How many frames with data of these nodes are for `to`, from those that have sent them.
    pub(crate) fn readings_to(&self, to: u32) -> BTreeMap<u32, usize> {
        let mut frames: BTreeMap<u32, BTreeSet<(u8, u64)>> = BTreeMap::new();
        for frame in self.0.iter().filter(|frame| frame.to == Some(to)) {
            if let Some(Coap { code: POST, .. }) = frame.coap(true) {
                frames.entry(frame.from).or_default().insert((frame.sequence, frame.micros));
            }
        }
        frames.into_iter().map(|(from, frames)| (from, frames.len())).collect()
    }
}
