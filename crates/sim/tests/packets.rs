//! A host outside the mesh that speaks to the nodes in whole packets, while they report to the cloud.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Eui64, MESH_PREFIX};
use sixlock_ipv6::icmpv6::{Echo, Exceeded, Message, Problem, Unreachable};
use sixlock_ipv6::{Header, fragment, next_header, udp};
use sixlock_node::ECHO_PORT;
use sixlock_sim::{CLOUD, Options, Scenario, Simulation, Span, Time};
use sixlock_testing::packets::{self, icmpv6, packet};

const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);
/// Where the host's datagrams come from.
const PORT: u16 = 49_200;
const ECHO: Echo = Echo { identifier: 0x5157, sequence: 3 };
/// The longest packet that the mesh carries.
const MTU: usize = 1280;
/// Ample for any packet to all of a chain of six and back.
const WAIT: Span = Span::from_secs(8);

fn address(id: u32) -> Ipv6Addr {
    Eui64::of_node(id).with_prefix(MESH_PREFIX)
}

/// A chain of six nodes with a host outside.
fn chain(packets: bool) -> Simulation {
    secured("llsec+dtls-psk", packets)
}

fn secured(security: &str, packets: bool) -> Simulation {
    let scenario = Scenario::builder().security(security.parse().unwrap()).build().unwrap();
    Simulation::new(&scenario, Options { packets, ..Options::default() }).unwrap()
}

fn ping(destination: Ipv6Addr, hop_limit: u8, body: &[u8]) -> Vec<u8> {
    icmpv6(HOST, destination, hop_limit, Message::EchoRequest(ECHO), body)
}

fn datagram(source: (Ipv6Addr, u16), destination: (Ipv6Addr, u16), hop_limit: u8, payload: &[u8]) -> Vec<u8> {
    let ports = udp::Header { source_port: source.1, destination_port: destination.1 };
    packets::udp(source.0, destination.0, hop_limit, ports, payload)
}

/// The packets that come out after `packet` went in.
fn answers(simulation: &mut Simulation, packet: &[u8]) -> Vec<Vec<u8>> {
    simulation.handle_packet(packet);
    simulation.step_until(simulation.now() + WAIT);
    std::iter::from_fn(|| simulation.poll_packet()).collect()
}

/// The ICMPv6 error about `about` from `source`, which repeats as much of it as fits: with `hop_limit` as it was there.
fn error(source: Ipv6Addr, hop_limit: u8, message: Message, about: &[u8], hop_limit_there: u8) -> Vec<u8> {
    let mut about = about.to_vec();
    about[Header::HOP_LIMIT_AT] = hop_limit_there;
    about.truncate(MTU - Header::LEN - Message::LEN);
    icmpv6(source, HOST, hop_limit, message, &about)
}

#[test]
fn every_node_answers_pings_up_to_the_mtu() {
    let mut simulation = chain(true);
    for id in 0..=6 {
        for len in [0, 56, MTU - Header::LEN - Message::LEN] {
            let body = vec![0x42; len];
            let answer = icmpv6(address(id), HOST, 64 - id as u8, Message::EchoReply(ECHO), &body);
            assert_eq!(answers(&mut simulation, &ping(address(id), 64, &body)), [answer], "{id} {len}");
        }
    }
}

#[test]
fn what_is_longer_than_the_mesh_carries_goes_in_fragments_both_ways() {
    let mut simulation = chain(true);
    let body = [0x42; 1300];
    let question = ping(address(2), 64, &body);
    let first = MTU - Header::LEN - fragment::Header::LEN;
    let (next_header, identification) = (next_header::ICMPV6, 0x0102_0304);
    let data = question[Header::LEN..].split_at(first);
    let pieces = [(0, true, data.0), (first as u16, false, data.1)].map(|(offset, more, data)| {
        let mut bytes = [&[0; fragment::Header::LEN], data].concat();
        fragment::Header { next_header, offset, more, identification }.emit(&mut bytes).unwrap();
        packet(HOST, address(2), 64, next_header::FRAGMENT, &bytes)
    });
    // A forwarder is in the way of what comes behind: now and then a fragment is lost.
    let answer = (0..10).find_map(|_| {
        simulation.handle_packet(&pieces[0]);
        let answer = answers(&mut simulation, &pieces[1]);
        (answer.len() == 2).then_some(answer)
    });
    let answer = answer.expect("it is answered by two fragments");
    let [first, last] = [&answer[0], &answer[1]].map(|piece| {
        let (header, payload) = Header::parse(piece).unwrap();
        assert_eq!((header.source, header.next_header), (address(2), next_header::FRAGMENT));
        fragment::Header::parse(payload).unwrap()
    });
    assert_eq!((first.0.offset, first.0.more), (0, true));
    assert_eq!(last.0, fragment::Header { offset: first.1.len() as u16, more: false, ..first.0 });
    let whole = icmpv6(address(2), HOST, 64, Message::EchoReply(ECHO), &body);
    assert_eq!([first.1, last.1].concat(), whole[Header::LEN..]);
}

#[test]
fn the_sender_of_a_first_fragment_whose_others_do_not_come_is_told_once() {
    let mut simulation = chain(true);
    let fragment = |offset, identification| {
        let mut bytes = vec![0x42; fragment::Header::LEN + 64];
        let header = fragment::Header { next_header: next_header::UDP, offset, more: true, identification };
        header.emit(&mut bytes).unwrap();
        packet(HOST, address(2), 64, next_header::FRAGMENT, &bytes)
    };
    let first = fragment(0, 1);
    assert_eq!(answers(&mut simulation, &first), [[0; 0]; 0], "others may come");
    assert_eq!(answers(&mut simulation, &fragment(64, 2)), [[0; 0]; 0]);
    simulation.step_until(simulation.now() + Span::from_secs(60));
    let told: Vec<_> = std::iter::from_fn(|| simulation.poll_packet()).collect();
    let exceeded = Message::TimeExceeded(Exceeded::Reassembly);
    assert_eq!(told, [error(address(2), 62, exceeded, &first, 62)]);
    assert_eq!(simulation.counters(2).unwrap().get(Counter::Ipv6ReassemblyTimeout), 2);
}

#[test]
fn under_rpl_nodes_take_headers_off_that_the_router_puts_around_and_their_answers_carry_its_option() {
    let scenario = Scenario::parse("rpl", "security = \"none\"\n[routing]\nkind = \"rpl\"").unwrap();
    let mut simulation = Simulation::new(&scenario, Options { packets: true, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + Span::from_secs(60));
    // The rank of the root, which sends it on last.
    let option = |next_header| [next_header, 0, 0x23, 4, 0, 0, 0, 128];
    for len in [0, 56, 1100] {
        let body = vec![0x42; len];
        let reply = icmpv6(address(2), HOST, 64, Message::EchoReply(ECHO), &body);
        let reply = [&option(next_header::ICMPV6)[..], &reply[Header::LEN..]].concat();
        let reply = packet(address(2), HOST, 62, next_header::HOP_BY_HOP, &reply);
        assert_eq!(answers(&mut simulation, &ping(address(2), 64, &body)), [reply], "{len}");
    }
    // Of two headers around it, one comes off.
    let inner = packet(HOST, address(2), 64, next_header::IPV6, &ping(address(2), 64, &[]));
    let answer = answers(&mut simulation, &inner);
    let (_, behind) = answer[0].split_at(Header::LEN + 8);
    let (message, _) = Message::parse(address(2), HOST, behind).unwrap();
    let problem = Problem::NextHeader;
    assert_eq!(message, Message::ParameterProblem { problem, pointer: Header::NEXT_HEADER_AT as u32 });
}

#[test]
fn datagrams_reach_a_service_or_are_answered_that_there_is_none() {
    // Where nodes speak DTLS they echo nothing in the clear.
    let mut simulation = secured("llsec", true);
    let answer = datagram((address(6), ECHO_PORT), (HOST, PORT), 58, b"hello");
    let question = datagram((HOST, PORT), (address(6), ECHO_PORT), 64, b"hello");
    assert_eq!(answers(&mut simulation, &question), [answer]);
    for (id, there) in [(6, 58), (0, 64)] {
        let question = datagram((HOST, PORT), (address(id), 9), 64, b"hello");
        let refusal = Message::DestinationUnreachable(Unreachable::Port);
        let answer = error(address(id), 64 - id as u8, refusal, &question, there);
        assert_eq!(answers(&mut simulation, &question), [answer]);
    }
}

#[test]
fn each_hop_says_when_the_hop_limit_runs_out_there_and_the_router_what_has_no_route_or_is_too_long() {
    let mut simulation = chain(true);
    for hops in 1..=6 {
        let question = ping(address(6), hops, b"how far");
        let exceeded = Message::TimeExceeded(Exceeded::HopLimit);
        let from = u32::from(hops) - 1;
        let answer = error(address(from), 64 - hops + 1, exceeded, &question, 1);
        assert_eq!(answers(&mut simulation, &question), [answer], "{hops}");
    }
    assert_eq!(answers(&mut simulation, &ping(address(6), 7, b"")).len(), 1);

    let unknown = ping(address(7), 64, b"who");
    let no_route = Message::DestinationUnreachable(Unreachable::NoRoute);
    assert_eq!(answers(&mut simulation, &unknown), [error(address(0), 64, no_route, &unknown, 64)]);
    let long = ping(address(6), 64, &[0; MTU]);
    let too_big = Message::PacketTooBig { mtu: MTU as u32 };
    assert_eq!(answers(&mut simulation, &long), [error(address(0), 64, too_big, &long, 64)]);
}

#[test]
fn packets_with_addresses_of_elsewhere_are_refused_and_counted() {
    let mut simulation = chain(true);
    let from = |source, destination| datagram((source, PORT), (destination, ECHO_PORT), 64, b"hello");
    let elsewhere = "2001:db8::1".parse().unwrap();
    let refused =
        [from(address(1), address(6)), from(CLOUD, address(6)), from(HOST, elsewhere), from(HOST, CLOUD)];
    for packet in &refused {
        assert_eq!(answers(&mut simulation, packet), [[0; 0]; 0]);
    }
    assert_eq!(simulation.counters(0).unwrap().get(Counter::Ipv6BadAddress), refused.len() as u32);

    let mut closed = chain(false);
    assert_eq!(answers(&mut closed, &ping(address(1), 64, b"")), [[0; 0]; 0]);
    assert_eq!(closed.counters(0).unwrap().get(Counter::Ipv6BadAddress), 1);
}

/// Pings of all nodes, again and again.
fn busy() -> (Simulation, Vec<Vec<u8>>) {
    let mut simulation = chain(true);
    let mut all = Vec::new();
    for round in 0..60 {
        all.extend(answers(&mut simulation, &ping(address(round % 6 + 1), 64, &[7; 200])));
    }
    (simulation, all)
}

#[test]
fn reports_reach_the_cloud_beside_the_packets_and_a_seed_gives_the_same_of_both() {
    let (simulation, all) = busy();
    assert_eq!(all.len(), 60);
    let report = simulation.report();
    for node in &report.nodes {
        assert!(node.sent >= 7, "{node:?}");
        assert_eq!(node.sent, node.delivered, "{node:?}");
    }
    let again = busy();
    assert_eq!((again.0.report(), again.1), (report, all));
}

#[test]
fn more_packets_than_there_are_buffers_for_are_dropped_and_counted_and_nothing_else_suffers() {
    let mut simulation = chain(true);
    for _ in 0..200 {
        simulation.handle_packet(&ping(address(6), 64, &[7; 1000]));
    }
    let dropped = simulation.counters(0).unwrap().get(Counter::LowpanTransmitFull);
    assert!((1..200).contains(&dropped), "{dropped}");
    simulation.step_until(simulation.now() + Span::from_secs(60));
    while simulation.poll_packet().is_some() {}
    assert_eq!(answers(&mut simulation, &ping(address(6), 64, b"still there")).len(), 1);
}
