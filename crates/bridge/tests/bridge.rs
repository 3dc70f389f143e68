//! A border router between a serial line and a node, over a radio that loses nothing.

use core::net::Ipv6Addr;

use proptest::prelude::*;
use sixlock_base::{Counter, Eui64, Instant, LinkSuite, MESH_PREFIX, Symbols};
use sixlock_bridge::{
    Bridge, Config, Csma, Datagrams, Link, LinkSecurity, MacConfig, RadioCommand, RadioMachine, Route,
    Routes, Stack, Uplink,
};
use sixlock_crypto::Soft;
use sixlock_interface::{Arrival, Interface};
use sixlock_ipv6::icmpv6::{Echo, Exceeded, Message};
use sixlock_ipv6::udp;
use sixlock_slip::{Decoder, Encoder};
use sixlock_testing::Rig;
use sixlock_testing::packets::{self, icmpv6};

const MTU: usize = 1280;
const BRIDGE: Eui64 = Eui64::of_node(0);
const NODE: Eui64 = Eui64::of_node(1);
const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);

/// A thousand milliseconds are 62,500 symbols.
fn instant(symbols: u32) -> Instant {
    Instant::from_millis(symbols / 62)
}

fn config(address: Eui64, uplink: Uplink, secured: bool) -> Config {
    let security = secured.then_some(LinkSecurity { suite: LinkSuite::Ccm64, key: [9; 16], key_index: 1 });
    let mac = MacConfig { address, pan_id: 0xabcd, csma: Csma::default(), ack: false, security };
    Config { mac, uplink }
}

type Layers = Stack<Link<true, 4, 2>, Datagrams<MTU, 4>, Routes<[Route; 2]>>;

/// A host at a line, a border router at its other end, and a node beside that.
struct Line {
    bridge: Bridge<Soft, Layers>,
    node: Interface<Soft, Layers>,
    rigs: [Rig; 2],
    host: Decoder<[u8; MTU]>,
    /// Packets that have come to the host.
    arrived: Vec<Vec<u8>>,
    symbols: u32,
}

impl Line {
    fn new(secured: bool) -> Self {
        let mut rigs = [0, 1].map(Rig::seeded);
        let mut bridge = Bridge::<Soft, Layers>::new();
        bridge.start(&mut rigs[0].cx(), &config(BRIDGE, Uplink::External, secured));
        bridge.interface().routing().add(NODE, NODE).unwrap();
        let mut node = Interface::new();
        node.start(&mut rigs[1].cx(), &config(NODE, Uplink::NextHop(BRIDGE), secured));
        Self { bridge, node, rigs, host: Decoder::new(), arrived: Vec::new(), symbols: 0 }
    }

    fn counted(&self, counter: Counter) -> u32 {
        self.rigs[0].count(counter)
    }

    /// Puts bytes on the line and lets everything happen that comes of them.
    fn put(&mut self, bytes: impl IntoIterator<Item = u8>) {
        let bytes: Vec<u8> = bytes.into_iter().collect();
        let Self { bridge, node, rigs: [rig, other], host, arrived, symbols } = self;
        let mut line = |bytes: Encoder<'_>| {
            for byte in bytes {
                if let Some(len) = host.push(byte) {
                    arrived.push(host.buffer_mut()[..len.unwrap()].to_vec());
                }
            }
        };
        // As a driver has them: a few at a time.
        for bytes in bytes.chunks(7) {
            bridge.handle_line(&mut rig.at(instant(*symbols)), Symbols::new(*symbols), bytes, &mut line);
        }
        loop {
            let mut quiet = true;
            while let Some(RadioCommand::Send { .. }) = bridge.poll_radio_due() {
                let at = Symbols::new(*symbols);
                quiet = false;
                let mut frame = bridge.transmit_frame().to_vec();
                bridge.handle_transmitted(&mut rig.at(instant(*symbols)), at);
                if let Some(Arrival::Datagram(datagram)) =
                    node.handle_frame(&mut other.at(instant(*symbols)), at, &mut frame)
                {
                    node.echo(&mut other.at(instant(*symbols)), at, datagram);
                }
            }
            while let Some(RadioCommand::Send { .. }) = node.poll_radio_due() {
                let at = Symbols::new(*symbols);
                quiet = false;
                let mut frame = node.transmit_frame().to_vec();
                node.handle_transmitted(&mut other.at(instant(*symbols)), at);
                bridge.handle_frame(&mut rig.at(instant(*symbols)), at, &mut frame, &mut line);
            }
            if quiet && bridge.poll_radio_timeout().is_none() && node.poll_radio_timeout().is_none() {
                return;
            }
            *symbols += 10;
            let at = Symbols::new(*symbols);
            if bridge.poll_radio_timeout().is_some_and(|due| at.has_reached(due)) {
                bridge.handle_radio_timeout(&mut rig.at(instant(*symbols)), at);
            }
            if node.poll_radio_timeout().is_some_and(|due| at.has_reached(due)) {
                node.handle_radio_timeout(&mut other.at(instant(*symbols)), at);
            }
        }
    }

    /// What the host gets for `packet`.
    fn send(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        self.put(Encoder::new(packet));
        core::mem::take(&mut self.arrived)
    }
}

fn in_mesh(address: Eui64) -> Ipv6Addr {
    address.with_prefix(MESH_PREFIX)
}

fn datagram(ends: [(Ipv6Addr, u16); 2], hop_limit: u8, body: &[u8]) -> Vec<u8> {
    let [(source, source_port), (destination, destination_port)] = ends;
    packets::udp(source, destination, hop_limit, udp::Header { source_port, destination_port }, body)
}

#[test]
fn pings_pass_to_the_border_router_and_the_node_and_back() {
    const ECHO: Echo = Echo { identifier: 0xc0db, sequence: 7 };
    for secured in [false, true] {
        let mut line = Line::new(secured);
        for (target, hops) in [(in_mesh(BRIDGE), 64), (in_mesh(NODE), 63)] {
            for len in [0, 100, 1232] {
                let body = vec![0xc0; len];
                let answers = line.send(&icmpv6(HOST, target, 64, Message::EchoRequest(ECHO), &body));
                let reply = icmpv6(target, HOST, hops, Message::EchoReply(ECHO), &body);
                assert!(answers == [reply], "{target}, {len} bytes, secured: {secured}: {answers:02x?}");
            }
        }
    }
}

#[test]
fn a_packet_whose_hop_limit_ends_at_the_border_router_is_answered_so() {
    let mut line = Line::new(false);
    let ends = [(HOST, 7000), (in_mesh(NODE), 7)];
    let sent = datagram(ends, 1, b"too far");
    let exceeded = Message::TimeExceeded(Exceeded::HopLimit);
    assert_eq!(line.send(&sent), [icmpv6(in_mesh(BRIDGE), HOST, 64, exceeded, &sent)]);
}

#[test]
fn what_may_not_come_over_the_line_is_counted_and_the_next_packet_passes() {
    let mut line = Line::new(false);
    let ends = [(HOST, 7000), (in_mesh(NODE), 7)];
    let from_mesh = datagram([(in_mesh(Eui64::of_node(5)), 7000), ends[1]], 64, b"spoofed");
    let elsewhere = datagram([ends[0], (HOST, 7)], 64, b"astray");
    assert!(line.send(&from_mesh).is_empty() && line.send(&elsewhere).is_empty());
    assert_eq!(line.counted(Counter::Ipv6BadAddress), 2);
    assert!(line.send(&[0x60; 1281]).is_empty());
    assert_eq!(line.counted(Counter::LineMalformed), 1);
    line.put(*b"noise on the line");
    let (sent, [here, there]) = (datagram(ends, 64, b"echo"), ends);
    assert_eq!(line.send(&sent), [datagram([there, here], 63, b"echo")]);
    assert_eq!(line.counted(Counter::Ipv6Malformed), 1, "the noise before it");
}

proptest! {
    #[test]
    fn datagrams_come_back_as_they_went(body in proptest::collection::vec(any::<u8>(), 0..1232), port in 1024_u16..) {
        let mut line = Line::new(false);
        let [here, there] = [(HOST, port), (in_mesh(NODE), 7)];
        let answers = line.send(&datagram([here, there], 64, &body));
        prop_assert!(answers == [datagram([there, here], 63, &body)]);
    }
}
