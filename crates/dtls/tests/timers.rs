//! How long a flight is waited for: after flights that were lost, and where answers take long.

mod pair;

use pair::{DELAY, Ends, Pair, Side};
use sixlock_base::{Counter, Duration, Instant};
use sixlock_dtls::{ClientSession, Config, Full, Handshake, Losses, Plain, Profile};

/// When the client sent something, in milliseconds since it began.
fn sent_by_client<C: Profile>(pair: &Ends<C, Full>) -> Vec<u32> {
    let start = pair.sent[0].0;
    let of_client = pair.sent.iter().filter(|(_, side, _)| *side == Side::Client);
    of_client.map(|(at, ..)| at.wrapping_sub(start)).collect()
}

/// Drops these of the datagrams that the client sends.
fn losing<C: Profile>(pair: &mut Ends<C, Full>, lost: &'static [usize]) {
    let mut number = 0;
    pair.fate = Box::new(move |_, from, datagram| {
        if from == Side::Server {
            return vec![(DELAY, datagram)];
        }
        number += 1;
        if lost.contains(&(number - 1)) { vec![] } else { vec![(DELAY, datagram)] }
    });
}

#[test]
fn a_flight_after_one_that_was_lost_begins_with_the_wait_at_which_that_came_through() {
    let mut pair = Pair::new(1, Config::HOST);
    // The first hello twice, and once the second.
    losing(&mut pair, &[0, 1, 3]);
    pair.run(60_000);
    assert!(pair.connected());
    let (third, fourth) = (3000 + 2 * DELAY, 3000 + 2 * DELAY + 4000);
    assert_eq!(sent_by_client(&pair), [0, 1000, 3000, third, fourth, fourth + 2 * DELAY]);
}

#[test]
fn the_wait_is_the_first_again_after_a_flight_that_came_through_at_once() {
    let mut pair = Pair::new(2, Config::HOST);
    // The first hello twice, not the second, and once the third flight.
    losing(&mut pair, &[0, 1, 4]);
    pair.run(60_000);
    assert!(pair.connected());
    let last = 3000 + 4 * DELAY;
    assert_eq!(sent_by_client(&pair), [0, 1000, 3000, 3000 + 2 * DELAY, last, last + 1000]);
}

#[test]
fn the_wait_that_is_kept_has_its_bound_and_each_flight_its_own_number_of_retransmissions() {
    let config = Config { max_timeout: Duration::from_secs(3), retransmissions: 3, ..Config::HOST };
    let mut pair = Pair::new(3, config);
    losing(&mut pair, &[0, 1, 2, 4, 5, 6]);
    pair.run(60_000);
    assert!(pair.connected());
    let second = 6000 + 2 * DELAY;
    let last = second + 9000 + 2 * DELAY;
    assert_eq!(
        sent_by_client(&pair),
        [0, 1000, 3000, 6000, second, second + 3000, second + 6000, second + 9000, last]
    );
}

#[test]
fn where_radio_loses_them_each_flight_begins_with_the_first_wait() {
    let waits = |losses| {
        let mut pair = Pair::new(8, Config { losses, ..Config::HOST });
        losing(&mut pair, &[0, 1, 2, 4]);
        pair.run(60_000);
        assert!(pair.connected());
        let sent = sent_by_client(&pair);
        sent[5] - sent[4]
    };
    assert_eq!(waits(Losses::Congestion), 8000);
    assert!((1000..1500).contains(&waits(Losses::Radio)));
}

/// Datagrams take as long as this, and the server, which does not measure, was told to be patient.
fn slow<C: Profile>(pair: &mut Ends<C, Full>, millis: u32) {
    pair.config.initial_timeout = Duration::from_secs(9);
    pair.fate = Box::new(move |_, _, datagram| vec![(millis, datagram)]);
}

/// A client that knows what `before` has measured.
fn next(seed: u32, before: &Pair) -> Pair {
    let mut pair = Pair::new(seed, Config::HOST);
    pair.client = ClientSession::new(Some(Box::new(Handshake::new())));
    pair.client.set_round_trip(before.client.round_trip());
    pair.client.connect(&mut pair.here.at(Instant::from_millis(pair.now)), &Config::HOST, None);
    pair
}

#[test]
fn the_next_handshake_with_a_slow_peer_sends_nothing_twice() {
    let mut first = Pair::new(4, Config::HOST);
    slow(&mut first, 700);
    first.run(60_000);
    assert!(first.connected());
    // The hello is sent again before anything is known; what follows is not.
    assert_eq!(sent_by_client(&first), [0, 1000, 1400, 2800]);
    let mut second = next(5, &first);
    slow(&mut second, 700);
    second.run(60_000);
    assert!(second.connected());
    assert_eq!(sent_by_client(&second), [0, 1400, 2800]);
    assert_eq!(second.here.count(Counter::DtlsRetransmissions), 0);
    // What is lost is waited for longer than a round takes, and not for long.
    let mut third = next(6, &second);
    slow(&mut third, 700);
    third.fate = Box::new(|number, _, datagram| if number == 0 { vec![] } else { vec![(700, datagram)] });
    third.run(60_000);
    let again = sent_by_client(&third)[1];
    assert!((1400..=4200).contains(&again), "{again}");
}

#[test]
fn within_a_handshake_a_flight_is_waited_for_as_long_as_those_before_took() {
    // The server takes 900 ms to find its key.
    let mut pair = Pair::new(7, Config::HOST);
    slow(&mut pair, 450);
    pair.lookup = 900;
    pair.run(60_000);
    assert!(pair.connected());
    assert_eq!(sent_by_client(&pair), [0, 900, 1800]);
}

#[test]
fn a_device_that_does_not_measure_waits_as_it_is_told() {
    let mut pair = Ends::<Plain, Full>::new(7, Config::HOST);
    slow(&mut pair, 450);
    pair.lookup = 900;
    pair.run(60_000);
    assert!(pair.connected());
    assert_eq!(sent_by_client(&pair), [0, 900, 1800, 2800]);
    assert_eq!(size_of_val(&pair.client.round_trip()), 0);
}
