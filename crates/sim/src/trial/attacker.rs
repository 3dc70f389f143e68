//! An attacker: replays, changes and invents frames and datagrams of every layer.

use core::net::{Ipv6Addr, SocketAddrV6};
use std::collections::VecDeque;

use sixlock_base::{Entropy, Eui64, LinkSuite, MESH_PREFIX};
use sixlock_gateway::FlowId;
use sixlock_ieee802154::{FCS, MAX_FRAME, ack};
use sixlock_ipv6::next_header;
use sixlock_node::{COAP_PORT, COAPS_PORT, DTLS_ECHO_PORT, ECHO_PORT};
use sixlock_sixlowpan::{FragmentHeader, UNCOMPRESSED};

use crate::attack::frames::{self, FrameFields, PAYLOAD};
use crate::attack::{datagram, ipv6};
use crate::network::CLOUD;
use crate::outbound::Outbound;
use crate::random::Stream;

use super::action::Action;
use super::plan::Reach;

/// What is remembered of each kind, at most.
const REMEMBERED: usize = 256;
/// Packets of a flood.
const FLOOD: usize = 64;
/// The longest packet of the attacker's.
const PACKET: usize = 1200;

/// The attacker.
pub(crate) struct Attacker {
    pub(crate) reach: Reach,
    stream: Stream,
    /// How links are secured, and the right key.
    link: Option<(LinkSuite, [u8; 16])>,
    stations: u32,
    /// Frames that were received, by whom.
    frames: VecDeque<(u32, Vec<u8>)>,
    upward: VecDeque<Outbound>,
    /// Datagrams of the cloud, and the border router that each is for.
    downward: VecDeque<(u32, FlowId, Vec<u8>)>,
}

fn remember<T>(all: &mut VecDeque<T>, one: T) {
    if all.len() == REMEMBERED {
        all.pop_front();
    }
    all.push_back(one);
}

impl Attacker {
    pub(crate) fn new(
        reach: Reach,
        stream: Stream,
        link: Option<(LinkSuite, [u8; 16])>,
        stations: u32,
    ) -> Self {
        let (frames, upward, downward) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Self { reach, stream, link, stations, frames, upward, downward }
    }

    /// Hears a frame that `receiver` receives.
    pub(crate) fn hear(&mut self, receiver: u32, frame: &[u8]) {
        remember(&mut self.frames, (receiver, frame.to_vec()));
    }

    /// Sees a datagram for the cloud.
    pub(crate) fn see_upward(&mut self, datagram: &Outbound) {
        remember(&mut self.upward, datagram.clone());
    }

    /// Sees a datagram of the cloud.
    pub(crate) fn see_downward(&mut self, router: u32, flow: FlowId, payload: &[u8]) {
        remember(&mut self.downward, (router, flow, payload.to_vec()));
    }

    fn below(&mut self, bound: usize) -> usize {
        self.stream.below(bound.max(1) as u64) as usize
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.below(most + 1)];
        self.stream.fill(&mut bytes);
        bytes
    }

    fn station(&mut self) -> u32 {
        self.below(self.stations as usize) as u32
    }

    /// Changes some of it: bytes, or its length.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            match (self.below(6), bytes.get_mut(at)) {
                (0, _) => bytes.truncate(at),
                (1, _) => bytes.push(self.stream.next_u32() as u8),
                (2, Some(byte)) => *byte = self.stream.next_u32() as u8,
                (_, Some(byte)) => *byte ^= 1 << self.stream.below(8),
                _ => {}
            }
        }
    }

    /// Frames, and the station that each is sent to.
    fn frames(&mut self) -> Vec<(u32, Vec<u8>)> {
        let heard = self.below(self.frames.len());
        let heard = self.frames.get(heard).cloned();
        match (self.below(8), heard) {
            (0 | 1, Some(heard)) => vec![heard],
            (2 | 3, Some((receiver, mut frame))) => {
                frame.truncate(frame.len().saturating_sub(FCS));
                self.change(&mut frame);
                frame.truncate(MAX_FRAME - FCS);
                vec![(receiver, frames::with_fcs(frame))]
            }
            (4, Some((receiver, frame))) => {
                let sequence = frame.get(2).copied().unwrap_or(0).wrapping_add(self.below(2) as u8);
                vec![(receiver, ack(sequence).to_vec())]
            }
            (5, _) => self.sealed(|attacker| vec![attacker.bytes(PAYLOAD)]),
            (6, _) => self.sealed(Self::fragments),
            _ => self.sealed(|attacker| {
                let packet = attacker.packet();
                attacker.carried(&packet)
            }),
        }
    }

    /// So many packets for a station at once, to be sent on by it or not, that it has no room for all.
    fn flood(&mut self) -> Vec<Action> {
        let frames = self.sealed(|attacker| {
            let mut packets = || attacker.packet();
            let packets: Vec<_> = (0..FLOOD).map(|_| packets()).collect();
            packets.iter().flat_map(|packet| attacker.carried(packet)).collect()
        });
        frames.into_iter().map(|(to, frame)| Action::Frame(to, frame)).collect()
    }

    /// Data frames to some station that seem to be from another, with these payloads.
    fn sealed(&mut self, payloads: impl FnOnce(&mut Self) -> Vec<Vec<u8>>) -> Vec<(u32, Vec<u8>)> {
        let (receiver, source) = (self.station(), self.station());
        let payloads = payloads(self);
        let frames = payloads.iter().map(|payload| (receiver, self.frame(source, receiver, payload)));
        frames.collect()
    }

    fn frame(&mut self, source: u32, destination: u32, payload: &[u8]) -> Vec<u8> {
        let key = self.link.filter(|_| self.below(4) > 0).map(|(suite, key)| match self.reach.link_key {
            true => (suite, key),
            false => (suite, [self.stream.next_u32() as u8; 16]),
        });
        let frame_counter = match self.below(8) {
            0 => u32::MAX - self.below(3) as u32,
            1 => self.stream.next_u32(),
            _ => self.below(5000) as u32,
        };
        let fields = FrameFields {
            source: Eui64::of_node(source),
            destination: Some(Eui64::of_node(destination)),
            wants_ack: self.below(2) == 0,
            sequence: self.stream.next_u32() as u8,
            frame_counter,
        };
        frames::write(fields, key, payload)
    }

    /// Fragments that overlap, repeat, disagree or are missing.
    fn fragments(&mut self) -> Vec<Vec<u8>> {
        let (size, tag) = (self.below(1400) as u16, self.below(8) as u16);
        let mut fragments = Vec::new();
        for _ in 0..=self.below(4) {
            let offset = (self.below(usize::from(size).max(1)) / 8 * 8) as u16;
            let header = FragmentHeader { datagram_size: size, tag, offset };
            let mut fragment = vec![0; FragmentHeader::SUBSEQUENT_LEN];
            let length = header.emit(&mut fragment).unwrap_or(0);
            fragment.truncate(length);
            if offset == 0 && self.below(4) > 0 {
                fragment.push(UNCOMPRESSED);
            }
            fragment.extend(self.bytes(PAYLOAD - 8));
            fragments.push(fragment);
        }
        fragments
    }

    /// The payloads of the frames that carry `packet`, whole, but for a fragment that is left out now and then.
    fn carried(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        if packet.len() < PAYLOAD {
            return frames::uncompressed(packet, 0);
        }
        let (tag, left_out) = (self.stream.next_u32() as u16, self.below(64));
        let mut all = frames::uncompressed(packet, tag);
        if left_out < all.len() {
            all.remove(left_out);
        }
        all
    }

    fn address(&mut self) -> Ipv6Addr {
        match self.below(8) {
            0..=3 => Eui64::of_node(self.station()).with_prefix(MESH_PREFIX),
            4 => Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1),
            5 => Ipv6Addr::from(u128::from(self.stream.next_u32()) << 96 | 1),
            _ => CLOUD,
        }
    }

    fn port(&mut self) -> u16 {
        match self.below(6) {
            0 => COAP_PORT,
            1 => COAPS_PORT,
            2 => ECHO_PORT,
            3 => DTLS_ECHO_PORT,
            _ => self.stream.next_u32() as u16,
        }
    }

    /// An IPv6 packet: of UDP, ICMPv6, IPsec, with extension headers, or of nothing known.
    fn packet(&mut self) -> Vec<u8> {
        let (source, destination) = (self.address(), self.address());
        let (next, payload) = match self.below(8) {
            0..=3 => (next_header::UDP, self.datagram(source, destination)),
            4 => (next_header::ESP, self.protected(0)),
            5 => (next_header::AH, self.protected(4)),
            6 => {
                let kinds = [
                    next_header::HOP_BY_HOP,
                    next_header::ROUTING,
                    next_header::FRAGMENT,
                    next_header::DESTINATION,
                ];
                let next = kinds[self.below(kinds.len())];
                let mut header = vec![next_header::UDP, self.below(2) as u8];
                header.extend(self.bytes(14));
                header.resize(16, 1);
                header.extend(self.datagram(source, destination));
                (next, header)
            }
            _ => (self.stream.next_u32() as u8, self.bytes(PACKET - 40)),
        };
        let hop_limit = 1 + self.below(255) as u8;
        ipv6((source, destination), next, hop_limit, &payload)
    }

    /// What begins like ESP, or behind so many bytes like AH, of an association that there is.
    fn protected(&mut self, before: usize) -> Vec<u8> {
        let mut bytes = vec![next_header::UDP, 4, 0, 0][..before].to_vec();
        bytes.extend(1_u32.to_be_bytes());
        let sequence = if self.below(2) == 0 { self.below(300) as u32 } else { self.stream.next_u32() };
        bytes.extend(sequence.to_be_bytes());
        bytes.extend(self.bytes(120));
        bytes
    }

    fn datagram(&mut self, source: Ipv6Addr, destination: Ipv6Addr) -> Vec<u8> {
        let ports = (self.port(), self.port());
        datagram((source, destination), ports, &self.message())
    }

    /// A payload of UDP: one that was seen, perhaps changed, or a record of DTLS, a message of CoAP, or nothing known.
    fn message(&mut self) -> Vec<u8> {
        let (up, down) = (self.below(self.upward.len()), self.below(self.downward.len()));
        let seen = match self.below(2) {
            0 => self.upward.get(up).map(|datagram| datagram.payload.clone()),
            _ => self.downward.get(down).map(|(_, _, payload)| payload.clone()),
        };
        match (self.below(8), seen) {
            (0 | 1, Some(seen)) => seen,
            (2 | 3, Some(mut seen)) => {
                self.change(&mut seen);
                seen
            }
            (4 | 5, _) => self.record(),
            (6, _) => self.coap(),
            _ => self.bytes(200),
        }
    }

    /// A record of DTLS: an alert, part of a handshake, or data.
    fn record(&mut self) -> Vec<u8> {
        let kind = 20 + self.below(6) as u8;
        let epoch = self.below(3) as u8;
        let sequence = self.below(40) as u8;
        let body = match (kind, self.below(3)) {
            (21, 0) => vec![2, 40],
            (21, 1) => vec![1, 0],
            (22, n @ (0 | 1)) => {
                let kinds = [0, 1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 20];
                let kind = kinds[self.below(kinds.len())];
                let body = self.bytes(60);
                let length = (body.len() as u32).to_be_bytes();
                let fragment = if n == 0 { length } else { 20_u32.to_be_bytes() };
                let sequence = self.below(4) as u8;
                [&[kind], &length[1..], &[0, sequence, 0, 0, 0], &fragment[1..], &body].concat()
            }
            _ => self.bytes(80),
        };
        let length = (body.len() as u16).to_be_bytes();
        [&[kind, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, sequence], &length[..], &body].concat()
    }

    /// A message of CoAP: a reset, an acknowledgement with a response or without, or a reading of nobody's.
    fn coap(&mut self) -> Vec<u8> {
        let id = self.stream.next_u32().to_be_bytes();
        match self.below(5) {
            0 => vec![0x70, 0, id[0], id[1]],
            1 => vec![0x60, 0x44, id[0], id[1]],
            2 => vec![0x60, 0, id[0], id[1]],
            3 => [&[0x48, 0x02, id[0], id[1]], &self.bytes(40)[..]].concat(),
            _ => {
                const PATH: &[u8] = b"\xb9resources\x04data\x11\x6e\xff";
                const READING: &[u8] =
                    br#"[{"bn":"urn:dev:mac:0212740000000001:","n":"temperature","u":"Cel","v":99.9}]"#;
                [&[0x40, 0x02, id[0], id[1]], PATH, READING].concat()
            }
        }
    }

    /// What it does now.
    pub(crate) fn act(&mut self) -> Vec<Action> {
        let Reach { air, internet, .. } = self.reach;
        let to_air = air && (!internet || self.below(2) == 0);
        match (to_air, self.below(2)) {
            (true, _) if self.below(32) == 0 => self.flood(),
            (true, _) => self.frames().into_iter().map(|(to, frame)| Action::Frame(to, frame)).collect(),
            (false, 0) => self.upward().map(Action::Upward).into_iter().collect(),
            (false, _) => self.downward().into_iter().collect(),
        }
    }

    /// A datagram for the cloud, in a node's name.
    fn upward(&mut self) -> Option<Outbound> {
        let place = self.below(self.upward.len());
        let seen = self.upward.get(place)?.clone();
        let node = Eui64::of_node(self.station().max(1)).with_prefix(MESH_PREFIX);
        let stolen = SocketAddrV6::new(node, seen.from.port(), 0, 0);
        let from = if self.below(4) == 0 { stolen } else { seen.from };
        let port = if self.below(8) == 0 { self.port() } else { seen.port };
        Some(Outbound { from, port, payload: self.message(), ..seen })
    }

    /// A datagram of the cloud's for a node arrives.
    fn downward(&mut self) -> Option<Action> {
        let place = self.below(self.downward.len());
        let &(router, flow, _) = self.downward.get(place)?;
        Some(Action::Downward(router, flow, self.message()))
    }
}
