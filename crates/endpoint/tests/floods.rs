//! Clients that begin handshakes without end.

#![cfg(feature = "alloc")]

mod network;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV6};

use network::{Network, SessionEvent, address};
use sixlock_base::Counter;
use sixlock_endpoint::{Config, OnHeap, Transport};

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
    assert_eq!(network.events, [], "their datagrams may have been lost");
}

/// Clients that return their cookies and then say no more, ten of them a second.
const SILENT: usize = 750;

/// A server as it is by default, with `SILENT` such clients of so many networks behind `honest` devices of one of these.
fn flooded(seed: u32, networks: usize, honest: usize) -> Network<OnHeap<128>> {
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
    let connected =
        |n: usize| network.events.contains(&SessionEvent::Connected(network.devices[n].identity.clone()));
    assert_eq!((0..SLOW).filter(|&n| connected(n)).count(), SLOW);
}

#[test]
fn a_device_that_is_heard_connects_over_a_lossy_way_amid_a_flood_from_its_network() {
    // With one of forty seeds, the fourth, so much is lost that the handshake is under way for longer.
    for seed in 5..=9 {
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

/// What a client says in its handshake that is no progress.
#[derive(Clone, Copy, Debug)]
enum Junk {
    /// A record of epoch 0 without content.
    Empty,
    /// A protected record that no key made.
    Protected,
    /// The hello that began the handshake.
    Hello,
    /// The first bytes of the next message.
    Fragment,
}

impl Junk {
    fn bytes(self, hello: &[u8]) -> Vec<u8> {
        let record = |epoch: u8, content: &[u8]| {
            let mut bytes = vec![22, 0xfe, 0xfd, 0, epoch, 0, 0, 0, 0, 0, 9, 0, content.len() as u8];
            bytes.extend(content);
            bytes
        };
        match self {
            Self::Empty => record(0, &[]),
            Self::Protected => record(1, &[0x5a; 30]),
            Self::Hello => hello.to_vec(),
            // A ClientKeyExchange of 40 bytes, of which there are 10.
            Self::Fragment => record(0, &[&[16, 0, 0, 40, 0, 2, 0, 0, 0, 0, 0, 10][..], &[7; 10]].concat()),
        }
    }
}

/// Clients that return their cookies and then say what is no progress, again and again.
struct Babblers {
    junk: Junk,
    /// In tenths of a second.
    period: usize,
    tenths: usize,
    /// Which they are, since when, and what they say.
    begun: Vec<(usize, usize, Vec<u8>)>,
}

impl Babblers {
    fn new(junk: Junk, seconds: usize) -> Self {
        Self { junk, period: 10 * seconds, tenths: 0, begun: Vec::new() }
    }

    /// A tenth of a second passes, in which these begin, and others speak. A hello is repeated for half a minute: the hello of a client
    /// without a place would begin anew, and so be part of the flood.
    fn pass(&mut self, network: &mut Network<OnHeap<128>>, clients: impl Iterator<Item = usize>) {
        let before = network.sent.len();
        let clients: Vec<_> = clients.collect();
        clients.iter().for_each(|&client| network.connect(client));
        network.run(COOKIE_MS);
        for &client in &clients {
            network.devices[client].session = None;
        }
        let is_hello = |sent: &&Vec<u8>| sent.get(13) == Some(&1) && sent.get(18) == Some(&1);
        let hellos: Vec<_> = network.sent[before..].iter().filter(is_hello).cloned().collect();
        for (client, hello) in clients.into_iter().zip(hellos) {
            self.begun.push((client, self.tenths, self.junk.bytes(&hello)));
        }
        network.run(100 - COOKIE_MS);
        self.tenths += 1;
        for (client, since, bytes) in &self.begun {
            let age = self.tenths - since;
            let is_silent = matches!(self.junk, Junk::Hello) && age > 300;
            if age.is_multiple_of(self.period) && !is_silent {
                let from = network.devices[*client].address;
                network.arrive(Transport::Dtls, from, bytes.clone());
            }
        }
        network.sent.clear();
    }
}

/// After such a flood from one network, while it goes on, a new client of that network is let in within 15 s.
fn lets_new_clients_in_behind(junk: Junk, seconds: usize) {
    const NEW: usize = 2;
    let mut network = flooded(7, 1, NEW);
    let mut babblers = Babblers::new(junk, seconds);
    (NEW..NEW + SILENT).for_each(|client| babblers.pass(&mut network, [client].into_iter()));
    for n in 0..NEW {
        network.connect(n);
        (0..150).for_each(|_| babblers.pass(&mut network, [].into_iter()));
        assert_eq!(network.devices[n].connected, 1, "client {n}, {junk:?} every {seconds} s");
    }
}

#[test]
fn empty_records_keep_no_place() {
    for seconds in [2, 6, 15, 20] {
        lets_new_clients_in_behind(Junk::Empty, seconds);
    }
}

#[test]
fn protected_records_of_strangers_keep_no_place() {
    for seconds in [2, 6, 15, 20] {
        lets_new_clients_in_behind(Junk::Protected, seconds);
    }
}

#[test]
fn a_repeated_hello_keeps_no_place() {
    for seconds in [2, 6, 15, 20] {
        lets_new_clients_in_behind(Junk::Hello, seconds);
    }
}

#[test]
fn a_repeated_fragment_keeps_no_place() {
    for seconds in [2, 6, 15, 20] {
        lets_new_clients_in_behind(Junk::Fragment, seconds);
    }
}

#[test]
fn junk_from_four_networks_shuts_no_other_network_out() {
    const NEW: usize = 5;
    const HELLOS: usize = 1_100;
    let mut network = Network::<OnHeap<128>>::new(8, NEW + 4 * HELLOS, Config::default());
    for (n, device) in network.devices.iter_mut().enumerate() {
        device.address = of_network(if n < NEW { 100 + n } else { n % 4 }, n);
    }
    let mut babblers = Babblers::new(Junk::Empty, 10);
    for first in 0..HELLOS {
        babblers.pass(&mut network, (0..4).map(|of| NEW + 4 * first + of));
    }
    (0..NEW).for_each(|n| network.connect(n));
    (0..150).for_each(|_| babblers.pass(&mut network, [].into_iter()));
    let connected: Vec<_> = network.devices[..NEW].iter().map(|device| device.connected).collect();
    assert_eq!(connected, [1; NEW]);
}
