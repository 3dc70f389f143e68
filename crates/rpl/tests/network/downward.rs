//! DAOs, what becomes of them, and how routes are cleaned up.

use core::cmp::Ordering;

use sixlock_base::{Counter, lollipop};
use sixlock_ipv6::rpl::{
    Configuration, Dao, Dco, Dio, INFINITE_LIFETIME, INFINITE_RANK, Message, ModeOfOperation, Prefix,
    RplOption, Status, Transit,
};
use sixlock_rpl::{Error, Event};

use crate::bench::{Bench, OWN, Sent, built, configuration, daos, is_dio, reaches, target, transit};
use crate::network::{Network, Router, StoringRouter, eui, link_local, mesh};

const NON_STORING: ModeOfOperation = ModeOfOperation::NON_STORING;
const STORING: ModeOfOperation = ModeOfOperation::STORING;

/// A router in non-storing mode that has told the root of itself.
fn router() -> Bench<Router> {
    let mut bench = Bench::new(NON_STORING);
    bench.meet(1, 128);
    bench
}

/// A router in storing mode that has told its parent of itself.
fn storing() -> Bench<StoringRouter> {
    let mut bench = Bench::new(STORING);
    bench.meet(1, 128);
    let sent = daos(bench.pass(2_000, true));
    acknowledge(&mut bench, &sent);
    bench.events();
    bench
}

pub(crate) fn sequence(sent: &Sent) -> u8 {
    match sent.message() {
        Message::Dao(dao) => dao.sequence,
        Message::Dco(dco) => dco.sequence,
        message => panic!("{message:?}"),
    }
}

fn acknowledge(bench: &mut Bench<StoringRouter>, sent: &[Sent]) {
    let parent = link_local(bench.parent().unwrap());
    bench.dao_ack(parent, sequence(sent.last().unwrap()), Status::ACCEPTED).unwrap();
}

#[test]
fn in_non_storing_mode_the_root_is_told_of_the_parent() {
    let mut bench = router();
    let sent = daos(bench.pass(2_000, true));
    let [dao] = &sent[..] else { panic!("{} DAOs", sent.len()) };
    assert_eq!((dao.source, dao.destination), (mesh(OWN), mesh(0)));
    let [RplOption::Target { prefix, .. }, RplOption::Transit(transit)] = dao.options()[..] else { panic!() };
    assert_eq!((prefix, transit.parent), (Prefix::host(mesh(OWN)), Some(mesh(1))));
    assert_eq!((transit.path_lifetime, transit.invalidate), (30, false));
}

/// Mistake 11: a DAO is not sent for ever, whatever its lifetime (contiki-ng#1086), and only its own sequence acknowledges it (#498).
#[test]
fn a_dao_that_nobody_acknowledges_is_sent_four_times_and_then_rarely() {
    for default_lifetime in [30, INFINITE_LIFETIME] {
        let mut bench = Bench::<Router>::new(NON_STORING);
        let configuration = Configuration { default_lifetime, ..configuration() };
        let dio = Message::Dio(bench.dio_of(128));
        bench.hear(1, &dio, &[RplOption::Configuration(configuration)]).unwrap();
        bench.outcome(1, true);
        let sent = daos(bench.pass(60_000, true));
        assert_eq!(sent.len(), 4);
        assert!(sent.iter().all(|dao| sequence(dao) == sequence(&sent[0])), "the same DAO");
        let wrong = bench.dao_ack(mesh(0), sequence(&sent[0]).wrapping_add(1), Status::ACCEPTED);
        assert_eq!(wrong, Err(Error::Stale));
        let hour = daos(bench.pass(3_600_000, true)).len();
        assert!((8..=4 * 60).contains(&hour), "{hour}");
        let last = daos(bench.pass(130_000, true));
        bench.dao_ack(mesh(0), sequence(last.last().unwrap()), Status::ACCEPTED).unwrap();
        let hour = daos(bench.pass(3_600_000, true));
        // Half an hour's lifetime is told again; one without an end never, but those are answers that never came.
        let begun: std::collections::BTreeSet<u8> = hour.iter().map(sequence).collect();
        assert_eq!(begun.is_empty(), default_lifetime == INFINITE_LIFETIME, "{begun:?}");
    }
}

/// The number that asks for DAOs, as it was told last.
fn dtsn(sent: &[Sent]) -> Option<u8> {
    sent.iter().rev().find_map(|sent| match sent.message() {
        Message::Dio(dio) => Some(dio.dtsn),
        _ => None,
    })
}

/// Who sleeps hears no DIO to all, and is told alone.
#[test]
fn what_a_neighbour_that_sleeps_is_to_know_has_another_number_when_it_changes() {
    let mut bench = Bench::<Router>::new(NON_STORING);
    assert_eq!(bench.node.advertised(), None);
    bench.meet(1, 128);
    let first = bench.node.advertised();
    assert!(first.is_some());
    bench.pass(60_000, true);
    assert_eq!(bench.node.advertised(), first);
    let dio = Dio { dtsn: 241, ..bench.dio_of(128) };
    bench.hear(1, &Message::Dio(dio), &[]).unwrap();
    let asks = bench.node.advertised();
    assert_ne!(asks, first);
    bench.pass(60_000, true);
    assert!(bench.node.advertise_to(&eui(9)) && bench.node.advertise_to(&eui(9)));
    assert!(bench.node.advertise_to(&eui(8)) && !bench.node.advertise_to(&eui(7)), "two at a time");
    let sent = bench.pass(10, true);
    for id in [8, 9] {
        let dios = sent.iter().filter(|sent| sent.destination == link_local(id) && is_dio(sent));
        assert_eq!(dios.count(), 1);
    }
    bench.dio(1, INFINITE_RANK).unwrap();
    assert!(bench.is_detached() && bench.node.advertised() != asks);
}

/// Mistake 15: in non-storing mode only the root raises the number that asks for DAOs (contiki#1949).
#[test]
fn who_changes_its_parent_asks_for_daos_only_where_routes_are_stored() {
    let mut bench = router();
    bench.meet(1, 512);
    let before = dtsn(&bench.pass(10_000, true)).unwrap();
    bench.meet(2, 128);
    assert_eq!(dtsn(&bench.pass(10_000, true)), Some(before));
    // The parent's own number is handed on.
    let dio = Dio { dtsn: 241, ..bench.dio_of(128) };
    bench.hear(2, &Message::Dio(dio), &[]).unwrap();
    assert_ne!(dtsn(&bench.pass(10_000, true)), Some(before));
    let mut bench = storing();
    bench.dao(5, 1, &reaches(5, 240, 30)).unwrap();
    let before = dtsn(&bench.pass(10_000, true)).unwrap();
    bench.dio(1, 512).unwrap();
    bench.meet(2, 128);
    assert_eq!(bench.parent(), Some(2));
    assert_ne!(dtsn(&bench.pass(10_000, true)), Some(before));
}

/// One below that has not heard that its router was alone for a moment goes on, and is reached by older ways only: they have the path
/// sequence that it told.
#[test]
fn who_joins_again_asks_those_who_stayed_below_it_for_daos() {
    let mut bench = storing();
    bench.dao(5, 1, &reaches(5, 240, 30)).unwrap();
    let before = dtsn(&bench.pass(10_000, true)).unwrap();
    bench.dio(1, INFINITE_RANK).unwrap();
    assert!(bench.is_detached());
    bench.pass(10_000, true);
    bench.meet(2, 128);
    assert_eq!((bench.parent(), bench.node.route_count()), (Some(2), 1));
    assert_ne!(dtsn(&bench.pass(10_000, true)), Some(before));
}

/// Its routes over a node below it are no more when it takes that for its parent. Whoever stayed below it believes that it is known.
#[test]
fn who_took_a_node_below_it_for_its_parent_asks_for_daos_when_it_has_another() {
    let mut bench = storing();
    bench.dao(5, 1, &reaches(5, 240, 30)).unwrap();
    bench.dio(1, 1024).unwrap();
    bench.meet(5, 512);
    assert_eq!((bench.parent(), bench.node.route_count()), (Some(5), 0));
    let before = dtsn(&bench.pass(10_000, true)).unwrap();
    bench.meet(2, 128);
    assert_eq!(bench.parent(), Some(2));
    assert_ne!(dtsn(&bench.pass(10_000, true)), Some(before));
}

/// Mistake 10: a DAO names those below as well as its sender (RIOT#8126).
#[test]
fn a_storing_router_tells_its_parent_of_those_below_it() {
    let mut bench = storing();
    for id in 5..12 {
        bench.dao(id, 1, &reaches(id, 240, 30)).unwrap();
    }
    assert_eq!(bench.node.next_hop(mesh(7)), Some(eui(7)));
    assert_eq!(bench.node.route_count(), 7);
    let mut told = Vec::new();
    for _ in 0..3 {
        let sent = daos(bench.pass(2_000, true));
        let Some(last) = sent.last() else { break };
        told.extend(last.targets().iter().map(|(id, ..)| *id));
        acknowledge(&mut bench, &sent);
    }
    assert_eq!(told, [5, 6, 7, 8, 9, 10, 11]);
    assert!(daos(bench.pass(60_000, true)).is_empty(), "all of it is known");
    assert_eq!(bench.events(), [Event::RoutesChanged]);
    // A new parent is told all of it, and of the router first.
    bench.dio(1, 900).unwrap();
    bench.meet(2, 128);
    let sent = daos(bench.pass(2_000, true));
    let first = sent.last().unwrap();
    assert_eq!(first.destination, link_local(2));
    assert_eq!(first.targets().iter().map(|(id, ..)| *id).collect::<Vec<_>>(), [OWN, 5, 6, 7, 8]);
}

/// Mistake 10: No-Path is passed on (contiki#114), and only by whom the route goes.
#[test]
fn a_route_that_is_no_more_is_forgotten_and_the_parent_told() {
    let mut bench = storing();
    bench.dao(5, 1, &reaches(5, 240, 30)).unwrap();
    bench.dao(5, 2, &reaches(6, 240, 30)).unwrap();
    let sent = daos(bench.pass(2_000, true));
    acknowledge(&mut bench, &sent);
    bench.dao(9, 1, &reaches(6, 241, 0)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(6)), Some(eui(5)), "it is not the route by 9");
    bench.dao(5, 3, &reaches(6, 239, 0)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(6)), Some(eui(5)), "it is older than the route");
    bench.dao(5, 3, &reaches(6, 241, 0)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(6)), Some(eui(1)), "upwards");
    let sent = daos(bench.pass(2_000, true));
    assert_eq!(sent.last().unwrap().targets(), [(6, 0, 241)]);
    acknowledge(&mut bench, &sent);
    assert!(daos(bench.pass(60_000, true)).is_empty());
    assert_eq!(bench.node.route_count(), 1);
}

#[test]
fn routes_end_with_their_lifetime_and_with_a_next_hop_that_does_not_answer() {
    let mut bench = storing();
    bench.dao(5, 1, &reaches(5, 240, 2)).unwrap();
    bench.dao(6, 1, &reaches(6, 240, 200)).unwrap();
    bench.dao(6, 2, &reaches(7, 240, INFINITE_LIFETIME)).unwrap();
    let sent = daos(bench.pass(2_000, true));
    acknowledge(&mut bench, &sent);
    bench.pass(117_000, true);
    assert_eq!(bench.node.route_count(), 3);
    let sent = daos(bench.pass(4_000, true));
    assert_eq!(sent.last().unwrap().targets(), [(5, 0, 240)]);
    acknowledge(&mut bench, &sent);
    bench.outcome(6, false);
    bench.outcome(6, false);
    bench.outcome(6, true);
    bench.outcome(6, false);
    bench.outcome(6, false);
    assert_eq!(bench.node.route_count(), 2);
    bench.outcome(6, false);
    assert_eq!(bench.node.route_count(), 0);
    let sent = daos(bench.pass(2_000, true));
    assert_eq!(sent.last().unwrap().targets(), [(6, 0, 240), (7, 0, 240)]);
}

/// RFC 9009: who finds that a node has moved cleans up its old way.
#[test]
fn a_router_tells_of_itself_in_time_however_often_those_below_it_do() {
    let mut bench = storing();
    let mut told = Vec::new();
    for minute in 0..120_u32 {
        // A child that tells of itself each minute.
        bench.dao(6, minute as u8 % 128, &reaches(6, 128 + minute as u8 % 128, 200)).unwrap();
        for _ in 0..20 {
            let sent = daos(bench.pass(3_000, true));
            if !sent.is_empty() {
                acknowledge(&mut bench, &sent);
            }
            let is_told = sent.iter().any(|dao| dao.targets().iter().any(|&(target, ..)| target == OWN));
            told.extend(is_told.then_some(minute));
        }
    }
    let longest = told.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest.is_some_and(|minutes| minutes < 30) && told[0] < 30, "{told:?}");
}

/// A route that comes while a DAO is under way is told in the next one: the acknowledgement is not of it.
#[test]
fn a_dao_that_is_sent_again_tells_of_the_same() {
    let mut bench = storing();
    bench.dao(4, 1, &reaches(4, 240, 200)).unwrap();
    let sent = daos(bench.pass(2_000, true));
    acknowledge(&mut bench, &sent);
    for target in [5, 6, 7, 8] {
        bench.dao(target, 1, &reaches(target, 240, 200)).unwrap();
    }
    let first = daos(bench.pass(2_000, true));
    bench.dao(4, 2, &reaches(4, 241, 200)).unwrap();
    let again = daos(bench.pass(10_000, true));
    assert!(
        again.iter().all(|dao| dao.targets() == first[0].targets() && sequence(dao) == sequence(&first[0]))
    );
    acknowledge(&mut bench, &again);
    let next = daos(bench.pass(3_000, true));
    assert_eq!(next.last().unwrap().targets(), [(4, 200, 241)]);
}

#[test]
fn those_behind_a_next_hop_that_does_not_answer_are_asked_to_tell_of_themselves_again() {
    let mut bench = storing();
    bench.dao(6, 240, &reaches(6, 240, 30)).unwrap();
    let before = dtsn(&bench.pass(600_000, true)).unwrap();
    (0..3).for_each(|_| bench.outcome(6, false));
    assert_eq!(bench.node.route_count(), 0);
    assert_ne!(dtsn(&bench.pass(600_000, true)), Some(before));
}

#[test]
fn a_newer_way_takes_the_place_of_the_old_one_which_is_cleaned_up() {
    let mut bench = storing();
    bench.dao(5, 1, &reaches(9, 240, 30)).unwrap();
    bench.pass(2_000, true);
    // Neither older news nor the same ones by another way move it.
    bench.dao(6, 1, &reaches(9, 239, 30)).unwrap();
    bench.pass(0, true);
    bench.dao(6, 2, &reaches(9, 240, 30)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(9)), Some(eui(5)));
    bench.dao(6, 3, &reaches(9, 241, 30)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(9)), Some(eui(6)));
    let sent = bench.pass(0, true);
    let dco = sent.iter().find(|sent| matches!(sent.message(), Message::Dco(_))).unwrap();
    assert_eq!((dco.destination, dco.targets()), (link_local(5), vec![(9, 0, 241)]));
    // Who does not ask for it (its transit information has no I flag) is not cleaned up after.
    let plain = Transit { invalidate: false, ..transit(242, 30) };
    bench.dao(7, 1, &[target(9), RplOption::Transit(plain)]).unwrap();
    assert!(!bench.pass(0, true).iter().any(|sent| matches!(sent.message(), Message::Dco(_))));
}

/// What is left of an old way in a part of the network that comes back is cleaned up as soon as it is told, wherever it goes on.
#[test]
fn a_way_that_is_older_than_what_is_known_is_cleaned_up() {
    let cleaned = |bench: &mut Bench<StoringRouter>| {
        let sent = bench.pass(0, true);
        let dcos = sent.iter().filter(|sent| matches!(sent.message(), Message::Dco(_)));
        dcos.map(|dco| (dco.destination, dco.targets())).collect::<Vec<_>>()
    };
    let mut bench = storing();
    bench.dao(5, 1, &reaches(9, 5, 30)).unwrap();
    assert_eq!(cleaned(&mut bench), []);
    bench.dao(6, 1, &reaches(9, 245, 30)).unwrap();
    assert_eq!(cleaned(&mut bench), [(link_local(6), vec![(9, 0, 5)])]);
    assert_eq!(bench.node.next_hop(mesh(9)), Some(eui(5)));
    // It is not known which is older, or the way is the same, or the node itself tells it: it knows.
    bench.dao(6, 2, &reaches(9, 5, 30)).unwrap();
    bench.dao(9, 1, &reaches(9, 4, 30)).unwrap();
    assert_eq!(cleaned(&mut bench), []);
    // A route that is no more is no way that is known.
    bench.dao(5, 2, &reaches(9, 5, 0)).unwrap();
    bench.dao(6, 3, &reaches(9, 4, 30)).unwrap();
    assert_eq!(cleaned(&mut bench), []);
}

/// A next hop that has rebooted knows nothing of the sequence that this router has heard, and takes an older one. It is not to lose by a
/// cleanup the only way that there is.
#[test]
fn an_older_way_by_the_same_next_hop_is_taken_and_told() {
    let mut bench = storing();
    bench.dao(5, 1, &reaches(9, 242, 30)).unwrap();
    let sent = daos(bench.pass(2_000, true));
    acknowledge(&mut bench, &sent);
    bench.dao(5, 1, &reaches(9, 8, 30)).unwrap();
    let sent = bench.pass(2_000, true);
    assert!(!sent.iter().any(|sent| matches!(sent.message(), Message::Dco(_))));
    assert_eq!(bench.node.next_hop(mesh(9)), Some(eui(5)));
    assert_eq!(daos(sent)[0].targets(), vec![(9, 30, 8)]);
    // A route that was taken away meanwhile is not.
    bench.dao(5, 2, &reaches(9, 9, 0)).unwrap();
    bench.dao(5, 3, &reaches(9, 8, 30)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(9)), Some(eui(1)));
}

/// In a network that repairs itself, nodes are asked again and again. What they said last must not become too old, meanwhile, to be
/// compared with what they say next.
#[test]
fn a_path_sequence_that_nobody_was_told_of_is_not_left_out() {
    let mut bench: Bench<StoringRouter> = Bench::new(STORING);
    bench.meet(1, 128);
    let path_sequence = |sent: &Sent| sent.targets().iter().find(|(id, ..)| *id == OWN).unwrap().2;
    let sent = daos(bench.pass(2_000, true));
    let first = path_sequence(sent.last().unwrap());
    acknowledge(&mut bench, &sent);
    for dtsn in 241..=255 {
        let dio = Dio { dtsn, ..bench.dio_of(128) };
        bench.hear(1, &Message::Dio(dio), &[]).unwrap();
    }
    let sent = daos(bench.pass(2_000, true));
    assert_eq!(path_sequence(sent.last().unwrap()), first + 1);
    acknowledge(&mut bench, &sent);
    // Another parent is told by the next.
    bench.dio(1, 900).unwrap();
    bench.meet(2, 128);
    let sent = daos(bench.pass(2_000, true));
    assert_eq!((sent[0].destination, path_sequence(&sent[0])), (link_local(2), first + 2));
}

/// Mistake 9: what replaces No-Path comes from a lower rank (contiki-ng#2385), is acted on at once (#2386), and is passed on.
#[test]
fn a_cleanup_from_above_takes_the_route_at_once_and_goes_on() {
    let dco =
        |wants_ack| Message::Dco(Dco { instance: 0, wants_ack, status: Status(0), sequence: 4, dodag: None });
    let mut bench = storing();
    bench.dao(5, 1, &reaches(9, 240, 30)).unwrap();
    bench.dao(6, 1, &reaches(6, 240, 30)).unwrap();
    let sent = daos(bench.pass(2_000, true));
    acknowledge(&mut bench, &sent);
    let hear = |bench: &mut Bench<StoringRouter>, from, options: &[RplOption<'_>]| {
        bench.hear_at(link_local(from), link_local(OWN), &dco(true), options)
    };
    assert_eq!(hear(&mut bench, 5, &reaches(9, 241, 0)), Err(Error::Address), "from below");
    assert_eq!(hear(&mut bench, 77, &reaches(9, 241, 0)), Err(Error::Address), "from a stranger");
    hear(&mut bench, 1, &reaches(9, 240, 0)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(9)), Some(eui(5)), "it is not newer than the route");
    hear(&mut bench, 1, &reaches(9, 241, 0)).unwrap();
    assert_eq!(bench.node.next_hop(mesh(9)), Some(eui(1)));
    let sent = bench.pass(0, true);
    let acks = sent.iter().filter_map(|sent| match sent.message() {
        Message::DcoAck(ack) => Some((ack.sequence, ack.status)),
        _ => None,
    });
    assert_eq!(acks.collect::<Vec<_>>(), [(4, Status::NO_ROUTING_ENTRY), (4, Status::ACCEPTED)]);
    let on = sent.iter().find(|sent| matches!(sent.message(), Message::Dco(_))).unwrap();
    assert_eq!((on.destination, on.targets()), (link_local(5), vec![(9, 0, 241)]));
    // The target itself is not told, and neither is the parent, which knows.
    hear(&mut bench, 1, &reaches(6, 241, 0)).unwrap();
    let sent = bench.pass(10_000, true);
    assert!(!sent.iter().any(|sent| matches!(sent.message(), Message::Dco(_) | Message::Dao(_))));
}

/// Mistake 1: a DAO without a target is not one of ::/0, nor is a target of no bits (contiki-ng#3243).
#[test]
fn daos_that_name_no_node_are_refused() {
    let prefix =
        |address, length| RplOption::Target { prefix: Prefix::new(address, length).unwrap(), flags: 0 };
    let way = RplOption::Transit(transit(240, 30));
    let outside = "2001:db8::1".parse().unwrap();
    for options in [
        &[][..],
        &[way],
        &[target(5)],
        &[prefix(mesh(5), 0), way],
        &[prefix(mesh(5), 64), way],
        &[prefix(mesh(5), 127), way],
        &[prefix(outside, 128), way],
        &[target(5), way, target(6)],
        &[target(5), prefix(outside, 128), way],
    ] {
        let mut bench = storing();
        assert_eq!(bench.dao(5, 1, options), Err(Error::Target), "{options:?}");
        assert_eq!(bench.node.route_count(), 0, "{options:?}");
    }
    let mut bench = storing();
    bench.dao(5, 1, &[target(5), target(6), way, target(7), RplOption::Transit(transit(250, 9))]).unwrap();
    assert_eq!(bench.node.route_count(), 3);
    assert_eq!(bench.dao(5, 1, &reaches(OWN, 240, 30)), Ok(()), "it is no news");
    assert_eq!(bench.node.route_count(), 3);
}

#[test]
fn a_dao_of_the_parent_is_a_loop() {
    let mut bench = storing();
    bench.meet(2, 200);
    assert_eq!(bench.dao(1, 1, &reaches(1, 240, 30)), Err(Error::Loop));
    assert_eq!(bench.parent(), Some(2));
}

#[test]
fn a_full_table_rejects_and_who_is_rejected_looks_for_another_parent() {
    let mut bench = storing();
    for id in 200..264 {
        bench.dao(5, 1, &reaches(id, 240, 30)).unwrap();
    }
    bench.pass(10, true);
    assert_eq!(bench.dao(6, 9, &reaches(6, 240, 30)), Err(Error::Full));
    assert_eq!(bench.count(Counter::RplRoutesFull), 1);
    let sent = bench.pass(0, true);
    let ack = sent.iter().find(|sent| sent.destination == link_local(6)).unwrap();
    let Message::DaoAck(ack) = ack.message() else { panic!() };
    assert_eq!((ack.sequence, ack.status), (9, Status::REJECTED));
    // The other way round.
    let mut bench = storing();
    bench.meet(2, 200);
    bench.dao(5, 1, &reaches(5, 240, 30)).unwrap();
    let sent = daos(bench.pass(2_000, true));
    bench.dao_ack(link_local(1), sequence(&sent[0]), Status::REJECTED).unwrap();
    assert_eq!(bench.parent(), Some(2));
    // With nobody else, it stays, and tries again later.
    let mut bench = storing();
    bench.dao(5, 1, &reaches(5, 240, 30)).unwrap();
    let sent = daos(bench.pass(2_000, true));
    bench.dao_ack(link_local(1), sequence(&sent[0]), Status::REJECTED).unwrap();
    assert_eq!(bench.parent(), Some(1));
    assert!(!daos(bench.pass(62_000, true)).is_empty());
}

/// Mistake 12: a node that has rebooted is believed: its path sequence goes on (contiki-ng#372).
#[test]
fn the_path_sequence_of_a_node_that_has_rebooted_is_newer() {
    let mut bench = router();
    let mut last: Option<u8> = None;
    for _ in 0..40 {
        let sent = daos(bench.pass(2_000, true));
        let sequence = sent[0].targets()[0].2;
        if let Some(last) = last {
            assert!(lollipop::may_be_newer(sequence, last), "{sequence} after {last}");
        }
        last = Some(sequence);
        bench.node = sixlock_rpl::Node::new();
        bench.start();
        bench.meet(1, 128);
    }
}

/// Its first sequences are compared with what follows them as those of a node that has none that outlast a reboot.
#[test]
fn a_node_that_reboots_seven_times_before_anybody_hears_of_it_is_newer_all_the_same() {
    for told in 0..20 {
        let mut bench = router();
        let mut last = daos(bench.pass(2_000, true))[0].targets()[0].2;
        // It tells of itself again and again, by each new parent.
        for id in 2..2 + told {
            bench.dio(id - 1, 900).unwrap();
            bench.meet(id, 128);
            last = daos(bench.pass(2_000, true))[0].targets()[0].2;
        }
        for _ in 0..8 {
            bench.node = sixlock_rpl::Node::new();
            bench.start();
        }
        bench.meet(1, 128);
        let sequence = daos(bench.pass(2_000, true))[0].targets()[0].2;
        assert_eq!(lollipop::compare(sequence, last), Some(Ordering::Greater), "{sequence} after {last}");
    }
}

pub(crate) fn dao_to_root(
    network: &mut Network,
    source: u32,
    options: &[RplOption<'_>],
) -> Result<(), Error> {
    let dao = Message::Dao(Dao { instance: 0, wants_ack: false, sequence: 1, dodag: None });
    let bytes = built(mesh(source), mesh(0), &dao, options);
    network.handle(0, mesh(source), mesh(0), &bytes)
}

/// Mistake 1: one DAO does not fill the graph: it speaks for its sender alone.
#[test]
fn a_dao_to_the_root_speaks_for_its_sender_alone() {
    let mut network = Network::new(1, NON_STORING);
    network.add_root((0, 0));
    let by = |parent, sequence, lifetime| {
        RplOption::Transit(Transit { parent: Some(mesh(parent)), ..transit(sequence, lifetime) })
    };
    let all: Vec<_> = (1..40).map(target).chain([by(0, 240, INFINITE_LIFETIME)]).collect();
    assert_eq!(dao_to_root(&mut network, 1, &all), Err(Error::Target));
    assert_eq!(network.node_count(), 1, "itself");
    assert_eq!(dao_to_root(&mut network, 2, &[target(3), by(0, 240, 30)]), Err(Error::Target));
    assert_eq!(
        dao_to_root(&mut network, 2, &[target(2), by(2, 240, 30)]),
        Err(Error::Target),
        "its own parent"
    );
    assert_eq!(dao_to_root(&mut network, 2, &reaches(2, 240, 30)), Err(Error::Target), "no parent");
    assert_eq!(dao_to_root(&mut network, 0, &[target(0), by(1, 240, 30)]), Err(Error::Address), "the root");
    assert_eq!(dao_to_root(&mut network, 2, &[target(2), by(1, 240, 30)]), Ok(()));
    assert_eq!(network.node_count(), 2);
    assert_eq!(dao_to_root(&mut network, 2, &[target(2), by(1, 239, 0)]), Ok(()), "older");
    assert_eq!(network.node_count(), 2);
    assert_eq!(dao_to_root(&mut network, 2, &[target(2), by(1, 241, 0)]), Ok(()), "No-Path");
    assert_eq!(network.node_count(), 1);
}

#[test]
fn a_full_graph_refuses_and_counts() {
    let mut network = Network::new(1, NON_STORING);
    network.add_root((0, 0));
    for id in 1..=65 {
        let way = RplOption::Transit(Transit { parent: Some(mesh(0)), ..transit(240, 30) });
        let expected = if id > 64 { Err(Error::Full) } else { Ok(()) };
        assert_eq!(dao_to_root(&mut network, id, &[target(id), way]), expected);
    }
    assert_eq!(network.count(0, Counter::RplRoutesFull), 1);
}

/// The root asks, and all tell again.
#[test]
fn a_refresh_by_the_root_makes_all_nodes_tell_of_themselves() {
    for mode in [NON_STORING, STORING] {
        let mut network = Network::chain(mode, 6);
        network.settle(600);
        network.run(600_000);
        let told = |network: &Network| -> Vec<u32> {
            network.stations.values().map(|station| station.sent.get(&2).copied().unwrap_or(0)).collect()
        };
        let before = told(&network);
        network.refresh();
        network.run(120_000);
        let after = told(&network);
        for id in 1..6 {
            assert!(after[id] > before[id], "{mode:?}: {id}");
        }
        assert!(network.ping_all().is_empty());
    }
}

#[test]
fn a_global_repair_moves_all_to_a_new_version_and_keeps_them_reachable() {
    for mode in [NON_STORING, STORING] {
        let mut network = Network::chain(mode, 6);
        network.settle(600);
        let before = network.version(0);
        network.global_repair();
        network.run(120_000);
        assert_ne!(network.version(0), before);
        assert_eq!(network.faults(), [""; 0]);
        assert_eq!(network.ping_all(), [""; 0]);
    }
}
