//! Hosts that do not speak RPL, below routers that do.

use std::net::Ipv6Addr;

use sixlock_base::Counter;
use sixlock_ipv6::rpl::{ModeOfOperation, Prefix, RplOption, Status, Transit};
use sixlock_ipv6::{Header, next_header};
use sixlock_rpl::{Error, Profile};

use crate::bench::{Bench, OWN, Sent, daos, target, transit};
use crate::data::datagram;
use crate::downward::{dao_to_root, sequence};
use crate::network::{Network, Router, StoringRouter, destination, eui, link_local, mesh, registration};

const NON_STORING: ModeOfOperation = ModeOfOperation::NON_STORING;
const STORING: ModeOfOperation = ModeOfOperation::STORING;

/// A host.
const HOST: u32 = 70;

/// A router that is known to who is to know it.
fn bench<P: Profile>(mode: ModeOfOperation) -> Bench<P> {
    let mut bench = Bench::new(mode);
    bench.meet(1, 128);
    let sent = daos(bench.pass(2_000, true));
    let to = if mode == STORING { link_local(1) } else { mesh(0) };
    bench.dao_ack(to, sequence(sent.last().unwrap()), Status::ACCEPTED).unwrap();
    bench
}

impl<P: Profile> Bench<P> {
    /// These hosts are registered now, by number, transaction id and lifetime in minutes.
    fn register(&mut self, hosts: &[(u32, u8, u16)]) {
        let registered =
            hosts.iter().map(|&(id, transaction, lifetime)| registration(id, transaction, lifetime));
        self.node.take_registered(&mut self.rig.cx(), registered);
    }

    /// Lets time pass; the DAOs about hosts that were sent meanwhile.
    fn external_daos(&mut self, millis: u32) -> Vec<Sent> {
        let is_external =
            |option: &RplOption<'_>| matches!(option, RplOption::Transit(transit) if transit.external);
        daos(self.pass(millis, true))
            .into_iter()
            .filter(|dao| dao.options().iter().any(is_external))
            .collect()
    }

    fn acknowledge(&mut self, dao: &Sent) {
        self.dao_ack(mesh(0), sequence(dao), Status::ACCEPTED).unwrap();
    }
}

#[test]
fn the_root_is_told_of_a_host_in_either_mode_as_outside_of_rpl_with_its_router_as_parent() {
    fn tells<P: Profile>(mode: ModeOfOperation) {
        for (minutes, lifetime) in [(60, 30), (5, 5)] {
            let mut bench = bench::<P>(mode);
            bench.register(&[(HOST, 241, minutes)]);
            let sent = bench.external_daos(2_000);
            let [dao] = &sent[..] else { panic!("{mode:?}: {} DAOs", sent.len()) };
            assert_eq!((dao.source, dao.destination), (mesh(OWN), mesh(0)), "{mode:?}");
            let [RplOption::Target { prefix, .. }, RplOption::Transit(transit)] = dao.options()[..] else {
                panic!("{mode:?}");
            };
            assert_eq!(prefix, Prefix::host(mesh(HOST)));
            let expected = Transit {
                external: true,
                invalidate: false,
                path_control: 0x80,
                path_sequence: 241,
                path_lifetime: lifetime,
                parent: Some(mesh(OWN)),
            };
            assert_eq!(transit, expected, "{mode:?}");
            bench.acknowledge(dao);
            assert_eq!(bench.external_daos(60_000).len(), 0, "{mode:?}: it is known");
        }
    }
    tells::<Router>(NON_STORING);
    tells::<StoringRouter>(STORING);
}

#[test]
fn a_host_is_told_anew_before_its_lifetime_is_over_and_when_it_registers_anew_and_withdrawn_when_it_is_no_more()
 {
    let mut bench = bench::<Router>(NON_STORING);
    bench.register(&[(HOST, 241, 60)]);
    let sent = bench.external_daos(2_000);
    bench.acknowledge(&sent[0]);
    let began = bench.now();
    let again =
        std::iter::repeat_with(|| bench.external_daos(1_000)).find_map(|mut sent| sent.pop()).unwrap();
    assert_eq!(again.targets(), [(HOST, 30, 241)]);
    assert!((450_000..=901_000).contains(&bench.now().since(began).millis()), "of half an hour");
    bench.acknowledge(&again);
    bench.register(&[(HOST, 241, 40)]);
    assert_eq!(bench.external_daos(10_000).len(), 0, "nothing has changed");
    bench.register(&[(HOST, 242, 60)]);
    let sent = bench.external_daos(2_000);
    assert_eq!(sent[0].targets(), [(HOST, 30, 242)]);
    bench.acknowledge(&sent[0]);
    bench.register(&[]);
    let sent = bench.external_daos(2_000);
    assert_eq!((sent[0].targets(), bench.node.external_count()), (vec![(HOST, 0, 242)], 0));
    bench.acknowledge(&sent[0]);
    assert_eq!(bench.external_daos(3_600_000).len(), 0, "it is forgotten");
}

#[test]
fn who_joins_or_is_asked_tells_of_its_hosts_again() {
    let mut bench = Bench::<Router>::new(NON_STORING);
    bench.register(&[(HOST, 241, 60)]);
    assert_eq!(bench.external_daos(10_000).len(), 0, "it is in no DODAG");
    bench.meet(1, 128);
    let sent = bench.external_daos(2_000);
    assert_eq!(sent[0].targets(), [(HOST, 30, 241)]);
    bench.acknowledge(&sent[0]);
    // The root asks for DAOs.
    let dio = sixlock_ipv6::rpl::Message::Dio(sixlock_ipv6::rpl::Dio { dtsn: 241, ..bench.dio_of(128) });
    bench.hear(1, &dio, &[RplOption::Configuration(crate::bench::configuration())]).unwrap();
    assert_eq!(bench.external_daos(2_000)[0].targets(), [(HOST, 30, 241)]);
}

#[test]
fn both_daos_of_a_router_are_acknowledged_each_by_its_own_sequence() {
    let mut bench = Bench::<Router>::new(NON_STORING);
    bench.register(&[(HOST, 241, 60)]);
    bench.meet(1, 128);
    let sent = daos(bench.pass(2_000, true));
    let [one, other] = &sent[..] else { panic!("{} DAOs", sent.len()) };
    assert_ne!(sequence(one), sequence(other));
    for dao in [one, other] {
        bench.acknowledge(dao);
        assert_eq!(bench.dao_ack(mesh(0), sequence(dao), Status::ACCEPTED), Err(Error::Stale));
    }
    let more = daos(bench.pass(400_000, true));
    assert_eq!(more.iter().map(Sent::targets).collect::<Vec<_>>(), [[]; 0]);
}

#[test]
fn a_rejected_host_is_told_again_a_minute_later_and_its_router_keeps_its_parent() {
    let mut bench = bench::<Router>(NON_STORING);
    bench.meet(2, 200);
    bench.register(&[(HOST, 241, 60)]);
    let sent = bench.external_daos(2_000);
    bench.dao_ack(mesh(0), sequence(&sent[0]), Status::REJECTED).unwrap();
    assert_eq!(bench.parent(), Some(1));
    assert_eq!(bench.external_daos(50_000).len(), 0);
    assert_eq!(bench.external_daos(12_000)[0].targets(), [(HOST, 30, 241)]);
}

#[test]
fn a_host_for_which_a_router_has_no_room_is_not_told_until_another_is_no_more() {
    let mut bench = bench::<Router>(NON_STORING);
    let all: Vec<(u32, u8, u16)> = (0..5).map(|n| (HOST + n, 241, 60)).collect();
    bench.register(&all);
    assert_eq!((bench.node.external_count(), bench.count(Counter::RplRoutesFull)), (4, 1));
    let mut told = Vec::new();
    for _ in 0..2 {
        let sent = bench.external_daos(2_000);
        let [dao] = &sent[..] else { panic!("{} DAOs", sent.len()) };
        assert!(dao.bytes.len() <= 200);
        told.extend(dao.targets().into_iter().map(|(id, ..)| id));
        bench.acknowledge(dao);
    }
    assert_eq!(told, [HOST, HOST + 1, HOST + 2, HOST + 3]);
    // The place of one that is no more is free once the root knows, or another needs it.
    bench.register(&all[1..]);
    bench.register(&all[1..]);
    assert_eq!(bench.node.external_count(), 4);
    assert_eq!(bench.external_daos(2_000)[0].targets(), [(HOST + 4, 30, 241)]);
}

/// A chain of three routers, at the last of which a host is registered.
fn network(mode: ModeOfOperation) -> Network {
    let mut network = Network::chain(mode, 4);
    network.add_router(4, (60, 60));
    network.settle(600);
    network.register(3, &[(HOST, 241)]);
    network.run(10_000);
    network
}

/// Sends a packet from outside to the host; what its router `router` has handed over then.
fn send_down(network: &mut Network, router: u32) -> Option<Vec<u8>> {
    let plain = datagram(outside(), mesh(HOST));
    let mut buffer = plain.clone();
    buffer.resize(plain.len() + 400, 0);
    let length = network.encapsulate(&mut buffer, plain.len()).ok()?;
    buffer.truncate(length);
    let next_hop = network.next_hop_of_root(destination(&buffer)).unwrap();
    network.transmit(0, next_hop, buffer);
    network.run(1_000);
    network.station(router).handed_over.pop()
}

fn outside() -> Ipv6Addr {
    "2001:db8::1".parse().unwrap()
}

/// The packet, but for its hop limit.
fn with_hop_limit_of(packet: &[u8], other: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    packet[Header::HOP_LIMIT_AT] = other[Header::HOP_LIMIT_AT];
    packet
}

#[test]
fn a_host_gets_packets_from_outside_as_they_were_and_its_own_reach_the_root_as_they_were() {
    for mode in [NON_STORING, STORING] {
        let mut network = network(mode);
        network.stations.values_mut().for_each(|station| station.refused.clear());
        let plain = datagram(outside(), mesh(HOST));
        let got = send_down(&mut network, 3).unwrap_or_else(|| panic!("{mode:?}"));
        assert_eq!(got, with_hop_limit_of(&plain, &got), "{mode:?}");
        // Up: to the root itself, so that it shows.
        let plain = datagram(mesh(HOST), mesh(0));
        network.send_of_host(3, HOST, plain.clone());
        network.run(1_000);
        let got = network.station(0).received.pop().unwrap_or_else(|| panic!("{mode:?}"));
        assert_eq!(got, with_hop_limit_of(&plain, &got), "{mode:?}");
        assert_eq!(got[Header::NEXT_HEADER_AT], next_header::UDP, "{mode:?}: no option went into it");
        let refused: Vec<_> = network.stations.values().flat_map(|station| &station.refused).collect();
        assert!(refused.is_empty(), "{mode:?}: {refused:?}");
    }
}

#[test]
fn hosts_and_nodes_reach_each_other() {
    for mode in [NON_STORING, STORING] {
        let mut network = network(mode);
        network.register(4, &[(HOST + 1, 241)]);
        network.run(10_000);
        // Of a node, and to nodes: above its router, beside it, and the router itself.
        for from in [1, 2, 3, 4] {
            if from != 3 {
                network.send(from, HOST, b"to a host");
                network.run(1_000);
                let got = network.station(3).handed_over.pop();
                assert_eq!(
                    got.map(|got| Header::parse(&got).unwrap().0.source),
                    Some(mesh(from)),
                    "{mode:?}"
                );
                network.send_of_host(3, HOST, datagram(mesh(HOST), mesh(from)));
                network.run(1_000);
                let got = network.station(from).received.pop();
                assert_eq!(
                    got.map(|got| Header::parse(&got).unwrap().0.source),
                    Some(mesh(HOST)),
                    "{mode:?}"
                );
            }
        }
        // Of a host, to one below another router.
        network.send_of_host(3, HOST, datagram(mesh(HOST), mesh(HOST + 1)));
        network.run(1_000);
        let got = network.station(4).handed_over.pop().unwrap_or_else(|| panic!("{mode:?}"));
        let plain = datagram(mesh(HOST), mesh(HOST + 1));
        assert_eq!(got, with_hop_limit_of(&plain, &got), "{mode:?}");
    }
}

#[test]
fn a_host_that_moves_is_reached_by_its_new_router_whatever_the_old_one_says() {
    for mode in [NON_STORING, STORING] {
        let mut network = network(mode);
        network.register(4, &[(HOST, 242)]);
        network.run(10_000);
        assert!(send_down(&mut network, 4).is_some(), "{mode:?}");
        // The old one tells of it still, and then that it is no more.
        network.refresh();
        network.run(120_000);
        assert!(send_down(&mut network, 4).is_some(), "{mode:?}");
        network.register(3, &[]);
        network.run(10_000);
        assert!(send_down(&mut network, 4).is_some(), "{mode:?}");
        network.register(4, &[]);
        network.run(10_000);
        assert_eq!(send_down(&mut network, 4), None, "{mode:?}: it is withdrawn");
    }
}

#[test]
fn the_route_to_a_host_ends_when_its_router_is_no_more_and_outlives_a_reboot_of_the_root() {
    for mode in [NON_STORING, STORING] {
        let mut network = network(mode);
        network.reboot(0);
        network.settle(600);
        network.run(120_000);
        assert!(send_down(&mut network, 3).is_some(), "{mode:?}");
        let known = network.node_count();
        network.station(3).is_on = false;
        network.run(3_600_000);
        assert_eq!(network.node_count(), known - 2, "{mode:?}: neither router nor host");
    }
}

/// What a router says of a host.
fn way(router: u32, sequence: u8, lifetime: u8) -> RplOption<'static> {
    RplOption::Transit(Transit { external: true, parent: Some(mesh(router)), ..transit(sequence, lifetime) })
}

#[test]
fn a_root_believes_of_hosts_what_their_routers_may_say() {
    for mode in [NON_STORING, STORING] {
        let mut network = Network::chain(mode, 3);
        network.settle(600);
        let mut tell = |source, options: [RplOption<'_>; 2]| dao_to_root(&mut network, source, &options);
        assert_eq!(tell(2, [target(2), way(2, 240, 30)]), Err(Error::Target), "itself");
        assert_eq!(tell(2, [target(HOST), way(1, 240, 30)]), Err(Error::Target), "in the name of another");
        assert_eq!(tell(2, [target(0), way(2, 240, 30)]), Err(Error::Target), "the root");
        assert_eq!(tell(2, [target(1), way(2, 250, 30)]), Err(Error::Target), "a node that speaks RPL");
        assert_eq!(tell(2, [target(HOST), way(2, 240, 30)]), Ok(()));
        assert_eq!(tell(1, [target(HOST), way(1, 239, 30)]), Err(Error::Stale), "older");
        assert_eq!(tell(1, [target(HOST), way(1, 250, 0)]), Ok(()), "not its own to withdraw");
        assert_eq!((network.node_count(), network.next_hop_of_root(mesh(HOST))), (3, Some(eui(1))));
    }
}

#[test]
fn hosts_fill_the_graph_but_keep_no_node_out() {
    let mut network = Network::new(1, NON_STORING);
    network.add_root((0, 0));
    let node = |id| {
        let parent = if id == 1 { 0 } else { 1 };
        [target(id), RplOption::Transit(Transit { parent: Some(mesh(parent)), ..transit(240, 30) })]
    };
    dao_to_root(&mut network, 1, &node(1)).unwrap();
    for host in 0..63 {
        dao_to_root(&mut network, 1, &[target(100 + host), way(1, 240, 30)]).unwrap();
    }
    assert_eq!(dao_to_root(&mut network, 1, &[target(200), way(1, 240, 30)]), Err(Error::Full));
    assert_eq!(network.count(0, Counter::RplRoutesFull), 1);
    for id in 2..65 {
        assert_eq!(dao_to_root(&mut network, id, &node(id)), Ok(()));
    }
    assert_eq!(dao_to_root(&mut network, 65, &node(65)), Err(Error::Full), "they are all nodes");
    // A host that comes to speak RPL is a node, whatever its registration was.
    let mut network = Network::new(1, NON_STORING);
    network.add_root((0, 0));
    dao_to_root(&mut network, 1, &node(1)).unwrap();
    dao_to_root(&mut network, 1, &[target(2), way(1, 250, 30)]).unwrap();
    assert_eq!(dao_to_root(&mut network, 2, &node(2)), Ok(()));
    assert_eq!(dao_to_root(&mut network, 1, &[target(2), way(1, 251, 30)]), Err(Error::Target));
}
