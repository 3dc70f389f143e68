//! Frames in time slots, as the simulator's stations send them, with link security and without.

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use sixlock_crypto::{BlockCiphers, CcmNonce, CcmTag, Soft, Tag};
use sixlock_decode::{Decoder, Keys, Layer, Record};
use sixlock_ieee802154::enhanced::{Asn, Header, NonceCounter, Security};
use sixlock_ieee802154::{Address, BROADCAST, FrameType, KeyId, SecurityLevel};
use support::{LINK, decoded, records, shown};

/// A beacon, a packet and its acknowledgement.
const PLAIN: [(u64, &str); 3] = [
    (513_130, "40ebcdabffff0000000000741202003f1a88061a330000000000011c0001c8000a1b0100650001000000000fac95"),
    (46_222_525, "21ecdfcdab010000000074120200000000007412027a773a9b03819200000100fac2"),
    (46_224_782, "022edfcdab0000000000741202020f2000d425"),
];

/// A beacon, a message of RPL to all, and a packet and its acknowledgement, all of them secured.
const SECURED: [(u64, &str); 4] = [
    (
        513_130,
        "48ebcdabffff00000000007412026a01003f1a88061a330000000000011c0001c8000a1b0100650001000000000f06537d4238251cff0010",
    ),
    (
        3_033_096,
        "49e8dacdabffff00000000007412026e01cc3d6629c7887dd60f20363a345d5631caf7cca010bdb6113e7e00f32503bdc91b81794c410db4449d9b7d419615e012cd3929f9eb45ca14ca0a",
    ),
    (45_502_542, "29eccdcdab000000000074120201000000007412026e01d02737e4a7878467bdbc755c9dfc68c9f45629"),
    (45_505_063, "0a2ecdcdab01000000007412026e01020f0000a3dde8bf2901149860f3"),
];

/// The key of the secured ones.
const KEY: &str = "# IEEE 802.15.4 key, index 1: 01c07d227bd6b556f705bb3b9fc9e54b";

const BEACON: &str =
    "elements ASN 51 join metric 0, timeslot 0, hopping sequence 0, slotframe 0 of 101 slots link 0/0";

fn keys() -> Keys {
    let mut keys = Keys::default();
    keys.add(KEY).unwrap();
    keys
}

fn last(keys: Keys, frames: &[(u64, &str)]) -> String {
    shown(&decoded(keys, &records(frames))).pop().unwrap().pop().unwrap()
}

#[test]
fn headers_and_elements_are_shown_and_what_they_carry() {
    let frames = shown(&decoded(Keys::default(), &records(&PLAIN)));
    assert_eq!(frames[0], ["02:12:74:00:00:00:00:00 > 0xffff enhanced beacon", BEACON]);
    let packet = [
        "02:12:74:00:00:00:00:00 > 02:12:74:00:00:00:00:01 seq 223",
        "IPHC 3 for 40",
        "fd00::12:7400:0:0 > fd00::12:7400:0:1 hops 64",
        "ICMPv6 RPL DAO-ACK 1 accepted",
    ];
    assert_eq!(frames[1], packet);
    let ack = ["enhanced ack to 02:12:74:00:00:00:00:00 seq 223", "elements time correction 32 µs"];
    assert_eq!(frames[2], ack);
}

#[test]
fn elements_are_written_as_json() {
    let frames = decoded(Keys::default(), &records(&PLAIN));
    let json = |frame: usize| serde_json::to_value(frames[frame].last().unwrap()).unwrap();
    let link = json!({
        "timeslot": 0,
        "channel_offset": 0,
        "options": ["transmit", "receive", "shared", "timekeeping"],
    });
    let beacon = json!({
        "layer": "elements",
        "bytes": 30,
        "elements": [
            { "kind": "synchronization", "asn": 51, "join_metric": 0 },
            { "kind": "timeslot", "template": 0 },
            { "kind": "channel-hopping", "sequence": 0 },
            { "kind": "slotframe-and-link", "slotframes": [{ "handle": 0, "size": 101, "links": [link] }] },
        ],
    });
    assert_eq!(json(0), beacon);
    let correction = json!({ "kind": "time-correction", "microseconds": 32, "nack": false });
    assert_eq!(json(2), json!({ "layer": "elements", "bytes": 4, "elements": [correction] }));
}

#[test]
fn what_is_sealed_by_its_slot_is_opened_behind_a_beacon() {
    let frames = shown(&decoded(keys(), &records(&SECURED)));
    assert_eq!(frames[0][1..], ["MIC-64 key 1 ASN 51", BEACON]);
    assert_eq!(
        frames[1][1..4],
        ["ENC-MIC-64 key 1 ASN 303", "IPHC 4 for 40", "fe80::12:7400:0:0 > ff02::1a hops 64"]
    );
    assert_eq!(frames[2][1..3], ["ENC-MIC-64 key 1 ASN 4550", "IPHC 3 for 40"]);
    assert_eq!(frames[3][1..], ["ENC-MIC-64 key 1 ASN 4550", "elements time correction 0 µs"]);
}

#[test]
fn what_is_not_opened_says_what_it_lacks() {
    let no_beacon = "! payload: missing, its nonce has the number of its time slot, and no beacon before it that could \
         be opened tells that (48 bytes)";
    assert_eq!(last(keys(), &SECURED[1..2]), no_beacon);
    let no_key = "! payload: no key, none of the links with index 1 is given (48 bytes)";
    assert_eq!(last(Keys::default(), &SECURED[..2]), no_key);
    let no_sender = "! payload: missing, its nonce has the address of its sender, and no frame before it that it \
         acknowledges tells that (0 bytes)";
    assert_eq!(last(keys(), &[SECURED[0], SECURED[3]]), no_sender);
    // An hour later the slot is another.
    let late = (SECURED[1].0 + 3_600_000_000, SECURED[1].1);
    assert_eq!(last(keys(), &[SECURED[0], late]), "! payload: bad MIC (48 bytes)");
}

#[test]
fn a_beacon_that_nothing_proves_tells_no_slot() {
    let mut frames = records(&SECURED[..2]);
    // Its slot's number.
    frames[0].frame[22] ^= 1;
    frames[0].fcs = false;
    let length = frames[0].frame.len() - 2;
    frames[0].frame.truncate(length);
    let frames = shown(&decoded(keys(), &frames));
    assert!(frames[0].contains(&BEACON.replace("51", "50")), "it is shown all the same: {:?}", frames[0]);
    assert_eq!(frames[0].last().unwrap(), "! payload: bad MIC (28 bytes)");
    assert!(frames[1].last().unwrap().contains("no beacon before it"), "{:?}", frames[1]);
}

#[test]
fn a_frame_with_a_counter_needs_no_slot() {
    let header = Header {
        frame_type: FrameType::Data,
        pending: false,
        ack_request: false,
        sequence: None,
        destination_pan_id: Some(0xabcd),
        destination: Some(Address::Short(BROADCAST)),
        source_pan_id: None,
        source: Some(Address::Extended(LINK.source)),
        security: Some(Security {
            level: SecurityLevel::EncMic32,
            key_id: KeyId::Index(1),
            counter: NonceCounter::FrameCounter(7),
        }),
        elements: true,
    };
    let mut front = vec![0; header.emitted_len()];
    header.emit(&mut front).unwrap();
    // A header element that is not known, and what says that payload elements follow; one of these, encrypted.
    front.extend([0x01, 0x10, 0xaa, 0x00, 0x3f]);
    let mut content = vec![0x02, 0x90, 1, 2, 0x00, 0xf8, 0x3f, 9];
    let mut mic = Tag::empty(CcmTag::Four);
    let key = Soft.aes_128(&support::unhex(&KEY[KEY.len() - 32..]).try_into().unwrap());
    let nonce = header.security.unwrap().nonce(LINK.source, Asn::MAX);
    Soft.ccm_seal(&key, CcmNonce::Thirteen(&nonce), &front, &mut content, &mut mic);
    let mut frame = [&front, &content[..], mic.bytes()].concat();
    let shown_of = |frame: Vec<u8>| {
        shown(&decoded(keys(), &[Record { us: 0, frame, fcs: false, missing: 0 }])).remove(0)[1..].to_vec()
    };
    let expected = ["ENC-MIC-32 key 1 #7", "elements header 0x20 of 1, payload 0x2 of 2", "data 2"];
    assert_eq!(shown_of(frame.clone()), expected);
    *frame.last_mut().unwrap() ^= 1;
    let expected = ["ENC-MIC-32 key 1 #7", "elements header 0x20 of 1", "! payload: bad MIC (8 bytes)"];
    assert_eq!(shown_of(frame), expected);
}

/// What the frame is without its FCS, which would tell of any damage.
fn without_fcs(mut record: Record) -> Record {
    record.fcs = false;
    record.frame.truncate(record.frame.len() - 2);
    record
}

/// All layers of damaged frames have the length that there is, and are shown.
fn is_sound(frame: &[u8], layers: &[Layer]) -> bool {
    let own = layers.iter().map(|layer| match layer {
        Layer::Mac(layer) => layer.bytes,
        Layer::LinkSecurity(layer) => layer.bytes,
        Layer::Elements(layer) => layer.bytes,
        _ => 0,
    });
    let shown = layers.iter().all(|layer| !layer.to_string().contains(char::is_control));
    !layers.is_empty() && shown && own.sum::<usize>() <= frame.len()
}

#[test]
fn damaged_frames_are_decoded_or_refused() {
    for frames in [&PLAIN[..], &SECURED[..]] {
        let whole: Vec<_> = records(frames).into_iter().map(without_fcs).collect();
        for place in 0..whole.len() {
            for at in 0..whole[place].frame.len() {
                let mut cut = whole.clone();
                cut[place].frame.truncate(at);
                let mut changed = vec![cut];
                for with in [1, 0x80, 0xff] {
                    let mut other = whole.clone();
                    other[place].frame[at] ^= with;
                    changed.push(other);
                }
                for records in changed {
                    let mut decoder = Decoder::new(keys());
                    for record in &records {
                        let layers = decoder.decode(record);
                        assert!(is_sound(&record.frame, &layers), "{record:?}: {layers:?}");
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_frame_of_version_2_is_decoded_or_refused(
        control: u16,
        us: u64,
        tail in vec(any::<u8>(), 0..120),
        elements in vec((any::<u16>(), 0usize..12), 0..6),
    ) {
        let mut frame = (control & !(3 << 12) | 2 << 12).to_le_bytes().to_vec();
        frame.extend(&tail);
        // Descriptors whose lengths may be right.
        for (descriptor, length) in elements {
            frame.extend((descriptor & !0x7f | length as u16).to_le_bytes());
            frame.extend(&tail[..length.min(tail.len())]);
        }
        let mut decoder = Decoder::new(keys());
        for record in records(&SECURED[..1]) {
            decoder.decode(&record);
        }
        let layers = decoder.decode(&Record { us, frame: frame.clone(), fcs: false, missing: 0 });
        prop_assert!(is_sound(&frame, &layers), "{layers:?}");
        prop_assert!(layers.iter().all(|layer| serde_json::to_string(layer).is_ok()));
    }
}
