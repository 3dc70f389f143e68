//! What security costs on the air.
//!
//! A passive observer looks at each transmission once and says how many of its bytes are there only
//! because of the security mode:
//!
//! - a frame of a datagram that exists only for security (handshake messages, alerts): all of it, and
//!   the acknowledgement it gets;
//! - the n-th frame of any other datagram: what it is longer than the n-th frame of the same datagram
//!   without security. That takes in the auxiliary header and MIC of link security and the record
//!   overhead of DTLS;
//! - a frame that such a datagram would not have taken without security: all of it, and its
//!   acknowledgement;
//! - a frame that asks for whole sequence numbers of IPsec: the same.
//!
//! It also tells which frames carry control messages, where the network has a protocol that finds its ways.
//!
//! What IPsec protects, nobody reads on the way: stations that protect a packet tell what it was, and for an emulated one
//! the native node beside it does.
//!
//! A retry counts as the frame it repeats, a forwarder's frame as one of its own. Over all frames of a
//! datagram the sum is exact; a single frame's share can be negative, when the same bytes without
//! security fill another frame.

use core::net::Ipv6Addr;
use std::collections::{BTreeMap, VecDeque};

use sixlock_base::{Eui64, New, Security};
use sixlock_crypto::{BlockCiphers, Soft};
use sixlock_ieee802154::enhanced::{self, Asn};
use sixlock_ieee802154::{Address, FCS, FrameType, Header, MAX_FRAME};
use sixlock_ipv6::rpl::ICMPV6_TYPE;
use sixlock_ipv6::{extension, nd, next_header};
use sixlock_lowpan::{LinkAddresses, fragment_sizes};
use sixlock_node::contikimac::{self, HEADER, Times};
use sixlock_node::{COAPS_PORT, DTLS_ECHO_PORT, Format, PayloadCompression, ipsec::Contexts};
use sixlock_sixlowpan::ipsec::{Context, TELL_WHOLE};
use sixlock_sixlowpan::{FragmentHeader, MAX_DATAGRAM, OneContext, WithAddresses, decompress_with};

use crate::attack::frames::{ends, open, unseal};
use crate::attack::{PacketFingerprint, fingerprint};
use crate::layers::{IPV6_HEADER, Layers, UDP_HEADER};
use crate::numbers::Numbers;
use crate::protection::{Cleartext, Compression, SPI, Seal};
use crate::sizes::PROTECTED as PROTECTED_NODES;

/// The UDP ports of CoAP and of echoes over DTLS.
const DTLS: [u16; 2] = [COAPS_PORT, DTLS_ECHO_PORT];
/// What a DTLS record adds: header, explicit nonce and tag.
const RECORD: usize = 13 + 8 + 8;
/// The content type of application data.
const APPLICATION_DATA: u8 = 23;
/// That of handshake messages, and the type of the one with which a client begins.
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
/// The header of a record.
const RECORD_HEADER: usize = 13;
/// Where an IPv6 header keeps what is looked at here.
const HOP_LIMIT: usize = 7;
const SOURCE: usize = 8;

/// Packets that are protected and still on their way.
const PROTECTED: usize = 4096;
/// Datagrams of one sender that are remembered while their fragments pass.
const DATAGRAMS: usize = 8;
/// The most frames of a datagram: what [`MAX_DATAGRAM`] takes with the longest headers.
const FRAMES: usize = 64;

/// The observer. It holds the link key, and knows what IPsec protects.
pub(crate) struct Observer {
    security: Security,
    key: Option<<Soft as BlockCiphers>::Aes128>,
    numbers: Numbers,
    stations: Vec<Station>,
    packet: Vec<u8>,
    /// What is known of AH and ESP headers by who hears all stations.
    /// The context of addresses: the prefix of the mesh.
    prefix: OneContext,
    contexts: Box<Contexts<{ 2 * PROTECTED_NODES }, true, Option<PayloadCompression>>>,
    /// How links compress what nothing protects.
    unprotected: Compression<0>,
    cleartexts: BTreeMap<Seal, Vec<u8>>,
    /// Those, the oldest first.
    oldest: VecDeque<Seal>,
    /// Whether the network has control messages.
    has_control: bool,
    /// The times of ContikiMAC, where radios sleep by it.
    padded: Option<Times>,
    /// How many stations the network has, if there are attackers behind them, whose packets are to be told from others.
    attacked: Option<u32>,
}

#[derive(Clone, Default)]
struct Station {
    /// Its latest fragmented datagrams.
    datagrams: [Option<(u16, Counterpart)>; DATAGRAMS],
    oldest: usize,
    /// The number of the latest frame it is to acknowledge, and what that frame was.
    to_acknowledge: Option<(u8, Share)>,
    /// The number of the frame that it sent last, and how often.
    last: Option<(u8, u64)>,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole datagram.
    Data,
    /// A part of one.
    Fragment,
    /// The same of a datagram that is there for a DTLS session: of a handshake, or an alert.
    Handshake,
    /// The same of one with a message of RPL or of neighbour discovery.
    Control,
    /// A question for whole sequence numbers of IPsec.
    SequenceRequest,
    /// An acknowledgement.
    Acknowledgement,
    /// A beacon, which tells the slot.
    Beacon,
    /// A question for what waits at a neighbour.
    DataRequest,
    /// None of these.
    #[default]
    Other,
}

impl Kind {
    /// What events call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Fragment => "fragment",
            Self::Handshake => "handshake",
            Self::Control => "control",
            Self::SequenceRequest => "sequence-request",
            Self::Acknowledgement => "ack",
            Self::Beacon => "beacon",
            Self::DataRequest => "data-request",
            Self::Other => "other",
        }
    }
}

/// What was seen of a transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    /// How many bytes of it are there for security.
    pub(crate) security_bytes: i64,
    /// What it is.
    pub(crate) kind: Kind,
    /// The node that it is for, if it names one.
    pub(crate) to: Option<u32>,
    /// How often it has been sent, if it is no acknowledgement.
    pub(crate) attempt: Option<u64>,
    /// Whether it is part of a handshake, or acknowledges such a part.
    pub(crate) is_of_handshake: bool,
    /// Whether it begins a handshake, and its sender is who does.
    pub(crate) begins_handshake: bool,
    /// What tells the packet from others whose beginning is in it, where attackers are looked for.
    pub(crate) fingerprint: Option<PacketFingerprint>,
    /// Who has made the reading, by its address, whose packet begins in it, where attackers are looked for.
    pub(crate) author: Option<u32>,
}

/// A data frame that was opened.
#[derive(Clone, Copy)]
struct Opened<'p> {
    link: LinkAddresses,
    sequence: u8,
    /// The length of its header without security, and that of what link security adds to the frame.
    bare_header: usize,
    link_security: usize,
    payload: &'p [u8],
}

/// What a frame has to do with security.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    /// It is there for that alone.
    is_whole: bool,
    /// It is part of a handshake.
    is_of_handshake: bool,
}

/// A fragmented datagram, as it would be without security.
#[derive(Clone)]
struct Counterpart {
    /// The lengths of its frames' payloads.
    frames: [u8; FRAMES],
    /// Where in the secured datagram the second frame begins.
    second: usize,
    /// How much of it each further frame carries.
    step: usize,
    /// The purpose of its datagram.
    purpose: Purpose,
}

/// The purpose of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// None of these.
    Other,
    /// It carries a message of RPL or of neighbour discovery.
    Control,
    /// It is there for a session of DTLS.
    Session,
    /// It asks for one, in the name of this node.
    Hello { from: Eui64 },
}

impl Purpose {
    /// Whether it is part of a handshake, or an alert.
    const fn is_handshake(self) -> bool {
        matches!(self, Self::Session | Self::Hello { .. })
    }
}

/// What the frame would be without security.
#[derive(Debug, PartialEq)]
enum Without {
    /// One with this many bytes of payload.
    Payload(usize),
    /// There would be none.
    Nothing,
    /// Not to be told, because the datagram's beginning was not seen.
    Unknown,
}

impl Observer {
    pub(crate) fn new(
        (security, prefix): (Security, [u8; 8]),
        compression: (Option<PayloadCompression>, usize),
        link_key: Option<&[u8; 16]>,
        numbers: Numbers,
        stations: usize,
    ) -> Self {
        let mut contexts = Box::new(Contexts::new());
        contexts.payloads = compression.0;
        let mut unprotected = Compression::NEW;
        unprotected.set(compression);
        if security.network.is_some() {
            contexts.start(Format::default(), SPI);
        }
        Self {
            security,
            prefix: OneContext(prefix),
            contexts,
            unprotected,
            cleartexts: BTreeMap::new(),
            oldest: VecDeque::new(),
            key: link_key.map(|key| Soft.aes_128(key)),
            numbers,
            stations: vec![Station::default(); stations],
            packet: vec![0; MAX_DATAGRAM],
            has_control: false,
            padded: None,
            attacked: None,
        }
    }

    /// The network has control messages, which are to be told from others.
    pub(crate) fn look_for_control(&mut self) {
        self.has_control = true;
    }

    /// Payloads are behind a header and before padding, as with ContikiMAC of these times.
    pub(crate) fn look_behind_padding(&mut self, times: Times) {
        self.padded = Some(times);
    }

    /// Stations from number `stations` on are antennas of attackers.
    pub(crate) fn look_for_attackers(&mut self, stations: u32) {
        self.attacked = Some(stations);
    }

    /// Takes in what a station has protected.
    pub(crate) fn learn(&mut self, protected: Cleartext) {
        if self.oldest.len() == PROTECTED
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.cleartexts.remove(&oldest);
        }
        self.oldest.push_back(protected.seal);
        self.cleartexts.insert(protected.seal, protected.packet);
    }

    /// What the frame is that `sender` transmits. Where there is neither security nor control nothing is, and it is looked at
    /// only if it `is_told`.
    /// Of a network in time slots, `asn` is the slot in which it is sent.
    pub(crate) fn observe(&mut self, sender: u32, frame: &[u8], asn: Option<Asn>, is_told: bool) -> Observed {
        let is_nothing = self.security == Security::default() && !self.has_control;
        if is_nothing && !is_told && self.attacked.is_none() {
            return Observed::default();
        }
        if let Some(asn) = asn {
            return self.slotted(sender, frame, asn).unwrap_or_default();
        }
        let Ok((header, header_len)) = Header::parse(frame) else { return Observed::default() };
        match header.frame_type {
            FrameType::Ack => self.acknowledgement(sender, frame.len(), header.sequence, 0),
            FrameType::Data => {
                let attempt = self.stations[sender as usize].attempt(header.sequence);
                let to = header.destination.and_then(|to| eui64(to.address).node_id());
                let observed = self.data_frame(sender, frame, &header, header_len);
                Observed { to, attempt: Some(attempt), ..observed }
            }
            _ => Observed::default(),
        }
    }

    /// The same of a frame of IEEE 802.15.4-2015; none if it is not understood.
    fn slotted(&mut self, sender: u32, frame: &[u8], asn: Asn) -> Option<Observed> {
        let (header, header_len) = enhanced::Header::parse(frame).ok()?;
        let bare_header = enhanced::Header { security: None, ..header }.emitted_len();
        let mic_len = header.security.map_or(0, |security| security.level.mic_len());
        let link_security = header_len - bare_header + mic_len;
        if header.frame_type == FrameType::Ack {
            return Some(self.acknowledgement(sender, frame.len(), header.sequence?, link_security));
        }
        if header.frame_type != FrameType::Data {
            let kind = match header.frame_type {
                FrameType::Beacon => Kind::Beacon,
                FrameType::Command => Kind::DataRequest,
                _ => Kind::Other,
            };
            return Some(Observed { security_bytes: link_security as i64, kind, ..Observed::default() });
        }
        let Address::Extended(source) = header.source? else { return None };
        let destination = eui64(header.destination?);
        let to = destination.node_id();
        let sequence = header.sequence?;
        let attempt = Some(self.stations[sender as usize].attempt(sequence));
        let mut buffer = [0; MAX_FRAME];
        let body = frame.get(..frame.len().checked_sub(FCS)?)?;
        let buffer = buffer.get_mut(..body.len())?;
        buffer.copy_from_slice(body);
        let payload = match (&header.security, &self.key) {
            (Some(security), Some(key)) => {
                unseal(buffer, header_len, security.level, &security.nonce(source, asn), key)
            }
            _ => buffer.get(header_len..),
        };
        let link = LinkAddresses { source, destination };
        let nothing = Observed { security_bytes: link_security as i64, ..Observed::default() };
        let opened = Opened { link, sequence, bare_header, link_security, payload: payload? };
        let observed = self.opened(sender, frame.len(), &opened, None, nothing);
        Some(Observed { to, attempt, ..observed })
    }

    fn acknowledgement(&mut self, sender: u32, len: usize, sequence: u8, link_security: usize) -> Observed {
        let awaited = self.stations[sender as usize].to_acknowledge.take();
        let share = awaited.filter(|(awaited, _)| *awaited == sequence);
        let Share { is_whole, is_of_handshake } = share.unwrap_or_default().1;
        let security_bytes = if is_whole { len as i64 } else { link_security as i64 };
        Observed { security_bytes, kind: Kind::Acknowledgement, is_of_handshake, ..Observed::default() }
    }

    fn data_frame(&mut self, sender: u32, frame: &[u8], header: &Header, header_len: usize) -> Observed {
        let nothing = Observed::default();
        let fingerprint = self.attacked.and_then(|_| self.fingerprint(frame, header, header_len));
        let carries = fingerprint.filter(|((protocol, _), _)| *protocol != next_header::ICMPV6);
        let author = carries.and_then(|(_, author)| author);
        let nothing =
            Observed { fingerprint: fingerprint.map(|(fingerprint, _)| fingerprint), author, ..nothing };
        let (Some(source), Some(destination)) = (header.source, header.destination) else { return nothing };
        let (source, destination) = (eui64(source.address), eui64(destination.address));
        let bare_header = Header { security: None, ..*header }.emitted_len();
        let mic_len = header.security.map_or(0, |auxiliary| auxiliary.level.mic_len());
        let link_security = header_len - bare_header + mic_len;
        let mut buffer = [0; MAX_FRAME];
        let Some(payload) = open(frame, (header, header_len), source, self.key.as_ref(), &mut buffer) else {
            return nothing;
        };
        let Some(payload) = self.unpadded(payload) else { return nothing };
        let link = LinkAddresses { source, destination };
        let opened = Opened { link, sequence: header.sequence, bare_header, link_security, payload };
        self.opened(sender, frame.len(), &opened, author, nothing)
    }

    /// The same of a data frame of `len` bytes that was opened, made by `author`; what is seen of it otherwise is in `nothing`.
    fn opened(
        &mut self,
        sender: u32,
        len: usize,
        opened: &Opened<'_>,
        author: Option<u32>,
        nothing: Observed,
    ) -> Observed {
        let Opened { link, sequence, bare_header, link_security, payload } = *opened;
        let LinkAddresses { source, destination } = link;
        let Ok((fragment, rest)) = FragmentHeader::parse(payload) else { return nothing };
        let kind = match fragment {
            None if rest == [TELL_WHOLE] => Kind::SequenceRequest,
            None => Kind::Data,
            Some(_) => Kind::Fragment,
        };
        // What attackers send is there for no mode.
        let is_of_attacker = self.attacked.is_some_and(|stations| sender >= stations);
        if is_of_attacker || self.security == Security::default() && !self.has_control {
            return Observed { kind, ..nothing };
        }

        let capacity = MAX_FRAME - FCS - bare_header - self.padded.map_or(0, |_| HEADER);
        let (without, purpose) = match kind {
            Kind::SequenceRequest => (Without::Nothing, Purpose::Other),
            _ => self.without(sender, (fragment, rest), link, capacity, link_security),
        };
        let is_of_handshake = purpose.is_handshake();
        let share = Share { is_whole: without == Without::Nothing, is_of_handshake };
        let receiver = destination.node_id().and_then(|number| self.numbers.station(number));
        if let Some(receiver) = receiver.and_then(|station| self.stations.get_mut(station as usize)) {
            receiver.to_acknowledge = Some((sequence, share));
        }
        let security_bytes = match without {
            Without::Payload(without) => {
                let without = self.padded.map_or(without, |times| times.room(without, bare_header));
                len as i64 - (bare_header + without + FCS) as i64
            }
            Without::Nothing => len as i64,
            Without::Unknown => link_security as i64,
        };
        let kind = match purpose {
            Purpose::Control => Kind::Control,
            Purpose::Session | Purpose::Hello { .. } => Kind::Handshake,
            Purpose::Other => kind,
        };
        let begins_handshake = purpose == Purpose::Hello { from: source };
        let author = author.filter(|_| !is_of_handshake);
        Observed { security_bytes, kind, is_of_handshake, begins_handshake, author, ..nothing }
    }

    /// What of a frame's payload is not header and padding of its MAC.
    fn unpadded<'p>(&self, payload: &'p [u8]) -> Option<&'p [u8]> {
        if self.padded.is_some() { contikimac::unpadded(payload) } else { Some(payload) }
    }

    /// What tells the packet from others whose beginning is in a frame, and the node that has made it.
    fn fingerprint(
        &mut self,
        frame: &[u8],
        header: &Header,
        header_len: usize,
    ) -> Option<(PacketFingerprint, Option<u32>)> {
        let link = ends(header)?;
        let mut buffer = [0; MAX_FRAME];
        let payload = open(frame, (header, header_len), link.source, self.key.as_ref(), &mut buffer)?;
        let (fragment, rest) = FragmentHeader::parse(self.unpadded(payload)?).ok()?;
        if fragment.is_some_and(|fragment| fragment.offset > 0) {
            return None;
        }
        let size = fragment.map(|fragment| fragment.datagram_size);
        let shared = WithAddresses::new(&mut *self.contexts, self.prefix, |_| true);
        let headers = decompress_with(&shared, rest, link, size, &mut self.packet).ok()?;
        let verbatim = &rest[headers.consumed..];
        let end = headers.written + verbatim.len();
        self.packet.get_mut(headers.written..end)?.copy_from_slice(verbatim);
        let packet = &self.packet[..end];
        let source = packet.get(SOURCE..).and_then(<[u8]>::first_chunk::<16>);
        let author = source.and_then(|source| Eui64::of_address(Ipv6Addr::from(*source)).node_id());
        Some((fingerprint(packet)?, author))
    }

    /// What a frame's payload would be without security, which is not looked for where there is none; and what its datagram is
    /// there for.
    fn without(
        &mut self,
        sender: u32,
        (fragment, rest): (Option<FragmentHeader>, &[u8]),
        link: LinkAddresses,
        capacity: usize,
        link_security: usize,
    ) -> (Without, Purpose) {
        const UNKNOWN: (Without, Purpose) = (Without::Unknown, Purpose::Other);
        let is_secured = self.security != Security::default();
        if let Some(fragment) = fragment.filter(|fragment| fragment.offset > 0) {
            let datagrams = &self.stations[sender as usize].datagrams;
            let known = datagrams.iter().flatten().find(|(tag, _)| *tag == fragment.tag);
            return known.map_or(UNKNOWN, |(_, counterpart)| {
                let beyond = usize::from(fragment.offset).saturating_sub(counterpart.second);
                let without = match is_secured {
                    true => counterpart.frame(1 + beyond / counterpart.step),
                    false => Without::Unknown,
                };
                (without, counterpart.purpose)
            });
        }
        let size = fragment.map(|fragment| fragment.datagram_size);
        let shared = WithAddresses::new(&mut *self.contexts, self.prefix, |_| true);
        let headers = decompress_with(&shared, rest, link, size, &mut self.packet);
        let Ok(headers) = headers else { return UNKNOWN };
        let verbatim = &rest[headers.consumed..];
        let second = headers.written + verbatim.len();
        let Some(room) = self.packet.get_mut(headers.written..second) else { return UNKNOWN };
        room.copy_from_slice(verbatim);
        self.contexts.received(&self.packet[..second]);
        let len = size.map_or(second, usize::from);
        let (bare, purpose) = match is_control(&self.packet[..second]) {
            true => (Some(len), Purpose::Control),
            false => self.unprotect(len, second),
        };
        // Only its first frame begins a handshake.
        let of_rest = if purpose.is_handshake() { Purpose::Session } else { purpose };
        let mut counterpart = Counterpart { frames: [0; FRAMES], second, step: 8, purpose: of_rest };
        if let Some(len) = bare.filter(|_| is_secured) {
            let shared = WithAddresses::new(&mut self.unprotected, self.prefix, |_| true);
            let sizes = fragment_sizes(shared, &self.packet[..len], link, capacity);
            for (frame, size) in counterpart.frames.iter_mut().zip(sizes) {
                *frame = size as u8;
            }
        }
        let first = if is_secured { counterpart.frame(0) } else { Without::Unknown };
        if let Some(fragment) = fragment {
            let room = capacity - link_security - FragmentHeader::SUBSEQUENT_LEN;
            counterpart.step = (room / 8 * 8).max(8);
            self.stations[sender as usize].remember(fragment.tag, counterpart);
        }
        (first, purpose)
    }

    /// Makes the datagram of `len` bytes in `packet`, of which the first `present` are there, what it
    /// would be without network and transport security, and returns its length, `None` if it would not exist; and what it is
    /// there for.
    fn unprotect(&mut self, mut len: usize, mut present: usize) -> (Option<usize>, Purpose) {
        let seal = Seal::of(&self.packet[..present]);
        if let Some(clear) = seal.and_then(|seal| self.cleartexts.get(&seal)) {
            // It has come as far.
            let hop_limit = self.packet[HOP_LIMIT];
            self.packet[..clear.len()].copy_from_slice(clear);
            self.packet[HOP_LIMIT] = hop_limit;
            (len, present) = (clear.len(), clear.len());
        }
        let packet = &mut self.packet[..len.min(MAX_DATAGRAM)];
        let present = present.min(packet.len());
        let layers = Layers::of(&packet[..present]).filter(|_| self.security.transport.is_some());
        let Some(Layers { headers, udp }) = layers.filter(|layers| is_dtls(layers, &packet[..present]))
        else {
            return (Some(packet.len()), Purpose::Other);
        };
        let payload = udp + UDP_HEADER;
        if packet[payload] != APPLICATION_DATA || len < payload + RECORD {
            return (None, purpose_of(&packet[..present], &headers, payload));
        }
        let len = len - RECORD;
        for header in headers {
            packet[header + 4..header + 6]
                .copy_from_slice(&((len - header - IPV6_HEADER) as u16).to_be_bytes());
        }
        packet[udp + 4..udp + 6].copy_from_slice(&((len - udp) as u16).to_be_bytes());
        (Some(len), Purpose::Other)
    }
}

/// Whether a datagram is for or from a port of DTLS, and the first byte of a record is there.
fn is_dtls(layers: &Layers, packet: &[u8]) -> bool {
    packet.len() > layers.udp + UDP_HEADER
        && layers.ports(packet).is_some_and(|ports| ports.iter().any(|port| DTLS.contains(port)))
}

/// What a datagram is there for whose record of DTLS, at `payload`, is none of data.
fn purpose_of(packet: &[u8], headers: &[usize], payload: usize) -> Purpose {
    let is_hello =
        packet.get(payload) == Some(&HANDSHAKE) && packet.get(payload + RECORD_HEADER) == Some(&CLIENT_HELLO);
    let source = headers.last().and_then(|header| packet.get(header + SOURCE..)?.first_chunk::<16>());
    match source {
        Some(source) if is_hello => Purpose::Hello { from: Eui64::of_address(Ipv6Addr::from(*source)) },
        _ => Purpose::Session,
    }
}

/// Whether a packet, of which the beginning is there, carries a message of RPL or of neighbour discovery. A root may have put a header
/// around it.
fn is_control(packet: &[u8]) -> bool {
    let message = extension::skip(packet).and_then(|upper| match upper.protocol {
        next_header::IPV6 => {
            let inner = packet.get(upper.at..)?;
            Some((extension::skip(inner)?, inner))
        }
        _ => Some((upper, packet)),
    });
    message.is_some_and(|(upper, packet)| {
        let kind = packet.get(upper.at).filter(|_| upper.protocol == next_header::ICMPV6);
        kind.is_some_and(|&kind| kind == ICMPV6_TYPE || nd::is_type(kind))
    })
}

impl Counterpart {
    fn frame(&self, index: usize) -> Without {
        match self.frames.get(index) {
            Some(&len) if len > 0 => Without::Payload(len.into()),
            _ => Without::Nothing,
        }
    }
}

impl Station {
    /// How often a frame of this number has been sent, now that it is.
    fn attempt(&mut self, sequence: u8) -> u64 {
        let before = self.last.filter(|(last, _)| *last == sequence);
        let attempt = before.map_or(1, |(_, attempt)| attempt + 1);
        self.last = Some((sequence, attempt));
        attempt
    }

    /// Remembers a datagram, once for all its retries, in the place of the oldest.
    fn remember(&mut self, tag: u16, counterpart: Counterpart) {
        let known = self.datagrams.iter().position(|entry| entry.as_ref().is_some_and(|(t, _)| *t == tag));
        let place = known.unwrap_or_else(|| {
            let place = self.oldest;
            self.oldest = (place + 1) % DATAGRAMS;
            place
        });
        self.datagrams[place] = Some((tag, counterpart));
    }
}

/// In the place of a short address, which is that of a frame to all, stands one that no node has.
fn eui64(address: Address) -> Eui64 {
    match address {
        Address::Extended(address) => address,
        Address::Short(_) => Eui64([0xff; 8]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixlock_base::MESH_PREFIX;
    use sixlock_ieee802154::{Endpoint, Version, ack};
    use sixlock_ipv6::next_header;
    use sixlock_testing::Rig;

    const OVERHEAD: usize = 21 + 2;

    fn link() -> LinkAddresses {
        LinkAddresses { source: Eui64::of_node(2), destination: Eui64::of_node(1) }
    }

    /// A UDP datagram from node 2 to the cloud's port.
    fn packet(port: u16, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u16 + 8).to_be_bytes();
        let mut packet = vec![0x60, 0, 0, 0, length[0], length[1], next_header::UDP, 64];
        packet.extend(Eui64::of_node(2).with_prefix(MESH_PREFIX).octets());
        packet.extend("fd00:c::1".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend(49_152_u16.to_be_bytes());
        packet.extend(port.to_be_bytes());
        packet.extend([length[0], length[1], 1, 2]);
        packet.extend(payload);
        packet
    }

    /// The same with RPL's option, and with other options behind it.
    fn with_options(packet: &[u8]) -> Vec<u8> {
        let options = [60, 0, 0x23, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0];
        let mut longer = [&packet[..40], &options, &packet[40..]].concat();
        let length = u16::from_be_bytes([packet[4], packet[5]]) + options.len() as u16;
        longer[4..6].copy_from_slice(&length.to_be_bytes());
        longer[6] = 0;
        longer
    }

    /// The frames of a packet, without link security.
    fn frames(packet: &[u8]) -> Vec<Vec<u8>> {
        let mut rig = Rig::seeded(0);
        let mut lowpan = sixlock_lowpan::Lowpan::<sixlock_lowpan::Datagrams<1280, 2>>::new();
        lowpan.send(&mut rig.cx(), link(), packet).unwrap();
        let mut frames = Vec::new();
        let mut payload = [0; MAX_FRAME];
        while let Some(fragment) = lowpan.poll_transmit(rig.now, &mut (), |_| false, 104, &mut payload) {
            let endpoint = |address| Some(Endpoint { pan_id: 0xabcd, address: Address::Extended(address) });
            let header = Header {
                frame_type: FrameType::Data,
                pending: false,
                ack_request: true,
                version: Version::V2003,
                sequence: frames.len() as u8,
                destination: endpoint(link().destination),
                source: endpoint(link().source),
                security: None,
            };
            let mut frame = vec![0; header.emitted_len()];
            header.emit(&mut frame).unwrap();
            frame.extend(&payload[..fragment.len]);
            frame.extend([0; FCS]);
            frames.push(frame);
        }
        frames
    }

    fn observer() -> Observer {
        Observer::new(
            ("dtls-psk".parse().unwrap(), MESH_PREFIX),
            (None, 0),
            None,
            Numbers { nodes: 2, routers: 1 },
            3,
        )
    }

    fn security_bytes(observer: &mut Observer, sender: u32, frame: &[u8]) -> i64 {
        observer.observe(sender, frame, None, true).security_bytes
    }

    #[test]
    fn over_a_datagram_the_shares_sum_to_the_difference_it_makes() {
        let same = |packet: &[u8]| packet.to_vec();
        shares_sum_to_the_difference(same);
        shares_sum_to_the_difference(with_options);
    }

    fn shares_sum_to_the_difference(whole: impl Fn(&[u8]) -> Vec<u8>) {
        for payload_len in [RECORD, 40, 80, 90, 100, 120, 250, 700] {
            let mut observer = observer();
            let mut payload = vec![0; payload_len];
            payload[0] = APPLICATION_DATA;
            let secured = frames(&whole(&packet(COAPS_PORT, &payload)));
            let bare = whole(&packet(COAPS_PORT, &payload[RECORD..]));
            let bare: Vec<usize> = fragment_sizes((), &bare, link(), 104).map(|len| len + OVERHEAD).collect();
            let mut shares = 0;
            for (n, frame) in secured.iter().enumerate() {
                shares += security_bytes(&mut observer, 2, frame);
                let extra = if n >= bare.len() { 5 } else { 0 };
                assert_eq!(security_bytes(&mut observer, 1, &ack(n as u8)), extra);
            }
            let total: usize = secured.iter().map(Vec::len).sum();
            assert_eq!(shares, total as i64 - bare.iter().sum::<usize>() as i64, "{payload_len}");
        }
    }

    #[test]
    fn what_is_too_short_to_be_compressed_without_security_saves_that() {
        let mut payload = vec![0; RECORD + 8];
        payload[0] = APPLICATION_DATA;
        let [frame] = &frames(&packet(COAPS_PORT, &payload))[..] else { panic!("more than a frame") };
        let bare = packet(COAPS_PORT, &payload[RECORD..]);
        let compressed: usize = fragment_sizes((), &bare, link(), 104).sum();
        for (from, bare) in [(bare.len(), compressed), (bare.len() + 1, 1 + bare.len())] {
            let mut observer = Observer::new(
                ("dtls-psk".parse().unwrap(), MESH_PREFIX),
                (None, from),
                None,
                Numbers { nodes: 2, routers: 1 },
                3,
            );
            let expected = frame.len() as i64 - (bare + OVERHEAD) as i64;
            assert_eq!(security_bytes(&mut observer, 2, frame), expected);
        }
    }

    /// What a border router puts around a packet for RPL, or a node into it: a header of IPv6, and one with an option.
    fn in_rpl(packet: &[u8], is_wrapped: bool) -> Vec<u8> {
        let option = [packet[6], 0, 0x63, 4, 0, 0, 0, 0];
        let mut outer = packet[..40].to_vec();
        let inner = if is_wrapped { packet } else { &packet[40..] };
        let length = (inner.len() + option.len()) as u16;
        outer[4..6].copy_from_slice(&length.to_be_bytes());
        outer[6] = next_header::HOP_BY_HOP;
        let mut option = option;
        if is_wrapped {
            option[0] = next_header::IPV6;
            outer[8..24].copy_from_slice(&Eui64::of_node(0).with_prefix(MESH_PREFIX).octets());
        }
        [&outer[..], &option, inner].concat()
    }

    #[test]
    fn headers_of_rpl_hide_no_record() {
        for (is_wrapped, payload_len) in [(false, 60), (false, 200), (true, 60), (true, 200)] {
            let wrap = |payload: &[u8]| in_rpl(&packet(COAPS_PORT, payload), is_wrapped);
            let mut payload = vec![0; payload_len];
            payload[0] = APPLICATION_DATA;
            let (mut observer, mut shares) = (observer(), 0);
            let secured = frames(&wrap(&payload));
            for frame in &secured {
                shares += security_bytes(&mut observer, 2, frame);
            }
            let bare = wrap(&payload[RECORD..]);
            let bare: usize = fragment_sizes((), &bare, link(), 104).map(|len| len + OVERHEAD).sum();
            let total: usize = secured.iter().map(Vec::len).sum();
            assert_eq!(shares, (total - bare) as i64, "{is_wrapped} {payload_len}");
            (payload[0], payload[RECORD_HEADER]) = (HANDSHAKE, CLIENT_HELLO);
            let hello = observer.observe(2, &frames(&wrap(&payload))[0], None, true);
            assert!(hello.kind == Kind::Handshake && hello.begins_handshake, "{is_wrapped} {payload_len}");
        }
    }

    #[test]
    fn a_handshake_counts_whole_with_its_acknowledgements() {
        let mut observer = observer();
        let mut payload = [0; 200];
        payload[0] = 22;
        let packet = packet(COAPS_PORT, &payload);
        for packet in [with_options(&packet), packet] {
            for (n, frame) in frames(&packet).iter().enumerate() {
                assert_eq!(security_bytes(&mut observer, 2, frame), frame.len() as i64);
                assert_eq!(security_bytes(&mut observer, 1, &ack(n as u8)), 5);
                let unawaited = security_bytes(&mut observer, 1, &ack(n as u8));
                assert_eq!(unawaited, 0, "an acknowledgement nobody awaits");
            }
        }
    }

    #[test]
    fn a_transmission_is_told_by_what_it_carries_whom_it_is_for_and_how_often_it_was_sent() {
        let observed = |observer: &mut Observer, frame: &[u8]| {
            let Observed { kind, to, attempt, is_of_handshake, begins_handshake, .. } =
                observer.observe(2, frame, None, true);
            assert_eq!((to, is_of_handshake), (Some(1), kind == Kind::Handshake));
            (kind.name(), attempt, begins_handshake)
        };
        let mut hello = [0; 200];
        (hello[0], hello[RECORD_HEADER]) = (HANDSHAKE, CLIENT_HELLO);
        let mut observer = observer();
        let parts = frames(&packet(COAPS_PORT, &hello));
        assert_eq!(observed(&mut observer, &parts[0]), ("handshake", Some(1), true));
        assert_eq!(observed(&mut observer, &parts[0]), ("handshake", Some(2), true));
        assert_eq!(observed(&mut observer, &parts[1]), ("handshake", Some(1), false));
        let acknowledgement = observer.observe(1, &ack(1), None, true);
        assert_eq!((acknowledgement.kind, acknowledgement.to), (Kind::Acknowledgement, None));
        assert!(acknowledgement.is_of_handshake && acknowledgement.attempt.is_none());
        let data = frames(&packet(COAPS_PORT, &[APPLICATION_DATA; 200]));
        assert_eq!(observed(&mut observer, &data[0]), ("fragment", Some(1), false));
        let mut bare = Observer::new(
            (Security::default(), MESH_PREFIX),
            (None, 0),
            None,
            Numbers { nodes: 2, routers: 1 },
            3,
        );
        let short = frames(&packet(5683, &[HANDSHAKE; 20]));
        assert_eq!(observed(&mut bare, &short[0]), ("data", Some(1), false));
    }

    #[test]
    fn what_is_not_secured_costs_nothing() {
        for frame in frames(&packet(5683, &[APPLICATION_DATA; 200])) {
            assert_eq!(security_bytes(&mut observer(), 2, &frame), 0);
        }
        let mut none = Observer::new(
            (Security::default(), MESH_PREFIX),
            (None, 0),
            None,
            Numbers { nodes: 2, routers: 1 },
            3,
        );
        assert_eq!(none.observe(2, &frames(&packet(COAPS_PORT, &[22; 20]))[0], None, true).security_bytes, 0);
    }

    #[test]
    fn no_datagram_has_more_frames_than_are_remembered() {
        let sizes = fragment_sizes((), &[0; MAX_DATAGRAM], link(), 104 - 22);
        assert!(sizes.count() <= FRAMES);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_observed_without_a_panic(
            sender in 0_u32..3,
            frame in proptest::collection::vec(proptest::num::u8::ANY, 0..127),
            payload in proptest::collection::vec(proptest::num::u8::ANY, 0..100),
        ) {
            let mut observer = observer();
            observer.observe(sender, &frame, None, true);
            let mut valid = frames(&packet(COAPS_PORT, &[22]))[0][..21].to_vec();
            valid.extend(payload);
            observer.observe(sender, &valid, None, true);
        }
    }
}
