//! Captures.

use sixlock_decode::{Capture, Decoder, Keys, Layer};
use sixlock_pcap::{HEADER, Timestamp, record};

/// Where the head of a capture has the link type.
const LINK_TYPE_AT: usize = 20;
/// IEEE 802.15.4 without FCS: chance would hardly find one.
const WITHOUT_FCS: u8 = 230;

/// The keys that the seeds' links and hosts have.
const KEYS: &str = "\
    # IEEE 802.15.4 key, index 1: 61206b6579206f6620612050414e2e2e\n\
    # IPsec ah:xcbc, fd00::12:7400:0:2 to fd00::12:7400:0:1, index 1: 61206b6579207468617420626f746820\n\
    # IPsec esp:ctr-xcbc, fd00::12:7400:0:2 to fd00::12:7400:0:1, index 1: 61206b6579207468617420626f7468207369646573206b6e6f772c20616e64206f6e6c79\n\
    # IPsec esp:null-hmac-sha1, fd00::12:7400:0:2 to fd00::12:7400:0:1, index 1: 61206b6579207468617420626f74682073696465\n\
    # IPsec esp:gcm-implicit, fd00::12:7400:0:2 to fd00::12:7400:0:1, index 1: 61206b6579207468617420626f74682073696465\n";

/// A capture, decoded, shown and counted: what of it was UDP.
pub(crate) fn capture(input: &[u8]) -> usize {
    let Ok(capture) = Capture::new(input) else { return 0 };
    let mut keys = Keys::default();
    keys.add(KEYS).expect("a key log");
    let mut decoder = Decoder::new(keys);
    let mut taken = 0;
    for record in capture.map_while(Result::ok) {
        let layers = decoder.decode(&record);
        assert!(!layers.is_empty(), "a frame without a word");
        for layer in &layers {
            assert!(!layer.to_string().contains(char::is_control), "{layer}");
            taken += usize::from(matches!(layer, Layer::Udp(_)));
        }
    }
    taken
}

/// The capture of `frames`, which have no FCS.
pub(crate) fn of<'a>(frames: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut head = HEADER;
    head[LINK_TYPE_AT] = WITHOUT_FCS;
    let mut file = head.to_vec();
    for (frame, seconds) in frames.into_iter().zip(0..) {
        file.extend(record(Timestamp { seconds, micros: 0 }, frame.len() as u32));
        file.extend(frame);
    }
    file
}
