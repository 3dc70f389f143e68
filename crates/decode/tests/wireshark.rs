//! Wireshark, with the script in `wireshark/`, reads compressed AH, ESP and DTLS as far as it does when they are not compressed.

mod support;

use std::path::Path;

use sixlock_ipsec::Mode;
use sixlock_ipv6::{checksum, next_header};
use sixlock_sixlowpan::PayloadCompression;
use sixlock_sixlowpan::ipsec::{Format, TELL_WHOLE};
use sixlock_testing::packets;
use support::*;

/// The values of `fields` in each frame of what `node` sent, as tshark with the script finds them.
fn tshark(name: &str, node: &Node, options: &[&str], fields: &[&str]) -> Vec<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wireshark/sixlock.lua");
    support::tshark(name, &node.capture(), Some(&script), options, fields)
}

/// Three packets whose numbers cross 2^16, the last in several frames.
fn node(suite: &str, format: Format) -> Node {
    let mut node = Node::new(suite, Mode::Transport, format, 65_534);
    for length in [1, 3, 200] {
        node.send(&request(length));
    }
    node
}

const FORMATS: [(Format, &str); 2] =
    [(Format::Paper2012, "sixlock.format:2012"), (Format::Drafts, "sixlock.format:drafts")];

#[test]
fn ah_and_what_follows_it_are_read() {
    for (format, option) in FORMATS {
        let node = node("ah:xcbc", format);
        let fields = ["sixlock.kind", "sixlock.sequence", "ah.spi", "ah.sequence", "ipv6.src", "coap.code"];
        let frames = tshark("ah", &node, &[option], &fields);
        let expected = |number: u32| {
            let number = number.to_string();
            ["AH", &number, "0x00000001", &number, "fd00::12:7400:0:2", "2"].map(str::to_owned)
        };
        assert_eq!(frames[0][..6], expected(65_534));
        assert_eq!(frames[1][..6], expected(65_535));
        let first = &frames[2];
        assert_eq!(first[..3], ["AH", "65536", ""].map(str::to_owned), "not whole yet");
        let last = frames.last().unwrap();
        assert_eq!(last[2..6], expected(65_536)[2..]);
        for frame in frames {
            assert_eq!(frame[6], "", "{frame:?}");
        }
    }
}

#[test]
fn esp_is_decrypted_with_its_key() {
    let (_, hex) = key("esp:ctr-xcbc");
    let association = format!(
        "uat:esp_sa:\"IPv6\",\"*\",\"*\",\"0x00000001\",\"AES-CTR [RFC3686]\",\"0x{}\",\
         \"ANY 96 bit authentication [no checking]\",\"\",\"32-bit\"",
        &hex[..40]
    );
    for (format, option) in FORMATS {
        let node = node("esp:ctr-xcbc", format);
        let options = [option, "esp.enable_encryption_decode:TRUE", &association];
        let frames =
            tshark("esp", &node, &options, &["sixlock.kind", "esp.spi", "esp.sequence", "coap.code"]);
        for (frame, number) in [(&frames[0], "65534"), (&frames[1], "65535")] {
            assert_eq!(frame[..4], ["ESP", "0x00000001", number, "2"].map(str::to_owned), "{frame:?}");
        }
        let last = frames.last().unwrap();
        assert_eq!(last[1..4], ["0x00000001", "65536", "2"].map(str::to_owned), "{last:?}");
    }
}

#[test]
fn a_number_that_nothing_tells_is_complained_about() {
    let mut node = node("esp:ctr-xcbc", Format::Paper2012);
    node.forget_first();
    let frames = tshark("number", &node, &[], &["esp.sequence"]);
    assert_eq!(frames[0][0], "");
    assert!(frames[0][2].contains("its sequence number has its last bits only"), "{:?}", frames[0]);
}

#[test]
fn an_impossible_length_of_ah_is_complained_about() {
    let node = node("ah:xcbc", Format::Drafts);
    let options = ["sixlock.format:drafts", "sixlock.ah_length:0"];
    let frames = tshark("length", &node, &options, &["ah.sequence"]);
    assert_eq!(frames[0][0], "");
    assert!(frames[0][2].contains("AH has an impossible length"), "{:?}", frames[0]);
}

#[test]
fn what_asks_for_whole_numbers_is_named() {
    let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 1);
    node.frame(&[TELL_WHOLE]);
    node.frame(&[TELL_WHOLE, 0]);
    let frames = tshark("whole", &node, &[], &["sixlock.tell_whole"]);
    assert_eq!((frames[0][0].as_str(), frames[1][0].as_str()), ("0x3e", ""));
}

#[test]
fn headers_of_dtls_compressed_by_lithe_and_ghc_are_read() {
    for (payloads, kind) in [(PayloadCompression::Lithe, "Lithe"), (PayloadCompression::Ghc, "GHC")] {
        let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 1);
        node.contexts.payloads = Some(payloads);
        for datagram in [hello(), content()] {
            node.send_plain(&packet(5684, &datagram));
        }
        // Behind AH, too.
        node.send(&packet(5684, &content()));
        let fields = [
            "sixlock.kind",
            "dtls.record.epoch",
            "dtls.record.sequence_number",
            "dtls.record.length",
            "dtls.handshake.length",
            "dtls.handshake.ciphersuite",
            "udp.length",
            "ipv6.src",
        ];
        let frames = tshark(&format!("dtls-{kind}"), &node, &[], &fields);
        let expected = [
            [kind, "0", "7", "54", "42", "0xc0ae", "75", "fd00::12:7400:0:2"],
            [kind, "1", "9", "22", "", "", "43", "fd00::12:7400:0:2"],
            [&format!("AH,{kind}"), "1", "9", "22", "", "", "43", "fd00::12:7400:0:2"],
        ];
        for (frame, expected) in frames.iter().zip(expected) {
            assert_eq!(frame[..8], expected, "{frame:?}");
            assert_eq!(frame[8], "", "{frame:?}");
        }
        assert_eq!(frames.len(), 3);
    }
}

#[test]
fn messages_and_extension_headers_compressed_by_ghc_are_read() {
    let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 1);
    node.contexts.payloads = Some(PayloadCompression::Ghc);
    let [source, destination] = ends();
    // An echo request behind a source route whose segments are the destination.
    let mut echo = vec![128, 0, 0, 0, 0x51, 0x57, 0, 3];
    echo.extend([0; 24]);
    let sum = checksum(source, destination, next_header::ICMPV6, &echo);
    echo[2..4].copy_from_slice(&sum.to_be_bytes());
    let route = [&[58, 4, 0, 0, 0, 0, 0, 0][..], &destination.octets(), &destination.octets()].concat();
    let payload = [route, echo].concat();
    let packet = packets::packet(source, destination, 64, 43, &payload);
    node.send_plain(&packet);
    let fields = ["sixlock.kind", "ipv6.routing.len", "icmpv6.type", "icmpv6.echo.identifier"];
    let frames = tshark("ghc", &node, &["sixlock.context0:fd00:0000:0000:0000"], &fields);
    assert_eq!(frames[0][..4], ["GHC,GHC", "4", "128", "0x5157"], "{:?}", frames[0]);
}

#[test]
fn ah_is_read_behind_frames_that_are_left_to_wireshark() {
    let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 1);
    node.send_plain(&request(1));
    node.send_plain(&request(1));
    node.send(&request(1));
    let frames =
        tshark("mixed", &node, &["sixlock.context0:fd00:0000:0000:0000"], &["sixlock.kind", "ah.spi"]);
    let kinds: Vec<_> = frames.iter().map(|frame| frame[0].as_str()).collect();
    assert_eq!(kinds, ["", "", "AH"], "{frames:?}");
}

#[test]
fn other_datagrams_are_left_to_wireshark() {
    let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 1);
    node.send_plain(&request(1));
    node.send_plain(&request(200));
    let frames =
        tshark("plain", &node, &["6lowpan.context0:fd00::/64"], &["sixlock", "6lowpan", "coap.code"]);
    assert!(frames.iter().all(|frame| frame[0].is_empty() && !frame[1].is_empty()), "{frames:?}");
    assert_eq!((frames[0][2].as_str(), frames.last().unwrap()[2].as_str()), ("2", "2"));
}
