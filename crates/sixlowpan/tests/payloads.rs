//! Payloads compressed by Lithe and by generic header compression.

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_sixlowpan::{
    Compressed, Error, LinkAddresses, PayloadCompression, compress_with, decompress_with,
};

const LINK: LinkAddresses = LinkAddresses {
    source: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 1]),
    destination: Eui64([0x02, 0x12, 0x74, 0, 0, 0, 0, 2]),
};

type Link = Option<PayloadCompression>;

const PLAIN: Link = None;
const LITHE: Link = Some(PayloadCompression::Lithe);
const GHC: Link = Some(PayloadCompression::Ghc);

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn ipv6(addresses: &[u8], next_header: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0, length[0], length[1], next_header, 64], addresses, payload].concat()
}

fn addresses() -> Vec<u8> {
    let address = |eui: Eui64| [MESH_PREFIX, eui.interface_id()].concat();
    [address(LINK.source), address(LINK.destination)].concat()
}

fn udp(payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    [&[0x16, 0x34, 0x16, 0x34, length[0], length[1], 0xab, 0xcd], payload].concat()
}

/// A packet between the ends of the link that carries `payload` in UDP.
fn packet(payload: &[u8]) -> Vec<u8> {
    ipv6(&addresses(), 17, &udp(payload))
}

fn compressed(link: &Link, packet: &[u8]) -> Vec<u8> {
    let mut out = vec![0; packet.len() + 20];
    let Compressed { written, consumed, .. } = compress_with(link, packet, LINK, &mut out).unwrap();
    out.truncate(written);
    out.extend(&packet[consumed..]);
    out
}

fn restored(link: &Link, payload: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = vec![0; 4096];
    let headers = decompress_with(link, payload, LINK, None, &mut out)?;
    out.truncate(headers.written);
    out.extend(&payload[headers.consumed..]);
    Ok(out)
}

/// What stands behind the compressed header of UDP between the ends of the link: three bytes of IPv6, seven of UDP.
fn behind_udp(link: &Link, payload: &[u8]) -> Vec<u8> {
    let all = compressed(link, &packet(payload));
    assert_eq!(restored(link, &all), Ok(packet(payload)));
    all[2 + 7..].to_vec()
}

/// RFC 7400's figures 8 to 14: the addresses, a message of ICMPv6 and what it becomes.
const MESSAGES: [(&str, &str, &str); 7] = [
    ("fe80000000000000021cdafffe002024 ff02000000000000000000000000001a", "9b006bde00000000", "049b006bde82"),
    (
        "fe80000000000000021cdafffe003023 ff02000000000000000000000000001a",
        "9b017a5f00f001008800000020020db800000000000000fffe00face040e0014
         09ff000001000000000000000 81e8020ffffffffffffffff0000000020020db8
         00000000000000fffe00face030e4000ffffffff20020db800000000",
        "069b017a5f00f0c70188810420020db885a7c908face040e001409ffa4da8306
         081e8020ffffc0d082b4f003030e40c7a3c9a2f0",
    ),
    (
        "20020db800000000000000fffe003344 20020db800000000000000fffe001122",
        "9b02587d018000f10512008020020db800000000000000fffe00334406140080
         f100fe80000000000000000000fffe001122",
        "0c9b02587d018000f105120080b5f40806140080f100fe8087a7dd",
    ),
    (
        "20020db800000000000000fffe003bd3 fe80000000000000021cdafffe003023",
        "8700a76800000000fe80000000000000021cdafffe00302301013bd300000000
         1f02000000000006001cdafffe002024",
        "048700a76882b3f00401013bd382021f0283020600a2db022024",
    ),
    (
        "fe80000000000000021cdafffe003023 20020db800000000000000fffe003bd3",
        "8800266cc0000000fe80000000000000021cdafffe0030230201face00000000
         1f02000000000006001cdafffe002024",
        "058800266cc081b5f0040201face82021f0283020600a2db022024",
    ),
    (
        "fe80000000000000aede480000000001 ff020000000000000000000000000002",
        "85009065000000000102acde480000000001000000000000",
        "0485009065de0202aca5eb84",
    ),
    (
        "fe80000000000000103400fffe001122 fe80000000000000aede480000000001",
        "860055c940000fa01c5a3817000007d001011122000000000304 4040ffffffff
         ffffffff0000000020020db800000000000000000000000020024010000003e8
         20020db8000000002103000100000000 20020db800000000000000fffe001122",
        "0c860055c940000fa01c5a3817800607d001011122820603044040ffffc0d082
         0420020db88a0420024010a4cb01e8a2f0022103a9e6b3cdafdb",
    ),
];

/// RFC 7400's figures 15 to 17, between unspecified addresses: records of DTLS and what they become.
const RECORDS: [(&str, &str); 3] = [
    (
        "17fefd0001000000000001001d000100000000000109b20e82c16eb696c51f36 8d1761e2b5d422d4ed2b",
        "b0d1011df21509b20e82c16eb696c51f368d1761e2b5d422d4ed2b",
    ),
    (
        "17fefd00010000000000050016000100000000000 5aea0155667924dff8a24e4cb35b9",
        "b0c303050016f20eaea0155667924dff8a24e4cb35b9",
    ),
    (
        "16fefd0000000000000000003601 00002a000000000000002afefd5152ed79a4
         20c962561147c939ee6cc0a4fec6892f32269a164e317e9f2092920000 0002c0a80100",
        "a1cd870136a1cd012a85232afefd5152ed79a420c962561147c939ee6cc0a4fe
         c6892f32269a164e317e9f209292810502c0a80100",
    ),
];

/// Compresses `upper`, which follows `addresses`, and restores it; restores also what the RFC has in the place of `ours` last
/// bytes. Returns those last bytes.
fn like_the_rfc(addresses: &[u8], kind: u8, upper: &[u8], front: usize, theirs: &[u8]) -> Vec<u8> {
    let packet = ipv6(addresses, kind, upper);
    let ours = compressed(&GHC, &packet);
    assert_eq!(restored(&GHC, &ours), Ok(packet.clone()));
    let plain = compressed(&PLAIN, &ipv6(addresses, 59, &[]));
    // The IPv6 header is a byte shorter if its next header is compressed.
    let (headers, ours) = ours.split_at(plain.len() - 1 + front);
    assert_eq!(restored(&GHC, &[headers, theirs].concat()), Ok(packet));
    ours.to_vec()
}

#[test]
fn what_rfc_7400_has_is_restored_and_becomes_no_longer_here() {
    let mut lengths = Vec::new();
    for (addresses, message, theirs) in MESSAGES {
        let ours = like_the_rfc(&hex(addresses), 58, &hex(message), 1, &hex(theirs));
        lengths.push((ours.len(), hex(theirs).len()));
    }
    for (record, theirs) in RECORDS {
        let ours = like_the_rfc(&[0; 32], 17, &udp(&hex(record)), 7, &hex(theirs));
        lengths.push((ours.len(), hex(theirs).len()));
    }
    assert!(lengths.iter().all(|(ours, theirs)| ours <= theirs), "{lengths:?}");
}

#[test]
fn what_no_bytecode_is_gets_refused() {
    let headers = compressed(&GHC, &packet(&[0; 9]));
    let headers = &headers[..headers.len() - 1];
    assert_eq!(headers[2] & 0xf8, 0xd0);
    for (bytecode, error) in [
        // Reserved, the one to stop in a payload among them.
        ("60", Error::Bytecode),
        ("91", Error::Bytecode),
        ("90", Error::Bytecode),
        // Before the dictionary: 49 bytes back.
        ("a5 ff c7 c7", Error::Bytecode),
        ("a6 c0", Error::Bytecode),
        // More than there is.
        ("03 0102", Error::Truncated),
    ] {
        assert_eq!(restored(&GHC, &[headers, &hex(bytecode)].concat()), Err(error), "{bytecode}");
    }
    // The first byte of the dictionary, and one that refers to it.
    let whole = restored(&GHC, &[headers, &hex("a5 c6")].concat()).unwrap();
    assert_eq!(whole[48..], addresses()[..2]);
}

#[test]
fn each_compression_refuses_the_others() {
    let record = hex(RECORDS[1].0);
    for (sender, receivers) in [(&LITHE, [&PLAIN, &GHC]), (&GHC, [&PLAIN, &LITHE])] {
        for receiver in receivers {
            let payload = compressed(sender, &packet(&record));
            assert_eq!(restored(receiver, &payload), Err(Error::UnknownNextHeader));
        }
    }
    // The byte that both could mean is RFC 7400's.
    let mut payload = compressed(&LITHE, &packet(&record));
    assert_eq!(payload[2], 0xd8);
    payload[2] = 0xdf;
    assert_eq!(restored(&LITHE, &payload), Err(Error::UnknownNextHeader));
}

/// A record of 6 bytes under CCM with a tag of 8, as RFC 7400's figure 16 has it, with this explicit nonce.
fn record(nonce: &str) -> Vec<u8> {
    hex(&format!("17fefd0001000000000005 0016 {nonce} aea015566792 4dff8a24e4cb35b9"))
}

#[test]
fn overheads_of_a_record() {
    let overhead = |link, nonce| behind_udp(link, &record(nonce)).len() - 6;
    let (same, other) = ("0001000000000005", "7c3de1f7b8a2905e");
    assert_eq!([same, other].map(|nonce| overhead(&PLAIN, nonce)), [29, 29]);
    assert_eq!([same, other].map(|nonce| overhead(&LITHE, nonce)), [13, 21]);
    assert_eq!(overhead(&GHC, same), 16);
}

/// draft-ietf-iotops-security-protocol-comparison, section 4.1: the overhead of DTLS 1.2, as a function of the sequence number, and of the
/// connection id. Of the number of three bytes the draft says 16, and shows no bytes.
#[test]
fn records_take_what_the_comparison_of_security_protocols_says() {
    for (id, number, plain, ghc) in [
        ("", "000000000005", 29, 16),
        ("", "000000001005", 29, 16),
        ("", "000000100005", 29, 17),
        ("42", "000000000005", 30, 17),
        ("4002", "000000000005", 31, 18),
    ] {
        let record =
            hex(&format!("17fefd 0001 {number} {id} 0016 0001{number} aea015566792 4dff8a24e4cb35b9"));
        let overheads = [&PLAIN, &GHC].map(|link| behind_udp(link, &record).len() - 6);
        assert_eq!(overheads, [plain, ghc], "id {id}, number {number}");
    }
}

#[test]
fn records_become_what_lithe_has() {
    // Type, version, epoch and number, length, and what it becomes, made by hand.
    for (record, expected) in [
        // Four bytes of what is carried, and one before them.
        ("17 fefd 0001 000000000005 0002 abcd", "90 17 01 0005 abcd"),
        ("14 fefd 0000 000000000004 0001 01", "90 14 00 0004 01"),
        // Numbers of 24, 32 and 48 bits; an epoch of 16; another version.
        ("17 fefd 0001 000000010005 0000", "91 17 01 010005"),
        ("17 fefd 0001 000002010005 0000", "92 17 01 02010005"),
        ("17 fefd 0001 000302010005 0000", "93 17 01 000302010005"),
        ("17 fefd 0101 000000000005 0000", "94 17 0101 0005"),
        ("16 feff 0000 000000000005 0000", "98 16 feff 00 0005"),
        // The nonce.
        ("17 fefd 0001 000000000005 0009 0001000000000005 ab", "90 97 01 0005 ab"),
        ("17 fefd 0001 000000000005 0009 0001000000000006 ab", "90 17 01 0005 0001000000000006 ab"),
        // A message: its type and number.
        ("16 fefd 0000 000000000002 000e 0e 000002 0003 000000 000002 abcd", "80 00 0002 0e 0003 abcd"),
        ("16 feff 0100 010000000002 000c 0e 000000 0003 000000 000000", "8e feff 0100 010000000002 0e 0003"),
        // A fragment of a message, and one that says to be more than there is, are carried as content.
        (
            "16 fefd 0000 000000000002 000e 0e 000004 0003 000002 000002 abcd",
            "90 16 00 0002 0e 000004 0003 000002 000002 abcd",
        ),
        (
            "16 fefd 0000 000000000002 000d 0e 000002 0003 000000 000002 ab",
            "90 16 00 0002 0e 000002 0003 000000 000002 ab",
        ),
    ] {
        assert_eq!(behind_udp(&LITHE, &hex(record)), hex(expected), "{record}");
    }
}

#[test]
fn hellos_become_what_lithe_has() {
    let random = "5152ed79a420c962561147c939ee6cc0a4fec6892f32269a164e317e9f209292";
    // Its type, its body and what that becomes.
    for (kind, body, expected) in [
        // All of ten bytes left out.
        ("01", format!("fefd {random} 00 00 0002c0ae 0100"), format!("a0 {random}")),
        ("01", format!("fefd {random} 01aa 00 0002c0ae 0100 0000"), format!("a8 {random} 01aa 0000")),
        ("01", format!("fefd {random} 00 02aabb 0002c0ae 0100"), format!("a4 {random} 02aabb")),
        ("01", format!("fefd {random} 00 00 0004c0a800ff 0100"), format!("a2 {random} 0004c0a800ff")),
        ("01", format!("fefd {random} 00 00 0002c0ae 020100"), format!("a1 {random} 020100")),
        // Six.
        ("02", format!("fefd {random} 00 c0ae 00 0000"), format!("b0 {random} 0000")),
        ("02", format!("feff {random} 01aa c0a8 01"), format!("bf feff {random} 01aa c0a8 01")),
        // Another version, and one that ends too early.
        ("01", format!("feff {random} 00 00 0002c0ae 0100"), format!("feff {random} 00 00 0002c0ae 0100")),
        ("01", format!("fefd {random} 00 00 0002c0ae"), format!("fefd {random} 00 00 0002c0ae")),
    ] {
        let body = hex(&body);
        let (length, record) = (body.len(), body.len() + 12);
        let front =
            format!("16 fefd 0000 000000000001 {record:04x} {kind} {length:06x} 0001 000000 {length:06x}");
        let expected = hex(&format!("80 00 0001 {kind} 0001 {expected}"));
        assert_eq!(behind_udp(&LITHE, &[hex(&front), body].concat()), expected);
    }
    // A body that would be taken for a compressed one is carried as content.
    let odd = hex("16 fefd 0000 000000000001 000d 01 000001 0001 000000 000001 a0");
    assert_eq!(behind_udp(&LITHE, &odd)[..2], [0x90, 0x16]);
}

#[test]
fn several_records_go_as_they_are() {
    let two = [record("0001000000000005"), record("0001000000000006")].concat();
    assert_eq!(compressed(&LITHE, &packet(&two)), compressed(&PLAIN, &packet(&two)));
}

#[test]
fn a_fragment_flag_is_refused() {
    let mut payload =
        compressed(&LITHE, &packet(&hex("16 fefd 0000 000000000002 000c 0e 000000 0003 000000 000000")));
    assert_eq!(payload[9], 0x80);
    payload[9] |= 1;
    assert_eq!(restored(&LITHE, &payload), Err(Error::UnknownNextHeader));
}

#[test]
fn extension_headers_are_compressed_where_that_makes_them_shorter() {
    // Segments of a source route that share their beginnings with the destination.
    let destination = &addresses()[16..];
    let mut routing = vec![17, 4, 3, 2, 0, 0, 0, 0];
    routing.extend(destination);
    routing.extend(destination);
    let with_route = ipv6(&addresses(), 43, &[routing, udp(b"reading")].concat());
    let ours = compressed(&GHC, &with_route);
    assert_eq!(ours[2], 0xb3);
    assert!(ours.len() + 25 < compressed(&PLAIN, &with_route).len());
    assert_eq!(restored(&GHC, &ours), Ok(with_route));
    // An option of four bytes.
    let options = ipv6(&addresses(), 0, &[&hex("11 00 6304 0012 3456")[..], &udp(b"reading")].concat());
    assert_eq!(compressed(&GHC, &options)[2], 0xe1);
    // One that does not end at a multiple of 8 bytes, and one that does not end.
    let headers = &compressed(&GHC, &packet(b""))[..2];
    for (bytecode, error) in
        [("b1 05 0102030405 90", Error::Length), ("b1 06 010203040506", Error::Truncated)]
    {
        assert_eq!(restored(&GHC, &[headers, &hex(bytecode)].concat()), Err(error));
    }
}

/// A payload of DTLS, or one that is not quite.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let version = prop_oneof![4 => Just([0xfe, 0xfd]), 1 => any::<[u8; 2]>()];
    let number = (any::<[u8; 6]>(), 0..6usize).prop_map(|(mut number, zeros)| {
        number[..zeros].fill(0);
        number
    });
    let epoch = prop_oneof![Just([0, 0]), Just([0, 1]), any::<[u8; 2]>()];
    let vector = |most| {
        prop_oneof![
            Just(vec![0]),
            vec(any::<u8>(), 0..most).prop_map(|bytes| [&[bytes.len() as u8][..], &bytes].concat())
        ]
    };
    let hello =
        (version.clone(), any::<[u8; 32]>(), vector(4), vector(4), any::<bool>(), vec(any::<u8>(), 0..9))
            .prop_map(|(version, random, session_id, cookie, default, rest)| {
                let suites = if default { &[0, 2, 0xc0, 0xae, 1, 0][..] } else { &[0xc0, 0xae, 0] };
                [&version[..], &random, &session_id, &cookie, suites, &rest].concat()
            });
    let body = prop_oneof![hello, vec(any::<u8>(), 0..300)];
    let message = (0..5u8, any::<[u8; 2]>(), body.clone(), 0..9u8).prop_map(|(kind, number, body, odd)| {
        let length = (body.len() as u32 + u32::from(odd == 1)).to_be_bytes();
        let header = [&[kind][..], &length[1..], &number, &[0, 0, u8::from(odd == 2)], &length[1..]].concat();
        [header, body].concat()
    });
    let kind = prop_oneof![Just(22u8), Just(23), any::<u8>()];
    let content = prop_oneof![message, body];
    let record = (kind, version, epoch, number, content, any::<bool>(), -1..8i32).prop_map(
        |(kind, version, epoch, number, content, with_nonce, odd)| {
            let nonce = if with_nonce { [&epoch[..], &number].concat() } else { vec![] };
            let content = [nonce, content].concat();
            let length = (content.len() as i32 + odd.min(1) * i32::from(odd < 2)) as u16;
            [&[kind][..], &version, &epoch, &number, &length.to_be_bytes(), &content].concat()
        },
    );
    prop_oneof![4 => record, 1 => vec(any::<u8>(), 0..120), 1 => vec(0..3u8, 0..400)]
}

fn link() -> impl Strategy<Value = Link> {
    prop_oneof![Just(LITHE), Just(GHC)]
}

/// A packet of UDP or ICMPv6, behind an extension header or not.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let extension = prop_oneof![
        Just(None),
        (
            prop_oneof![Just(0u8), Just(43), Just(44), Just(60)],
            vec(prop_oneof![Just(0u8), any::<u8>()], 38),
            1..6usize
        )
            .prop_map(Some)
    ];
    (payload(), any::<bool>(), extension).prop_map(|(payload, is_udp, extension)| {
        let (mut kind, mut upper) = if is_udp { (17, udp(&payload)) } else { (58, payload) };
        if let Some((extension, body, units)) = extension {
            let units = if extension == 44 { 1 } else { units };
            let header = [&[kind, units as u8 - 1], &body[..units * 8 - 2]].concat();
            (kind, upper) = (extension, [header, upper].concat());
        }
        ipv6(&addresses(), kind, &upper)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_packet_survives(packet in packets(), link in link()) {
        let payload = compressed(&link, &packet);
        // At most a byte for as many as one instruction carries.
        prop_assert!(payload.len() <= compressed(&PLAIN, &packet).len() + 1 + packet.len() / 95);
        prop_assert_eq!(restored(&link, &payload), Ok(packet));
    }

    #[test]
    fn the_front_of_a_packet_survives_in_little_room(packet in packets(), link in link(), room in 0..130usize) {
        let mut out = vec![0; room];
        if let Ok(Compressed { written, consumed, is_closed }) = compress_with(&link, &packet, LINK, &mut out) {
            prop_assert!(written <= room);
            prop_assert!(!is_closed || consumed == packet.len() || consumed % 8 == 0);
            let mut front = vec![0; packet.len()];
            let size = Some(packet.len() as u16);
            let headers = decompress_with(&link, &out[..written], LINK, size, &mut front).unwrap();
            prop_assert_eq!(headers.consumed, written);
            prop_assert_eq!(&front[..headers.written], &packet[..consumed]);
        }
    }

    #[test]
    fn any_bytes_are_restored_or_refused(
        nhc in prop_oneof![0xd0..=0xdfu8, 0xb0..=0xb7u8], bytes in vec(any::<u8>(), 0..100), link in link(),
        size: Option<u16>, room in 0..400usize,
    ) {
        let payload = [&[0x7e, 0x77, nhc], &bytes[..]].concat();
        let mut out = vec![0; room];
        if let Ok(headers) = decompress_with(&link, &payload, LINK, size, &mut out) {
            prop_assert!(headers.consumed <= payload.len() && headers.written <= room);
        }
        if let Ok(packet) = restored(&link, &payload) {
            prop_assert_eq!(restored(&link, &compressed(&link, &packet)), Ok(packet));
        }
    }
}
