//! Any packet survives compression, and any bytes decompress or are refused.

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_base::{Eui64, LINK_LOCAL_PREFIX, MESH_PREFIX};
use sixlock_sixlowpan::{Error, LinkAddresses, Stateless, compress, compress_with, decompress};

const LINK: LinkAddresses = LinkAddresses {
    source: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1]),
    destination: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 2]),
};

/// Addresses in every relation to the link addresses and to the context.
fn unicast() -> impl Strategy<Value = [u8; 16]> {
    let prefix = prop_oneof![Just(LINK_LOCAL_PREFIX), Just(MESH_PREFIX), Just([0; 8]), any::<[u8; 8]>()];
    let id = prop_oneof![
        Just(LINK.source.interface_id()),
        Just(LINK.destination.interface_id()),
        any::<[u8; 2]>().prop_map(|[a, b]| [0, 0, 0, 0xff, 0xfe, 0, a, b]),
        Just([0; 8]),
        any::<[u8; 8]>(),
    ];
    (prefix, id).prop_map(|(prefix, id)| {
        let mut address = [0; 16];
        address[..8].copy_from_slice(&prefix);
        address[8..].copy_from_slice(&id);
        address
    })
}

/// Multicast addresses with zeros where the shorter modes want them, and the context's prefix.
fn multicast() -> impl Strategy<Value = [u8; 16]> {
    (any::<[u8; 16]>(), prop_oneof![Just(2u8), any::<u8>()], 2usize..16, any::<bool>()).prop_map(
        |(mut address, scope, zeros, context)| {
            address[0] = 0xff;
            address[1] = scope;
            if context {
                address[3] = 64;
                address[4..12].copy_from_slice(&MESH_PREFIX);
            } else {
                address[2..zeros].fill(0);
            }
            address
        },
    )
}

fn field(common: &'static [u8]) -> impl Strategy<Value = u8> {
    prop_oneof![proptest::sample::select(common), any::<u8>()]
}

fn ipv6_header() -> impl Strategy<Value = Vec<u8>> {
    let flow = prop_oneof![Just([0; 3]), any::<[u8; 3]>()];
    let destination = prop_oneof![unicast(), multicast()];
    (field(&[0, 1, 0xb8, 0xb9]), flow, field(&[1, 64, 255]), unicast(), destination).prop_map(
        |(class, flow, hop_limit, source, destination)| {
            let first =
                [0x60 | class >> 4, class << 4 | flow[0] & 0x0f, flow[1], flow[2], 0, 0, 0, hop_limit];
            [&first[..], &source, &destination].concat()
        },
    )
}

/// An extension header of 1 to 33 units, with options and padding that make sense or not.
fn extension() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let kind = prop_oneof![Just(0u8), Just(60), Just(43), Just(44), Just(135)];
    let units = prop_oneof![4 => 1usize..4, 1 => 30usize..34];
    (kind, units, vec(any::<u8>(), 264), 0usize..9).prop_map(|(kind, units, mut bytes, padding)| {
        let units = if kind == 44 { 1 } else { units };
        bytes.truncate(units * 8);
        if kind != 44 {
            bytes[1] = (units - 1) as u8;
        }
        if (1..=6).contains(&padding) {
            // One option before the padding, if there is room for one.
            let end = bytes.len() - padding;
            if (4..260).contains(&end) {
                bytes[2] = 0x1e;
                bytes[3] = (end - 4) as u8;
            }
            bytes[end..].fill(0);
            if padding > 1 {
                bytes[end] = 1;
                bytes[end + 1] = (padding - 2) as u8;
            }
        }
        (kind, bytes)
    })
}

#[derive(Clone, Debug)]
enum Part {
    Ipv6(Vec<u8>),
    Extension(u8, Vec<u8>),
}

fn upper() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let port = prop_oneof![
        any::<u16>(),
        (0u16..16).prop_map(|low| 0xf0b0 | low),
        any::<u8>().prop_map(|low| 0xf000 | u16::from(low))
    ];
    let udp = (port.clone(), port, any::<[u8; 2]>(), vec(any::<u8>(), 0..40), -1i32..2).prop_map(
        |(source, destination, checksum, payload, off)| {
            let length = (8 + payload.len() as i32 + if off == 0 { 0 } else { off }) as u16;
            let ports = [source.to_be_bytes(), destination.to_be_bytes(), length.to_be_bytes(), checksum];
            (17, [ports.as_flattened(), &payload].concat())
        },
    );
    prop_oneof![3 => udp, 1 => (any::<u8>(), vec(any::<u8>(), 0..60))]
}

/// A whole IPv6 packet with lengths that agree.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        1 => ipv6_header().prop_map(Part::Ipv6),
        2 => extension().prop_map(|(kind, bytes)| Part::Extension(kind, bytes)),
    ];
    (ipv6_header(), vec(part, 0..5), upper()).prop_map(|(first, parts, (mut kind, mut packet))| {
        for part in parts.into_iter().rev().chain([Part::Ipv6(first)]) {
            packet = match part {
                Part::Extension(this, mut bytes) => {
                    bytes[0] = std::mem::replace(&mut kind, this);
                    [bytes, packet].concat()
                }
                Part::Ipv6(mut header) => {
                    header[4..6].copy_from_slice(&(packet.len() as u16).to_be_bytes());
                    header[6] = std::mem::replace(&mut kind, 41);
                    [header, packet].concat()
                }
            };
        }
        packet
    })
}

fn compressed(packet: &[u8]) -> Result<(Vec<u8>, usize), Error> {
    let mut out = vec![0; packet.len() + 1];
    let done = compress(packet, LINK, &mut out)?;
    out.truncate(done.written);
    out.extend(&packet[done.consumed..]);
    Ok((out, done.consumed))
}

fn decompressed(payload: &[u8], size: Option<u16>) -> Result<Vec<u8>, Error> {
    let mut out = vec![0; 4096];
    let done = decompress(payload, LINK, size, &mut out)?;
    out.truncate(done.written);
    out.extend(&payload[done.consumed..]);
    Ok(out)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decompression_undoes_compression(packet in packet()) {
        let (payload, consumed) = compressed(&packet).unwrap();
        prop_assert!(payload.len() <= packet.len() + 1);
        prop_assert_eq!(consumed % 8, 0);
        prop_assert_eq!(&decompressed(&payload, None).unwrap(), &packet);
        // A first fragment knows the size from its fragment header.
        let first = &payload[..payload.len() - (packet.len() - consumed)];
        let headers = decompressed(first, Some(packet.len() as u16)).unwrap();
        prop_assert_eq!(&headers[..], &packet[..consumed]);
    }

    #[test]
    fn decompression_undoes_stateless_compression_which_knows_udp_alone(packet in packet()) {
        let mut out = vec![0; packet.len() + 1];
        let done = compress_with(&Stateless, &packet, LINK, &mut out).unwrap();
        let payload = [&out[..done.written], &packet[done.consumed..]].concat();
        prop_assert_eq!(&decompressed(&payload, None).unwrap(), &packet);
        // Neither of the bits of a context, but for the source that is unspecified.
        prop_assert!(payload[1] & 0x44 == 0 || payload[1] & 0x74 == 0x40);
        let expected = if payload[0] & 0x04 == 0 { 40 } else { 48 };
        prop_assert_eq!(done.consumed, expected);
    }

    #[test]
    fn any_bytes_decompress_or_are_refused(bytes in vec(any::<u8>(), 0..100), size: Option<u16>, room in 0usize..200) {
        let mut out = vec![0; room];
        if let Ok(done) = decompress(&bytes, LINK, size, &mut out) {
            prop_assert!(done.consumed <= bytes.len() && done.written <= room);
        }
        let _ = compress(&bytes, LINK, &mut out);
    }

    #[test]
    fn what_decompresses_survives_compression(
        first in 0x60u8..0x80, second: u8, nhc in vec(prop_oneof![0xe0u8..=0xff, any::<u8>()], 0..12), bytes in vec(any::<u8>(), 0..90),
    ) {
        let payload = [&[first, second][..], &nhc, &bytes].concat();
        if let Ok(packet) = decompressed(&payload, None) {
            let (again, _) = compressed(&packet).unwrap();
            prop_assert_eq!(decompressed(&again, None).unwrap(), packet);
        }
    }

    #[test]
    fn too_little_room_is_refused(packet in packet(), cut: usize) {
        let (payload, consumed) = compressed(&packet).unwrap();
        let needed = payload.len() - (packet.len() - consumed);
        prop_assert_eq!(compress(&packet, LINK, &mut vec![0; cut % needed]), Err(Error::BufferTooSmall));
        prop_assert_eq!(decompress(&payload, LINK, None, &mut vec![0; cut % consumed]), Err(Error::BufferTooSmall));
    }
}
