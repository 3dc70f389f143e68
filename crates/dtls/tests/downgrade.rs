//! Attackers between both sides who want less of them than they can do, and records of epochs that there are not.

mod pair;

use pair::{DELAY, Pair, Seen, Side};
use sixlock_base::Counter;
use sixlock_dtls::{Config, Suite, Suites};

/// A handshake in each of whose datagrams from `side` someone has changed these bytes, if they are in it.
fn changed(config: Config, side: Side, was: &'static [u8], becomes: &'static [u8]) -> Pair {
    let mut pair = Pair::new(1, config);
    let mut changes = 0;
    pair.fate = Box::new(move |_, from, mut datagram| {
        if let (true, Some(at)) = (from == side, datagram.windows(was.len()).position(|window| window == was))
        {
            datagram[at..at + was.len()].copy_from_slice(becomes);
            changes += 1;
        }
        assert!(changes > 0 || from != side, "there is something to change");
        vec![(DELAY, datagram)]
    });
    pair.run(300_000);
    pair
}

#[test]
fn who_takes_something_off_an_offer_prevents_the_session_but_weakens_none() {
    const SUITES: Suites = Suites::new(&[Suite::PskAes128Gcm, Suite::PskAes128Ccm8]);
    let config = Config { suites: SUITES, ..Config::HOST };
    // The suite that both want most, the extended master secret, the sign that secure renegotiation is known.
    for (side, was, becomes) in [
        (Side::Client, &[0x00, 0xa8, 0xc0, 0xa8][..], &[0xc0, 0xa8, 0xc0, 0xa8][..]),
        (Side::Client, &[0x00, 0x17, 0x00, 0x00], &[0x7f, 0x17, 0x00, 0x00]),
        (Side::Client, &[0x00, 0xff], &[0x7f, 0xff]),
    ] {
        let pair = changed(config, side, was, becomes);
        assert!(!pair.seen.iter().any(|(_, seen)| *seen == Seen::Connected), "{becomes:x?} {:?}", pair.seen);
        assert_eq!(pair.seen.len(), 2, "both give up: {:?}", pair.seen);
    }
}

#[test]
fn records_of_other_epochs_are_dropped_and_counted() {
    let mut pair = Pair::new(2, Config::HOST);
    pair.run(1000);
    assert!(pair.connected());
    pair.send(Side::Client, b"a reading");
    let record = pair.sent.pop().unwrap().2;
    pair.run(1000);
    pair.data.clear();
    let before = pair.there.count(Counter::DtlsBadRecord);
    let epochs = [0, 2, 0x0100, u16::MAX];
    for epoch in epochs {
        let mut other = record.clone();
        other[3..5].copy_from_slice(&epoch.to_be_bytes());
        // A number that was not used yet.
        other[10] ^= 0x80;
        pair.inject(Side::Server, DELAY, other);
    }
    pair.run(1000);
    assert_eq!(pair.there.count(Counter::DtlsBadRecord) - before, epochs.len() as u32);
    pair.carries_data();
}

#[test]
fn who_lends_another_s_address_gets_fewer_bytes_sent_there_than_it_sends() {
    let mut pair = Pair::new(3, Config::HOST);
    // Nothing reaches the client: its hellos came from elsewhere.
    pair.fate =
        Box::new(|_, from, datagram| if from == Side::Server { vec![] } else { vec![(DELAY, datagram)] });
    pair.run(300_000);
    let [hellos, answers] = [Side::Client, Side::Server].map(|side| pair.bytes(side));
    println!("{answers} bytes answer {hellos}");
    assert!(answers > 0 && answers < hellos, "{answers} bytes answer {hellos}");
    assert!(pair.server.is_none(), "nothing is kept");
}
