//! A border router at a serial line, with a firewall.

use core::net::Ipv6Addr;

use sixlock_base::{Cx, Entropy, Nv};
use sixlock_crypto::Crypto;
use sixlock_gateway::ipsec::{Ports, Selector};
use sixlock_gateway::{
    Decision, Defaults, Direction, Exit, Firewall, Rule, Serial, SerialGateway, Upstream, Verdict,
};
use sixlock_slip::Encoder;

use crate::io;
use crate::sizes::{FLOWS, MESSAGE};

pub type Gateway<C> = SerialGateway<C, (), FLOWS, (), Firewall<2, 2>>;

pub fn new<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>) -> Gateway<C> {
    let flows = Ipv6Addr::from(io::bytes());
    let serial = Serial { bridge: Ipv6Addr::from(io::bytes()), host: flows };
    let mut gateway = Gateway::new(cx.now, serial, Exit::Packets { flows });
    let selector = Selector { protocol: Some(io::byte()), local_ports: Ports::one(5683), ..Selector::ANY };
    let rule = Rule { direction: Direction::In, selector, verdict: Verdict::Allow };
    let defaults = Defaults { inward: Verdict::Deny, outward: Verdict::Allow };
    let started = gateway.firewall().start(&[rule], defaults);
    io::write(&[started.is_ok().into()]);
    gateway
}

fn write(line: Encoder<'_>) {
    for byte in line {
        io::write(&[byte]);
    }
}

#[inline(never)]
pub fn probe<C: Crypto, E: Entropy, N: Nv>(cx: &mut Cx<'_, C, E, N>, gateway: &mut Gateway<C>) {
    match io::byte() {
        0 => gateway.handle_line(cx, &io::bytes::<16>(), |upstream| match upstream {
            Upstream::Datagram(datagram) => io::write(datagram.payload),
            Upstream::Packet(packet) => io::write(packet),
        }),
        1 => {
            let flow = gateway.open(cx, Ipv6Addr::from(io::bytes()), Ipv6Addr::from(io::bytes()), 5683);
            let sent = gateway.handle_upstream(cx, flow, &io::bytes::<MESSAGE>(), write);
            io::write(&[sent.is_ok().into()]);
        }
        2 => {
            let mut buffer = io::bytes::<1400>();
            let len = io::number() as usize;
            let answer = gateway.handle_packet(cx, &mut buffer, len, write);
            io::write(answer.unwrap_or_default());
        }
        _ => gateway.handle_timeout(cx, write),
    }
    io::write(&[gateway.poll_event().is_some().into()]);
    io::write(&gateway.firewall().count(Decision::Rule(0)).to_le_bytes());
    io::write(&gateway.firewall().evicted().to_le_bytes());
}
