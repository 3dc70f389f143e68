//! Which server a client says that it wants to speak with.

mod pair;

use pair::{Ends, Side};
use sixlock_base::Instant;
use sixlock_dtls::{ClientSession, Config, Features, Full, Handshake, ServerName};
use sixlock_dtls_msg::{ClientHello, ExtensionType, HandshakeHeader};

type Pair = Ends<Full<Features<(), (), ServerName>>, Full>;

/// A client that knows its server by this name.
fn asking(seed: u32, host: &str) -> Pair {
    let mut pair = Pair::new(seed, Config::HOST);
    let mut handshake = Box::new(Handshake::new());
    handshake.set_server_name(host);
    pair.client = ClientSession::new(Some(handshake));
    pair.client.connect(&mut pair.here.at(Instant::from_millis(pair.now)), &Config::HOST, None);
    pair
}

/// What each of the client's hellos says of the server's name.
fn said(pair: &Pair) -> Vec<Option<Vec<u8>>> {
    let hellos = pair.sent.iter().filter(|(_, side, datagram)| *side == Side::Client && datagram[13] == 1);
    hellos
        .map(|(_, _, datagram)| {
            let (_, body, _) = HandshakeHeader::parse(&datagram[13..]).unwrap();
            let hello = ClientHello::parse(body).unwrap();
            hello.extensions.find(ExtensionType::SERVER_NAME).map(<[u8]>::to_vec)
        })
        .collect()
}

#[test]
fn both_hellos_say_the_name_of_a_host_and_a_server_that_does_not_care_connects() {
    let mut pair = asking(1, "sensor.example");
    pair.run(1000);
    assert!(pair.connected());
    let content = [&[0, 17, 0, 0, 14][..], b"sensor.example"].concat();
    assert_eq!(said(&pair), [Some(content.clone()), Some(content)]);
    pair.carries_data();
}

#[test]
fn an_address_is_not_said() {
    for address in ["192.0.2.1", "fd00::1"] {
        let mut pair = asking(2, address);
        pair.run(1000);
        assert!(pair.connected());
        assert_eq!(said(&pair), [None, None]);
    }
}

#[test]
fn the_longest_name_connects() {
    let mut pair = asking(3, &"a".repeat(253));
    pair.run(1000);
    assert!(pair.connected());
}
