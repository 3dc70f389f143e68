//! Handshakes between our own client and server over networks of every kind.

mod pair;

use pair::{DELAY, IDENTITY, KEY, Pair, Seen, Side};
use sixlock_base::{Counter, Duration};
use sixlock_dtls::{AlertDescription, Config, Failure, Refusal, is_client_hello};
use sixlock_testing::Random;

const BOTH_CONNECTED: [(Side, Seen); 2] = [(Side::Server, Seen::Connected), (Side::Client, Seen::Connected)];

/// A network may lose many datagrams in a row.
const PATIENT: Config = Config { retransmissions: 30, linger: Duration::from_secs(3600), ..Config::HOST };

fn retransmissions(pair: &Pair) -> u32 {
    pair.here.count(Counter::DtlsRetransmissions) + pair.there.count(Counter::DtlsRetransmissions)
}

#[test]
fn a_handshake_takes_six_datagrams_and_data_flows_both_ways() {
    let mut pair = Pair::new(1, Config::HOST);
    pair.run(1000);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    let lengths: Vec<_> = pair.sent.iter().map(|(_, side, datagram)| (*side, datagram.len())).collect();
    let identity = IDENTITY.len();
    assert_eq!(
        lengths,
        [
            (Side::Client, 75),
            (Side::Server, 44),
            (Side::Client, 91),
            (Side::Server, 99),
            (Side::Client, 27 + identity + 14 + 53),
            (Side::Server, 14 + 53),
        ]
    );
    assert_eq!(retransmissions(&pair), 0);
    assert_eq!(pair.here.count(Counter::DtlsHandshakes) + pair.there.count(Counter::DtlsHandshakes), 2);
    pair.carries_data();
}

#[test]
fn both_ends_log_the_same_secret() {
    let mut pair = Pair::new(2, Config::HOST);
    pair.run(1000);
    let [(random, secret), other] = pair.key_log[..] else { panic!("both log once") };
    assert_eq!((random, secret), other);
    assert!(pair.sent[0].2[27..59] == random && secret != [0; 48]);
    pair.carries_data();
    assert!(pair.client.key_log().is_none() && pair.server.as_mut().unwrap().key_log().is_none());
}

#[test]
fn a_slow_key_costs_no_retransmission() {
    let mut pair = Pair::new(3, Config::HOST);
    pair.lookup = 700;
    pair.run(2000);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    assert_eq!((pair.sent.len(), retransmissions(&pair)), (6, 0));
}

#[test]
fn a_key_slower_than_the_peers_patience_still_connects() {
    let mut pair = Pair::new(4, Config::HOST);
    pair.lookup = 5000;
    pair.run(20_000);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    pair.carries_data();
}

#[test]
fn each_lost_datagram_is_made_good_within_one_timeout() {
    for lost in 0..6 {
        let mut pair = Pair::new(5, Config::HOST);
        pair.fate =
            Box::new(move |index, _, datagram| if index == lost { vec![] } else { vec![(DELAY, datagram)] });
        pair.run(1000 + 10 * DELAY);
        assert_eq!(pair.seen, BOTH_CONNECTED, "datagram {lost} lost");
        pair.carries_data();
    }
}

#[test]
fn the_timer_doubles_up_to_its_bound_and_gives_up() {
    let config = Config { retransmissions: 8, ..Config::HOST };
    let mut pair = Pair::new(6, config);
    pair.fate = Box::new(|_, _, _| vec![]);
    let start = pair.now;
    pair.run(400_000);
    let times: Vec<_> = pair.sent.iter().map(|(at, ..)| at.wrapping_sub(start) / 1000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    assert_eq!(pair.seen, [(Side::Client, Seen::Failed(Failure::TimedOut))]);
    assert!(pair.client.is_over());
    assert_eq!(pair.here.count(Counter::DtlsHandshakesFailed), 1);
}

#[test]
fn handshakes_survive_loss_reordering_and_repetition() {
    for seed in 0..1000 {
        // Some in the smallest datagrams, so that messages are cut.
        let max_datagram = [64, 80, 128, 1200][seed as usize % 4];
        let mut pair = Pair::new(seed, Config { max_datagram, ..PATIENT });
        pair.lookup = (seed % 3) * 400;
        let mut random = Random::new(seed);
        let loss = 20 + seed % 21;
        pair.fate = Box::new(move |_, _, datagram| {
            let copies = if random.below(10) == 0 { 2 } else { 1 };
            let kept = (0..copies).filter(|_| random.below(100) >= loss).collect::<Vec<_>>();
            kept.into_iter().map(|_| (DELAY + random.below(1500), datagram.clone())).collect()
        });
        pair.run(1_500_000);
        assert!(pair.connected(), "seed {seed}: {:?}", pair.seen);
        pair.carries_data();
    }
}

#[test]
fn small_datagrams_are_never_exceeded() {
    for max_datagram in 64..140 {
        let mut pair = Pair::new(7, Config { max_datagram, ..Config::HOST });
        pair.run(1000);
        assert_eq!(pair.seen, BOTH_CONNECTED);
        assert_eq!(retransmissions(&pair), 0);
        let longest =
            pair.sent.iter().map(|(.., datagram)| datagram).filter(|datagram| !is_client_hello(datagram));
        assert!(longest.map(Vec::len).max().unwrap() <= max_datagram.into());
    }
}

/// The fields of a plain flight that stay when it is sent again: all but the record numbers.
fn without_record_numbers(mut datagram: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while !datagram.is_empty() {
        let (record, rest) =
            datagram.split_at(13 + usize::from(u16::from_be_bytes([datagram[11], datagram[12]])));
        records.push([&record[..5], &record[11..]].concat());
        datagram = rest;
    }
    records
}

#[test]
fn a_flight_sent_again_is_the_same_with_fresh_record_numbers() {
    for (lost, first) in [(1, 0), (4, 3)] {
        let mut pair = Pair::new(8, Config::HOST);
        pair.fate =
            Box::new(move |index, _, datagram| if index == lost { vec![] } else { vec![(DELAY, datagram)] });
        pair.run(1200);
        let from = pair.sent[first].1;
        let (_, _, again) = pair.sent[first + 1..]
            .iter()
            .find(|(at, side, _)| *side == from && *at > pair.sent[lost].0)
            .unwrap();
        assert_ne!(*again, pair.sent[first].2);
        assert_eq!(without_record_numbers(again), without_record_numbers(&pair.sent[first].2));
    }
}

#[test]
fn a_wrong_key_and_an_unknown_identity_look_alike() {
    let unknown = ([b"urn:dev:mac:0212740000000099:", KEY], Refusal::UnknownIdentity);
    let wrong = ([IDENTITY, b"ffffffffffffffffffffffffffffffff"], Refusal::WrongKey);
    let [mut first, second] = [unknown, wrong].map(|([identity, key], refusal)| {
        let mut pair = Pair::new(9, Config::HOST);
        pair.credential = (identity.to_vec(), key.to_vec());
        pair.run(100_000);
        assert_eq!(
            pair.seen,
            [
                (Side::Server, Seen::Failed(Failure::Authentication(refusal))),
                (Side::Client, Seen::Failed(Failure::Refused(AlertDescription::DECRYPT_ERROR))),
            ]
        );
        let (_, side, alert) = pair.sent.iter().rfind(|sent| sent.1 == Side::Server).unwrap();
        assert_eq!((*side, &alert[13..]), (Side::Server, &[2, 51][..]));
        assert_eq!(pair.there.count(Counter::DtlsBadRecord), Config::HOST.bad_records.into());
        assert_eq!(pair.there.count(Counter::DtlsHandshakesFailed), 1);
        pair
    });
    let shape = |pair: &Pair| {
        pair.sent.iter().map(|(at, side, datagram)| (*at, *side, datagram.len())).collect::<Vec<_>>()
    };
    assert_eq!(shape(&first), shape(&second));
    // The true key still works: the failed session is replaced.
    let mut again = Pair::new(10, Config::HOST);
    again.server = first.server.take();
    again.run(1000);
    assert_eq!(again.seen, BOTH_CONNECTED);
}

#[test]
fn identities_and_keys_have_their_longest() {
    let mut pair = Pair::new(11, Config { max_datagram: 64, ..Config::HOST });
    pair.credential = (vec![b'i'; 128], vec![b'k'; 64]);
    pair.keys.push(pair.credential.clone());
    pair.run(1000);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    pair.carries_data();
}

#[test]
fn either_side_closes() {
    for closer in [Side::Client, Side::Server] {
        let mut pair = Pair::new(12, Config::HOST);
        pair.run(1000);
        pair.seen.clear();
        match closer {
            Side::Client => pair.client.close(),
            Side::Server => pair.server.as_mut().unwrap().close(),
        }
        pair.run(1000);
        assert_eq!(pair.seen.len(), 2);
        assert!(
            pair.seen.contains(&(Side::Client, Seen::Closed))
                && pair.seen.contains(&(Side::Server, Seen::Closed))
        );
        assert!(pair.client.is_over() && pair.server.as_ref().unwrap().is_over());
    }
}

#[test]
fn a_client_that_forgot_its_session_gets_a_new_one() {
    let mut pair = Pair::new(13, Config::HOST);
    pair.run(1000);
    pair.carries_data();
    let mut rebooted = Pair::new(14, Config::HOST);
    rebooted.server = pair.server.take();
    rebooted.run(1000);
    assert_eq!(rebooted.seen, BOTH_CONNECTED);
    rebooted.carries_data();
}

#[test]
fn an_old_hello_does_not_disturb_its_own_session() {
    let mut pair = Pair::new(15, Config::HOST);
    pair.run(1000);
    pair.carries_data();
    let hello = pair.sent[2].2.clone();
    pair.inject(Side::Server, 1, hello);
    pair.run(1000);
    pair.carries_data();
    assert_eq!(pair.seen, BOTH_CONNECTED);
}
