//! The images of a border router pass packets between its serial port and native nodes. Left out unless it is asked for
//! (`-- --ignored`): `./test` sees to emulators and images.

mod bridging;
mod built;

use std::net::Ipv6Addr;

use bridging::{Bridged, HOST, bridge, node};
use built::image;
use sixlock_ipv6::icmpv6::{Echo, Exceeded, Message, Unreachable};
use sixlock_ipv6::{Header, extension, next_header};
use sixlock_testing::packets::icmpv6;

fn passes_packets(target: &str) {
    for (name, secured) in [("bridge", false), ("bridge-llsec", true)] {
        let mut bridged = Bridged::new(&image(target, name), secured);
        let echo = Echo { identifier: 0xc0db, sequence: 1 };
        for (there, hops) in [(bridge(), 64), (node(1), 63)] {
            for len in [0, 100, 1232] {
                // Bytes that are escaped on the line among them.
                let body: Vec<u8> = (0..len).map(|n| n as u8).collect();
                let ping = icmpv6(HOST, there, 64, Message::EchoRequest(echo), &body);
                let reply = icmpv6(there, HOST, hops, Message::EchoReply(echo), &body);
                let answers = bridged.send(&ping);
                assert!(answers == [reply], "{name} for {target}, {len} bytes to {there}: {answers:02x?}");
            }
        }
        let ping = icmpv6(HOST, node(1), 1, Message::EchoRequest(echo), b"too far");
        let exceeded = icmpv6(bridge(), HOST, 64, Message::TimeExceeded(Exceeded::HopLimit), &ping);
        assert_eq!(bridged.send(&ping), [exceeded], "{name} for {target}");
        assert!(bridged.stack_peak() > 0);
    }
}

/// How long a DODAG takes to come about, in milliseconds: each of its nodes joins when the one before it has.
const JOINING: u32 = 60_000;

/// Who answers an echo request with `body`, and over how many hops the answer has come; what routers read on the way may stand before it.
fn answered(answers: &[Vec<u8>], echo: Echo, body: &[u8]) -> Option<(Ipv6Addr, u8)> {
    let [answer] = answers else { return None };
    let (header, _) = Header::parse(answer).ok()?;
    let upper = extension::skip(answer)?;
    let reply = icmpv6(header.source, HOST, header.hop_limit, Message::EchoReply(echo), body);
    let is_reply = upper.protocol == next_header::ICMPV6 && answer[upper.at..] == reply[Header::LEN..];
    (is_reply && header.destination == HOST).then_some((header.source, 64 - header.hop_limit))
}

fn is_a_root(target: &str) {
    for (name, secured) in [("bridge-rpl", false), ("bridge-llsec-rpl", true)] {
        let mut bridged = Bridged::root(&image(target, name), secured, 3);
        let ping = icmpv6(HOST, node(3), 64, Message::EchoRequest(Echo { identifier: 7, sequence: 0 }), b"?");
        let unreachable = Message::DestinationUnreachable(Unreachable::NoRoute);
        let no_route = icmpv6(bridge(), HOST, 64, unreachable, &ping);
        assert_eq!(
            bridged.send(&ping),
            core::slice::from_ref(&no_route),
            "{name} for {target}: nobody has joined"
        );
        for boot in 0..2 {
            bridged.pass(JOINING);
            for (hops, there) in [bridge(), node(1), node(2), node(3)].into_iter().enumerate() {
                for len in [0, 1100] {
                    let echo = Echo { identifier: boot, sequence: len };
                    let body: Vec<u8> = (0..len).map(|n| n as u8).collect();
                    let answers = bridged.send(&icmpv6(HOST, there, 64, Message::EchoRequest(echo), &body));
                    let from = answered(&answers, echo, &body);
                    assert_eq!(
                        from,
                        Some((there, hops as u8)),
                        "{name} for {target}, boot {boot}, {len} bytes: {answers:02x?}"
                    );
                }
            }
            // What it knows of nodes is gone with its power; they tell it again, as it begins a version of the DODAG that is new to them.
            bridged.reboot();
            assert_eq!(
                bridged.send(&ping),
                core::slice::from_ref(&no_route),
                "{name} for {target}, boot {boot}"
            );
        }
        assert!(bridged.stack_peak() > 0);
    }
}

#[test]
#[ignore = "needs QEMU and the images"]
fn a_cortex_m3_passes_packets_between_its_serial_port_and_a_node() {
    passes_packets("thumbv7m-none-eabi");
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn an_msp430_passes_packets_between_its_serial_port_and_a_node() {
    passes_packets("msp430-none-elf");
}

#[test]
#[ignore = "needs QEMU and the images"]
fn a_cortex_m3_is_the_root_of_nodes_over_several_hops_again_after_each_reboot() {
    is_a_root("thumbv7m-none-eabi");
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn an_msp430_is_the_root_of_nodes_over_several_hops_again_after_each_reboot() {
    is_a_root("msp430-none-elf");
}
