//! Flows in both directions through a border router at a serial line, with a firewall and without.

use std::net::Ipv6Addr;

use sixlock_base::{Eui64, Instant, MESH_PREFIX};
use sixlock_crypto::Soft;
use sixlock_gateway::ipsec::{Addresses, Ports, Selector};
use sixlock_gateway::{
    Decision, Defaults, Direction, Exit, Firewall, IDLE, Rule, Serial, SerialGateway, Upstream, Verdict,
};
use sixlock_ipv6::icmpv6::{Echo, Message, Unreachable};
use sixlock_ipv6::{next_header, udp};
use sixlock_slip::{Decoder, Encoder};
use sixlock_testing::Rig;
use sixlock_testing::packets::{self, icmpv6};

const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);
const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
const OTHER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const MTU: usize = 1280;

fn node(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

type Gateway = SerialGateway<Soft, (), 4, (), Firewall<8, 2>>;

/// A border router, and the hosts on both sides of it.
struct Router {
    rig: Rig,
    now: u32,
    gateway: Box<Gateway>,
}

impl Router {
    fn new(rules: &[Rule], defaults: Defaults) -> Self {
        let serial = Serial { bridge: node(0), host: CLOUD };
        let exit = Exit::Packets { flows: CLOUD };
        let rig = Rig::seeded(1);
        let mut gateway = Box::new(Gateway::new(Instant::from_millis(0), serial, exit));
        gateway.firewall().start(rules, defaults).unwrap();
        Self { rig, now: 0, gateway }
    }

    /// Whether a packet that the bridge puts on the line leaves the mesh as it is.
    fn leaves(&mut self, packet: &[u8]) -> bool {
        let bytes: Vec<u8> = Encoder::new(packet).collect();
        let mut cx = self.rig.at(Instant::from_millis(self.now));
        let mut left = Vec::new();
        self.gateway.handle_line(&mut cx, &bytes, |upstream| match upstream {
            Upstream::Packet(packet) => left.push(packet.to_vec()),
            Upstream::Datagram(datagram) => left.push(datagram.payload.to_vec()),
        });
        assert!(left.len() <= 1);
        left.first().is_some_and(|left| packet.ends_with(left))
    }

    /// Whether a packet from outside goes to the bridge as it is.
    fn enters(&mut self, packet: &[u8]) -> bool {
        let mut buffer = packet.to_vec();
        buffer.resize(MTU, 0);
        let mut cx = self.rig.at(Instant::from_millis(self.now));
        let (mut line, mut entered) = (Decoder::<[u8; MTU]>::new(), None);
        let answer = self.gateway.handle_packet(&mut cx, &mut buffer, packet.len(), |bytes| {
            for byte in bytes {
                if let Some(len) = line.push(byte) {
                    entered = Some(line.buffer_mut()[..len.unwrap()].to_vec());
                }
            }
        });
        assert_eq!(answer, None);
        entered.is_some_and(|entered| entered == packet)
    }

    fn passes(&mut self, direction: Direction, packet: &[u8]) -> bool {
        match direction {
            Direction::In => self.enters(packet),
            Direction::Out => self.leaves(packet),
        }
    }

    fn count(&mut self, decision: Decision) -> u32 {
        self.gateway.firewall().count(decision)
    }
}

const DENY: Defaults = Defaults { inward: Verdict::Deny, outward: Verdict::Deny };

fn rule(direction: Direction, verdict: Verdict, selector: Selector) -> Rule {
    Rule { direction, selector, verdict }
}

fn allow(direction: Direction, protocol: u8) -> Rule {
    rule(direction, Verdict::Allow, Selector { protocol: Some(protocol), ..Selector::ANY })
}

/// A UDP datagram from `from` to `to`.
fn datagram(from: (Ipv6Addr, u16), to: (Ipv6Addr, u16)) -> Vec<u8> {
    let ports = udp::Header { source_port: from.1, destination_port: to.1 };
    packets::udp(from.0, to.0, 64, ports, b"said")
}

fn echo(from: Ipv6Addr, to: Ipv6Addr, message: fn(Echo) -> Message, identifier: u16) -> Vec<u8> {
    icmpv6(from, to, 64, message(Echo { identifier, sequence: 3 }), b"echo")
}

fn unreachable(from: Ipv6Addr, to: Ipv6Addr, about: &[u8]) -> Vec<u8> {
    icmpv6(from, to, 64, Message::DestinationUnreachable(Unreachable::Port), about)
}

/// The same flow's packet of each kind: from a node, and from the host.
fn kinds() -> Vec<(&'static str, u8, Vec<u8>, Vec<u8>)> {
    let (here, there) = (node(1), HOST);
    let both = |protocol, payload: &[u8]| {
        (
            packets::packet(here, there, 64, protocol, payload),
            packets::packet(there, here, 64, protocol, payload),
        )
    };
    let tcp = |from: u16, to: u16| [&from.to_be_bytes()[..], &to.to_be_bytes(), &[0; 16]].concat();
    // AH with an ICV of 12 bytes, and the datagram behind it.
    let ah = |from: (Ipv6Addr, u16), to: (Ipv6Addr, u16)| {
        let behind = &datagram(from, to)[40..];
        let payload = [&[next_header::UDP, 4, 0, 0][..], &[7; 20], behind].concat();
        packets::packet(from.0, to.0, 64, next_header::AH, &payload)
    };
    let (esp_out, esp_in) = both(next_header::ESP, &[9; 40]);
    let (fragment_out, fragment_in) =
        both(next_header::FRAGMENT, &[17, 0, 0, 1, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8]);
    let node_end = (here, 5683);
    let host_end = (there, 40_000);
    vec![
        ("udp", next_header::UDP, datagram(node_end, host_end), datagram(host_end, node_end)),
        (
            "tcp",
            next_header::TCP,
            packets::packet(here, there, 64, next_header::TCP, &tcp(5683, 40_000)),
            packets::packet(there, here, 64, next_header::TCP, &tcp(40_000, 5683)),
        ),
        ("ah", next_header::AH, ah(node_end, host_end), ah(host_end, node_end)),
        ("esp", next_header::ESP, esp_out, esp_in),
        ("fragment", next_header::FRAGMENT, fragment_out, fragment_in),
    ]
}

#[test]
fn each_kind_of_flow_passes_in_the_direction_that_a_rule_allows_and_its_answers_the_other() {
    for (name, protocol, out, back) in kinds() {
        for direction in Direction::ALL {
            let (first, answer) = match direction {
                Direction::Out => (&out, &back),
                Direction::In => (&back, &out),
            };
            let reversed = if direction == Direction::In { Direction::Out } else { Direction::In };
            let mut open = Router::new(&[], Defaults::default());
            assert!(open.passes(reversed, answer) && open.passes(direction, first), "{name}: no rules");
            let mut closed = Router::new(&[], DENY);
            assert!(!closed.passes(direction, first) && !closed.passes(reversed, answer), "{name}: closed");
            assert_eq!([direction, reversed].map(|way| closed.count(Decision::Default(way))), [1, 1]);
            let mut router = Router::new(&[allow(direction, protocol)], DENY);
            assert!(!router.passes(reversed, answer), "{name} {direction:?}: nobody has asked");
            assert!(router.passes(direction, first), "{name} {direction:?}");
            assert!(router.passes(reversed, answer), "{name} {direction:?}: the answer");
            assert_eq!(router.count(Decision::Rule(0)), 2, "{name}: by the rule, its answers, too");
            assert_eq!(router.count(Decision::Default(reversed)), 1);
            router.now += IDLE.millis();
            assert!(!router.passes(reversed, answer), "{name} {direction:?}: it is idle");
        }
    }
}

#[test]
fn an_echo_is_answered_in_the_direction_that_it_was_asked_in_and_is_not_asked_in_the_other() {
    for direction in Direction::ALL {
        let (asks, told, back) = match direction {
            Direction::Out => (node(1), HOST, Direction::In),
            Direction::In => (HOST, node(1), Direction::Out),
        };
        let mut router = Router::new(&[allow(direction, next_header::ICMPV6)], DENY);
        assert!(!router.passes(back, &echo(told, asks, Message::EchoReply, 7)), "nobody has asked");
        assert!(router.passes(direction, &echo(asks, told, Message::EchoRequest, 7)));
        assert!(!router.passes(back, &echo(told, asks, Message::EchoReply, 8)), "another's");
        assert!(!router.passes(back, &echo(told, asks, Message::EchoRequest, 7)), "the other way round");
        assert!(router.passes(back, &echo(told, asks, Message::EchoReply, 7)));
    }
    let ping = Selector {
        protocol: Some(next_header::ICMPV6),
        local_ports: Ports::icmpv6(128, 128),
        ..Selector::ANY
    };
    let mut router = Router::new(&[rule(Direction::In, Verdict::Allow, ping)], DENY);
    assert!(router.enters(&echo(HOST, node(1), Message::EchoRequest, 7)));
    assert!(!router.enters(&echo(HOST, node(1), Message::EchoReply, 7)), "of another type");
}

#[test]
fn an_error_passes_if_it_is_about_a_flow_and_goes_to_who_has_sent_into_it() {
    for (name, protocol, out, back) in kinds() {
        for direction in Direction::ALL {
            let (first, from, to, reversed) = match direction {
                Direction::Out => (&out, HOST, node(1), Direction::In),
                Direction::In => (&back, node(1), HOST, Direction::Out),
            };
            let mut router = Router::new(&[allow(direction, protocol)], DENY);
            let error = unreachable(from, to, first);
            assert!(!router.passes(reversed, &error), "{name} {direction:?}: about nothing that was sent");
            assert!(router.passes(direction, first));
            assert!(router.passes(reversed, &error), "{name} {direction:?}");
            // It may come from a router on the way, and holds only the beginning of a long packet.
            let router_on_way = if direction == Direction::Out { OTHER } else { node(0) };
            let cut = &first[..first.len().min(40 + 32)];
            assert!(router.passes(reversed, &unreachable(router_on_way, to, cut)), "{name} {direction:?}");
            let other = if direction == Direction::Out { node(2) } else { OTHER };
            assert!(!router.passes(reversed, &unreachable(from, other, first)), "{name}: to another");
            assert!(
                !router.passes(reversed, &unreachable(from, to, &first[..39])),
                "{name}: about no packet"
            );
            assert!(!router.passes(direction, &unreachable(to, from, first)), "{name}: the wrong way");
        }
    }
}

#[test]
fn rules_choose_by_addresses_and_ports_and_the_first_that_matches_decides() {
    let to_node_1 = Selector {
        local: Addresses::one(node(1)),
        remote: Addresses::prefix(HOST, 64),
        protocol: Some(next_header::UDP),
        local_ports: Ports { first: 5683, last: 5684 },
        remote_ports: Ports::ANY,
    };
    let rules = [
        rule(Direction::In, Verdict::Deny, Selector { remote_ports: Ports::one(666), ..to_node_1 }),
        rule(Direction::In, Verdict::Allow, to_node_1),
    ];
    let mut router = Router::new(&rules, DENY);
    for (from, to, passes) in [
        ((HOST, 40_000), (node(1), 5683), true),
        ((HOST, 40_000), (node(1), 5684), true),
        ((HOST, 40_000), (node(1), 5685), false),
        ((HOST, 666), (node(1), 5683), false),
        ((HOST, 40_000), (node(2), 5683), false),
        ((OTHER, 40_000), (node(1), 5683), false),
    ] {
        assert_eq!(router.enters(&datagram(from, to)), passes, "{from:?} to {to:?}");
    }
    assert_eq!([0, 1].map(|place| router.count(Decision::Rule(place))), [1, 2]);
    assert_eq!(router.count(Decision::Default(Direction::In)), 3);
    assert!(!router.leaves(&datagram((node(1), 5683), (HOST, 41_000))), "another flow");
}

#[test]
fn what_is_for_the_cloud_meets_the_same_rules() {
    let readings = Selector {
        remote: Addresses::one(CLOUD),
        protocol: Some(next_header::UDP),
        remote_ports: Ports::one(5684),
        ..Selector::ANY
    };
    let mut router = Router::new(&[rule(Direction::Out, Verdict::Allow, readings)], DENY);
    let send = |router: &mut Router, port| {
        let bytes: Vec<u8> = Encoder::new(&datagram((node(1), 40_000), (CLOUD, port))).collect();
        let mut left = None;
        let mut cx = router.rig.at(Instant::from_millis(router.now));
        router.gateway.handle_line(&mut cx, &bytes, |upstream| match upstream {
            Upstream::Datagram(datagram) => left = Some(datagram.flow),
            Upstream::Packet(_) => panic!("it leaves in a flow"),
        });
        left
    };
    assert_eq!(send(&mut router, 5683), None);
    let flow = send(&mut router, 5684).unwrap();
    let mut cx = router.rig.at(Instant::from_millis(1));
    let mut entered = 0;
    router.gateway.handle_upstream(&mut cx, flow, b"answer", |_| entered += 1).unwrap();
    let asked = router.gateway.open(&mut cx, CLOUD, node(1), 5683);
    let refused = router.gateway.handle_upstream(&mut cx, asked, b"question", |_| entered += 1);
    assert_eq!((entered, refused), (1, Err(sixlock_gateway::Error::Refused)));
}

#[test]
fn when_a_direction_s_places_are_taken_its_flow_idle_for_longest_gives_way_and_is_counted() {
    let mut router = Router::new(&[allow(Direction::In, next_header::UDP)], DENY);
    let question = |port| datagram((HOST, port), (node(1), 5683));
    let answer = |port| datagram((node(1), 5683), (HOST, port));
    for port in [1, 2] {
        router.now += 1;
        assert!(router.enters(&question(port)));
    }
    router.now += 1;
    assert!(router.leaves(&answer(1)), "it is used");
    router.now += 1;
    assert!(router.enters(&question(3)));
    assert_eq!(router.gateway.firewall().evicted(), 1);
    assert!(!router.leaves(&answer(2)), "it has given way");
    assert!(router.leaves(&answer(1)) && router.leaves(&answer(3)));
    assert!(router.enters(&question(2)) && router.leaves(&answer(2)), "and comes again");

    // Whoever floods from outside takes no place of what begins in the mesh.
    let flood = Selector {
        protocol: Some(next_header::UDP),
        remote_ports: Ports { first: 10, last: u16::MAX },
        ..Selector::ANY
    };
    let rules = [rule(Direction::In, Verdict::Allow, flood), allow(Direction::Out, next_header::UDP)];
    let mut router = Router::new(&rules, DENY);
    assert!(router.leaves(&answer(9)));
    for port in 10..40 {
        router.now += 1;
        assert!(router.enters(&question(port)));
    }
    assert_eq!(router.gateway.firewall().evicted(), 28);
    assert!(router.enters(&question(9)), "it is the answer to what a node has sent");
}

#[test]
fn what_cannot_be_read_is_dropped_whatever_the_rules_say() {
    let mut router = Router::new(&[], Defaults::default());
    // A routing header that leads on to another node.
    let routed = |left| {
        let header = [next_header::UDP, 0, 3, left, 0, 0, 0, 0];
        let payload = [&header[..], &datagram((HOST, 1), (node(1), 2))[40..]].concat();
        packets::packet(HOST, node(1), 64, next_header::ROUTING, &payload)
    };
    assert!(router.enters(&routed(0)) && !router.enters(&routed(1)));
    assert!(!router.enters(&packets::packet(HOST, node(1), 64, next_header::UDP, &[1, 2, 3])), "no ports");
    assert!(!router.enters(&packets::packet(HOST, node(1), 64, next_header::HOP_BY_HOP, &[17, 9])), "cut");
    assert_eq!(router.count(Decision::Unreadable), 3);
}
