//! How long records may be, between our own client and server.

mod pair;

use pair::{DELAY, Pair, Seen, Side};
use sixlock_base::{Counter, Instant};
use sixlock_dtls::{Config, ConnectionId, Error, Failure, MAX_RECORD_OVERHEAD, RECORD_FRONT, Refusal};

/// A client and a server with these limits, after their handshake.
fn between(client: Option<u16>, server: Option<u16>) -> Pair {
    let mut pair = Pair::new(1, Config { record_limit: client, ..Config::HOST });
    pair.config.record_limit = server;
    pair.run(1000);
    assert!(pair.connected(), "{client:?} {server:?}: {:?}", pair.seen);
    pair
}

#[test]
fn either_side_sends_no_more_than_the_other_takes() {
    let none = 1 << 14;
    for (client, server, sent_by_client, sent_by_server) in [
        (None, None, none, none),
        // Who is not asked says nothing.
        (None, Some(100), none, none),
        (Some(256), None, none, 256),
        (Some(256), Some(100), 100, 256),
        (Some(512), Some(128), 128, 512),
        // Beyond what either side may say.
        (Some(1), Some(u16::MAX), none, 64),
    ] {
        let mut pair = between(client, server);
        for (side, most) in [(Side::Client, sent_by_client), (Side::Server, sent_by_server)] {
            pair.data.clear();
            pair.send(side, &vec![7; most]);
            pair.run(1000);
            assert_eq!(pair.data.len(), 1, "{client:?} {server:?} {side:?}");
        }
        assert_eq!(pair.client.max_data(), sent_by_client);
        let mut buffer = vec![0; RECORD_FRONT + sent_by_client + 1 + MAX_RECORD_OVERHEAD];
        let cx = &mut pair.here.at(Instant::from_millis(pair.now));
        assert_eq!(pair.client.seal(cx, &mut buffer, sent_by_client + 1), Err(Error::TooLong));
    }
}

/// Takes the record_size_limit out of each hello of a client, as if it knew max_fragment_length alone.
fn without_size_limit(pair: &mut Pair) {
    pair.fate = Box::new(|_, side, mut datagram| {
        let extension = [0, 0x1c, 0, 2];
        if let (Side::Client, Some(at)) = (side, datagram.windows(4).position(|window| window == extension)) {
            // It becomes one that nobody knows.
            datagram[at] = 0xfe;
        }
        vec![(DELAY, datagram)]
    });
}

#[test]
fn the_older_extension_is_taken_up_alone_and_only_if_it_was_asked_for() {
    // The transcripts differ, so that there is no session; but what the server says is seen.
    let mut pair = Pair::new(2, Config { record_limit: Some(1024), ..Config::HOST });
    without_size_limit(&mut pair);
    pair.run(200_000);
    let says = |pair: &Pair, extension: &[u8]| {
        let from_server = pair.sent.iter().filter(|sent| sent.1 == Side::Server);
        from_server.flat_map(|sent| sent.2.windows(extension.len())).any(|window| window == extension)
    };
    assert!(says(&pair, &[0, 1, 0, 1, 2]) && !says(&pair, &[0, 0x1c, 0, 2]));

    // With both, the newer one counts.
    let pair = between(Some(1024), None);
    assert!(!says(&pair, &[0, 1, 0, 1, 2]) && says(&pair, &[0, 0x1c, 0, 2]));
}

#[test]
fn a_server_that_says_what_it_may_not_is_not_followed() {
    // Too small a limit, and what is no fragment length.
    let from = [0, 0x1c, 0, 2, 0x40, 0];
    for to in [[0, 0x1c, 0, 2, 0, 63], [0, 1, 0, 2, 1, 1]] {
        let mut pair = Pair::new(3, Config { record_limit: Some(100), ..Config::HOST });
        pair.config.record_limit = None;
        pair.fate = Box::new(move |_, side, mut datagram| {
            let at = datagram.windows(from.len()).position(|window| window == from);
            if let (Side::Server, Some(at)) = (side, at) {
                datagram[at..at + to.len()].copy_from_slice(&to);
            }
            vec![(DELAY, datagram)]
        });
        pair.run(200_000);
        assert!(
            pair.seen
                .contains(&(Side::Client, Seen::Failed(Failure::Negotiation(Refusal::ServerRecordLimit)))),
            "{:?}",
            pair.seen
        );
    }
}

#[test]
fn limits_hold_with_connection_ids_and_in_resumed_sessions() {
    let config = Config {
        record_limit: Some(200),
        connection_id: ConnectionId::new(&[1, 2]),
        resumable: true,
        ..Config::HOST
    };
    let mut kept = [Vec::new(), Vec::new()];
    for seed in 4..6 {
        let mut pair = Pair::resuming(seed, config, kept);
        pair.run(1000);
        assert!(pair.connected());
        pair.send(Side::Client, &[7; 200]);
        pair.run(1000);
        assert_eq!((pair.data.len(), pair.client.max_data()), (1, 200));
        assert_eq!(pair.there.count(Counter::DtlsBadRecord), 0);
        kept = pair.kept;
    }
}
