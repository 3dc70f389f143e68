//! Compressed AH and ESP.

use proptest::prelude::*;
use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_sixlowpan::ipsec::{Context, Flow, Format, Kind, Known};
use sixlock_sixlowpan::{Error, LinkAddresses, compress, compress_with, decompress, decompress_with};

const LINK: LinkAddresses = LinkAddresses {
    source: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1]),
    destination: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 2]),
};

/// Both ends know the same of every flow.
struct Both {
    format: Format,
    default_spi: u32,
    known: Option<Known>,
}

impl Context for Both {
    fn format(&self) -> Option<Format> {
        Some(self.format)
    }

    fn default_spi(&self) -> u32 {
        self.default_spi
    }

    fn is_known_to_receiver(&self, flow: &Flow, sequence: u32, ah_len: usize) -> bool {
        assert_eq!(flow.ends[..16], address(LINK.source));
        // What is heard of is neither long past nor far ahead.
        self.known.is_some_and(|known| {
            (flow.kind == Kind::Esp || known.ah_len == ah_len)
                && sequence.wrapping_sub(known.highest).wrapping_add(1024) <= 2048
        })
    }

    fn known(&self, _: &Flow) -> Option<Known> {
        self.known
    }
}

fn address(eui: Eui64) -> [u8; 16] {
    let mut address = [0; 16];
    address[..8].copy_from_slice(&MESH_PREFIX);
    address[8..].copy_from_slice(&eui.interface_id());
    address
}

fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    let mut packet = vec![0x60, 0, 0, 0, length[0], length[1], next_header, 64];
    packet.extend(address(LINK.source));
    packet.extend(address(LINK.destination));
    packet.extend(payload);
    packet
}

fn udp() -> Vec<u8> {
    let mut datagram = vec![0xf0, 0xb1, 0xf0, 0xb2, 0, 18, 0xab, 0xcd];
    datagram.extend(b"reading 42");
    datagram
}

fn ah(next_header: u8, spi: u32, sequence: u32, icv: usize, behind: &[u8]) -> Vec<u8> {
    let mut bytes = vec![next_header, ((12 + icv) / 4 - 2) as u8, 0, 0];
    bytes.extend(spi.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend((0..icv).map(|n| n as u8 ^ 0xa5));
    bytes.extend(behind);
    bytes
}

fn esp(spi: u32, sequence: u32, rest: usize) -> Vec<u8> {
    let mut bytes = spi.to_be_bytes().to_vec();
    bytes.extend(sequence.to_be_bytes());
    bytes.extend((0..rest).map(|n| n as u8 ^ 0x5a));
    bytes
}

fn compressed(context: &impl Context, packet: &[u8]) -> Vec<u8> {
    let mut out = vec![0; packet.len() + 20];
    let headers = compress_with(context, packet, LINK, &mut out).unwrap();
    out.truncate(headers.written);
    out.extend(&packet[headers.consumed..]);
    out
}

fn decompressed(context: &impl Context, payload: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = vec![0; payload.len() + 400];
    let headers = decompress_with(context, payload, LINK, None, &mut out)?;
    out.truncate(headers.written);
    out.extend(&payload[headers.consumed..]);
    Ok(out)
}

const KNOWN: Both = Both {
    format: Format::Paper2012,
    default_spi: 1,
    known: Some(Known { highest: 0x0001_fffe, ah_len: 24 }),
};
const UNKNOWN: Both = Both { known: None, ..KNOWN };

/// What header compression adds for AH or ESP with this much in front of the upper layer.
fn on_the_air(context: &impl Context, packet: &[u8], without: &[u8]) -> usize {
    compressed(context, packet).len() - compressed(context, without).len()
}

#[test]
fn sizes_are_those_of_the_paper_as_they_are_computed() {
    let plain = ipv6(17, &udp());
    let sequence = 0x0001_ffff;
    for format in [Format::Paper2012, Format::Drafts] {
        let known = Both { format, ..KNOWN };
        // AH with an ICV of 12 bytes: 24 to 16.
        let with_ah = ipv6(51, &ah(17, 1, sequence, 12, &udp()));
        assert_eq!(with_ah.len() - plain.len(), 24);
        assert_eq!(on_the_air(&known, &with_ah, &plain), 16, "{format:?}");
        // ESP: its header, an initialization vector of 8 or 16 bytes, pad length and next header; an ICV of 12 bytes.
        for (before, after) in [(18, 14), (30, 26), (26, 22), (38, 34)] {
            let with_esp = ipv6(50, &esp(1, sequence, before - 8));
            let all_of_it = compressed(&known, &with_esp);
            let empty = compressed(&known, &ipv6(59, &[]));
            // The next header, which nothing follows here, is carried.
            assert_eq!(all_of_it.len() - (empty.len() - 1), after, "{format:?}");
        }
    }
}

#[test]
fn bytes_are_those_of_the_two_encodings() {
    let front = compressed(&(), &ipv6(17, &udp()));
    let iphc = &front[..front.len() - 10 - 4];
    let nhc_udp = &front[iphc.len()..];
    let icv: Vec<u8> = (0..12).map(|n| n ^ 0xa5).collect();
    let with_ah = |spi, upper, payload: &[u8]| ipv6(51, &ah(upper, spi, 0x0001_ffff, 12, payload));
    let drafts = |known| Both { format: Format::Drafts, known, ..KNOWN };
    for (context, packet, expected) in [
        (KNOWN, with_ah(1, 17, &udp()), [&[0xeb, 0xd1, 0xff, 0xff], &icv[..], nhc_udp].concat()),
        (
            UNKNOWN,
            with_ah(0x0102_0304, 17, &udp()),
            [&[0xeb, 0xdf, 4, 1, 2, 3, 4, 0, 1, 0xff, 0xff], &icv[..], nhc_udp].concat(),
        ),
        (KNOWN, with_ah(1, 6, b"tcp"), [&[0xeb, 0xd0, 6, 0xff, 0xff], &icv[..], b"tcp"].concat()),
        (KNOWN, ipv6(50, &esp(1, 0x0001_ffff, 1)), vec![0xeb, 0xe0, 0xff, 0xff, 0x5a]),
        (
            UNKNOWN,
            ipv6(50, &esp(0x0102_0304, 0x0001_ffff, 1)),
            vec![0xeb, 0xe6, 1, 2, 3, 4, 0, 1, 0xff, 0xff, 0x5a],
        ),
        (
            drafts(KNOWN.known),
            with_ah(1, 17, &udp()),
            [&[0xeb, 0xd1, 0xff, 0xff], &icv[..], nhc_udp].concat(),
        ),
        (
            drafts(None),
            with_ah(0x0102, 6, b"tcp"),
            [&[0xea, 6, 0xdb, 1, 2, 0, 1, 0xff, 0xff], &icv[..], b"tcp"].concat(),
        ),
        (drafts(KNOWN.known), ipv6(50, &esp(0x77, 0x0001_ffff, 1)), vec![0xea, 0xe5, 0x77, 0xff, 0xff, 0x5a]),
    ] {
        let payload = compressed(&context, &packet);
        // The next header bit of IPHC is set, as it is with UDP.
        assert_eq!(payload, [iphc, &expected[..]].concat());
        assert_eq!(decompressed(&context, &payload), Ok(packet));
    }
}

#[test]
fn an_announcement_with_either_last_bit_is_accepted() {
    let packet = ipv6(50, &esp(1, 0x0001_ffff, 9));
    for format in [Format::Paper2012, Format::Drafts] {
        let context = Both { format, ..KNOWN };
        let mut payload = compressed(&context, &packet);
        let announcement = payload.iter().position(|byte| byte & 0xfe == 0xea).unwrap();
        payload[announcement] ^= 1;
        assert_eq!(decompressed(&context, &payload), Ok(packet.clone()), "{format:?}");
    }
}

#[test]
fn a_short_number_of_an_unknown_flow_is_an_error_of_its_own() {
    for packet in [ipv6(51, &ah(17, 1, 0x0001_ffff, 12, &udp())), ipv6(50, &esp(1, 0x0001_ffff, 9))] {
        let payload = compressed(&KNOWN, &packet);
        assert_eq!(decompressed(&UNKNOWN, &payload), Err(Error::UnknownSequence));
        assert_eq!(decompressed(&UNKNOWN, &compressed(&UNKNOWN, &packet)), Ok(packet));
    }
}

#[test]
fn what_the_receiver_could_not_restore_is_carried_as_it_is() {
    // Reserved bytes in use; longer than the drafts tell; followed by what reads as ESP's byte.
    let mut reserved = ah(17, 1, 5, 12, &udp());
    reserved[2] = 1;
    let drafts = Both { format: Format::Drafts, ..UNKNOWN };
    for (context, packet) in [
        (&UNKNOWN, ipv6(51, &reserved)),
        (&drafts, ipv6(51, &ah(17, 1, 5, 20, &udp()))),
        (&drafts, ipv6(51, &ah(0xe5, 1, 5, 12, b"experiment"))),
    ] {
        assert_eq!(compressed(context, &packet), compressed(&(), &packet));
        assert_eq!(decompressed(context, &compressed(context, &packet)), Ok(packet));
    }
    // Another length than the receiver has heard of is told.
    let longer = ipv6(51, &ah(17, 1, 0x0001_ffff, 20, &udp()));
    assert_eq!(decompressed(&KNOWN, &compressed(&KNOWN, &longer)), Ok(longer));
    // So is a number far from what it has heard of.
    let far = ipv6(50, &esp(1, 0x7000_0000, 9));
    assert_eq!(decompressed(&KNOWN, &compressed(&KNOWN, &far)), Ok(far));
}

#[test]
fn without_a_context_ah_and_esp_are_carried_as_they_are_and_refused_when_they_are_not() {
    let packet = ipv6(50, &esp(1, 0x0001_ffff, 9));
    let mut out = [0; 100];
    let headers = compress(&packet, LINK, &mut out).unwrap();
    assert_eq!(headers.consumed, 40);
    let payload = compressed(&KNOWN, &packet);
    assert_eq!(decompress(&payload, LINK, None, &mut out), Err(Error::UnknownNextHeader));
}

proptest! {
    #[test]
    fn a_packet_survives(
        drafts: bool, default_spi in 0..3u32, highest: u32, ahead in prop_oneof![0..1100u32, 0..70_000u32], is_known: bool, ah_len in 0..3usize,
        spi in prop_oneof![0..4u32, 0..70_000u32, any::<u32>()], icv in 0..6usize, upper in prop_oneof![Just(17u8), Just(0), Just(50), Just(60), any::<u8>()],
        is_ah: bool, options: bool,
    ) {
        let known = is_known.then_some(Known { highest, ah_len: 12 + 4 * (3 + ah_len) });
        let format = if drafts { Format::Drafts } else { Format::Paper2012 };
        let context = Both { format, default_spi, known };
        let sequence = highest.wrapping_add(ahead);
        let inner = match upper {
            17 => udp(),
            50 => esp(spi, sequence, 20),
            60 => [&[17, 0, 1, 4, 0, 0, 0, 0], &udp()[..]].concat(),
            _ => b"whatever comes".to_vec(),
        };
        let (kind, secured) = if is_ah { (51, ah(upper, spi, sequence, 4 * icv, &inner)) } else { (50, esp(spi, sequence, 30)) };
        let packet = if options {
            ipv6(0, &[&[kind, 0, 0x63, 4, 1, 2, 3, 4], &secured[..]].concat())
        } else {
            ipv6(kind, &secured)
        };
        prop_assert_eq!(decompressed(&context, &compressed(&context, &packet)), Ok(packet));
    }

    #[test]
    fn any_bytes_decompress_or_are_refused(
        drafts: bool, is_known: bool, announce in 0xeau8..0xec, bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let format = if drafts { Format::Drafts } else { Format::Paper2012 };
        let context = Both { format, known: KNOWN.known.filter(|_| is_known), ..KNOWN };
        let front = compressed(&(), &ipv6(17, &udp()));
        let payload = [&front[..front.len() - 14], &[announce], &bytes[..]].concat();
        if let Ok(packet) = decompressed(&context, &payload) {
            prop_assert_eq!(&packet[8..24], &address(LINK.source)[..]);
            prop_assert!(matches!(packet[6], 50 | 51));
        }
    }
}
