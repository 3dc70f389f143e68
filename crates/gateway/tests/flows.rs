//! What leaves the mesh in flows: UDP datagrams, whatever extension headers stand before them that a host passes.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Eui64, MESH_PREFIX, Packet, Symbols};
use sixlock_crypto::Soft;
use sixlock_gateway::{Datagrams, Exit, Gateway, Link, Route, Routes, Stack, Upstream};
use sixlock_interface::{Config, Csma, Interface, MacConfig, RadioCommand, Uplink};
use sixlock_ipv6::extension::MAX_HEADERS;
use sixlock_ipv6::{next_header, udp};
use sixlock_testing::{Rig, packets};

const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);
const PORTS: (u16, u16) = (49_152, 5684);
const PAYLOAD: &[u8] = b"a reading";

fn config(id: u32, uplink: Uplink) -> Config {
    let csma = Csma { min_be: 0, max_be: 3, max_backoffs: 4, max_retries: 3 };
    Config {
        mac: MacConfig { address: Eui64::of_node(id), pan_id: 1, csma, ack: false, security: None },
        uplink,
    }
}

type LayersOf<const SECURED: bool> = Stack<Link<SECURED, 4, 4>, Datagrams<1280, 4>, Routes<[Route; 4]>>;

/// A node and its border router.
struct Mesh {
    node: Box<Interface<Soft, LayersOf<false>>>,
    gateway: Box<Gateway<Soft, LayersOf<true>, 4>>,
}

impl Mesh {
    fn new() -> Self {
        let mut rig = Rig::without_ranges(0);
        let mut cx = rig.cx();
        let mut node = Box::new(Interface::new());
        node.start(&mut cx, &config(1, Uplink::NextHop(Eui64::of_node(0))));
        let gateway = Box::new(Gateway::new(&mut cx, &config(0, Uplink::External), Exit::Flows));
        Self { node, gateway }
    }

    /// Lets the node send a packet. Returns the payload and ports of the datagram that leaves, if one does, and how many packets were
    /// counted as no datagrams.
    fn carry(&mut self, packet: &[u8]) -> (Option<(Vec<u8>, u16, u16)>, u32) {
        let mut rig = Rig::without_ranges(0);
        let mut cx = rig.cx();
        let mut room = Packet::<[u8; 1280]>::new();
        room.extend(packet).unwrap();
        self.node.send_packet(&mut cx, Symbols::new(0), &mut room).unwrap();
        let mut left = None;
        for now in 0..2000 {
            let at = Symbols::new(now);
            self.node.handle_radio_timeout(&mut cx, at);
            if let Some(RadioCommand::Send { .. }) = self.node.poll_radio_due() {
                let mut frame = self.node.transmit_frame().to_vec();
                self.gateway.handle_frame(&mut cx, at, &mut frame, |upstream| match upstream {
                    Upstream::Datagram(datagram) => {
                        assert_eq!((datagram.ends.node, datagram.ends.host), (address(), HOST));
                        let ports = (datagram.ends.node_port, datagram.ends.host_port);
                        assert!(left.replace((datagram.payload.to_vec(), ports.0, ports.1)).is_none());
                    }
                    Upstream::Packet(_) => panic!("it leaves in flows"),
                });
                self.node.handle_transmitted(&mut cx, at);
            }
        }
        (left, rig.count(Counter::GatewayNotUdp))
    }
}

/// What leaves of a packet, in a mesh that has carried nothing before: fragmented packets wait behind each other.
fn leaves(packet: &[u8]) -> (Option<(Vec<u8>, u16, u16)>, u32) {
    Mesh::new().carry(packet)
}

fn address() -> Ipv6Addr {
    Eui64::of_node(1).with_prefix(MESH_PREFIX)
}

/// A packet with these extension headers, each of its kind with its bytes but for the first, which names what follows: at last
/// `last`, which are these bytes.
fn packet(headers: &[(u8, &[u8])], last: u8, behind: &[u8]) -> Vec<u8> {
    let kinds: Vec<u8> = headers.iter().map(|(kind, _)| *kind).chain([last]).collect();
    let mut payload = Vec::new();
    for ((_, rest), next) in headers.iter().zip(&kinds[1..]) {
        payload.push(*next);
        payload.extend(*rest);
    }
    payload.extend(behind);
    packets::packet(address(), HOST, 64, kinds[0], &payload)
}

fn datagram() -> Vec<u8> {
    let mut datagram = [&[0; udp::Header::LEN], PAYLOAD].concat();
    udp::Header { source_port: PORTS.0, destination_port: PORTS.1 }
        .emit(address(), HOST, &mut datagram)
        .unwrap();
    datagram
}

/// RPL's option, which who does not know it skips.
const HOP_BY_HOP: (u8, &[u8]) = (next_header::HOP_BY_HOP, &[0, 0x23, 4, 0, 0, 0, 0]);
/// Padding, of eight bytes and of 16.
const DESTINATION: (u8, &[u8]) = (next_header::DESTINATION, &[0, 1, 4, 0, 0, 0, 0]);
const LONG: (u8, &[u8]) = (next_header::DESTINATION, &[1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
/// A routing header whose way has been gone.
const ROUTING: (u8, &[u8]) = (next_header::ROUTING, &[0, 3, 0, 0, 0, 0, 0]);
/// A fragment that is the whole packet.
const FRAGMENT: (u8, &[u8]) = (next_header::FRAGMENT, &[0, 0, 0, 0, 0, 0, 9]);

#[test]
fn extension_headers_in_any_order_and_number_reach_udp() {
    let expected = (Some((PAYLOAD.to_vec(), PORTS.0, PORTS.1)), 0);
    let others = [DESTINATION, LONG, ROUTING, FRAGMENT];
    // All sequences of up to three of them, with RPL's option before them and without.
    for length in 0..=3 {
        for number in 0..others.len().pow(length) {
            let headers = (0..length).map(|at| others[number / others.len().pow(at) % others.len()]);
            for first in [None, Some(HOP_BY_HOP)] {
                let headers: Vec<_> = first.into_iter().chain(headers.clone()).collect();
                assert_eq!(leaves(&packet(&headers, next_header::UDP, &datagram())), expected, "{headers:?}");
            }
        }
    }
    for header in others {
        let headers = [header; MAX_HEADERS];
        assert_eq!(leaves(&packet(&headers, next_header::UDP, &datagram())), expected, "{headers:?}");
    }
}

#[test]
fn what_a_host_refuses_and_what_is_no_datagram_leaves_in_no_flow() {
    let udp = |headers: &[(u8, &[u8])]| packet(headers, next_header::UDP, &datagram());
    let mut wrong = datagram();
    *wrong.last_mut().unwrap() ^= 1;
    let refused = [
        ("a way still to go", udp(&[(next_header::ROUTING, &[0, 3, 1, 0, 0, 0, 0])])),
        ("a way still to go, later", udp(&[DESTINATION, (next_header::ROUTING, &[0, 3, 1, 0, 0, 0, 0])])),
        ("hop-by-hop options that do not come first", udp(&[DESTINATION, HOP_BY_HOP])),
        ("hop-by-hop options twice", udp(&[HOP_BY_HOP, HOP_BY_HOP])),
        ("an option that ends the packet", udp(&[(next_header::DESTINATION, &[0, 0x5e, 4, 0, 0, 0, 0])])),
        ("an option that asks for an error", udp(&[(next_header::DESTINATION, &[0, 0x9e, 4, 0, 0, 0, 0])])),
        ("an option that is too long", udp(&[(next_header::DESTINATION, &[0, 1, 5, 0, 0, 0, 0])])),
        ("the first of several fragments", udp(&[(next_header::FRAGMENT, &[0, 0, 1, 0, 0, 0, 9])])),
        ("a later fragment", udp(&[(next_header::FRAGMENT, &[0, 0, 8, 0, 0, 0, 9])])),
        ("AH, which nobody has opened", udp(&[(next_header::AH, &[1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1])])),
        ("ESP", packet(&[HOP_BY_HOP], next_header::ESP, &datagram())),
        ("nothing", packet(&[DESTINATION], next_header::NONE, &[])),
        ("another protocol", packet(&[HOP_BY_HOP], 132, &datagram())),
        ("one header too many", udp(&[DESTINATION; MAX_HEADERS + 1])),
        (
            "a header that leaves the packet",
            packet(&[], next_header::DESTINATION, &[17, 200, 1, 4, 0, 0, 0, 0]),
        ),
        ("no room for a datagram", packet(&[HOP_BY_HOP], next_header::UDP, &datagram()[..7])),
        ("a wrong checksum", packet(&[HOP_BY_HOP], next_header::UDP, &wrong)),
        ("a wrong checksum at once", packet(&[], next_header::UDP, &wrong)),
    ];
    for (what, packet) in refused {
        assert_eq!(leaves(&packet), (None, 1), "{what}");
    }
}
