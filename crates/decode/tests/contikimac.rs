//! Frames of radios that sleep by ContikiMAC, as the simulator's stations send them, with link security and without.

mod support;

use sixlock_decode::Keys;
use support::{data, decoded, records, shown};

/// Messages of RPL: one as it is, and one padded.
const PLAIN: [(u64, &str); 2] = [
    (
        2_057_360,
        "41c811cdabffff000000000074120200307a3b3a1a9b01c67800f0008088f00000fd000000000000000012740000000000040e10080c0a100000800001001e003c2e81",
    ),
    (3_516_704, "41c8b4cdabffff0300000000741202000a7a3b3a1a9b00f30b0000000000000000000000000000000000006287"),
];

/// The same, secured.
const SECURED: [(u64, &str); 2] = [
    (
        2_057_360,
        "49d811cdabffff00000000007412020e00000000018217d51f8e110a301b977d7904f3092f6dbbd2c251bacdceacc6edd14ec9ea7b6bb556a47cb73ea14a9f94edcef4b834c02c368bd5f1853d407d6c21",
    ),
    (3_536_720, "49d8b4cdabffff03000000007412020e0000000001183eb1c60a1af3f864fdb40fe79e27426638592098dee791"),
];

/// The key of the secured ones.
const KEY: &str = "# IEEE 802.15.4 key, index 1: 01c07d227bd6b556f705bb3b9fc9e54b";

#[test]
fn the_header_and_padding_are_shown_and_what_is_between_them() {
    let mut keys = Keys::default();
    keys.add(KEY).unwrap();
    let dio = [
        "IPHC 4 for 40",
        "fe80::12:7400:0:0 > ff02::1a hops 64",
        "ICMPv6 RPL DIO version 240 rank 128 mode 1 DTSN 240",
    ];
    let dis = ["IPHC 4 for 40", "fe80::12:7400:0:3 > ff02::1a hops 64", "ICMPv6 RPL DIS"];
    let plain = shown(&decoded(keys.clone(), &records(&PLAIN)));
    assert_eq!(plain[0][..2], ["02:12:74:00:00:00:00:00 > 0xffff seq 17", "ContikiMAC 48"]);
    assert_eq!(plain[0][2..], dio);
    assert_eq!(plain[1][..2], ["02:12:74:00:00:00:00:03 > 0xffff seq 180", "ContikiMAC 10 padded by 16"]);
    assert_eq!(plain[1][2..], dis);
    let secured = shown(&decoded(keys, &records(&SECURED)));
    assert_eq!(secured[0][1..3], ["ENC-MIC-64 key 1 #0", "ContikiMAC 48"]);
    assert_eq!(secured[0][3..], dio);
    assert_eq!(secured[1][1..3], ["ENC-MIC-64 key 1 #0", "ContikiMAC 10 padded by 2"]);
    assert_eq!(secured[1][3..], dis);
}

#[test]
fn json_has_the_bytes_of_the_header_and_of_the_padding() {
    let frames = decoded(Keys::default(), &records(&PLAIN));
    let layer = serde_json::to_value(&frames[1][1]).unwrap();
    assert_eq!(
        layer,
        serde_json::json!({ "layer": "contikimac", "bytes": 18, "payload": 10, "padding": 16 })
    );
}

#[test]
fn what_has_no_such_header_stays_data() {
    let last = |payload: &[u8]| {
        let record = sixlock_decode::Record { us: 0, frame: data(1, payload), fcs: false, missing: 0 };
        shown(&decoded(Keys::default(), &[record])).pop().unwrap()[1..].to_vec()
    };
    assert_eq!(last(&[0]), ["data 1"], "no length");
    assert_eq!(last(&[0, 9, 0x7a, 0x33]), ["data 4"], "less than the length");
    assert_eq!(last(&[0x3f, 1, 2]), ["data 3"], "another first byte");
    assert_eq!(last(&[0, 0]), ["ContikiMAC 0"]);
    assert_eq!(last(&[0, 3, 0, 1, 2, 0]), ["ContikiMAC 3 padded by 1", "data 3"], "one is enough");
}
