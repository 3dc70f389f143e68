//! Data packets: what is put into and around them, and what routers do to them.

use std::net::Ipv6Addr;

use sixlock_base::{Counter, Eui64, New};
use sixlock_ipv6::rpl::packet_information::{self, DROPPED_IF_UNKNOWN, SKIPPED_IF_UNKNOWN};
use sixlock_ipv6::rpl::{Configuration, Message, ModeOfOperation, PacketInformation, RplOption};
use sixlock_ipv6::{Header, extension, next_header, udp};
use sixlock_rpl::DataError;
use sixlock_testing::packets;

use crate::bench::{Bench, OWN, configuration, reaches};
use crate::network::{Leaf, Machine, Network, Router, StoringRouter, destination, eui, mesh};

const NON_STORING: ModeOfOperation = ModeOfOperation::NON_STORING;
const STORING: ModeOfOperation = ModeOfOperation::STORING;
const PORTS: udp::Header = udp::Header { source_port: 1, destination_port: 2 };

pub(crate) fn datagram(source: Ipv6Addr, destination: Ipv6Addr) -> Vec<u8> {
    packets::udp(source, destination, 64, PORTS, b"reading")
}

fn option(packet: &[u8]) -> PacketInformation {
    let at = packet_information::find(packet).unwrap().expect("an option");
    PacketInformation::from_bytes(*packet[at..].first_chunk().unwrap())
}

fn with_option(packet: &[u8], information: PacketInformation) -> Vec<u8> {
    let (header, payload) = Header::parse(packet).unwrap();
    let option = information.to_header(header.next_header, SKIPPED_IF_UNKNOWN);
    let rest = [&option, payload].concat();
    packets::packet(header.source, header.destination, header.hop_limit, next_header::HOP_BY_HOP, &rest)
}

fn information(is_down: bool, sender_rank: u16) -> PacketInformation {
    PacketInformation { is_down, rank_error: false, forwarding_error: false, instance: 0, sender_rank }
}

fn router() -> Bench<Router> {
    let mut bench = Bench::new(NON_STORING);
    bench.meet(1, 128);
    bench
}

fn storing() -> Bench<StoringRouter> {
    let mut bench = Bench::new(STORING);
    bench.meet(1, 128);
    bench.dao(5, 1, &reaches(5, 240, 30)).unwrap();
    bench.dao(5, 1, &reaches(6, 240, 30)).unwrap();
    bench.pass(2_000, true);
    bench
}

fn forward<P: sixlock_rpl::Profile>(
    bench: &mut Bench<P>,
    from: u32,
    packet: &mut [u8],
) -> Result<u32, DataError> {
    let next_hop = bench.node.forward(&mut bench.rig.cx(), eui(from), packet);
    next_hop.map(|next_hop| Eui64::node_id(next_hop).unwrap())
}

/// Mistake 7: the option is there at the first hop, its rank in network order, and the checksum is right (contiki#318, #650).
#[test]
fn a_packet_of_a_node_carries_the_option_and_is_whole_at_its_destination() {
    let bench = router();
    let plain = datagram(mesh(OWN), mesh(0));
    let mut buffer = plain.clone();
    buffer.resize(plain.len() + 8, 0);
    let length = bench.node.originate(&mut buffer, plain.len()).unwrap();
    assert_eq!(length, plain.len() + 8);
    let rank = bench.node.rank();
    let [high, low] = rank.to_be_bytes();
    assert_eq!(buffer[40..48], [17, 0, SKIPPED_IF_UNKNOWN, 4, 0, 0, high, low]);
    assert_eq!(option(&buffer), information(false, rank));
    let upper = extension::process(&buffer).unwrap();
    assert_eq!((upper.protocol, upper.at), (17, 48));
    assert!(udp::Header::parse(mesh(OWN), mesh(0), &buffer[upper.at..]).is_ok(), "the checksum");
    assert_eq!(bench.node.originate(&mut buffer, length), Ok(length), "once");
    assert_eq!(bench.node.originate(&mut plain.clone(), plain.len()), Err(DataError::NoRoom));
    // On the link there are no routers.
    let on_link = datagram(mesh(OWN), "ff02::1".parse().unwrap());
    assert_eq!(bench.node.originate(&mut on_link.clone(), on_link.len()), Ok(on_link.len()));
    let alone = Bench::<Router>::new(NON_STORING);
    assert_eq!(alone.node.originate(&mut buffer, length), Err(DataError::NoRoute));
}

#[test]
fn the_type_of_the_option_is_the_dodags() {
    let mut bench = Bench::<Router>::new(NON_STORING);
    let options = [RplOption::Configuration(Configuration { flags: 0, ..configuration() })];
    let dio = Message::Dio(bench.dio_of(128));
    bench.hear(1, &dio, &options).unwrap();
    bench.outcome(1, true);
    let mut buffer = datagram(mesh(OWN), mesh(0));
    let length = buffer.len();
    buffer.resize(length + 8, 0);
    bench.node.originate(&mut buffer, length).unwrap();
    assert_eq!(buffer[42], DROPPED_IF_UNKNOWN);
}

/// Mistake 6: other hop-by-hop options stay (contiki-ng#239); the option joins them in one header.
#[test]
fn hop_by_hop_options_of_a_packet_stay_beside_the_option() {
    let bench = router();
    let udp = &datagram(mesh(OWN), mesh(0))[40..];
    // A router alert.
    let alert = [17, 0, 5, 2, 0, 0, 1, 0];
    let plain = packets::packet(mesh(OWN), mesh(0), 64, next_header::HOP_BY_HOP, &[&alert, udp].concat());
    let mut buffer = plain.clone();
    buffer.resize(plain.len() + 8, 0);
    let length = bench.node.originate(&mut buffer, plain.len()).unwrap();
    assert_eq!(length, plain.len() + 8);
    assert_eq!(buffer[40..42], [17, 1]);
    assert_eq!(buffer[50..56], alert[2..]);
    assert_eq!(buffer[56..], *udp);
    assert_eq!(option(&buffer).sender_rank, bench.node.rank());
    let upper = extension::process(&buffer).unwrap();
    assert_eq!((upper.protocol, upper.at), (17, 56));
    // The root hands it out of the mesh as it is.
    let mut network = Network::chain(STORING, 1);
    let outside = "2001:db8::1".parse::<Ipv6Addr>().unwrap();
    buffer[24..40].copy_from_slice(&outside.octets());
    let before = buffer.clone();
    let now = network.now();
    let station = network.station(0);
    let Machine::StoringRoot(root) = &mut station.machine else { panic!() };
    root.forward(&mut station.rig.at(now), eui(1), &mut buffer).unwrap();
    assert_eq!(root.encapsulate(&mut buffer, length), Ok(length));
    assert_eq!(buffer[48..], before[48..]);
    assert_eq!(buffer[..44], before[..44]);
    assert_eq!(option(&buffer), information(false, 128));
}

#[test]
fn a_packet_goes_up_with_the_rank_of_each_router() {
    let mut bench = router();
    let rank = bench.node.rank();
    let mut packet = with_option(&datagram(mesh(7), mesh(0)), information(false, rank + 128));
    assert_eq!(forward(&mut bench, 7, &mut packet), Ok(1));
    assert_eq!(option(&packet), information(false, rank));
    let mut foreign = with_option(
        &datagram(mesh(7), mesh(0)),
        PacketInformation { instance: 3, ..information(false, 900) },
    );
    assert_eq!(forward(&mut bench, 7, &mut foreign), Err(DataError::Instance));
    let mut without = datagram(mesh(7), mesh(0));
    assert_eq!(forward(&mut bench, 7, &mut without), Ok(1), "of who does not speak RPL");
    assert_eq!(
        forward(&mut bench, 1, &mut without),
        Err(DataError::NoRoute),
        "not back to where it came from"
    );
}

#[test]
fn one_rank_error_is_tolerated_and_the_second_drops_the_packet() {
    let mut bench = router();
    bench.pass(3_600_000, true);
    let rank = bench.node.rank();
    let mut packet = with_option(&datagram(mesh(7), mesh(0)), information(false, rank - 128));
    assert_eq!(forward(&mut bench, 7, &mut packet), Ok(1));
    assert_eq!(option(&packet), PacketInformation { rank_error: true, ..information(false, rank) });
    let mut packet = with_option(
        &packet_without_option(&packet),
        PacketInformation { sender_rank: rank, ..option(&packet) },
    );
    assert_eq!(forward(&mut bench, 7, &mut packet), Err(DataError::Rank), "as high is wrong, too");
    assert_eq!(bench.count(Counter::RplRankErrors), 1);
    // Trickle begins anew.
    assert!(bench.pass(4_096, true).iter().any(crate::bench::is_dio));
}

fn packet_without_option(packet: &[u8]) -> Vec<u8> {
    let (header, payload) = Header::parse(packet).unwrap();
    packets::packet(header.source, header.destination, header.hop_limit, payload[0], &payload[8..])
}

/// Mistake 8: at its destination a packet is not judged again (contiki-ng#2285, #1721).
#[test]
fn a_packet_that_met_one_rank_error_arrives() {
    let mut network = Network::chain(NON_STORING, 3);
    network.settle(600);
    let rank = network.rank(2);
    let met = PacketInformation { rank_error: true, ..information(false, rank) };
    let packet = with_option(&datagram(mesh(2), mesh(0)), met);
    network.transmit(2, eui(1), packet);
    network.run(1_000);
    assert_eq!(network.stations[&0].received.len(), 1);
}

/// Mistake 9: the flag of a forwarding error takes the route with it, on its way up, and is no cause of a repair (contiki#652).
#[test]
fn a_packet_that_is_sent_back_takes_the_stale_route_with_it() {
    let mut network = Network::chain(STORING, 5);
    network.settle(600);
    let version = network.version(0);
    network.reboot(3);
    // It is in the DODAG again before its children have told it of themselves.
    while network.parent(3).is_none() {
        network.run(100);
    }
    network.send(0, 4, b"down");
    network.run(500);
    assert_eq!(network.version(0), version);
    let known = network.node_count();
    assert!(known < 4, "the route to 4 is gone: {known}");
    network.run(60_000);
    assert_eq!(network.ping_all(), [""; 0]);
    assert_eq!(network.version(0), version);
}

#[test]
fn only_the_next_hop_of_a_route_can_send_a_packet_back() {
    let mut bench = storing();
    let rank = bench.node.rank();
    let sent_back = PacketInformation { forwarding_error: true, ..information(true, rank + 128) };
    let mut packet = with_option(&datagram(mesh(0), mesh(6)), sent_back);
    assert_eq!(forward(&mut bench, 9, &mut packet), Ok(5), "9 is not the next hop");
    assert!(!option(&packet).forwarding_error);
    let mut packet = with_option(&datagram(mesh(0), mesh(6)), sent_back);
    assert_eq!(forward(&mut bench, 5, &mut packet), Ok(1), "the parent's route is wrong, too");
    assert!(option(&packet).forwarding_error);
    assert_eq!(bench.node.route_count(), 1);
}

#[test]
fn in_storing_mode_a_packet_turns_downwards_where_a_route_begins() {
    let mut bench = storing();
    let rank = bench.node.rank();
    let mut packet = with_option(&datagram(mesh(9), mesh(6)), information(false, rank + 128));
    assert_eq!(forward(&mut bench, 9, &mut packet), Ok(5));
    assert_eq!(option(&packet), information(true, rank));
    let mut unknown = with_option(&datagram(mesh(0), mesh(77)), information(true, 128));
    assert_eq!(forward(&mut bench, 1, &mut unknown), Ok(1), "back");
    assert_eq!(option(&unknown), PacketInformation { forwarding_error: true, ..information(true, rank) });
    // Its own packets go down at once.
    let mut own = datagram(mesh(OWN), mesh(6));
    let length = own.len();
    own.resize(length + 8, 0);
    bench.node.originate(&mut own, length).unwrap();
    assert!(option(&own).is_down && bench.node.next_hop(mesh(6)) == Some(eui(5)));
}

#[test]
fn a_leaf_forwards_nothing() {
    let mut leaf = Bench::<Leaf>::new(NON_STORING);
    leaf.meet(1, 128);
    let mut packet = with_option(&datagram(mesh(7), mesh(0)), information(false, 900));
    assert_eq!(forward(&mut leaf, 7, &mut packet), Err(DataError::NoRoute));
}

/// AH covers what it covers: a packet of another is tunnelled, and comes out of the tunnel as it was.
#[test]
fn a_packet_from_outside_comes_to_its_node_as_it_was() {
    let outside: Ipv6Addr = "2001:db8::1".parse().unwrap();
    for mode in [NON_STORING, STORING] {
        let mut network = Network::chain(mode, 6);
        network.settle(600);
        for id in 1..6 {
            let plain = datagram(outside, mesh(id));
            let mut buffer = plain.clone();
            buffer.resize(plain.len() + 400, 0);
            let length = network.encapsulate(&mut buffer, plain.len()).unwrap();
            let next_hop = network.next_hop_of_root(destination(&buffer)).unwrap();
            buffer.truncate(length);
            assert_eq!(next_hop, eui(1));
            network.transmit(0, next_hop, buffer);
            network.run(1_000);
            assert_eq!(network.stations[&id].received.last(), Some(&plain), "{mode:?}: {id}");
        }
        let mut unknown = datagram(outside, mesh(77));
        unknown.resize(600, 0);
        let refused = network.encapsulate(&mut unknown, 55);
        assert_eq!(refused, Err(DataError::NoRoute));
    }
}

/// RFC 9008 section 8.1.2: the root is the source of its own packet. What IPsec covers stays as it was.
#[test]
fn a_packet_of_the_root_has_its_route_in_it_unless_it_is_protected() {
    let mut network = Network::chain(NON_STORING, 6);
    network.settle(600);
    for id in 2..6 {
        for protocol in [next_header::UDP, next_header::AH, next_header::ESP] {
            let mut plain = datagram(mesh(0), mesh(id));
            plain[Header::NEXT_HEADER_AT] = protocol;
            let mut buffer = plain.clone();
            buffer.resize(plain.len() + 400, 0);
            let length = network.encapsulate(&mut buffer, plain.len()).unwrap();
            buffer.truncate(length);
            assert_eq!(buffer[Header::NEXT_HEADER_AT], next_header::ROUTING);
            let is_inside = protocol == next_header::UDP;
            assert_eq!(buffer[Header::LEN], if is_inside { protocol } else { next_header::IPV6 });
            if is_inside {
                assert_eq!(destination(&buffer), mesh(1));
                network.transmit(0, eui(1), buffer);
                network.run(1_000);
                let received = network.station(id).received.pop().expect("a packet");
                assert_eq!(destination(&received), mesh(id));
                assert!(received.ends_with(&plain[Header::LEN..]), "{id}: {received:x?}");
            }
        }
    }
}

#[test]
fn nodes_reach_each_other_over_the_root_or_the_router_above_both() {
    for mode in [NON_STORING, STORING] {
        let mut network = Network::chain(mode, 6);
        network.add_router(6, (60, 60));
        network.settle(600);
        network.run(120_000);
        for (from, to) in [(5, 2), (2, 5), (6, 5), (5, 6), (3, 4)] {
            network.send(from, to, b"across");
            network.run(1_000);
            let received = network.station(to).received.pop().expect("a datagram");
            assert_eq!(Header::parse(&received).unwrap().0.source, mesh(from), "{mode:?}: {from} to {to}");
        }
        assert!(
            network
                .stations
                .values()
                .all(|station| station.refused.iter().all(|error| *error != DataError::Rank))
        );
    }
}

#[test]
fn leaves_are_reached_and_have_no_children() {
    let mut network = Network::chain(NON_STORING, 3);
    network.add_leaf(3, (180, 0));
    network.add_router(4, (240, 0));
    network.settle(300);
    assert_eq!(network.parent(3), Some(2));
    assert_eq!(network.parent(4), None, "a leaf is no way");
    network.send(0, 3, b"down");
    network.run(1_000);
    assert_eq!(network.stations[&3].received.len(), 1);
}

#[test]
fn machines_begin_as_zero_bytes_of_a_size_that_a_microcontroller_has() {
    let _ = sixlock_rpl::SourceRoutes::<[sixlock_rpl::Member; 4]>::NEW;
    let leaf = size_of::<sixlock_rpl::Node<Leaf>>();
    let router = size_of::<sixlock_rpl::Node<Router>>();
    assert!(leaf < 500 && router < 800, "{leaf} and {router} bytes");
}
