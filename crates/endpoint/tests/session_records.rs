//! What is left of sessions outlives their server.

mod network;

use std::net::SocketAddrV6;

use network::{Network, Small, key};
use proptest::prelude::*;
use sixlock_base::{Counter, Duration};
use sixlock_coap_msg::Code;
use sixlock_crypto::Soft;
use sixlock_dtls::SESSION_ID;
#[cfg(feature = "alloc")]
use sixlock_endpoint::OnHeap;
use sixlock_endpoint::{Config, Malformed, Storage};

const HOUR: u32 = 3_600_000;

/// Device `n` makes a handshake, by which it resumes its session if it can, and posts: how many did resume so far.
fn comes_back<S: Storage<Soft, SocketAddrV6>>(network: &mut Network<S>, n: usize) -> u32 {
    network.reconnect(n);
    network.run(2_000);
    network.post(n, b"reading");
    network.run(2_000);
    assert_eq!(network.devices[n].responses.last(), Some(&(Code::CHANGED, b"reading".to_vec())));
    network.count(Counter::DtlsResumptions)
}

fn resumes_after_a_restart<S: Storage<Soft, SocketAddrV6>>() {
    let mut network = Network::<S>::new(1, 2, Config::default());
    network.keep();
    assert_eq!((comes_back(&mut network, 0), comes_back(&mut network, 1)), (0, 0));
    for restarts in 1..4 {
        network.restart();
        assert_eq!(comes_back(&mut network, 0), 2 * restarts - 1);
        assert_eq!(comes_back(&mut network, 1), 2 * restarts);
    }
    let connected = &network.done[network.done.len() - 2..];
    assert_eq!(
        connected.iter().map(|done| done.0.as_deref()).collect::<Vec<_>>(),
        [Some(&b"device 0"[..]), Some(b"device 1")]
    );
}

#[test]
fn what_is_kept_is_resumed_after_each_restart_by_who_made_it() {
    resumes_after_a_restart::<Small>();
    #[cfg(feature = "alloc")]
    resumes_after_a_restart::<OnHeap<1152>>();
}

#[test]
fn a_restart_makes_nothing_last_longer() {
    let mut network = Network::<Small>::new(2, 1, Config::default());
    network.keep();
    comes_back(&mut network, 0);
    network.run(12 * HOUR);
    network.restart();
    assert_eq!(comes_back(&mut network, 0), 1);
    network.run(12 * HOUR - 20_000);
    assert_eq!(comes_back(&mut network, 0), 2);
    network.run(20_000);
    // It has ended in the server, and with the next one it cannot be put back.
    assert_eq!(comes_back(&mut network, 0), 2);
    network.devices[0].session = None;
    network.run(24 * HOUR);
    network.restart();
    assert_eq!(comes_back(&mut network, 0), 2);
}

#[test]
fn a_key_that_was_replaced_meanwhile_resumes_nothing() {
    let mut network = Network::<Small>::new(3, 1, Config::default());
    network.keep();
    comes_back(&mut network, 0);
    network.keys.insert(b"device 0".to_vec(), Some(key(5)));
    network.devices[0].key = key(5);
    network.restart();
    assert_eq!(comes_back(&mut network, 0), 0);
    // What was left of the session with the old key is forgotten for good: that key may come back.
    network.keys.clear();
    assert_eq!(network.disk.as_ref().unwrap().len(), 1);
}

#[test]
fn what_is_kept_with_another_secret_is_not_resumed() {
    let mut network = Network::<Small>::new(4, 1, Config::default());
    network.keep();
    comes_back(&mut network, 0);
    network.restart();
    network.server.keep(&[8; 32]);
    assert_eq!(comes_back(&mut network, 0), 0);
}

#[test]
fn no_more_is_taken_back_than_is_kept_at_a_time() {
    let mut network = Network::<Small>::new(5, 3, Config { max_resumable: 3, ..Config::default() });
    network.keep();
    (0..3).for_each(|n| {
        comes_back(&mut network, n);
    });
    network.config.max_resumable = 2;
    network.restart();
    let resumed: Vec<u32> = (0..3).map(|n| comes_back(&mut network, n)).collect();
    assert!(*resumed.last().unwrap() <= 2, "{resumed:?}");
}

#[test]
fn a_server_that_is_to_tell_nothing_keeps_no_names_of_what_it_forgot() {
    let mut network = Network::<Small>::new(6, 2, Config { max_resumable: 2, ..Config::default() });
    for round in 0..4 {
        // What is left of the session with the key before is forgotten, and takes no place.
        network.keys.insert(b"device 0".to_vec(), Some(key(round)));
        network.devices[0].key = key(round);
        let before = network.count(Counter::DtlsResumptions);
        assert_eq!(comes_back(&mut network, 0), before);
        assert_eq!(comes_back(&mut network, 0), before + 1);
        assert_eq!(comes_back(&mut network, 1), before + 1 + u32::from(round > 0));
    }
}

proptest! {
    #[test]
    fn any_bytes_are_taken_back_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..260),
        suite in 0u8..3,
        cut in prop::option::of(0usize..40),
    ) {
        let mut network = Network::<Small>::new(7, 0, Config::default());
        let mut bytes = bytes;
        // Few ids are of a length that comes near theirs.
        if let (Some(cut), Some(&named)) = (cut, bytes.get(9)) {
            bytes.truncate(60 + usize::from(named) + cut);
        }
        // Most proofs and suites are none.
        if let [method, ..] = &mut bytes[..] {
            *method %= 4;
        }
        if let Some(number) = bytes.get(9).map(|&known| usize::from(known))
            && let Some(place) = bytes.get_mut(10 + number..12 + number)
        {
            place.copy_from_slice(&[0xc0, 0xa6 + suite]);
        }
        let taken = network.server.restore(&mut network.rig.at(network.now), &bytes, Duration::from_secs(1));
        let named = bytes.get(9).map_or(0, |&known| usize::from(known));
        let id = bytes.len().checked_sub(60 + named);
        let good = bytes.first().is_some_and(|&method| method < 3) && named <= 128 && id == Some(SESSION_ID);
        prop_assert!(taken == Err(Malformed) || good);
    }
}
