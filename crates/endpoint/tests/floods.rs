//! Clients that begin handshakes without end.

#![cfg(feature = "alloc")]

mod network;

use std::net::{Ipv6Addr, SocketAddrV6};

use network::{Network, address};
use sixlock_base::Counter;
use sixlock_endpoint::{Config, OnHeap};

/// Devices with sessions.
const OLD: usize = 5;
/// A device that is new.
const NEW: usize = OLD;
/// Clients of another network that return the cookie and then say no more.
const FLOOD: usize = 60;
/// When clients have returned their cookies, and heard nothing since.
const COOKIE_MS: u32 = 79;

#[test]
fn a_network_that_begins_handshakes_without_end_leaves_room_for_others_and_for_sessions() {
    let config = Config { max_handshakes: 20, ..Config::default() };
    let mut network = Network::<OnHeap<128>>::new(1, OLD + 1 + FLOOD, config);
    (0..OLD).for_each(|n| network.connect(n));
    network.run(1_000);
    for n in NEW + 1..=NEW + FLOOD {
        let host = Ipv6Addr::new(0xfd01, 0, 0, 0, 0, 0, 0, n as u16);
        network.devices[n].address = SocketAddrV6::new(host, 5684, 0, 0);
        // Their handshakes stay under way.
        network.lookup.insert(network.devices[n].identity.clone(), 600_000);
        network.connect(n);
    }
    network.run(10_000);
    assert!(network.count(Counter::DtlsSessionsFull) > 0, "not all of them fit");
    network.connect(NEW);
    (0..OLD).for_each(|n| network.post(n, b"21.5"));
    network.run(1_000);
    assert_eq!(network.devices[NEW].connected, 1, "who is of another network has a place");
    assert_eq!(network.devices[NEW].address, address(NEW));
    for device in &network.devices[..OLD] {
        assert_eq!((device.connected, device.responses.len()), (1, 1), "sessions go on");
    }
}

#[test]
fn every_device_of_one_network_has_its_turn() {
    let config = Config { max_handshakes: 20, ..Config::default() };
    let mut network = Network::<OnHeap<128>>::new(2, 40, config);
    (0..40).for_each(|n| network.connect(n));
    network.run(60_000);
    assert!(network.devices.iter().all(|device| device.connected == 1), "places are given again");
}

#[test]
fn where_places_are_scarce_silent_clients_leave_theirs() {
    for (waits_ms, has_place) in [(20_000, true), (1_000, false)] {
        let config = Config { max_handshakes: 20, ..Config::default() };
        let mut network = Network::<OnHeap<128>>::new(3, 21, config);
        for n in 1..=20 {
            let host = Ipv6Addr::new(0xfd01, 0, 0, (n as u16) << 8, 0, 0, 0, 1);
            network.devices[n].address = SocketAddrV6::new(host, 5684, 0, 0);
            network.connect(n);
        }
        network.run(COOKIE_MS);
        network.devices[1..].iter_mut().for_each(|device| device.session = None);
        network.run(waits_ms);
        network.connect(0);
        network.run(900);
        assert_eq!(network.devices[0].connected == 1, has_place, "after {waits_ms} ms");
    }
}

#[test]
fn where_places_are_plenty_silent_clients_keep_theirs() {
    let config = Config { max_handshakes: 20, ..Config::default() };
    let mut network = Network::<OnHeap<128>>::new(4, 10, config);
    (0..10).for_each(|n| network.connect(n));
    network.run(COOKIE_MS);
    network.devices.iter_mut().for_each(|device| device.session = None);
    network.run(60_000);
    assert_eq!(network.told, [], "their datagrams may have been lost");
}
