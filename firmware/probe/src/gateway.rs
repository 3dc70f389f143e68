//! A border router.

use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Nv, Symbols};
use sixlock_crypto::Crypto;
use sixlock_gateway::{Exit, RadioCommand, RadioMachine, Upstream};

use crate::interface::MAX_FRAME;
use crate::sizes::{FLOWS, MESSAGE, MTU};
use crate::{interface, io};

pub type Gateway<C> = sixlock_gateway::Gateway<C, interface::Layers, FLOWS>;

pub fn new<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>) -> Gateway<C> {
    let exit = match io::byte() {
        0 => Exit::Flows,
        _ => Exit::Packets { flows: Ipv6Addr::from(io::bytes()) },
    };
    Gateway::new(cx, &interface::config(), exit)
}

#[inline(never)]
pub fn probe<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, gateway: &mut Gateway<C>) {
    let at = Symbols::new(io::number());
    match io::byte() {
        0 => gateway.handle_frame(cx, at, &mut io::bytes::<MAX_FRAME>(), |upstream| match upstream {
            Upstream::Datagram(datagram) => io::write(datagram.payload),
            Upstream::Packet(packet) => io::write(packet),
        }),
        1 => {
            let flow = gateway.open(cx, Ipv6Addr::from(io::bytes()), Ipv6Addr::from(io::bytes()), 5683);
            let sent = gateway.handle_upstream(cx, at, flow, &io::bytes::<MESSAGE>());
            io::write(&[sent.is_ok().into()]);
        }
        2 => {
            let mut buffer = io::bytes::<MTU>();
            let answer = gateway.handle_packet(cx, at, &mut buffer, io::number() as usize);
            io::write(answer.unwrap_or_default());
        }
        3 => gateway.handle_cca(cx, at, io::byte() != 0),
        4 => gateway.handle_transmitted(cx, at),
        5 => gateway.handle_radio_timeout(cx, at),
        _ => gateway.handle_timeout(cx, at),
    }
    match gateway.poll_radio_due() {
        Some(RadioCommand::Send { .. }) => io::write(gateway.transmit_frame()),
        Some(_) => io::write(&[1]),
        None => {}
    }
    io::write(&[gateway.poll_radio_timeout().is_some().into(), gateway.poll_timeout().is_some().into()]);
}
