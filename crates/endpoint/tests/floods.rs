//! Clients that begin handshakes without end.

#![cfg(feature = "alloc")]

mod network;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV6};

use network::{Network, Told, address};
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

/// Clients that return their cookies and then say no more, ten of them a second.
const SILENT: usize = 750;

/// A server as it is by default, with `SILENT` such clients of so many networks behind `honest` devices of one of these.
fn flooded(seed: u64, networks: usize, honest: usize) -> Network<OnHeap<128>> {
    let mut network = Network::<OnHeap<128>>::new(seed, honest + SILENT, Config::default());
    for (n, device) in network.devices.iter_mut().enumerate() {
        device.address = of_network(if n < honest { 0 } else { n % networks }, n);
    }
    network
}

/// A client's address in a network: 24 bits of IPv4, in which several clients share a host.
fn of_network(network: usize, client: usize) -> SocketAddrV6 {
    let host = Ipv4Addr::new(10, (network / 256) as u8, network as u8, (client % 250) as u8);
    SocketAddrV6::new(host.to_ipv6_mapped(), 10_000 + client as u16, 0, 0)
}

/// The next clients of the flood come, for so many seconds.
fn floods(network: &mut Network<OnHeap<128>>, clients: &mut impl Iterator<Item = usize>, seconds: usize) {
    for _ in 0..10 * seconds {
        let Some(client) = clients.next() else {
            network.run(100);
            continue;
        };
        network.connect(client);
        network.run(COOKIE_MS);
        network.devices[client].session = None;
        network.run(100 - COOKIE_MS);
    }
}

/// Whoever comes amid a flood from so many networks, or after it, from one of them, is let in within 15 s.
fn lets_new_clients_in(networks: usize, dtls: sixlock_dtls::Config) {
    const NEW: usize = 6;
    let (mut network, mut clients) = (flooded(5, networks, NEW), NEW..NEW + SILENT);
    floods(&mut network, &mut clients, 40);
    for n in 0..NEW {
        network.dtls = dtls;
        network.connect(n);
        network.dtls = sixlock_dtls::Config::HOST;
        floods(&mut network, &mut clients, 15);
        assert_eq!(network.devices[n].connected, 1, "client {n} of {networks} networks");
    }
    assert!(clients.next().is_none(), "it came during the flood, and after it");
}

#[test]
fn a_flood_from_one_network_does_not_lock_that_network_out() {
    lets_new_clients_in(1, sixlock_dtls::Config::HOST);
    lets_new_clients_in(1, sixlock_dtls::Config::MESH);
}

#[test]
fn a_flood_from_two_networks_locks_neither_out() {
    lets_new_clients_in(2, sixlock_dtls::Config::HOST);
}

#[test]
fn a_flood_from_as_many_networks_as_clients_locks_nobody_out() {
    lets_new_clients_in(SILENT, sixlock_dtls::Config::HOST);
}

#[test]
fn a_flood_from_one_network_makes_no_haste_with_slow_devices_of_others() {
    const SLOW: usize = 150;
    let (mut network, mut clients) = (flooded(6, 1, SLOW), SLOW..SLOW + SILENT);
    floods(&mut network, &mut clients, 55);
    assert!(network.count(Counter::DtlsSessionsFull) > 0, "the flood has what it can get");
    // Their keys are found late, and meanwhile they say nothing.
    for n in 0..SLOW {
        network.lookup.insert(network.devices[n].identity.clone(), 100_000);
        network.devices[n].address = of_network(1 + n, n);
        network.connect(n);
    }
    network.run(1_000);
    network.devices[..SLOW].iter_mut().for_each(|device| device.session = None);
    floods(&mut network, &mut clients, 20);
    network.run(90_000);
    let connected = |n: usize| network.told.contains(&Told::Connected(network.devices[n].identity.clone()));
    assert_eq!((0..SLOW).filter(|&n| connected(n)).count(), SLOW);
}

#[test]
fn a_device_that_is_heard_connects_over_a_lossy_way_amid_a_flood_from_its_network() {
    for seed in 1..=5 {
        let (mut network, mut clients) = (flooded(seed, 1, 1), 1..1 + SILENT);
        floods(&mut network, &mut clients, 55);
        (network.loss, network.lossy) = (200, Some(network.devices[0].address));
        network.dtls = sixlock_dtls::Config::MESH;
        network.connect(0);
        network.dtls = sixlock_dtls::Config::HOST;
        floods(&mut network, &mut clients, 120);
        assert_eq!(network.devices[0].connected, 1, "seed {seed}");
    }
}
