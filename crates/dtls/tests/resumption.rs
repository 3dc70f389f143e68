//! Sessions that are resumed, between our own client and server.

mod pair;

use pair::{DELAY, Pair, Seen, Side};
use sixlock_base::{Counter, Duration};
use sixlock_dtls::{AlertDescription, Config, Failure, Refusal12, SESSION_ID, SessionState};
use sixlock_dtls_msg::HandshakeType;
use sixlock_testing::Random;

const CONFIG: Config = Config { resumable: true, ..Config::HOST };
const BOTH_CONNECTED: [(Side, Seen); 2] = [(Side::Client, Seen::Connected), (Side::Server, Seen::Connected)];
/// Where a handshake message begins in the datagram it is alone in or the first of.
const MESSAGE: usize = 13;

/// What both sides keep of a session.
fn kept(seed: u32) -> [Vec<SessionState>; 2] {
    let mut pair = Pair::new(seed, CONFIG);
    pair.run(1000);
    assert_eq!((pair.connected(), pair.kept[0].len(), pair.kept[1].len()), (true, 1, 1));
    assert_eq!(pair.here.count(Counter::DtlsResumptions), 0);
    pair.kept
}

fn resumptions(pair: &Pair) -> [u32; 2] {
    [&pair.here, &pair.there].map(|rig| rig.count(Counter::DtlsResumptions))
}

#[test]
fn a_resumption_takes_five_datagrams_and_no_key() {
    let mut full = Pair::new(1, CONFIG);
    full.run(1000);
    let mut pair = Pair::resuming(2, CONFIG, full.kept.clone());
    pair.keys.clear();
    pair.run(1000);
    assert_eq!(pair.seen, BOTH_CONNECTED);
    let lengths =
        |pair: &Pair| pair.sent.iter().map(|(_, side, datagram)| (*side, datagram.len())).collect::<Vec<_>>();
    let finished = 53;
    assert_eq!(
        lengths(&pair),
        [
            (Side::Client, 75 + SESSION_ID),
            (Side::Server, 44),
            (Side::Client, 91 + SESSION_ID),
            (Side::Server, 74 + SESSION_ID + 14 + finished),
            (Side::Client, 14 + finished),
        ]
    );
    let bytes = |pair: &Pair| (pair.bytes(Side::Client), pair.bytes(Side::Server));
    println!("handshake: full {:?}, resumed {:?} bytes (client, server)", bytes(&full), bytes(&pair));
    println!("datagrams: full {}, resumed {}", full.sent.len(), pair.sent.len());
    assert_eq!((full.sent.len(), resumptions(&pair)), (6, [1, 1]));
    pair.carries_data();
}

#[test]
fn a_resumed_session_has_the_secret_of_the_first_and_other_keys() {
    let mut pair = Pair::new(3, CONFIG);
    pair.run(1000);
    let mut logs = pair.key_log.clone();
    // A resumed session can be resumed as well, by the same name.
    for seed in 4..7 {
        pair = Pair::resuming(seed, CONFIG, pair.kept.clone());
        pair.run(1000);
        assert_eq!((pair.seen.len(), resumptions(&pair)), (2, [1, 1]));
        pair.carries_data();
        logs.extend(&pair.key_log);
        assert!(pair.kept[0].iter().all(|kept| kept.session_id() == pair.kept[1][0].session_id()));
    }
    assert!(logs.iter().all(|(_, secret)| *secret == logs[0].1), "one master secret");
    assert!(logs.chunks(2).all(|ends| ends[0] == ends[1]), "both ends log the same");
    let mut randoms: Vec<_> = logs.iter().map(|(random, _)| random).collect();
    randoms.sort();
    randoms.dedup();
    assert_eq!(randoms.len(), 4, "the keys follow from fresh random values");
}

#[test]
fn resumptions_survive_loss_reordering_and_repetition() {
    let patient = Config { retransmissions: 30, linger: Duration::from_secs(3600), ..CONFIG };
    for seed in 0..1000 {
        let max_datagram = [64, 80, 128, 1200][seed as usize % 4];
        let mut pair = Pair::resuming(seed, Config { max_datagram, ..patient }, kept(seed));
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
        assert_eq!(resumptions(&pair), [1, 1], "seed {seed}");
        pair.carries_data();
    }
}

#[test]
fn each_lost_datagram_is_made_good_within_one_timeout() {
    for lost in 0..5 {
        let mut pair = Pair::resuming(8, CONFIG, kept(8));
        pair.fate =
            Box::new(move |index, _, datagram| if index == lost { vec![] } else { vec![(DELAY, datagram)] });
        pair.run(1000 + 10 * DELAY);
        assert_eq!((pair.seen.len(), resumptions(&pair)), (2, [1, 1]), "datagram {lost} lost");
        pair.carries_data();
    }
}

#[test]
fn a_slow_look_up_of_the_session_outlives_the_clients_patience() {
    let mut pair = Pair::resuming(9, CONFIG, kept(9));
    pair.lookup = 5000;
    pair.run(20_000);
    assert_eq!((&pair.seen[..], resumptions(&pair)), (&BOTH_CONNECTED[..], [1, 1]));
    pair.carries_data();
}

#[test]
fn a_look_up_that_never_ends_is_given_up() {
    let mut pair = Pair::resuming(10, CONFIG, kept(10));
    pair.lookup = u32::MAX / 4;
    pair.run(200_000);
    assert!(pair.seen.contains(&(Side::Server, Seen::Failed(Failure::TimedOut))), "{:?}", pair.seen);
}

#[test]
fn a_session_that_the_server_does_not_know_is_followed_by_a_new_one() {
    let [of_client, _] = kept(11);
    let [_, of_server] = kept(12);
    for (config, kept_by_server) in [(CONFIG, vec![]), (CONFIG, of_server), (Config::HOST, vec![])] {
        let mut pair = Pair::resuming(13, config, [of_client.clone(), kept_by_server.clone()]);
        pair.run(1000);
        let both = [(Side::Server, Seen::Connected), (Side::Client, Seen::Connected)];
        assert_eq!((&pair.seen[..], resumptions(&pair), pair.sent.len()), (&both[..], [0, 0], 6));
        pair.carries_data();
        // What can be resumed next is the new session, if any.
        let names = [0, 1].map(|side| pair.kept[side].last().map(|kept| kept.session_id().to_vec()));
        let new = pair.kept[0].len() > 1;
        assert_eq!(new, config.resumable);
        assert!(!new || names[0] == names[1] && names[0] != Some(of_client[0].session_id().to_vec()));
    }
}

#[test]
fn who_knows_the_name_of_a_session_but_not_its_secret_is_refused() {
    let [of_client, of_server] = kept(14);
    // The client has another session's secret: to give it the same name, its hello and the answer are altered.
    let [another, _] = kept(15);
    let (wrong, right) = (another[0].session_id().to_vec(), of_client[0].session_id().to_vec());
    let mut pair = Pair::resuming(16, CONFIG, [another, of_server]);
    pair.fate = Box::new(move |_, side, mut datagram| {
        let (from, to) = if side == Side::Client { (&wrong, &right) } else { (&right, &wrong) };
        if let Some(at) = datagram.windows(SESSION_ID).position(|window| window == from) {
            datagram[at..at + SESSION_ID].copy_from_slice(to);
        }
        vec![(DELAY, datagram)]
    });
    pair.run(200_000);
    assert!(pair.seen.iter().all(|(_, seen)| *seen != Seen::Connected), "{:?}", pair.seen);
    assert_eq!(resumptions(&pair), [0, 0]);
}

/// A datagram whose first message, a hello, loses the extended master secret.
fn without_extended_master_secret(mut datagram: Vec<u8>) -> Vec<u8> {
    let extension = [0, 0x17, 0, 0];
    let at = datagram.windows(4).position(|window| window == extension).unwrap();
    datagram.drain(at..at + 4);
    // The lengths of the record, the message, its fragment and the extensions; none is longer than 255.
    for length in [12, 16, 24, at - 1] {
        datagram[length] -= 4;
    }
    datagram
}

/// [RFC 7627 section 5.3](https://www.rfc-editor.org/rfc/rfc7627#section-5.3)
#[test]
fn a_session_is_not_resumed_without_the_extended_master_secret() {
    let refused = Seen::Failed(Failure::Refused(AlertDescription::HANDSHAKE_FAILURE));
    let [by_client, by_server] = [Refusal12::ResumedMasterSecret, Refusal12::ResumptionUnbound]
        .map(|refusal| Seen::Failed(Failure::Negotiation(refusal.into())));
    for (from, hello, expected) in [
        (Side::Client, HandshakeType::CLIENT_HELLO, [(Side::Client, refused), (Side::Server, by_server)]),
        (
            Side::Server,
            HandshakeType::SERVER_HELLO,
            [(Side::Client, by_client), (Side::Server, Seen::Failed(Failure::TimedOut))],
        ),
    ] {
        let mut pair = Pair::resuming(17, CONFIG, kept(17));
        pair.fate = Box::new(move |_, side, datagram| {
            let altered = (side, datagram[MESSAGE]) == (from, hello.0);
            vec![(DELAY, if altered { without_extended_master_secret(datagram) } else { datagram })]
        });
        pair.run(200_000);
        assert!(expected.iter().all(|expected| pair.seen.contains(expected)), "{:?}", pair.seen);
        assert!(pair.seen.iter().all(|(_, seen)| *seen != Seen::Connected), "{:?}", pair.seen);
    }
}
