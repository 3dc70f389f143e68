//! Peers without protection, and any bytes at both transports.

mod network;

use network::{Network, Small, address, plain_request};
use proptest::prelude::*;
use sixlock_base::Counter;
use sixlock_coap_msg::{Message, Type, empty};
use sixlock_endpoint::{Config, Transport};

fn network(max_plain: u32) -> Network<Small> {
    Network::new(1, 0, Config { max_plain, ..Config::default() })
}

#[test]
fn a_plain_request_is_done_once_and_has_no_identity() {
    let mut network = network(2);
    let request = plain_request(Type::Confirmable, 1, b"x");
    for _ in 0..3 {
        network.send(Transport::Udp, address(9), &request);
        network.run(100);
    }
    assert_eq!(network.done, [(None, b"x".to_vec())]);
    assert_eq!(network.stray.len(), 3);
    assert!(network.stray.iter().all(|(to, answer)| *to == address(9) && *answer == network.stray[0].1));
    let answer = Message::parse(&network.stray[0].1).unwrap();
    assert_eq!((answer.id(), answer.payload()), (1, &b"x"[..]));
}

#[test]
fn a_slow_answer_is_sent_until_it_is_acknowledged() {
    let mut network = network(2);
    network.processing = 3_000;
    network.send(Transport::Udp, address(9), &plain_request(Type::Confirmable, 1, b"x"));
    network.run(8_000);
    assert_eq!(network.stray[0].1, empty(Type::Acknowledgement, 1));
    assert_eq!(network.stray[1], network.stray[2]);
    let id = Message::parse(&network.stray[1].1).unwrap().id();
    network.send(Transport::Udp, address(9), &empty(Type::Acknowledgement, id));
    let sent = network.stray.len();
    network.run(100_000);
    assert_eq!((network.stray.len(), network.server.poll_timeout()), (sent, None));
}

#[test]
fn plain_coap_that_is_off_answers_nobody() {
    let mut network = network(0);
    network.send(Transport::Udp, address(9), &plain_request(Type::Confirmable, 1, b"x"));
    network.send(Transport::Udp, address(9), &empty(Type::Confirmable, 2));
    network.run(10_000);
    assert!(network.done.is_empty() && network.stray.is_empty());
}

#[test]
fn pings_are_answered_without_remembering_who_sent_them() {
    let mut network = network(1);
    network.processing = 10_000;
    network.send(Transport::Udp, address(1), &plain_request(Type::Confirmable, 1, b"x"));
    network.send(Transport::Udp, address(2), &empty(Type::Confirmable, 7));
    network.send(Transport::Udp, address(3), b"\x4f\x01\x00\x08");
    network.run(500);
    let reset = |n, id| (address(n), empty(Type::Reset, id).to_vec());
    assert!(network.stray.contains(&reset(2, 7)) && network.stray.contains(&reset(3, 8)));
    assert_eq!((network.count(Counter::CoapMalformed), network.count(Counter::CoapExchangesFull)), (1, 0));
}

#[test]
fn the_peer_heard_of_longest_ago_makes_room_if_nothing_is_under_way() {
    let mut network = network(2);
    for n in 1..=3 {
        network.send(Transport::Udp, address(n), &plain_request(Type::Confirmable, 1, b"x"));
        network.run(100);
    }
    assert_eq!(network.done.len(), 3);
    network.processing = 100_000;
    for n in 4..=6 {
        network.send(Transport::Udp, address(n), &plain_request(Type::Confirmable, 1, b"x"));
        network.run(100);
    }
    assert_eq!((network.done.len(), network.count(Counter::CoapExchangesFull)), (5, 1));
}

proptest! {
    #[test]
    fn any_bytes_by_any_transport_are_handled_without_a_panic(
        datagrams in prop::collection::vec((any::<bool>(), 0..3usize, prop::collection::vec(any::<u8>(), 0..80)), 0..30),
    ) {
        let mut network = network(2);
        for (secure, from, mut bytes) in datagrams {
            // Half of the records begin as records do.
            if let (true, [kind, high, low, epoch_high, epoch_low, ..]) = (secure, &mut bytes[..]) {
                (*kind, *high, *low) = (20 + *kind % 4, 0xfe, 0xfd);
                (*epoch_high, *epoch_low) = (0, *epoch_low % 2);
            }
            network.send(if secure { Transport::Dtls } else { Transport::Udp }, address(from), &bytes);
            network.run(50);
        }
        network.run(10_000);
    }
}
