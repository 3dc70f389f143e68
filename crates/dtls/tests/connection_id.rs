//! Sessions whose records carry connection ids, between our own client and server.

mod pair;

use pair::{DELAY, Pair, Seen, Side};
use sixlock_base::{Counter, Duration};
use sixlock_dtls::{Config, ConnectionId, MAX_CONNECTION_ID, RECORD_OVERHEAD};
use sixlock_testing::Random;

const CONFIG: Config = Config { resumable: true, ..Config::HOST };
/// The type of a record that carries an id.
const CARRIES_ID: u8 = 25;

fn id(bytes: &[u8]) -> Option<ConnectionId> {
    Some(ConnectionId::new(bytes).unwrap())
}

/// A client and a server that give these ids.
fn giving(seed: u32, client: Option<ConnectionId>, server: Option<ConnectionId>) -> Pair {
    let mut pair = Pair::new(seed, Config { connection_id: client, ..CONFIG });
    pair.config.connection_id = server;
    pair
}

/// The last record of application data that a side sent.
fn last_record(pair: &Pair, from: Side) -> &[u8] {
    &pair.sent.iter().rfind(|sent| sent.1 == from).unwrap().2
}

#[test]
fn records_carry_what_the_other_side_asked_for() {
    let long = [9; MAX_CONNECTION_ID];
    for (client, server) in [
        (None, None),
        (id(&[]), None),
        (None, id(&[1, 2, 3])),
        (id(&[]), id(&[])),
        (id(&[]), id(&[1, 2, 3])),
        (id(&[4]), id(&[])),
        (id(&[4]), id(&long)),
        (id(&long), id(&[1, 2, 3])),
    ] {
        let mut pair = giving(1, client, server);
        pair.run(1000);
        assert!(pair.connected(), "{client:?} {server:?}: {:?}", pair.seen);
        pair.carries_data();
        let both = client.and(server).is_some();
        for (from, asked) in [(Side::Client, server), (Side::Server, client)] {
            let asked = asked.filter(|asked| both && !asked.is_empty());
            let record = last_record(&pair, from);
            let data = b"to the server".len();
            match asked {
                Some(asked) => {
                    let length = asked.bytes().len();
                    assert_eq!((record[0], &record[11..11 + length]), (CARRIES_ID, asked.bytes()));
                    assert_eq!(record.len(), data + RECORD_OVERHEAD + length + 1);
                }
                None => assert_eq!((record[0], record.len()), (23, data + RECORD_OVERHEAD)),
            }
        }
        assert_eq!(
            pair.client.overhead() - RECORD_OVERHEAD,
            match server.filter(|id| both && !id.is_empty()) {
                Some(id) => id.bytes().len() + 1,
                None => 0,
            }
        );
        // A resumption agrees on ids anew.
        let mut again = Pair::resuming(2, Config { connection_id: client, ..CONFIG }, pair.kept);
        again.config.connection_id = id(&[7, 7]);
        again.run(1000);
        assert_eq!(again.here.count(Counter::DtlsResumptions), 1);
        again.carries_data();
        assert_eq!(last_record(&again, Side::Client)[0] == CARRIES_ID, client.is_some());
    }
}

/// draft-ietf-iotops-security-protocol-comparison, section 4.1: 29, 30 and 31 bytes. It leaves out the content type that a record with an id has
/// behind its content (RFC 9146 section 4).
#[test]
fn records_take_what_the_comparison_of_security_protocols_says_and_the_content_type() {
    let overheads = [&[][..], &[0x42], &[0x40, 0x02]].map(|bytes| {
        let mut pair = giving(1, id(&[]), id(bytes));
        pair.run(1000);
        pair.carries_data();
        (last_record(&pair, Side::Client).len() - b"to the server".len(), pair.client.overhead())
    });
    assert_eq!(overheads, [(29, 29), (30 + 1, 30 + 1), (31 + 1, 31 + 1)]);
}

#[test]
fn handshakes_with_ids_survive_loss_reordering_and_repetition() {
    let patient = Config { retransmissions: 30, linger: Duration::from_secs(3600), ..CONFIG };
    for seed in 0..400 {
        let max_datagram = [64, 80, 128, 1200][seed as usize % 4];
        let config = Config { connection_id: id(&[1, 2, 3, 4]), max_datagram, ..patient };
        let mut pair = Pair::new(seed, config);
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
fn a_record_with_another_id_or_none_is_dropped() {
    let mut pair = giving(3, id(&[]), id(&[1, 2, 3]));
    pair.run(1000);
    pair.fate = Box::new(|_, _, _| vec![]);
    pair.send(Side::Client, b"reading");
    let genuine = pair.sent.last().unwrap().2.clone();
    for bit in 0..genuine.len() * 8 {
        let mut altered = genuine.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        pair.inject(Side::Server, 1, altered);
    }
    // Without the id, as a record of application data.
    let mut without = genuine.clone();
    without.drain(11..14);
    without[0] = 23;
    pair.inject(Side::Server, 1, without);
    pair.run(10);
    assert_eq!((pair.data.len(), pair.connected()), (0, true));
    pair.inject(Side::Server, 1, genuine.clone());
    pair.inject(Side::Server, 2, genuine);
    pair.run(10);
    assert_eq!(pair.data, [(Side::Server, b"reading".to_vec())]);
}

#[test]
fn an_id_of_the_wrong_length_is_as_none_at_all() {
    // A client whose extension does not fit its length is answered without one.
    let mut pair = giving(4, id(&[5]), id(&[1, 2, 3]));
    pair.fate = Box::new(move |_, side, mut datagram| {
        if let Some(at) = datagram.windows(6).position(|window| window == [0, 0x36, 0, 2, 1, 5])
            && side == Side::Client
        {
            datagram[at + 4] = 0;
        }
        vec![(DELAY, datagram)]
    });
    pair.run(200_000);
    // Both transcripts differ, so that the handshake fails; nothing worse happens.
    assert!(pair.seen.iter().all(|(_, seen)| *seen != Seen::Connected), "{:?}", pair.seen);
    assert!(pair.sent.iter().all(|(_, side, datagram)| *side == Side::Client || datagram[0] != CARRIES_ID));
}

#[test]
fn either_side_closes_a_session_with_ids() {
    for closer in [Side::Client, Side::Server] {
        let mut pair = giving(5, id(&[8, 8]), id(&[1, 2, 3]));
        pair.run(1000);
        match closer {
            Side::Client => pair.client.close(),
            Side::Server => pair.server.as_mut().unwrap().close(),
        }
        pair.run(1000);
        for side in [Side::Client, Side::Server] {
            assert!(pair.seen.contains(&(side, Seen::Closed)), "{:?}", pair.seen);
        }
    }
}
