//! Handshakes with pre-shared keys and ephemeral ones, between our own client and server.

mod pair;

use pair::{DELAY, Ends, KEY, Public, Seen, Side};
use sixlock_base::Counter;
use sixlock_dtls::{AlertDescription, Certified, Config, Failure, Full, Refusal, Suite, Suites};
use sixlock_dtls_msg::HandshakeType;
use sixlock_testing::Random;

const BOTH_CONNECTED: [(Side, Seen); 2] = [(Side::Server, Seen::Connected), (Side::Client, Seen::Connected)];

const CONFIG: Config =
    Config { suites: Suites::new(&[Suite::EcdhePskAes128Ccm8]), resumable: true, ..Config::HOST };

fn between(seed: u32, suites: &'static [Suite]) -> Public {
    let mut pair = Public::new(seed, Config { suites: Suites::new(suites), ..CONFIG });
    pair.run(1000);
    pair
}

#[test]
fn both_agree_by_ephemeral_keys_and_prove_the_pre_shared_one() {
    for (suite, overhead) in
        [(Suite::EcdhePskAes128Ccm8, 29), (Suite::EcdhePskAes128Ccm, 37), (Suite::EcdhePskAes128Gcm, 37)]
    {
        let mut pair = between(1, vec![suite].leak());
        assert_eq!(pair.seen, BOTH_CONNECTED, "{suite:?}");
        assert_eq!(pair.sent.len(), 6);
        println!(
            "a full handshake by {suite:?}: {} bytes",
            pair.bytes(Side::Client) + pair.bytes(Side::Server)
        );
        pair.carries_data();
        assert_eq!(pair.client.overhead(), overhead);
        assert_eq!(pair.key_log[0], pair.key_log[1]);
        let order =
            |side| pair.tasks.iter().filter(|task| task.0 == side).map(|task| task.1).collect::<Vec<_>>();
        assert_eq!([order(Side::Client), order(Side::Server)], [["generate", "agree"]; 2]);
    }
}

#[test]
fn the_secret_depends_on_both_kinds_of_keys() {
    let master = |seed, key: &[u8]| {
        let mut pair = Public::new(seed, CONFIG);
        pair.credential.1 = key.to_vec();
        pair.keys[0].1 = key.to_vec();
        pair.run(1000);
        assert_eq!(pair.seen, BOTH_CONNECTED);
        pair.key_log[0].1
    };
    assert_eq!(master(2, KEY), master(2, KEY));
    assert_ne!(master(2, KEY), master(3, KEY));
    assert_ne!(master(2, KEY), master(2, b"another key"));
    // Shorter and longer than what the ephemeral keys share.
    master(4, &[7; 1]);
    master(4, &[7; 64]);
}

#[test]
fn a_session_is_resumed_without_any_key() {
    let first = between(5, &[Suite::EcdhePskAes128Gcm]);
    let config = Config { suites: Suites::new(&[Suite::EcdhePskAes128Gcm]), ..CONFIG };
    let mut pair = Public::resuming(6, config, first.kept);
    pair.run(1000);
    assert!(pair.connected() && pair.tasks.is_empty(), "{:?}", pair.tasks);
    assert_eq!(pair.here.count(Counter::DtlsResumptions), 1);
    pair.carries_data();
}

#[test]
fn losses_are_made_good() {
    for seed in 0..40 {
        let mut pair = Public::new(seed, Config { max_datagram: 120, ..CONFIG });
        let mut random = Random::new(seed);
        pair.fate = Box::new(
            move |_, _, datagram| if random.below(4) == 0 { vec![] } else { vec![(DELAY, datagram)] },
        );
        pair.run(100_000);
        assert!(pair.connected(), "seed {seed}: {:?}", pair.seen);
        pair.carries_data();
    }
}

#[test]
fn who_does_not_know_the_key_is_refused() {
    for (identity, key, refusal) in
        [(None, &b"another key"[..], Refusal::WrongKey), (Some(b"nobody"), KEY, Refusal::UnknownIdentity)]
    {
        let mut pair = Public::new(7, CONFIG);
        pair.credential.1 = key.to_vec();
        if let Some(identity) = identity {
            pair.credential.0 = identity.to_vec();
        }
        pair.run(200_000);
        assert!(
            pair.seen.contains(&(Side::Server, Seen::Failed(Failure::Authentication(refusal)))),
            "{:?}",
            pair.seen
        );
        assert!(!pair.seen.iter().any(|(_, seen)| *seen == Seen::Connected));
    }
}

/// A pair in which the last byte of the ephemeral key in the first so many messages of this type from `side` is another.
fn with_another_point(seed: u32, side: Side, kind: HandshakeType, times: usize) -> Public {
    let mut pair = Public::new(seed, CONFIG);
    let mut left = times;
    pair.fate = Box::new(move |_, from, mut datagram| {
        // Behind the headers of the record and the message.
        let mut at = 0;
        while let Some(record) = datagram.get_mut(at..).filter(|rest| rest.len() > 25) {
            let length = 13 + usize::from(u16::from_be_bytes([record[11], record[12]]));
            if (from, record[0], &record[3..5], record[13]) == (side, 22, &[0, 0], kind.0) && left > 0 {
                record[length - 1] ^= 1;
                left -= 1;
            }
            at += length;
        }
        vec![(DELAY, datagram)]
    });
    pair.run(200_000);
    assert!(!pair.tasks.is_empty());
    pair
}

#[test]
fn a_point_beside_the_curve_is_refused_and_the_true_one_awaited() {
    let sides = [
        (Side::Server, HandshakeType::SERVER_KEY_EXCHANGE, Side::Client),
        (Side::Client, HandshakeType::CLIENT_KEY_EXCHANGE, Side::Server),
    ];
    for (side, kind, refuses) in sides {
        let mut pair = with_another_point(8, side, kind, 1);
        assert_eq!(pair.seen, BOTH_CONNECTED, "{side:?}");
        pair.carries_data();
        let pair = with_another_point(9, side, kind, usize::MAX);
        assert!(
            pair.seen.contains(&(refuses, Seen::Failed(Failure::Authentication(Refusal::Point)))),
            "{:?}",
            pair.seen
        );
        let told = Seen::Failed(Failure::Refused(AlertDescription::ILLEGAL_PARAMETER));
        assert!(pair.seen.contains(&(side, told)), "{:?}", pair.seen);
    }
}

#[test]
fn a_forged_key_of_the_curve_does_not_end_the_handshake() {
    let other = between(10, &[Suite::EcdhePskAes128Ccm8]);
    let point = other.sent[3].2.clone();
    let mut pair = Public::new(11, CONFIG);
    let mut forged = Some(point);
    pair.fate = Box::new(move |_, side, datagram| {
        let mut datagram = datagram;
        // The flight with the server's key, whose key is that of another handshake the first time.
        let is_flight = side == Side::Server && datagram.len() > 150;
        if let Some(other) = forged.take_if(|other| is_flight && other.len() == datagram.len()) {
            let at = datagram.windows(4).position(|bytes| bytes == [3, 0, 23, 65]).unwrap();
            datagram[at..at + 69].copy_from_slice(&other[at..at + 69]);
        }
        vec![(DELAY, datagram)]
    });
    pair.run(200_000);
    assert!(pair.tasks.len() > 4, "the forged key was taken: {:?}", pair.tasks);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    pair.carries_data();
}

#[test]
fn who_has_no_public_keys_takes_another_suite() {
    let config = Config { suites: Suites::ALL, ..CONFIG };
    let mut ends = Ends::<Certified, Full>::new(12, config);
    ends.config.suites = Suites::new(&[Suite::EcdhePskAes128Ccm8, Suite::PskAes128Gcm]);
    ends.run(1000);
    assert_eq!(ends.seen, BOTH_CONNECTED);
    assert!(ends.tasks.is_empty());
    ends.carries_data();
    let mut ends = Ends::<Full, Certified>::new(13, config);
    ends.config.suites = Suites::new(&[Suite::EcdhePskAes128Ccm8, Suite::PskAes128Gcm]);
    ends.run(1000);
    assert_eq!(ends.seen, BOTH_CONNECTED);
    ends.carries_data();
}
