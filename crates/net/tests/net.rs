//! Packets in, verdicts out.

use std::net::Ipv6Addr;

use proptest::collection::vec;
use proptest::prelude::*;
use sixlock_base::{Counter, Cx, Entropy, Eui64, LINK_LOCAL_PREFIX, MESH_PREFIX, New, Nv, Packet};
use sixlock_ipv6::icmpv6::{Echo, Exceeded, Message, Problem, Unreachable};
use sixlock_ipv6::{Header, next_header, udp};
use sixlock_net::{
    BROADCAST, Datagram, ForwardError, Net, NextHop, Route, Router, Routes, SendError, Uplink, Verdict,
};
use sixlock_testing::Rig;
use sixlock_testing::packets::{self, packet};

const CLOUD: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xc, 0, 0, 0, 0, 0, 1);

/// The neighbour that packets come from.
const NEIGHBOUR: Eui64 = Eui64::of_node(9);

/// Hands `packet` to `net` and returns the verdict, and the bytes that are to be sent, if any.
fn handle<R: Router>(rig: &mut Rig, net: &mut Net<R>, packet: &[u8]) -> (Verdict, Vec<u8>) {
    sent(packet, |buffer| net.handle(&mut rig.cx(), NEIGHBOUR, buffer, packet.len()))
}

/// The same for a packet from outside the mesh.
fn handle_external<R: Router>(rig: &mut Rig, net: &mut Net<R>, packet: &[u8]) -> (Verdict, Vec<u8>) {
    sent(packet, |buffer| net.handle_external(&mut rig.cx(), buffer, packet.len()))
}

fn sent(packet: &[u8], process: impl FnOnce(&mut [u8]) -> Verdict) -> (Verdict, Vec<u8>) {
    let mut buffer = packet.to_vec();
    buffer.resize(1400, 0xee);
    let verdict = process(&mut buffer);
    let len = match verdict {
        Verdict::Forward { len, .. } | Verdict::External { len } => len,
        _ => 0,
    };
    buffer.truncate(len);
    (verdict, buffer)
}

/// The one counter that `call` moved.
fn counted<T>(rig: &mut Rig, call: impl FnOnce(&mut Rig) -> T) -> (Option<Counter>, T) {
    let before = rig.counters.clone();
    let result = call(rig);
    let moved: Vec<Counter> =
        rig.counters.iter().filter(|&(c, n)| n != before.get(c)).map(|(c, _)| c).collect();
    assert!(moved.len() <= 1, "{moved:?}");
    (moved.first().copied(), result)
}

fn node(id: u32) -> Eui64 {
    Eui64::of_node(id)
}

fn mesh(id: u32) -> Ipv6Addr {
    node(id).with_prefix(MESH_PREFIX)
}

fn link_local(id: u32) -> Ipv6Addr {
    node(id).with_prefix(LINK_LOCAL_PREFIX)
}

fn of<const ROUTES: usize>(address: Eui64, uplink: Uplink) -> Net<Routes<[Route; ROUTES]>> {
    let mut net = Net::new();
    net.start(address, uplink);
    net
}

/// A router to which every packet comes back, and how many have.
struct Returning(u32);

impl New for Returning {
    const NEW: Self = Self(0);
}

impl Router for Returning {
    const READS: bool = true;

    fn next_hop(&self, _: Ipv6Addr) -> Option<Eui64> {
        Some(node(1))
    }

    fn comes_back(&self, _: &[u8]) -> bool {
        true
    }

    fn forward<C, E: Entropy, N: Nv>(
        &mut self,
        _: &mut Cx<'_, C, E, N>,
        from: Eui64,
        _: &mut [u8],
    ) -> Result<Option<Eui64>, ForwardError> {
        assert_eq!(from, NEIGHBOUR);
        self.0 += 1;
        Ok(None)
    }
}

#[test]
fn what_has_come_in_from_outside_and_comes_back_reaches_the_router_and_goes_no_further() {
    let (mut rig, mut net) = (Rig::seeded(0), Net::<Returning>::new());
    net.start(node(2), Uplink::External);
    let (counter, (verdict, _)) = counted(&mut rig, |rig| handle(rig, &mut net, &udp(CLOUD, mesh(3), 64)));
    assert_eq!((counter, verdict), (Some(Counter::Ipv6NoRoute), Verdict::Dropped));
    assert_eq!(net.router().0, 1);
    // To this node it would be a lie.
    let (counter, (verdict, _)) = counted(&mut rig, |rig| handle(rig, &mut net, &udp(CLOUD, mesh(2), 64)));
    assert_eq!((counter, verdict), (Some(Counter::Ipv6BadAddress), Verdict::Dropped));
    assert_eq!(net.router().0, 1);
}

#[test]
fn what_comes_back_to_this_node_reaches_its_router_and_nothing_else_of_it() {
    let (mut rig, mut net) = (Rig::seeded(0), Net::<Returning>::new());
    net.start(node(2), Uplink::None);
    let (verdict, _) = handle(&mut rig, &mut net, &udp(mesh(2), mesh(3), 64));
    assert!(matches!(verdict, Verdict::Forward { next_hop, .. } if next_hop == node(1)), "{verdict:?}");
    for destination in [mesh(2), link_local(2), Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1)] {
        let packet = udp(mesh(2), destination, 64);
        let (counter, (verdict, _)) = counted(&mut rig, |rig| handle(rig, &mut net, &packet));
        assert_eq!((counter, verdict), (Some(Counter::Ipv6BadAddress), Verdict::Dropped), "{destination}");
    }
    let (counter, (verdict, _)) =
        counted(&mut rig, |rig| handle_external(rig, &mut net, &udp(mesh(2), mesh(3), 64)));
    assert_eq!((counter, verdict), (Some(Counter::Ipv6BadAddress), Verdict::Dropped), "from outside");
}

/// Node 2 in the chain router - 1 - 2 - 3.
fn middle() -> Net<Routes<[Route; 1]>> {
    let mut net = of(node(2), Uplink::NextHop(node(1)));
    net.router_mut().add(node(3), node(3)).unwrap();
    net
}

fn udp(source: Ipv6Addr, destination: Ipv6Addr, hop_limit: u8) -> Vec<u8> {
    let ports = udp::Header { source_port: 1000, destination_port: 2000 };
    packets::udp(source, destination, hop_limit, ports, b"reading")
}

fn icmpv6(source: Ipv6Addr, destination: Ipv6Addr, message: Message) -> Vec<u8> {
    packets::icmpv6(source, destination, 64, message, b"echo data")
}

/// Checks that `packet` is the error `message` from `source` about `about`, and returns whom it goes to.
fn assert_error(packet: &[u8], source: Ipv6Addr, about: &[u8], message: Message) -> Ipv6Addr {
    let (header, payload) = Header::parse(packet).unwrap();
    assert_eq!((header.source, header.next_header), (source, next_header::ICMPV6));
    let (parsed, body) = Message::parse(header.source, header.destination, payload).unwrap();
    assert_eq!(parsed, message);
    assert_eq!(body, &about[..about.len().min(1280 - 48)]);
    header.destination
}

#[test]
fn a_datagram_for_this_node_is_its_own() {
    let mut rig = Rig::seeded(0);
    for (source, destination) in [(mesh(1), mesh(2)), (link_local(1), link_local(2)), (CLOUD, mesh(2))] {
        let (verdict, _) = handle(&mut rig, &mut middle(), &udp(source, destination, 1));
        let expected =
            Datagram { source, source_port: 1000, destination, destination_port: 2000, payload: 48..55 };
        assert_eq!(verdict, Verdict::Udp(expected));
    }
    let all_nodes = "ff02::1".parse().unwrap();
    let (verdict, _) = handle(&mut rig, &mut middle(), &udp(link_local(1), all_nodes, 1));
    assert!(matches!(verdict, Verdict::Udp(Datagram { destination, .. }) if destination == all_nodes));
}

#[test]
fn what_udp_makes_handle_takes() {
    let mut rig = Rig::seeded(0);
    let mut packet = Packet::<[u8; 128]>::new();
    packet.reset(48);
    packet.extend(b"reading").unwrap();
    assert_eq!(middle().udp(&mut packet, 1000, mesh(3), 2000), Ok(node(3)));
    let mut in_place = [&[0; 48][..], b"reading"].concat();
    assert_eq!(middle().udp_in_place(&mut in_place, 1000, mesh(3), 2000), Ok(node(3)));
    assert_eq!(in_place, packet.bytes());
    assert_eq!(middle().udp_in_place(&mut in_place[..47], 1000, mesh(3), 2000), Err(SendError::NoRoom));
    let mut far = of::<0>(node(3), Uplink::NextHop(node(2)));
    let (verdict, _) = handle(&mut rig, &mut far, packet.bytes());
    let Verdict::Udp(datagram) = verdict else { panic!("{verdict:?}") };
    assert_eq!((datagram.source, datagram.source_port), (mesh(2), 1000));
    assert_eq!(&packet.bytes()[datagram.payload], b"reading");
}

#[test]
fn datagrams_go_where_routes_lead_with_a_source_of_the_same_scope() {
    let send = |net: &Net<Routes<[Route; 1]>>, destination| {
        let mut packet = Packet::<[u8; 128]>::new();
        packet.reset(48);
        let next_hop = net.udp(&mut packet, 1, destination, 2)?;
        Ok((next_hop, Header::parse(packet.bytes()).unwrap().0.source))
    };
    let node_2 = middle();
    assert_eq!(send(&node_2, mesh(3)), Ok((node(3), mesh(2))));
    assert_eq!(send(&node_2, mesh(7)), Ok((node(1), mesh(2))));
    assert_eq!(send(&node_2, CLOUD), Ok((node(1), mesh(2))));
    assert_eq!(send(&node_2, link_local(7)), Ok((node(7), link_local(2))));
    assert_eq!(send(&node_2, "ff02::1".parse().unwrap()), Ok((BROADCAST, link_local(2))));
    assert_eq!(send(&node_2, mesh(2)), Err(SendError::NoRoute));
    let router = of::<1>(node(0), Uplink::External);
    assert_eq!(send(&router, mesh(7)), Err(SendError::NoRoute));
    assert_eq!(send(&router, CLOUD), Err(SendError::NoRoute));
    assert_eq!(router.next_hop(CLOUD), Some(NextHop::External));
    let mut packet = Packet::<[u8; 128]>::new();
    packet.reset(47);
    assert_eq!(node_2.udp(&mut packet, 1, mesh(3), 2), Err(SendError::NoRoom));
    let mut packet = Packet::<[u8; 1300]>::new();
    packet.reset(48);
    packet.extend(&[0; 1233]).unwrap();
    assert_eq!(node_2.udp(&mut packet, 1, mesh(3), 2), Err(SendError::TooLong));
    assert_eq!(packet.bytes(), [0; 1233]);
    packet.truncate(1232);
    assert_eq!(node_2.udp_from(&mut packet, CLOUD, 1, mesh(3), 2), Ok(node(3)));
    assert_eq!(Header::parse(packet.bytes()).unwrap().0.source, CLOUD);
}

#[test]
fn forwarding_takes_one_hop_off_and_changes_nothing_else() {
    let mut rig = Rig::seeded(0);
    for (source, destination, next_hop) in [(CLOUD, mesh(3), node(3)), (mesh(3), CLOUD, node(1))] {
        let mut packet = udp(source, destination, 2);
        // Padding of the link is left behind.
        let len = packet.len();
        packet.extend([0; 3]);
        let (counter, (verdict, sent)) = counted(&mut rig, |rig| handle(rig, &mut middle(), &packet));
        assert_eq!((counter, verdict), (Some(Counter::Ipv6Forwarded), Verdict::Forward { next_hop, len }));
        assert_eq!(sent, udp(source, destination, 1));
    }
}

#[test]
fn a_border_router_lets_the_mesh_out_and_nobody_else() {
    let mut rig = Rig::seeded(0);
    let mut router = of::<1>(node(0), Uplink::External);
    router.router_mut().add(node(3), node(1)).unwrap();
    let out = udp(mesh(3), CLOUD, 64);
    let (verdict, sent) = handle(&mut rig, &mut router, &out);
    assert_eq!(verdict, Verdict::External { len: out.len() });
    assert_eq!(sent, udp(mesh(3), CLOUD, 63));
    let (verdict, _) = handle_external(&mut rig, &mut router, &udp(CLOUD, mesh(3), 64));
    assert!(matches!(verdict, Verdict::Forward { next_hop, .. } if next_hop == node(1)));
    let elsewhere = "2001:db8::1".parse().unwrap();
    for (source, destination) in
        [(elsewhere, CLOUD), (CLOUD, mesh(3)), (CLOUD, mesh(0)), (CLOUD, link_local(0))]
    {
        let (counter, (verdict, _)) =
            counted(&mut rig, |rig| handle(rig, &mut router, &udp(source, destination, 64)));
        assert_eq!((counter, verdict), (Some(Counter::Ipv6BadAddress), Verdict::Dropped));
    }
    // An error about a packet from outside leaves the mesh again.
    let lost = udp(CLOUD, mesh(9), 64);
    let (counter, (verdict, sent)) = counted(&mut rig, |rig| handle_external(rig, &mut router, &lost));
    assert_eq!(counter, Some(Counter::Ipv6NoRoute));
    assert!(matches!(verdict, Verdict::External { .. }));
    assert_eq!(
        assert_error(&sent, mesh(0), &lost, Message::DestinationUnreachable(Unreachable::NoRoute)),
        CLOUD
    );
}

/// A router that puts a header of 8 bytes into each packet of its host, and knows the way to one node.
struct Inserting;

impl New for Inserting {
    const NEW: Self = Self;
}

impl Router for Inserting {
    fn next_hop(&self, destination: Ipv6Addr) -> Option<Eui64> {
        (destination == mesh(3)).then_some(node(3))
    }

    fn room(&self) -> usize {
        8
    }
}

#[test]
fn an_error_leaves_room_for_what_the_router_inserts_on_its_way_into_the_mesh() {
    let mut rig = Rig::seeded(0);
    for (uplink, source, room) in
        [(Uplink::None, mesh(3), 8), (Uplink::External, mesh(3), 8), (Uplink::External, CLOUD, 0)]
    {
        let mut net = Net::<Inserting>::new();
        net.start(node(2), uplink);
        let packet = packet(source, mesh(9), 64, next_header::NONE, &[0; 182]);
        let mut buffer = packet.clone();
        let verdict = match source {
            CLOUD => net.handle_external(&mut rig.cx(), &mut buffer, packet.len()),
            _ => net.handle(&mut rig.cx(), NEIGHBOUR, &mut buffer, packet.len()),
        };
        let len = match verdict {
            Verdict::Forward { len, .. } | Verdict::External { len } => len,
            other => panic!("{other:?}"),
        };
        assert_eq!(len, packet.len() - room, "{uplink:?} {source}");
        let (header, payload) = Header::parse(&buffer[..len]).unwrap();
        let (message, body) = Message::parse(header.source, header.destination, payload).unwrap();
        assert_eq!(message, Message::DestinationUnreachable(Unreachable::NoRoute));
        assert_eq!(body, &packet[..body.len()]);
    }
}

#[test]
fn what_cannot_go_on_is_answered() {
    let mut rig = Rig::seeded(0);
    let mut stub = of::<1>(node(2), Uplink::None);
    stub.router_mut().add(node(3), node(3)).unwrap();
    let no_route = Message::DestinationUnreachable(Unreachable::NoRoute);
    let long = packet(mesh(3), mesh(3), 64, next_header::NONE, &[0; 1241]);
    for (packet, counter, message) in [
        (udp(mesh(3), mesh(3), 1), Counter::Ipv6HopLimit, Message::TimeExceeded(Exceeded::HopLimit)),
        (udp(mesh(3), mesh(3), 0), Counter::Ipv6HopLimit, Message::TimeExceeded(Exceeded::HopLimit)),
        (udp(mesh(3), CLOUD, 64), Counter::Ipv6NoRoute, no_route),
        (long, Counter::Ipv6TooBig, Message::PacketTooBig { mtu: 1280 }),
    ] {
        let (counted, (verdict, sent)) = counted(&mut rig, |rig| handle(rig, &mut stub, &packet));
        assert_eq!(counted, Some(counter));
        assert_eq!(verdict, Verdict::Forward { next_hop: node(3), len: sent.len() });
        assert_eq!(assert_error(&sent, mesh(2), &packet, message), mesh(3));
    }
    rig.pass(10_000);
    let beyond = udp(link_local(3), mesh(7), 64);
    let (_, sent) = handle(&mut rig, &mut middle(), &beyond);
    let message = Message::DestinationUnreachable(Unreachable::BeyondScope);
    assert_eq!(assert_error(&sent, link_local(2), &beyond, message), link_local(3));
}

#[test]
fn a_port_without_a_listener_is_answered_from_the_address_asked() {
    let mut rig = Rig::seeded(0);
    let mut net = middle();
    let packet = udp(link_local(1), link_local(2), 64);
    let mut buffer = [packet.clone(), vec![0; 100]].concat();
    let verdict = net.port_unreachable(&mut rig.cx(), &mut buffer, packet.len());
    assert_eq!(verdict, Verdict::Forward { next_hop: node(1), len: packet.len() + 48 });
    let message = Message::DestinationUnreachable(Unreachable::Port);
    assert_error(&buffer[..packet.len() + 48], link_local(2), &packet, message);
    assert_eq!(rig.count(Counter::UdpNoPort), 1);
    // With less room behind it, less of the packet comes along.
    let mut buffer = packet.clone();
    let verdict = net.port_unreachable(&mut rig.cx(), &mut buffer, packet.len());
    assert_eq!(verdict, Verdict::Forward { next_hop: node(1), len: packet.len() });
    assert_error(&buffer, link_local(2), &packet[..packet.len() - 48], message);
}

#[test]
fn unknown_headers_are_a_parameter_problem() {
    let mut rig = Rig::seeded(0);
    for (next_header, payload, problem, pointer) in [
        (200, vec![0; 8], Problem::NextHeader, 6),
        (44, vec![17, 0, 0, 1, 0, 0, 0, 0], Problem::NextHeader, 6),
        (60, vec![200, 0, 1, 4, 0, 0, 0, 0], Problem::NextHeader, 40),
        (43, vec![17, 0, 4, 1, 0, 0, 0, 0], Problem::Field, 42),
    ] {
        let packet = packet(mesh(1), mesh(2), 64, next_header, &payload);
        let (counter, (_, sent)) = counted(&mut rig, |rig| handle(rig, &mut middle(), &packet));
        assert_eq!(counter, Some(Counter::Ipv6Unsupported));
        assert_error(&sent, mesh(2), &packet, Message::ParameterProblem { problem, pointer });
    }
}

#[test]
fn an_echo_comes_back() {
    let mut rig = Rig::seeded(0);
    let echo = Echo { identifier: 7, sequence: 9 };
    let (verdict, sent) =
        handle(&mut rig, &mut middle(), &icmpv6(CLOUD, mesh(2), Message::EchoRequest(echo)));
    assert_eq!(verdict, Verdict::Forward { next_hop: node(1), len: sent.len() });
    assert_eq!(sent, icmpv6(mesh(2), CLOUD, Message::EchoReply(echo)));
    // Asked of all, each answers for itself; extension headers do not come back.
    let all_nodes: Ipv6Addr = "ff02::1".parse().unwrap();
    let request = icmpv6(link_local(1), all_nodes, Message::EchoRequest(echo));
    let options = [&[58, 0, 1, 4, 0, 0, 0, 0], &request[40..]].concat();
    let (_, sent) = handle(&mut rig, &mut middle(), &packet(link_local(1), all_nodes, 64, 60, &options));
    assert_eq!(sent, icmpv6(link_local(2), link_local(1), Message::EchoReply(echo)));
}

#[test]
fn no_error_answers_an_error_a_multicast_or_nobody() {
    let mut rig = Rig::seeded(0);
    let mut net = of::<0>(node(2), Uplink::NextHop(node(1)));
    let exceeded = |message| {
        let mut packet = icmpv6(mesh(3), mesh(9), message);
        packet[Header::HOP_LIMIT_AT] = 1;
        packet
    };
    let echo = Echo { identifier: 1, sequence: 1 };
    for (packet, answered) in [
        (exceeded(Message::TimeExceeded(Exceeded::HopLimit)), false),
        (exceeded(Message::EchoRequest(echo)), true),
        (packet(Ipv6Addr::UNSPECIFIED, mesh(2), 64, 200, &[]), false),
        (packet(mesh(3), "ff02::1".parse().unwrap(), 64, 200, &[]), false),
        // An option that demands an answer all the same.
        (packet(mesh(3), "ff02::1".parse().unwrap(), 64, 60, &[17, 0, 0x80, 4, 0, 0, 0, 0]), true),
    ] {
        let (verdict, _) = handle(&mut rig, &mut net, &packet);
        assert_eq!(verdict != Verdict::Dropped, answered, "{packet:x?}");
    }
}

#[test]
fn errors_come_at_a_bounded_rate() {
    let mut rig = Rig::seeded(0);
    let mut net = middle();
    let mut answers = |rig: &mut Rig| {
        let dying = udp(mesh(3), mesh(9), 1);
        (0..20).filter(|_| handle(rig, &mut net, &dying).0 != Verdict::Dropped).count()
    };
    assert_eq!(answers(&mut rig), 4);
    rig.pass(1000);
    assert_eq!(answers(&mut rig), 2);
}

#[test]
fn addresses_that_may_not_be_there_are_dropped_and_counted() {
    let mut rig = Rig::seeded(0);
    let multicast = "ff02::5".parse().unwrap();
    for (source, destination) in [
        (multicast, mesh(2)),
        (Ipv6Addr::LOCALHOST, mesh(2)),
        (mesh(2), mesh(2)),
        (link_local(2), mesh(3)),
        (mesh(1), Ipv6Addr::LOCALHOST),
        (mesh(1), Ipv6Addr::UNSPECIFIED),
        (Ipv6Addr::UNSPECIFIED, mesh(2)),
        (Ipv6Addr::UNSPECIFIED, mesh(3)),
        (mesh(1), link_local(3)),
        (mesh(1), multicast),
    ] {
        let (counter, (verdict, _)) =
            counted(&mut rig, |rig| handle(rig, &mut middle(), &udp(source, destination, 64)));
        assert_eq!(
            (counter, verdict),
            (Some(Counter::Ipv6BadAddress), Verdict::Dropped),
            "{source} > {destination}"
        );
    }
}

#[test]
fn what_does_not_parse_is_dropped_and_counted() {
    let mut rig = Rig::seeded(0);
    let good = udp(mesh(1), mesh(2), 64);
    let mut bad_checksum = good.clone();
    bad_checksum[50] ^= 1;
    let mut bad_echo = icmpv6(mesh(1), mesh(2), Message::EchoRequest(Echo { identifier: 1, sequence: 1 }));
    bad_echo[50] ^= 1;
    for (packet, counter) in [
        (good[..39].to_vec(), Counter::Ipv6Malformed),
        (good[..54].to_vec(), Counter::Ipv6Malformed),
        (bad_checksum, Counter::UdpMalformed),
        (bad_echo, Counter::Ipv6Malformed),
        (packet(mesh(1), mesh(2), 64, 60, &[17]), Counter::Ipv6Malformed),
    ] {
        let (counted, (verdict, _)) = counted(&mut rig, |rig| handle(rig, &mut middle(), &packet));
        assert_eq!((counted, verdict), (Some(counter), Verdict::Dropped));
    }
}

#[test]
fn from_outside_comes_only_what_is_from_outside_and_for_the_mesh() {
    let mut rig = Rig::seeded(0);
    let mut router = of::<1>(node(0), Uplink::External);
    router.router_mut().add(node(3), node(1)).unwrap();
    let all_nodes = "ff02::1".parse().unwrap();
    let group = "ff0e::1".parse().unwrap();
    for (source, destination) in [
        (mesh(3), mesh(1)),
        (mesh(0), mesh(3)),
        (link_local(3), mesh(3)),
        (Ipv6Addr::UNSPECIFIED, mesh(3)),
        (Ipv6Addr::LOCALHOST, mesh(3)),
        (group, mesh(3)),
        (CLOUD, CLOUD),
        (CLOUD, link_local(0)),
        (CLOUD, link_local(3)),
        (CLOUD, all_nodes),
        (CLOUD, group),
    ] {
        let (counter, (verdict, _)) =
            counted(&mut rig, |rig| handle_external(rig, &mut router, &udp(source, destination, 64)));
        assert_eq!(
            (counter, verdict),
            (Some(Counter::Ipv6BadAddress), Verdict::Dropped),
            "{source} {destination}"
        );
    }
}

#[test]
fn a_border_router_answers_outside_about_what_it_cannot_send_on() {
    let mut rig = Rig::seeded(0);
    let mut router = of::<1>(node(0), Uplink::External);
    router.router_mut().add(node(3), node(1)).unwrap();
    let long = packet(CLOUD, mesh(3), 64, next_header::NONE, &[0; 1300]);
    for (packet, message, reason) in [
        (udp(CLOUD, mesh(3), 1), Message::TimeExceeded(Exceeded::HopLimit), Counter::Ipv6HopLimit),
        (udp(CLOUD, mesh(9), 2), Message::DestinationUnreachable(Unreachable::NoRoute), Counter::Ipv6NoRoute),
        (long, Message::PacketTooBig { mtu: 1280 }, Counter::Ipv6TooBig),
    ] {
        let (counter, (verdict, sent)) = counted(&mut rig, |rig| handle_external(rig, &mut router, &packet));
        assert_eq!((counter, verdict), (Some(reason), Verdict::External { len: sent.len() }));
        assert_eq!(assert_error(&sent, mesh(0), &packet, message), CLOUD);
    }
    let echo = Echo { identifier: 1, sequence: 2 };
    let (verdict, sent) =
        handle_external(&mut rig, &mut router, &icmpv6(CLOUD, mesh(0), Message::EchoRequest(echo)));
    assert_eq!(verdict, Verdict::External { len: sent.len() });
    assert_eq!(sent, icmpv6(mesh(0), CLOUD, Message::EchoReply(echo)));
}

proptest! {
    #[test]
    fn any_packet_has_a_verdict(
        source in 0usize..6, destination in 0usize..8, hop_limit: u8,
        next_header in prop_oneof![Just(0u8), Just(17), Just(43), Just(44), Just(58), Just(60), any::<u8>()],
        payload in vec(any::<u8>(), 0..80), len in 0usize..200, room in 0usize..80,
    ) {
        let mut rig = Rig::seeded(0);
        let addresses = [
            mesh(1), link_local(1), CLOUD, Ipv6Addr::UNSPECIFIED, mesh(3), link_local(3), mesh(2), "ff02::1".parse().unwrap(),
        ];
        let packet = packet(addresses[source], addresses[destination], hop_limit, next_header, &payload);
        for mut net in [middle(), of(node(2), Uplink::External)] {
            let mut buffer = [packet.clone(), vec![0; room]].concat();
            match net.handle(&mut rig.cx(), NEIGHBOUR, &mut buffer, packet.len()) {
                Verdict::Forward { len, .. } | Verdict::External { len } => {
                    prop_assert!(Header::parse(&buffer[..len]).is_ok());
                }
                Verdict::Udp(datagram) => prop_assert!(datagram.payload.end <= packet.len()),
                Verdict::Dropped => {}
            }
            let mut buffer = packet.clone();
            let _ = net.handle(&mut rig.cx(), NEIGHBOUR, &mut buffer, len);
            let _ = net.port_unreachable(&mut rig.cx(), &mut buffer, len);
        }
    }
}
