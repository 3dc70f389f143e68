//! Handshakes between our own client and server.

mod pair;

use pair::{Pair, Seen, Side};
use sixlock_base::Counter;
use sixlock_dtls::Config;

#[test]
fn a_handshake_connects_and_data_flows_both_ways() {
    let mut pair = Pair::new(1, Config::HOST);
    pair.run(1000);
    assert_eq!(pair.seen, [(Side::Server, Seen::Connected), (Side::Client, Seen::Connected)]);
    // Two hellos and the proof; the cookie, the choice and the proof: one datagram each.
    assert_eq!(pair.sent.len(), 6);
    pair.send(Side::Client, b"to the server");
    pair.send(Side::Server, b"to the client");
    pair.run(1000);
    assert_eq!(
        pair.data,
        [(Side::Server, b"to the server".to_vec()), (Side::Client, b"to the client".to_vec())]
    );
    assert_eq!(pair.here.count(Counter::DtlsHandshakes) + pair.there.count(Counter::DtlsHandshakes), 2);
    assert_eq!(
        pair.here.count(Counter::DtlsRetransmissions) + pair.there.count(Counter::DtlsRetransmissions),
        0
    );
}
