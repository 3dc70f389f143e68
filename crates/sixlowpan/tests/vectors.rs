//! Byte for byte: each encoding of RFC 6282, made by hand from its figures.

use sixlock_base::Eui64;
use sixlock_sixlowpan::{
    Compressed, Decompressed, ElidedChecksum, Error, LinkAddresses, Stateless, compress, compress_with,
    decompress,
};

const LINK: LinkAddresses = LinkAddresses {
    source: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1]),
    destination: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 2]),
};

/// A packet of hexadecimal parts.
fn hex(parts: &str) -> Vec<u8> {
    let digits: Vec<u32> =
        parts.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).unwrap()).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// An IPv6 packet with its payload length filled in.
fn ipv6(
    class_and_flow: &str,
    next_header: u8,
    hop_limit: u8,
    source: &str,
    destination: &str,
    payload: &str,
) -> Vec<u8> {
    let payload = hex(payload);
    let mut packet = hex(class_and_flow);
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next_header, hop_limit]);
    for address in [source, destination] {
        packet.extend(address.parse::<std::net::Ipv6Addr>().unwrap().octets());
    }
    packet.extend(payload);
    packet
}

/// The two are the same in both directions; the packet ends with the bytes "data".
fn both_ways(what: &str, packet: &[u8], compressed: &str) {
    let compressed = hex(compressed);
    let mut out = [0; 200];
    let Compressed { written, consumed, .. } = compress(packet, LINK, &mut out).unwrap();
    let rest = &packet[consumed..];
    out[written..written + rest.len()].copy_from_slice(rest);
    assert_eq!(out[..written + rest.len()], compressed, "{what}, compressed");
    one_way(what, packet, &compressed);
}

/// The compressed form, which is not the one made here, stands for the packet.
fn one_way(what: &str, packet: &[u8], compressed: &[u8]) {
    let mut out = [0; 300];
    let Decompressed { consumed, written, .. } = decompress(compressed, LINK, None, &mut out).unwrap();
    let restored = [&out[..written], &compressed[consumed..]].concat();
    assert_eq!(restored, packet, "{what}, decompressed");
}

const DATA: &str = "64617461";

#[test]
fn unicast_addresses() {
    for (source, destination, compressed) in [
        // Elided, link-local and mesh.
        ("fe80::12:7400:0:1", "fe80::12:7400:0:2", "7a33 3b"),
        ("fd00::12:7400:0:1", "fd00::12:7400:0:2", "7a77 3b"),
        ("fd00::12:7400:0:1", "fe80::12:7400:0:2", "7a73 3b"),
        // 16 bits.
        ("fe80::ff:fe00:1234", "fe80::ff:fe00:5678", "7a22 3b 1234 5678"),
        ("fd00::ff:fe00:1234", "fd00::ff:fe00:5678", "7a66 3b 1234 5678"),
        // 64 bits: interface identifiers of other nodes.
        ("fe80::12:7400:0:2", "fe80::12:7400:0:1", "7a11 3b 0012740000000002 0012740000000001"),
        ("fd00::12:7400:0:9", "fd00::12:7400:0:a", "7a55 3b 0012740000000009 001274000000000a"),
        // 128 bits: another prefix.
        (
            "fd00:c::1",
            "2001:db8::12:7400:0:2",
            "7a00 3b fd00000c000000000000000000000001 20010db8000000000012740000000002",
        ),
        // Unspecified.
        ("::", "fe80::12:7400:0:2", "7a43 3b"),
        ("::", "::", "7a40 3b 00000000000000000000000000000000"),
    ] {
        let packet = ipv6("60000000", 59, 64, source, destination, DATA);
        both_ways(&format!("{source} > {destination}"), &packet, &format!("{compressed} {DATA}"));
    }
}

#[test]
fn multicast_addresses() {
    for (destination, compressed) in [
        ("ff02::1a", "7b3b 3a 1a"),
        ("ff05::1:3", "7b3a 3a 05 010003"),
        ("ff02::1:ff00:2", "7b39 3a 02 01ff000002"),
        ("ff35:40:fd00::1234:5678", "7b3c 3a 3500 12345678"),
        ("ff35:30:fd00::1234:5678", "7b38 3a ff350030fd00000000000000 12345678"),
        ("ff02:1::1", "7b38 3a ff020001000000000000000000000001"),
    ] {
        let packet = ipv6("60000000", 58, 255, "fe80::12:7400:0:1", destination, DATA);
        both_ways(destination, &packet, &format!("{compressed} {DATA}"));
    }
}

#[test]
fn traffic_class_flow_label_and_hop_limit() {
    // The traffic class is DSCP 0b101110, ECN 0b01; compressed, ECN goes first.
    for (class_and_flow, hop_limit, compressed) in [
        ("60000000", 1, "7933 3b"),
        ("60000000", 64, "7a33 3b"),
        ("60000000", 255, "7b33 3b"),
        ("60000000", 63, "7833 3b 3f"),
        ("6b900000", 64, "7233 6e 3b"),
        ("60112345", 64, "6a33 412345 3b"),
        ("6b9abcde", 64, "6233 6e0abcde 3b"),
    ] {
        let packet = ipv6(class_and_flow, 59, hop_limit, "fe80::12:7400:0:1", "fe80::12:7400:0:2", DATA);
        both_ways(&format!("{class_and_flow} {hop_limit}"), &packet, &format!("{compressed} {DATA}"));
    }
}

#[test]
fn udp_ports() {
    for (ports, compressed) in [
        ("f0b1 f0b2", "f3 12"),
        ("f0c1 1633", "f2 c1 1633"),
        ("1633 f0b2", "f1 1633 b2"),
        ("f0b1 f0c2", "f2 b1 f0c2"),
        ("1633 1634", "f0 1633 1634"),
    ] {
        let udp = format!("{ports} 000c abcd {DATA}");
        let packet = ipv6("60000000", 17, 64, "fd00::12:7400:0:1", "fd00::12:7400:0:2", &udp);
        both_ways(ports, &packet, &format!("7e77 {compressed} abcd {DATA}"));
    }
    // A length that the receiver would not compute is carried.
    let udp = format!("f0b1 f0b2 000b abcd {DATA}");
    let packet = ipv6("60000000", 17, 64, "fd00::12:7400:0:1", "fd00::12:7400:0:2", &udp);
    both_ways("odd length", &packet, &format!("7a77 11 {udp}"));
}

#[test]
fn extension_headers() {
    let udp = "1633 1634 000c abcd 64617461";
    let from_mesh = |next_header, payload: &str| {
        ipv6("60000000", next_header, 64, "fd00::12:7400:0:1", "fd00::12:7400:0:2", payload)
    };
    for (what, next_header, payload, compressed) in [
        // RFC 6553's option, then UDP: nothing to pad.
        (
            "hop-by-hop",
            0,
            format!("1100 6304 80 1e 0100 {udp}"),
            format!("e1 06 6304801e0100 f0 16331634 abcd {DATA}"),
        ),
        (
            "next header inline",
            0,
            format!("3a00 6304 80 1e 0100 {DATA}"),
            format!("e0 3a 06 6304801e0100 {DATA}"),
        ),
        (
            "PadN elided",
            60,
            format!("1100 1e01 ff 010100 {udp}"),
            format!("e7 03 1e01ff f0 16331634 abcd {DATA}"),
        ),
        (
            "Pad1 elided",
            60,
            format!("1100 1e03 ffffff 00 {udp}"),
            format!("e7 05 1e03ffffff f0 16331634 abcd {DATA}"),
        ),
        ("only padding", 0, format!("1100 0104 00000000 {udp}"), format!("e1 00 f0 16331634 abcd {DATA}")),
        (
            "padding with content",
            0,
            format!("1100 0104 00000001 {udp}"),
            format!("e1 06 010400000001 f0 16331634 abcd {DATA}"),
        ),
        (
            "routing",
            43,
            format!("1100 0401 0000 0000 {udp}"),
            format!("e3 06 040100000000 f0 16331634 abcd {DATA}"),
        ),
        ("mobility", 135, format!("3b00 0000 1234 0000 {DATA}"), format!("e8 3b 06 000012340000 {DATA}")),
        (
            "atomic fragment",
            44,
            format!("1100 0000 01020304 {udp}"),
            format!("e5 00 000001020304 f0 16331634 abcd {DATA}"),
        ),
        ("later fragment", 44, format!("1100 0009 01020304 {udp}"), format!("e4 11 00 000901020304 {udp}")),
    ] {
        both_ways(what, &from_mesh(next_header, &payload), &format!("7e77 {compressed}"));
    }
}

#[test]
fn ipv6_in_ipv6() {
    let inner =
        ipv6("60000000", 17, 64, "fe80::12:7400:0:1", "fd00::12:7400:0:2", "f0b1f0b2000cabcd64617461");
    let inner_hex: String = inner.iter().map(|byte| format!("{byte:02x}")).collect();
    // Inner interface identifiers are those of the outer addresses.
    let packet = ipv6("60000000", 41, 64, "2001:db8::12:7400:0:1", "fd00::12:7400:0:2", &inner_hex);
    let outer = "7e07 20010db8000000000012740000000001";
    both_ways("tunnel", &packet, &format!("{outer} ee 7e37 f3 12 abcd {DATA}"));
}

#[test]
fn the_receiver_takes_forms_the_sender_does_not_choose() {
    let packet = ipv6("60000000", 59, 64, "fd00::12:7400:0:1", "fe80::12:7400:0:2", DATA);
    for compressed in [
        // The hop limit inline; context ids that are 0, or mean nothing because no context is used.
        "7873 3b 40",
        "7af3 00 3b",
        "7af3 05 3b",
        // Traffic class and flow label inline, though zero.
        "6273 00000000 3b",
        "6a73 000000 3b",
        "7273 00 3b",
        // Reserved bits set.
        "6273 00f00000 3b",
        // Addresses longer than they need to be.
        "7a53 3b 0012740000000001",
        "7a03 3b fd000000000000000012740000000001",
    ] {
        one_way(compressed, &packet, &hex(&format!("{compressed} {DATA}")));
    }
}

#[test]
fn a_missing_udp_checksum_is_named() {
    let mut out = [0; 80];
    let restored = decompress(&hex("7e77 f7 12 64617461"), LINK, None, &mut out).unwrap();
    assert_eq!(restored.elided_checksum, Some(ElidedChecksum { ipv6_at: 0, udp_at: 40 }));
    assert_eq!(out[40..48], hex("f0b1 f0b2 000c 0000"));
    // Behind a routing header, the addresses it covers are not known.
    let routed = hex("7e77 e3 06 040100000000 f7 12 64617461");
    assert_eq!(decompress(&routed, LINK, None, &mut out), Err(Error::ChecksumElided));
    // Those of a tunnelled packet are its own.
    let tunnelled = hex("7e77 e3 06 040100000000 ee 7e33 f7 12 64617461");
    let restored = decompress(&tunnelled, LINK, None, &mut [0; 120]).unwrap();
    assert_eq!(restored.elided_checksum, Some(ElidedChecksum { ipv6_at: 48, udp_at: 88 }));
}

#[test]
fn what_cannot_be_decompressed_is_refused_with_the_reason() {
    for (compressed, error) in [
        ("", Error::Truncated),
        ("7a", Error::Truncated),
        ("7a11 3b 00", Error::Truncated),
        ("4200", Error::UnknownDispatch),
        ("f000", Error::UnknownDispatch),
        ("7a74 3b", Error::ReservedMode),
        ("7a7d 3b", Error::ReservedMode),
        ("7af7 10 3b", Error::UnknownContext),
        ("7af7 01 3b", Error::UnknownContext),
        ("7afc 01 3b 0000 00000000", Error::UnknownContext),
        ("7e77 ea 3b 00", Error::UnknownNextHeader),
        ("7e77 80", Error::UnknownNextHeader),
        // A routing header of six bytes.
        ("7e77 e2 3b 04 00000000", Error::Length),
        ("7e77 ee 7e77 ee 7e77 ee 7e77 f3 12 abcd", Error::TooManyHeaders),
    ] {
        assert_eq!(decompress(&hex(compressed), LINK, None, &mut [0; 300]), Err(error), "{compressed}");
    }
    // A datagram shorter than its headers, and room shorter than the headers.
    assert_eq!(decompress(&hex("7e77 f3 12 abcd"), LINK, Some(47), &mut [0; 300]), Err(Error::Length));
    assert_eq!(decompress(&hex("7e77 f3 12 abcd"), LINK, None, &mut [0; 47]), Err(Error::BufferTooSmall));
    assert!(decompress(&hex("7e77 f3 12 abcd"), LINK, Some(48), &mut [0; 48]).is_ok());
}

#[test]
fn what_cannot_be_compressed_is_refused_with_the_reason() {
    let packet = ipv6("60000000", 59, 64, "fd00::12:7400:0:1", "fe80::12:7400:0:2", DATA);
    let mut out = [0; 3];
    assert!(compress(&packet, LINK, &mut out).is_ok());
    assert_eq!(compress(&packet, LINK, &mut out[..2]), Err(Error::BufferTooSmall));
    assert_eq!(compress(&packet[..43], LINK, &mut out), Err(Error::NotIpv6));
    assert_eq!(compress(&packet[..39], LINK, &mut out), Err(Error::NotIpv6));
    assert_eq!(compress(&hex("45"), LINK, &mut out), Err(Error::NotIpv6));
}

#[test]
fn stateless_compression_uses_no_context_and_leaves_all_headers_but_udp() {
    let mesh = "fd000000000000000012740000000001 fd000000000000000012740000000002";
    let route = "1100030100000000";
    let udp = format!("d431 1633 000c abcd {DATA}");
    for (what, next_header, source, payload, compressed) in [
        ("UDP", 17, "fd00::12:7400:0:1", udp.clone(), format!("7e00 {mesh} f0 d431 1633 abcd {DATA}")),
        ("no source", 59, "::", DATA.into(), format!("7a40 3b {} {DATA}", &mesh[33..])),
        (
            "a source route",
            43,
            "fd00::12:7400:0:1",
            format!("{route} {udp}"),
            format!("7a00 2b {mesh} {route} {udp}"),
        ),
    ] {
        let packet = ipv6("60000000", next_header, 64, source, "fd00::12:7400:0:2", &payload);
        let mut out = [0; 200];
        let Compressed { written, consumed, .. } =
            compress_with(&Stateless, &packet, LINK, &mut out).unwrap();
        let compressed = hex(&compressed);
        assert_eq!([&out[..written], &packet[consumed..]].concat(), compressed, "{what}");
        one_way(what, &packet, &compressed);
    }
}
