//! A border router at a serial line, from both sides, with a firewall.

use core::net::Ipv6Addr;

use sixlock_base::Instant;
use sixlock_crypto::Soft;
use sixlock_gateway::ipsec::{Ports, Selector};
use sixlock_gateway::{Defaults, Direction, Exit, Firewall, Rule, Serial, SerialGateway, Upstream, Verdict};
use sixlock_ipv6::next_header;
use sixlock_slip::Decoder;
use sixlock_testing::Rig;

use crate::gateway::{CLOUD, PACKET};
use crate::link::{MTU, OWN};
use crate::split;

/// The border router's own address in the mesh.
fn bridge() -> Ipv6Addr {
    OWN.with_prefix(sixlock_base::MESH_PREFIX)
}

/// Packets from outside, marked by 0, and bytes on the line, marked otherwise. The first byte chooses whether what no rule is for passes.
pub(crate) fn serial(input: &[u8]) -> usize {
    let Some((&choice, inputs)) = input.split_first() else { return 0 };
    let mut rig = Rig::seeded(11);
    let serial = Serial { bridge: bridge(), host: CLOUD };
    let exit = Exit::Packets { flows: CLOUD };
    let mut gateway =
        SerialGateway::<Soft, (), 2, (), Firewall<2, 2>>::new(Instant::from_millis(0), serial, exit);
    let verdict = |bit: u8| if choice & bit == 0 { Verdict::Allow } else { Verdict::Deny };
    let udp = Selector {
        protocol: Some(next_header::UDP),
        local_ports: Ports { first: 1, last: 9999 },
        ..Selector::ANY
    };
    let rules = [
        Rule { direction: Direction::In, selector: udp, verdict: Verdict::Allow },
        Rule { direction: Direction::Out, selector: udp, verdict: Verdict::Deny },
    ];
    let defaults = Defaults { inward: verdict(1), outward: verdict(2) };
    gateway.firewall().start(&rules, defaults).expect("there is room for both");
    let mut taken = 0;
    for input in split(inputs) {
        let Some((&kind, bytes)) = input.split_first() else { continue };
        rig.pass(16);
        let cx = &mut rig.cx();
        if kind == PACKET {
            let mut buffer = bytes.to_vec();
            buffer.resize(bytes.len().max(MTU), 0);
            let answer = gateway.handle_packet(cx, &mut buffer, bytes.len(), |line| {
                taken += 1;
                // What is put on the line is one packet.
                let mut decoder = Decoder::<[u8; MTU]>::new();
                let packets: Vec<_> = line.filter_map(|byte| decoder.push(byte)).collect();
                assert!(matches!(packets[..], [Ok(1..)]));
            });
            if let Some(answer) = answer {
                assert!(answer.len() <= MTU);
                taken += 1;
            }
        } else {
            gateway.handle_line(cx, bytes, |upstream| {
                taken += 1;
                match upstream {
                    Upstream::Datagram(datagram) => assert!(datagram.ends.host == CLOUD),
                    Upstream::Packet(packet) => assert!(packet.len() <= MTU),
                }
            });
        }
        gateway.handle_timeout(cx, |_| ());
    }
    taken
}
