//! Packets under AH and ESP, their headers compressed, are opened with keys, and without say what is missing.

mod support;

use proptest::prelude::*;
use sixlock_decode::{Decoder, Keys, Layer};
use sixlock_ipsec::Mode;
use sixlock_sixlowpan::ipsec::{Format, TELL_WHOLE};
use support::*;

/// The keys of `suite` in `format`, as TOML.
fn keys(suite: &str, format: Format) -> Keys {
    let [source, destination] = ends();
    let format = match format {
        Format::Paper2012 => "2012",
        Format::Drafts => "drafts",
    };
    let mut keys = Keys::default();
    keys.add(&format!("[ipsec]\nformat = \"{format}\"")).unwrap();
    keys.add(&format!("# IPsec {suite}, {source} to {destination}, index {SPI}: {}\n", key(suite).1))
        .unwrap();
    keys
}

fn decoded(node: &Node, keys: Keys) -> Vec<Vec<Layer>> {
    let mut decoder = Decoder::new(keys);
    node.records().iter().map(|record| decoder.decode(record)).collect()
}

fn shown(layers: &[Layer]) -> String {
    layers.iter().skip(1).map(Layer::to_string).collect::<Vec<_>>().join(" | ")
}

fn tunnel() -> Mode {
    let [local, remote] = ends();
    Mode::Tunnel { local, remote }
}

#[test]
fn every_suite_and_mode_is_opened() {
    for format in [Format::Paper2012, Format::Drafts] {
        for suite in
            ["ah:xcbc", "esp:ctr-xcbc", "esp:null-xcbc", "esp:cbc-hmac-sha1", "esp:gcm", "esp:joint-ctr-xcbc"]
        {
            for mode in [Mode::Transport, tunnel()] {
                // The third number is beyond what 16 bits hold; the third packet is longer than a frame.
                let mut node = Node::new(suite, mode, format, 65_534);
                for length in [1, 3, 200] {
                    node.send(&request(length));
                }
                let frames = decoded(&node, keys(suite, format));
                let mut complete =
                    frames.iter().filter(|layers| matches!(layers.last(), Some(Layer::Coap(_))));
                for (number, length) in [(65_534, 1), (65_535, 3), (65_536, 200)] {
                    let layers = complete.next().unwrap_or_else(|| panic!("{suite}: {frames:?}"));
                    let shown = shown(layers);
                    let name = if suite.starts_with("ah") { "AH" } else { "ESP" };
                    assert!(shown.contains(&format!("{name} index 1 #{number} {suite}")), "{suite}: {shown}");
                    let expected = format!("CoAP CON POST /x id 4660 token ab payload {length}");
                    assert!(shown.ends_with(&expected), "{suite}: {shown}");
                }
            }
        }
    }
}

#[test]
fn a_packet_is_shown_header_by_header() {
    let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 5);
    node.send(&request(1));
    node.send(&request(1));
    let frames = decoded(&node, keys("ah:xcbc", Format::Paper2012));
    let rest = "fd00::12:7400:0:2 > fd00::12:7400:0:1 hops 64 | AH index 1 #5 ah:xcbc | UDP 61616 > 5683 | \
                CoAP CON POST /x id 4660 token ab payload 1";
    // Of AH, 16 bytes of 24 are carried, and three more that tell length and number for the first time.
    assert_eq!(shown(&frames[0]), format!("IPHC 27 for 72 | {rest}"));
    assert_eq!(shown(&frames[1]), format!("IPHC 24 for 72 | {}", rest.replace("#5", "#6")));
}

#[test]
fn what_asks_for_whole_numbers_is_named() {
    let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 5);
    node.frame(&[TELL_WHOLE]);
    node.frame(&[TELL_WHOLE, 0]);
    let frames = decoded(&node, Keys::default());
    assert_eq!(shown(&frames[0]), "asks for whole sequence numbers");
    assert_eq!(shown(&frames[1]), "data 2", "it is alone in its frame");
}

#[test]
fn what_is_not_opened_says_why() {
    let mut node = Node::new("esp:ctr-xcbc", Mode::Transport, Format::Paper2012, 5);
    node.send(&request(1));
    node.send(&request(1));
    let frames = decoded(&node, Keys::default());
    let why = "no association of ESP from fd00::12:7400:0:2 to fd00::12:7400:0:1 with index 1 in the keys";
    assert!(shown(&frames[0]).contains(&format!("ESP index 1 #5 | ! content of ESP: no key, {why}")));

    // A frame that says the last bits of its number only, before any that says it whole.
    let mut decoder = Decoder::new(keys("esp:ctr-xcbc", Format::Paper2012));
    let late = shown(&decoder.decode(&node.records()[1]));
    assert!(late.contains("missing, a sequence number has its last bits only"), "{late}");

    let mut forged = node.records()[0].clone();
    let last = forged.frame.len() - 3;
    forged.frame[last] ^= 1;
    forged.fcs = false;
    forged.frame.truncate(last + 1);
    let layers = decoder.decode(&forged);
    assert!(shown(&layers).contains("! content of ESP: bad MIC"), "{}", shown(&layers));

    let mut node = Node::new("esp:cbc-hmac-sha1", Mode::Transport, Format::Paper2012, 5);
    node.send(&request(1));
    let mut shortened = node.records()[0].clone();
    shortened.fcs = false;
    shortened.frame.truncate(shortened.frame.len() - 3);
    let layers = Decoder::new(keys("esp:cbc-hmac-sha1", Format::Paper2012)).decode(&shortened);
    assert!(shown(&layers).contains("! content of ESP: malformed, alignment"), "{}", shown(&layers));

    let mut node = Node::new("ah:xcbc", Mode::Transport, Format::Paper2012, 5);
    node.send(&request(1));
    let layers = &decoded(&node, Keys::default())[0];
    assert!(shown(layers).contains("! ICV of AH: no key"), "{}", shown(layers));
    assert!(shown(layers).contains("CoAP CON POST"), "what follows AH is in the clear");
}

proptest! {
    #[test]
    fn damaged_frames_are_decoded_or_refused(
        suite in prop::sample::select(vec!["ah:xcbc", "esp:ctr-xcbc", "esp:null-xcbc", "esp:gcm"]), drafts: bool,
        at in any::<prop::sample::Index>(), with in 1u8.., cut in any::<prop::sample::Index>(),
    ) {
        let format = if drafts { Format::Drafts } else { Format::Paper2012 };
        let mut node = Node::new(suite, tunnel(), format, 1);
        node.send(&request(20));
        node.send(&request(150));
        let mut decoder = Decoder::new(keys(suite, format));
        for mut record in node.records() {
            record.fcs = false;
            let at = at.index(record.frame.len());
            record.frame[at] ^= with;
            for length in [record.frame.len(), cut.index(record.frame.len())] {
                record.frame.truncate(length);
                let layers = decoder.decode(&record);
                prop_assert!(!layers.is_empty());
                for layer in layers {
                    prop_assert!(!layer.to_string().contains(char::is_control));
                }
            }
        }
    }
}
