//! Any frames at all are decoded or refused with the reason.

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_decode::{Decoder, Keys, Layer, Reason, Record};
use sixlock_ieee802154::fcs;
use sixlock_sixlowpan::{PayloadCompression, compress, compress_with};
use support::{LINK, content, data, hello, packet};

fn record(frame: Vec<u8>, fcs: bool) -> Record {
    Record { us: 0, frame, fcs, missing: 0 }
}

/// A UDP datagram from node 2 to node 1, compressed.
fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    let packet = packet(port, payload);
    let mut out = [0; 127];
    let headers = compress(&packet, LINK, &mut out).unwrap();
    [&out[..headers.written], &packet[headers.consumed..]].concat()
}

fn shown(layers: &[Layer]) -> Vec<String> {
    layers.iter().map(Layer::to_string).collect()
}

#[test]
fn a_frame_is_shown_layer_by_layer() {
    let mut decoder = Decoder::new(Keys::default());
    let frame = data(7, &datagram(5683, &[0x41, 2, 0x12, 0x34, 0xab, 0xb1, b'x', 0xff, b'1']));
    let layers = decoder.decode(&record(frame.clone(), false));
    let expected = [
        "02:12:74:00:00:00:00:02 > 02:12:74:00:00:00:00:01 seq 7",
        "IPHC 8 for 48",
        "fd00::12:7400:0:2 > fd00::12:7400:0:1 hops 64",
        "UDP 61616 > 5683",
        "CoAP CON POST /x id 4660 token ab payload 1",
    ];
    assert_eq!(shown(&layers), expected);
    let again = decoder.decode(&record(frame, false));
    assert_eq!(shown(&again)[0], format!("{} again", expected[0]));
}

#[test]
fn a_packet_on_a_source_route_says_where_that_leads() {
    let mut plain = packet(5683, b"echo");
    // Two addresses of one octet each (RFC 6554): nodes 3 and 9.
    let route = [17, 1, 3, 2, 0xff, 0x60, 0, 0, 3, 9, 0, 0, 0, 0, 0, 0];
    plain.splice(40..40, route);
    let length = u16::from_be_bytes([plain[4], plain[5]]) + route.len() as u16;
    plain[4..6].copy_from_slice(&length.to_be_bytes());
    plain[6] = 43;
    let mut out = [0; 127];
    let headers = compress(&plain, LINK, &mut out).unwrap();
    let frame = data(7, &[&out[..headers.written], &plain[headers.consumed..]].concat());
    let layers = Decoder::new(Keys::default()).decode(&record(frame, false));
    assert_eq!(shown(&layers)[2], "fd00::12:7400:0:2 > fd00::12:7400:0:1 to fd00::12:7400:0:9 hops 64");
}

#[test]
fn what_is_not_read_says_why() {
    let mut decoder = Decoder::new(Keys::default());
    let mut last = |frame: Vec<u8>, fcs| decoder.decode(&record(frame, fcs)).pop().unwrap().to_string();
    let mut frame = data(1, &datagram(7, b"echo"));
    frame.extend((fcs(&frame) ^ 1).to_le_bytes());
    let right = format!("{:04x}", fcs(&frame[..frame.len() - 2]));
    let sent = format!("{:04x}", fcs(&frame[..frame.len() - 2]) ^ 1);
    let expected = format!("! frame: malformed, FCS 0x{sent}, should be 0x{right} ({} bytes)", frame.len());
    assert_eq!(last(frame, true), expected);
    assert_eq!(last(vec![0x41], false), "! MAC header: malformed, truncated (1 bytes)");
    assert_eq!(last(data(2, &[0x7b, 0x34]), false), "! 6LoWPAN header: malformed, reserved mode (2 bytes)");
    assert_eq!(last(data(3, &[0xe0, 20, 0, 1, 0]), false), "! fragment header: malformed, length (5 bytes)");
    assert_eq!(last(data(4, &[0xe0, 20, 0, 1, 1, 9, 9]), false), "fragment 8..10 of 20 tag 0x0001");
    let expected = "! fragment: malformed, contradiction (2 bytes)";
    assert_eq!(last(data(5, &[0xe0, 20, 0, 1, 1, 9, 8]), false), expected);
    let expected = "! CoAP: malformed, version (4 bytes)";
    assert_eq!(last(data(6, &datagram(5683, &[0; 4])), false), expected);
    let expected = "! DTLS record: malformed, record-header (2 bytes)";
    assert_eq!(last(data(7, &datagram(5684, b"no")), false), expected);
    let record = [23, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 1, 0, 2, 9, 9];
    let expected = "! content: missing, the hellos of its session are not in the capture (2 bytes)";
    assert_eq!(last(data(8, &datagram(5684, &record)), false), expected);
}

/// What is said of a datagram with a record of DTLS with this front and content.
fn dtls(sequence: u8, front: [u8; 5], content: &[u8]) -> String {
    let length = (content.len() as u16).to_be_bytes();
    let bytes = [&front[..], &[0, 0, 0, 0, 0, 1], &length, content].concat();
    last_of(&bytes, sequence)
}

/// What is said last of a datagram to the port of DTLS.
fn last_of(payload: &[u8], sequence: u8) -> String {
    let frame = data(sequence, &datagram(5684, payload));
    Decoder::new(Keys::default()).decode(&record(frame, false)).pop().unwrap().to_string()
}

#[test]
fn what_dtls_refuses_is_told_with_its_reason() {
    let plain = [22, 0xfe, 0xfd, 0, 0];
    let expected = "! DTLS record: malformed, record-version (15 bytes)";
    assert_eq!(dtls(1, [22, 3, 3, 0, 0], &[9, 9]), expected);
    let cut = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 1, 0, 9, 9, 9];
    let expected = "! DTLS record: malformed, record-length (15 bytes)";
    assert_eq!(last_of(&cut, 2), expected);
    let beyond = [2, 0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 4, 9, 9, 9, 9];
    let expected = "! handshake message: malformed, fragment-length (16 bytes)";
    assert_eq!(dtls(3, plain, &beyond), expected);
    let hello = |suite: [u8; 2]| {
        let header = [1, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0, 42, 0xfe, 0xfd];
        [&header[..], &[7; 32], &[0, 0, 0, 2], &suite, &[1, 0]].concat()
    };
    let expected = "DTLS 0.1 ClientHello refused for no-common-cipher-suite";
    assert_eq!(dtls(4, plain, &hello([0x12, 0x34])), expected);
    assert_eq!(dtls(5, plain, &hello([0xc0, 0xa8])), "DTLS 0.1 ClientHello");
}

#[test]
fn a_frame_that_was_not_captured_whole_is_told_of() {
    let record = Record { missing: 3, ..record(data(1, b""), false) };
    let layers = Decoder::new(Keys::default()).decode(&record);
    assert!(matches!(&layers[..], [Layer::Unread(unread)] if unread.reason == Reason::Missing));
}

/// Bytes that begin like something.
fn payloads() -> impl Strategy<Value = Vec<u8>> {
    let any = || vec(any::<u8>(), 0..60);
    let behind = |front: &'static [u8]| any().prop_map(move |rest| [front, &rest].concat());
    prop_oneof![
        any(),
        behind(&[0x7e, 0x33]),
        behind(&[0xc0, 50, 0, 1, 0x7e, 0x33]),
        behind(&[0xe0, 50, 0, 1, 1]),
        behind(&[0x41, 0x60]),
        (any(), 0u8..60).prop_map(|(rest, length)| [&[0, length][..], &rest].concat()),
        any().prop_map(|payload| datagram(5683, &payload)),
        any().prop_map(|payload| datagram(5684, &[&[22, 0xfe, 0xfd][..], &payload].concat())),
        any().prop_map(|payload| {
            let length = [0, payload.len() as u8];
            datagram(5684, &[&[22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0][..], &length, &payload].concat())
        }),
    ]
}

proptest! {
    #[test]
    fn any_frames_are_decoded_or_refused(
        frames in vec(prop_oneof![
            3 => (any::<u8>(), payloads()).prop_map(|(sequence, payload)| data(sequence, &payload)),
            1 => vec(any::<u8>(), 0..127),
        ], 1..8),
        damage in proptest::option::of((any::<prop::sample::Index>(), 1u8..)),
    ) {
        let mut keys = Keys::default();
        keys.add("# IEEE 802.15.4 key, index 1: 000102030405060708090a0b0c0d0e0f").unwrap();
        let mut decoder = Decoder::new(keys);
        for mut frame in frames {
            if let Some((at, with)) = damage && !frame.is_empty() {
                let at = at.index(frame.len());
                frame[at] ^= with;
            }
            let length = frame.len();
            let layers = decoder.decode(&record(frame, false));
            prop_assert!(!layers.is_empty());
            let on_air = layers.iter().map(|layer| match layer {
                Layer::Mac(layer) => layer.bytes,
                Layer::LinkSecurity(layer) => layer.bytes,
                Layer::Fragment(layer) => layer.bytes,
                Layer::Compression(layer) => layer.bytes,
                Layer::ContikiMac(layer) => layer.bytes,
                Layer::Elements(layer) => layer.bytes,
                _ => 0,
            });
            prop_assert!(on_air.sum::<usize>() <= length, "{layers:?}");
            for layer in &layers {
                prop_assert!(!layer.to_string().contains(char::is_control), "{layer}");
                prop_assert!(serde_json::to_string(layer).is_ok());
            }
        }
    }
}

#[test]
fn compressed_headers_of_dtls_are_restored_without_being_told_how() {
    for (name, payloads) in PayloadCompression::ALL {
        let mut decoder = Decoder::new(Keys::default());
        for (datagram, expected) in [(hello(), "DTLS 0.7"), (content(), "DTLS 1.9")] {
            let packet = packet(5684, &datagram);
            let mut out = [0; 127];
            let headers = compress_with(&Some(payloads), &packet, LINK, &mut out).unwrap();
            let payload = [&out[..headers.written], &packet[headers.consumed..]].concat();
            let layers = shown(&decoder.decode(&record(data(1, &payload), false)));
            let compression = format!("IPHC {} for {} with {name}", headers.written, headers.consumed);
            assert_eq!(layers[1], compression);
            assert_eq!(layers[3], "UDP 61616 > 5684");
            assert!(layers[4].contains(expected), "{layers:?}");
        }
    }
}
