//! smoltcp beside us: it restores what we compress, and we restore what it compresses, for 100,000 packets each way.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use sixlock_base::{Entropy, Eui64, LINK_LOCAL_PREFIX, MESH_PREFIX};
use sixlock_sixlowpan::{LinkAddresses, compress, decompress};
use sixlock_testing::Random;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    Ieee802154Address, IpProtocol, SixlowpanAddressContext, SixlowpanIphcPacket, SixlowpanIphcRepr,
    SixlowpanNextHeader, SixlowpanNhcPacket, SixlowpanUdpNhcPacket, SixlowpanUdpNhcRepr, UdpPacket, UdpRepr,
};

/// How many packets are compared each way.
const COMPARED: usize = 100_000;
/// How many are drawn for that at most: those that smoltcp cannot do are left out.
const DRAWN: usize = 4 * COMPARED;

const LINK: LinkAddresses = LinkAddresses {
    source: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1]),
    destination: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 2]),
};
const FRAME: [Option<Ieee802154Address>; 2] =
    [Some(Ieee802154Address::Extended(LINK.source.0)), Some(Ieee802154Address::Extended(LINK.destination.0))];

const IPV6_LEN: usize = 40;
const UDP_LEN: usize = 8;
const UDP: u8 = 17;

/// The fields of an IPv6 packet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Packet {
    class: u8,
    flow: u32,
    next_header: u8,
    hop_limit: u8,
    source: [u8; 16],
    destination: [u8; 16],
    payload: Vec<u8>,
}

impl Packet {
    fn drawn(random: &mut Random) -> Self {
        let class = match random.below(4) {
            0 => byte(random),
            1 => [0x01, 0xb8, 0xb9][random.below(3) as usize],
            _ => 0,
        };
        let flow = match random.below(6) {
            0 => random.below(1 << 20),
            1 => random.below(1 << 16),
            _ => 0,
        };
        let hop_limit = match random.below(4) {
            0 => byte(random),
            n => [1, 64, 255][n as usize - 1],
        };
        let source = if random.below(10) == 0 { [0; 16] } else { unicast(random) };
        let destination = if random.below(3) == 0 { multicast(random) } else { unicast(random) };
        let mut payload = vec![0; random.below(60) as usize];
        random.fill(&mut payload);
        let next_header = match random.below(5) {
            // TCP, ICMPv6, none, SCTP and one for experiments: headers that are never compressed.
            0 => [6, 58, 59, 132, 253][random.below(5) as usize],
            _ => {
                let ports = UdpRepr { src_port: port(random), dst_port: port(random) };
                let mut datagram = vec![0; UDP_LEN + payload.len()];
                ports.emit(
                    &mut UdpPacket::new_unchecked(&mut datagram[..]),
                    &Ipv6Addr::from(source).into(),
                    &Ipv6Addr::from(destination).into(),
                    payload.len(),
                    |place| place.copy_from_slice(&payload),
                    &ChecksumCapabilities::default(),
                );
                payload = datagram;
                UDP
            }
        };
        Self { class, flow, next_header, hop_limit, source, destination, payload }
    }

    fn bytes(&self) -> Vec<u8> {
        let first = 6 << 28 | u32::from(self.class) << 20 | self.flow;
        let length = (self.payload.len() as u16).to_be_bytes();
        let rest = [length[0], length[1], self.next_header, self.hop_limit];
        [&first.to_be_bytes()[..], &rest, &self.source, &self.destination, &self.payload].concat()
    }

    /// The source's and the destination's port, if it has any.
    fn ports(&self) -> Option<[u16; 2]> {
        let port = |at: usize| u16::from_be_bytes([self.payload[at], self.payload[at + 1]]);
        (self.next_header == UDP).then(|| [port(0), port(2)])
    }

    /// Whether the ports are carried in four bits each.
    fn has_short_ports(&self) -> bool {
        self.ports().is_some_and(|ports| ports.iter().all(|port| port & 0xfff0 == 0xf0b0))
    }

    /// Whether a checksum that comes out as zero is written as its other form
    /// (<https://www.rfc-editor.org/rfc/rfc8200#section-8.1>).
    fn has_zero_checksum(&self) -> bool {
        self.next_header == UDP && self.payload[6..8] == [0xff; 2]
    }

    /// Why smoltcp 0.14 does not restore it.
    fn is_not_restored(&self) -> Option<&'static str> {
        let short_in_context =
            |address: &[u8; 16]| address[..8] == MESH_PREFIX && address[8..14] == [0, 0, 0, 0xff, 0xfe, 0];
        if self.flow >= 1 << 16 {
            Some("restoring: flow labels have 16 of their 20 bits")
        } else if short_in_context(&self.source) || short_in_context(&self.destination) {
            Some("restoring: 16 bits in a context become an identifier without ff:fe")
        } else if is_of_context(&self.destination) && !fits_48_bits(&self.destination) {
            Some("restoring: multicast addresses of a context are not supported")
        } else if self.has_short_ports() && self.ports().is_some_and(|[source, _]| source != 0xf0b0) {
            Some("restoring: the destination's four bits are mixed with the source's")
        } else if self.ports().is_some_and(|[source, destination]| {
            source >> 8 != 0xf0 && destination >> 8 == 0xf0 && destination & 0xff != source >> 8
        }) {
            Some("restoring: the destination's eight bits are read where the source's port stands")
        } else if self.has_zero_checksum() {
            Some("restoring: a checksum of zero is expected as it is")
        } else {
            None
        }
    }

    /// Why smoltcp 0.14 does not compress it.
    fn is_not_compressed(&self) -> Option<&'static str> {
        if (self.class, self.flow) != (0, 0) {
            Some("compressing: traffic classes and flow labels are left out")
        } else if self.destination[0] == 0xff && !fits_48_bits(&self.destination) {
            Some("compressing: whole multicast addresses are marked as one byte")
        } else if self.has_short_ports() && self.ports() != Some([0xf0b0; 2]) {
            Some("compressing: ports of four bits become zero")
        } else if self.has_zero_checksum() {
            Some("compressing: a checksum of zero is written as it is")
        } else {
            None
        }
    }
}

fn byte(random: &mut Random) -> u8 {
    random.below(256) as u8
}

/// Addresses in every relation to the link addresses and to the context.
fn unicast(random: &mut Random) -> [u8; 16] {
    let mut address = [0; 16];
    random.fill(&mut address);
    match random.below(5) {
        0 | 1 => address[..8].copy_from_slice(&LINK_LOCAL_PREFIX),
        2 => address[..8].copy_from_slice(&MESH_PREFIX),
        // Of the link's scope, and not with its prefix.
        3 => address[..8].copy_from_slice(&[0xfe, 0x80, 0, 0, 0, 0, 0, 1]),
        _ => address[..2].copy_from_slice(&[0x20, 0x01]),
    }
    match random.below(5) {
        0 => address[8..].copy_from_slice(&LINK.source.interface_id()),
        1 => address[8..].copy_from_slice(&LINK.destination.interface_id()),
        2 => address[8..14].copy_from_slice(&[0, 0, 0, 0xff, 0xfe, 0]),
        3 => address[8..].fill(0),
        _ => {}
    }
    address
}

/// Addresses of each form: of one, four, six and sixteen bytes, and with the context's prefix.
fn multicast(random: &mut Random) -> [u8; 16] {
    let mut address = [0; 16];
    random.fill(&mut address);
    address[0] = 0xff;
    match random.below(5) {
        0 => {
            address[1] = 2;
            address[2..15].fill(0);
        }
        1 => address[2..13].fill(0),
        2 => address[2..11].fill(0),
        3 => {
            address[3] = 64;
            address[4..12].copy_from_slice(&MESH_PREFIX);
        }
        _ => {}
    }
    address
}

fn port(random: &mut Random) -> u16 {
    match random.below(5) {
        0 => 0xf000 | random.below(0x100) as u16,
        1 => 0xf0b0,
        2 => 0xf0b0 | random.below(0x10) as u16,
        _ => random.below(0x1_0000) as u16,
    }
}

/// Whether no more of a multicast address than six bytes is not zero.
fn fits_48_bits(address: &[u8; 16]) -> bool {
    address[2..11].iter().all(|&byte| byte == 0)
}

/// Whether it is a multicast address made from the context's prefix.
fn is_of_context(address: &[u8; 16]) -> bool {
    address[0] == 0xff && address[3] == 64 && address[4..12] == MESH_PREFIX
}

/// The frame's payload by us.
fn compressed_by_us(packet: &[u8]) -> Vec<u8> {
    let mut headers = [0; 127];
    let compressed = compress(packet, LINK, &mut headers).unwrap();
    [&headers[..compressed.written], &packet[compressed.consumed..]].concat()
}

fn restored_by_us(frame: &[u8]) -> Vec<u8> {
    let mut headers = [0; IPV6_LEN + UDP_LEN];
    let restored = decompress(frame, LINK, None, &mut headers).unwrap();
    assert_eq!(restored.elided_checksum, None);
    [&headers[..restored.written], &frame[restored.consumed..]].concat()
}

fn compressed_by_smoltcp(packet: &Packet) -> Vec<u8> {
    let (source, destination) = (packet.source.into(), packet.destination.into());
    let next_header = match packet.ports() {
        Some(_) => SixlowpanNextHeader::Compressed,
        None => SixlowpanNextHeader::Uncompressed(IpProtocol::from(packet.next_header)),
    };
    let header = SixlowpanIphcRepr {
        src_addr: source,
        ll_src_addr: FRAME[0],
        dst_addr: destination,
        ll_dst_addr: FRAME[1],
        next_header,
        hop_limit: packet.hop_limit,
        ecn: None,
        dscp: None,
        flow_label: None,
    };
    let mut frame = vec![0; header.buffer_len()];
    header.emit(&mut SixlowpanIphcPacket::new_unchecked(&mut frame[..]));
    let Some([src_port, dst_port]) = packet.ports() else { return [&frame[..], &packet.payload].concat() };
    let ports = SixlowpanUdpNhcRepr(UdpRepr { src_port, dst_port });
    let payload = &packet.payload[UDP_LEN..];
    let mut datagram = vec![0; ports.header_len() + payload.len()];
    ports.emit(
        &mut SixlowpanUdpNhcPacket::new_unchecked(&mut datagram[..]),
        &source,
        &destination,
        payload.len(),
        |place| place.copy_from_slice(payload),
        &ChecksumCapabilities::default(),
    );
    [frame, datagram].concat()
}

/// The packet as smoltcp takes it out of a frame's payload, with the checksum found right.
fn restored_by_smoltcp(frame: &[u8]) -> Packet {
    let mut frame = frame.to_vec();
    // smoltcp takes a context only where its number stands, and we do not write a zero.
    if frame[1] & 0x44 != 0 && frame[1] & 0x80 == 0 {
        frame[1] |= 0x80;
        frame.insert(2, 0);
    }
    let iphc = SixlowpanIphcPacket::new_checked(&frame[..]).unwrap();
    let contexts = [SixlowpanAddressContext(MESH_PREFIX)];
    let header = SixlowpanIphcRepr::parse(&iphc, FRAME[0], FRAME[1], &contexts)
        .unwrap_or_else(|_| panic!("{frame:02x?}"));
    let (next_header, payload) = match header.next_header {
        SixlowpanNextHeader::Uncompressed(protocol) => (protocol.into(), iphc.payload().to_vec()),
        SixlowpanNextHeader::Compressed => {
            assert!(matches!(
                SixlowpanNhcPacket::dispatch(iphc.payload()),
                Ok(SixlowpanNhcPacket::UdpHeader)
            ));
            let udp = SixlowpanUdpNhcPacket::new_checked(iphc.payload()).unwrap();
            let checks = ChecksumCapabilities::default();
            let ports =
                SixlowpanUdpNhcRepr::parse(&udp, &header.src_addr, &header.dst_addr, &checks).unwrap();
            let length = (UDP_LEN + udp.payload().len()) as u16;
            let fields = [ports.src_port, ports.dst_port, length, udp.checksum().unwrap()];
            (UDP, [fields.map(u16::to_be_bytes).as_flattened(), udp.payload()].concat())
        }
    };
    Packet {
        // The bits of congestion notification come as they stand in the frame, first.
        class: header.dscp.unwrap_or(0) << 2 | header.ecn.unwrap_or(0) >> 6,
        flow: header.flow_label.unwrap_or(0).into(),
        next_header,
        hop_limit: header.hop_limit,
        source: header.src_addr.octets(),
        destination: header.dst_addr.octets(),
        payload,
    }
}

#[test]
fn smoltcp_and_we_restore_the_same_of_100_000_packets_that_the_other_has_compressed() {
    let mut random = Random::new(6282);
    let (mut by_us, mut by_smoltcp) = (0, 0);
    let mut left_out = BTreeMap::<&str, usize>::new();
    // The forms that were compared: of traffic class, next header and hop limit, of the source, of the destination, of UDP's header.
    let mut forms = [(); 4].map(|()| BTreeSet::new());
    for _ in 0..DRAWN {
        let packet = Packet::drawn(&mut random);
        let bytes = packet.bytes();
        if by_us < COMPARED {
            match packet.is_not_restored() {
                Some(reason) => *left_out.entry(reason).or_default() += 1,
                None => {
                    let frame = compressed_by_us(&bytes);
                    assert_eq!(restored_by_smoltcp(&frame), packet, "{frame:02x?}");
                    by_us += 1;
                    forms[0].insert(frame[0]);
                    forms[1].insert(frame[1] >> 4);
                    forms[2].insert(frame[1] & 0x0f);
                    if packet.ports().is_some() {
                        forms[3]
                            .insert(frame[frame.len() - (packet.payload.len() - UDP_LEN) - nhc_len(&packet)]);
                    }
                }
            }
        }
        if by_smoltcp < COMPARED {
            match packet.is_not_compressed() {
                Some(reason) => *left_out.entry(reason).or_default() += 1,
                None => {
                    let frame = compressed_by_smoltcp(&packet);
                    assert_eq!(restored_by_us(&frame), bytes, "{frame:02x?}");
                    by_smoltcp += 1;
                }
            }
        }
    }
    for (reason, count) in &left_out {
        println!("{count:6} left out of {reason}");
    }
    assert_eq!((by_us, by_smoltcp), (COMPARED, COMPARED), "compared each way: {left_out:?}");
    // All four forms of the traffic class, with and without a compressed next header, and all four of the hop limit.
    assert_eq!(forms[0], (0x60..0x80).collect());
    // SAC and SAM: all but 16 bits in a context.
    assert_eq!(forms[1], BTreeSet::from([0, 1, 2, 3, 4, 5, 7]));
    // M, DAC and DAM: all but 16 bits in a context, and the context's prefix in a multicast address.
    assert_eq!(forms[2], BTreeSet::from([0, 1, 2, 3, 5, 7, 8, 9, 10, 11]));
    assert_eq!(forms[3], (0xf0..0xf4).collect());
}

/// How long UDP's header is when it is compressed.
fn nhc_len(packet: &Packet) -> usize {
    let Some([source, destination]) = packet.ports() else { return 0 };
    let is_short = |port: u16| port >> 8 == 0xf0;
    match (packet.has_short_ports(), is_short(source) || is_short(destination)) {
        (true, _) => 4,
        (_, true) => 6,
        _ => 7,
    }
}
