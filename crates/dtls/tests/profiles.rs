//! Ends that can do all there is and ends that can do no more than they must, with each other.

mod pair;

use pair::{DELAY, Ends, Seen, Side};
use sixlock_dtls::{Config, ConnectionId, Full, Plain, Profile, RECORD_OVERHEAD, Suites};
use sixlock_testing::Random;

/// What asks for everything.
fn all() -> Config {
    Config {
        suites: Suites::ALL,
        resumable: true,
        connection_id: ConnectionId::new(b"id"),
        record_limit: Some(512),
        ..Config::HOST
    }
}

/// Both ends after their handshake, some of whose datagrams were lost.
fn connected<C: Profile, S: Profile>(seed: u32) -> Ends<C, S> {
    let mut ends = Ends::<C, S>::new(seed, all());
    let mut random = Random::new(seed);
    ends.fate =
        Box::new(move |_, _, datagram| if random.below(4) == 0 { vec![] } else { vec![(DELAY, datagram)] });
    ends.run(100_000);
    ends.fate = Box::new(|_, _, datagram| vec![(DELAY, datagram)]);
    ends
}

/// What both ends do of which one can do no more than it must.
fn they_do_without<C: Profile, S: Profile>() {
    for seed in 0..20 {
        let mut ends = connected::<C, S>(seed);
        assert!(ends.connected(), "seed {seed}: {:?}", ends.seen);
        assert!(ends.kept.iter().any(Vec::is_empty), "no session is kept by both");
        for from in [Side::Client, Side::Server] {
            let data = [7; 600];
            ends.send(from, &data);
            let record = &ends.sent.last().unwrap().2;
            assert_eq!((record[0], record.len()), (23, data.len() + RECORD_OVERHEAD), "seed {seed}");
        }
        ends.run(1000);
        assert_eq!(ends.data.len(), 2);
    }
}

#[test]
fn a_plain_client_and_a_full_server_do_without() {
    they_do_without::<Plain, Full>();
}

#[test]
fn a_full_client_and_a_plain_server_do_without() {
    they_do_without::<Full, Plain>();
}

#[test]
fn two_plain_ends_do_without() {
    they_do_without::<Plain, Plain>();
}

#[test]
fn two_full_ends_do_what_they_are_asked_for() {
    let mut ends = connected::<Full, Full>(1);
    assert!(ends.seen.contains(&(Side::Client, Seen::Connected)));
    assert!(ends.kept.iter().all(|kept| kept.len() == 1));
    ends.send(Side::Client, &[7; 100]);
    assert_eq!(ends.sent.last().unwrap().2[0], 25, "the record carries an id");
}
