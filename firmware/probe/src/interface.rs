//! IEEE 802.15.4, 6LoWPAN and IPv6: one interface between a radio and UDP datagrams.

use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Eui64, LinkSuite, Nv, Packet, Symbols};
use sixlock_crypto::Crypto;
use sixlock_interface::{
    Arrival, Config, Csma, Datagrams, HEADERS, Link, LinkSecurity, MacConfig, RadioCommand, Route, Routes,
    Stack, Uplink,
};

use crate::io;
use crate::sizes::{FRAMES, MESSAGE, MTU, NEIGHBOURS, POOL, ROUTES};

pub type Layers = Stack<Link<true, NEIGHBOURS, FRAMES>, Datagrams<MTU, POOL>, Routes<[Route; ROUTES]>>;
pub type Interface<C> = sixlock_interface::Interface<C, Layers>;

pub const MAX_FRAME: usize = 127;
const PACKET: usize = HEADERS + MESSAGE;

/// A configuration from outside.
pub fn config() -> Config {
    let suite = LinkSuite::of_level(io::byte());
    Config {
        mac: MacConfig {
            address: Eui64(io::bytes()),
            pan_id: 0xabcd,
            csma: Csma::default(),
            ack: io::byte() != 0,
            security: suite.map(|suite| LinkSecurity { suite, key: io::bytes(), key_index: io::byte() }),
        },
        uplink: Uplink::NextHop(Eui64(io::bytes())),
    }
}

pub fn new<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>) -> Interface<C> {
    let mut interface = Interface::new();
    interface.start(cx, &config());
    let added = interface.routing().add(Eui64(io::bytes()), Eui64(io::bytes()));
    io::write(&[added.is_ok().into()]);
    interface
}

#[inline(never)]
pub fn probe<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, interface: &mut Interface<C>) {
    let at = Symbols::new(io::number());
    match io::byte() {
        0 => receive(cx, interface, at),
        1 => send(cx, interface, at),
        2 => interface.handle_cca(cx, at, io::byte() != 0),
        3 => interface.handle_transmitted(cx, at),
        4 => interface.handle_radio_timeout(cx, at),
        _ => interface.handle_timeout(cx, at),
    }
    match interface.poll_radio_due() {
        Some(RadioCommand::Send { .. }) => io::write(interface.transmit_frame()),
        Some(_) => io::write(&[1]),
        None => {}
    }
    let deadlines = (interface.poll_radio_timeout(), interface.poll_timeout());
    io::write(&deadlines.0.map_or(0, Symbols::count).to_le_bytes());
    io::write(&[deadlines.1.is_some().into()]);
}

fn receive<C: Crypto, E: Entropy, N: Nv>(
    cx: &mut Cx<'_, C, E, N>,
    interface: &mut Interface<C>,
    at: Symbols,
) {
    let mut frame = io::bytes::<MAX_FRAME>();
    let frame = &mut frame[..usize::from(io::byte()).min(MAX_FRAME)];
    let delivered = match interface.handle_frame(cx, at, frame) {
        Some(Arrival::Datagram(delivered)) => delivered,
        Some(Arrival::External(external)) => {
            io::write(interface.packet(&external));
            return interface.release_packet(external);
        }
        None => return,
    };
    io::write(interface.datagram(&delivered).payload);
    match io::byte() {
        0 => interface.echo(cx, at, delivered),
        1 => interface.port_unreachable(cx, at, delivered),
        _ => interface.release(delivered),
    }
}

fn send<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, interface: &mut Interface<C>, at: Symbols) {
    let mut packet = Packet::<[u8; PACKET]>::new();
    packet.reset(interface.front());
    let filled = packet.extend(&io::bytes::<MESSAGE>());
    let sent = interface.send(cx, at, &mut packet, 5683, Ipv6Addr::from(io::bytes()), 5683);
    io::write(&[filled.is_ok().into(), sent.is_ok().into()]);
}
