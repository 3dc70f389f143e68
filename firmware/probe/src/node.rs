//! A whole node: what a sensor's firmware links.

use core::net::Ipv6Addr;

use sixlock_base::{Cx, Duration, Entropy, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_node::{
    Cloud, Config, Decimal, DtlsPsk, Event, Identity, Measurement, RadioCommand, RadioMachine, Readings,
    Sensor,
};

use crate::interface::MAX_FRAME;
use crate::sizes::READINGS;
use crate::{interface, io};

pub type Node<C> = sixlock_node::Node<C, Sensor<C, DtlsPsk<C>>, interface::Layers, Readings<READINGS, 2>>;

pub fn new<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>) -> Node<C> {
    let (name, key) = (io::bytes::<8>(), io::bytes::<32>());
    let cloud = Cloud {
        address: Ipv6Addr::from(io::bytes()),
        port: 5684,
        access: Identity { name: &name, key: &key },
        period: Duration::from_secs(60),
        first: Duration::from_secs(5),
    };
    let (serves, echoes) = (io::byte() != 0, io::byte() != 0);
    let config = Config { interface: interface::config(), cloud: Some(cloud), serves, echoes };
    let mut node = Node::new();
    let started = node.start(cx, &config);
    io::write(&[started.is_ok().into()]);
    node
}

#[inline(never)]
pub fn probe<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, node: &mut Node<C>) {
    let at = Symbols::new(io::number());
    match io::byte() {
        0 => node.handle_frame(cx, at, &mut io::bytes::<MAX_FRAME>()),
        1 => node.handle_cca(cx, at, io::byte() != 0),
        2 => node.handle_transmitted(cx, at),
        3 => node.handle_radio_timeout(cx, at),
        _ => node.handle_timeout(cx, at),
    }
    match node.poll_event(cx.now) {
        Some(Event::Sample) => {
            let value = Decimal::new(io::number() as i32, -1);
            node.report(cx, at, &[Measurement { name: "temperature", unit: "Cel", value }]);
        }
        Some(_) => io::write(&[1]),
        None => {}
    }
    match node.poll_radio_due() {
        Some(RadioCommand::Send { .. }) => io::write(node.transmit_frame()),
        Some(_) => io::write(&[1]),
        None => {}
    }
    io::write(&[node.poll_radio_timeout().is_some().into(), node.poll_timeout().is_some().into()]);
}
