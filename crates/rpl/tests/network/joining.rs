//! How a node finds, keeps and loses its parent.

use sixlock_base::Counter;
use sixlock_ipv6::rpl::{
    Configuration, Dio, INFINITE_RANK, Message, MetricObject, Metrics, ModeOfOperation, RplOption, Solicited,
};
use sixlock_rpl::{Error, Event};

use crate::bench::{Bench, OWN, configuration, is_dio};
use crate::network::{Leaf, Router, StoringRouter, link_local, mesh};

const NON_STORING: ModeOfOperation = ModeOfOperation::NON_STORING;

fn router() -> Bench<Router> {
    Bench::new(NON_STORING)
}

#[test]
fn a_neighbour_becomes_the_parent_only_when_it_has_acknowledged_a_frame() {
    let mut bench = router();
    bench.dio(1, 128).unwrap();
    assert_eq!(bench.parent(), None);
    // It is probed: by a DIS to it alone, which nobody acknowledges.
    let sent = bench.pass(30_000, false);
    let probes = sent.iter().filter(|sent| sent.destination == link_local(1));
    assert!(probes.clone().count() >= 2 && probes.clone().all(|probe| probe.message() == Message::Dis));
    assert_eq!(bench.parent(), None);
    bench.dio(1, 128).unwrap();
    bench.pass(60_000, true);
    assert_eq!(bench.parent(), Some(1));
    assert_eq!(bench.events(), [Event::Joined]);
}

#[test]
fn a_neighbour_that_does_not_answer_is_probed_ever_more_rarely() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.pass(1000, true);
    // It is as good as the parent, so never probed; one that is better, is.
    bench.dio(2, 128).unwrap();
    assert!(bench.pass(20_000, true).iter().all(|sent| sent.destination != link_local(2)));
    let mut far = router();
    far.meet(3, 900);
    far.dio(2, 128).unwrap();
    let mut probes = Vec::new();
    for _ in 0..60 {
        far.outcome(3, true);
        let sent = far.pass(60_000, false);
        (0..20).for_each(|_| far.outcome(3, true));
        probes.push(sent.iter().filter(|sent| sent.destination == link_local(2)).count());
    }
    assert!(probes[0] >= 2 && probes[50..].iter().sum::<usize>() <= 2, "{probes:?}");
}

#[test]
fn the_better_of_two_is_the_parent_and_a_little_better_is_not_enough() {
    let mut bench = router();
    bench.meet(1, 512);
    assert_eq!(bench.parent(), Some(1));
    bench.meet(2, 400);
    assert_eq!(bench.parent(), Some(1), "by less than 192");
    bench.meet(3, 256);
    assert_eq!(bench.parent(), Some(3));
    assert_eq!(bench.events(), [Event::Joined, Event::ParentChanged]);
    assert_eq!(bench.count(Counter::RplParentChanges), 2);
}

#[test]
fn who_is_as_far_from_the_root_is_no_parent() {
    let mut bench = router();
    bench.meet(1, 256);
    (0..6).for_each(|_| bench.outcome(1, false));
    let rank = bench.node.rank();
    bench.meet(2, rank + 20);
    // The parent is lost: the other one may be below this node.
    bench.outcome(1, false);
    assert!(bench.is_detached());
}

/// Mistake 15: poison before DIS (contiki#301): those below hear of it first.
#[test]
fn who_loses_its_parent_says_so_before_it_asks_for_another() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.pass(60_000, true);
    bench.dio(1, INFINITE_RANK).unwrap();
    assert!(bench.is_detached());
    let sent = bench.pass(30_000, true);
    let Message::Dio(Dio { rank, .. }) = sent[0].message() else { panic!("{:?}", sent[0].message()) };
    assert_eq!((rank, sent[0].destination.is_multicast()), (INFINITE_RANK, true));
    let dis = sent.iter().position(|sent| sent.message() == Message::Dis).unwrap();
    assert!(dis > 0 && sent[dis].destination.is_multicast());
    let poisons = sent.iter().filter(|sent| is_dio(sent)).count();
    assert!((1..=3).contains(&poisons), "{poisons}");
    // It joins whomever it hears then.
    bench.meet(2, 640);
    assert_eq!(bench.parent(), Some(2));
    assert_eq!(bench.events(), [Event::Left, Event::Joined]);
}

/// Mistake 15: DIOs of infinite rank are heard, from the parent (contiki#301), and drain nobody (RIOT#3679, #2689).
#[test]
fn infinite_ranks_of_others_change_nothing() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.pass(3_600_000, true);
    for id in 2..200 {
        bench.dio(id, INFINITE_RANK).unwrap();
    }
    let dios = bench.pass(60_000, true).iter().filter(|sent| is_dio(sent)).count();
    assert!(dios <= 1, "{dios}");
    assert_eq!(bench.parent(), Some(1));
    bench.meet(300, 900);
    assert_eq!(bench.count(Counter::RplNeighboursFull), 0, "none of them was remembered");
}

#[test]
fn a_parent_that_asks_all_for_a_dodag_has_lost_its_own() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.meet(2, 128);
    bench.hear(1, &Message::Dis, &[]).unwrap();
    assert_eq!(bench.parent(), Some(2));
}

#[test]
fn a_silent_parent_is_probed_and_left_when_it_does_not_answer() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.meet(2, 256);
    bench.pass(100_000, true);
    assert_eq!(bench.parent(), Some(1));
    bench.pass(400_000, false);
    assert_ne!(bench.parent(), Some(1));
}

#[test]
fn ranks_rise_within_a_version_up_to_the_limit() {
    let mut bench = router();
    bench.meet(1, 128);
    let highest = bench.node.rank() + configuration().max_rank_increase;
    bench.dio(1, highest).unwrap();
    assert!(bench.is_detached());
    bench.pass(10_000, true);
    bench.meet(2, highest);
    assert!(bench.is_detached());
    // In a new version they begin anew.
    let dio = Dio { version: 241, ..bench.dio_of(highest) };
    bench.hear(2, &Message::Dio(dio), &[]).unwrap();
    assert_eq!(bench.parent(), Some(2));
}

#[test]
fn who_was_alone_for_long_begins_as_if_it_had_rebooted() {
    let mut bench = router();
    bench.meet(1, 128);
    let highest = bench.node.rank() + configuration().max_rank_increase;
    bench.dio(1, INFINITE_RANK).unwrap();
    bench.pass(900_000, true);
    bench.meet(2, highest);
    assert_eq!(bench.parent(), Some(2));
}

#[test]
fn who_has_asked_in_vain_for_long_joins_when_a_router_comes_between_its_questions() {
    let mut bench = router();
    bench.pass(3_600_000, false);
    bench.dio(1, 128).unwrap();
    let sent = bench.pass(3_000, true);
    assert!(sent.iter().any(|sent| sent.destination == link_local(1)), "it is probed");
    assert_eq!(bench.parent(), Some(1));
}

/// Mistake 12: children of a root that has rebooted follow its new version, and no older one (contiki-ng#128, RIOT#5016).
#[test]
fn a_newer_version_is_followed_and_an_older_one_is_not() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.meet(2, 256);
    let version = |bench: &Bench<Router>, version, rank| Message::Dio(Dio { version, ..bench.dio_of(rank) });
    let newer = version(&bench, 241, 300);
    bench.hear(2, &newer, &[]).unwrap();
    assert_eq!((bench.parent(), bench.node.version()), (Some(2), Some(241)));
    let older = version(&bench, 240, 128);
    assert_eq!(bench.hear(1, &older, &[]), Err(Error::Stale));
    assert_eq!((bench.parent(), bench.node.version()), (Some(2), Some(241)));
    // Who has said it, is told soon.
    bench.pass(3_600_000, true);
    let before = bench.now();
    let _ = bench.hear(1, &older, &[]);
    let sent = bench.pass(4_096, true);
    assert!(sent.iter().any(is_dio), "{before:?}");
}

#[test]
fn a_version_over_an_untried_link_does_not_cost_the_parent() {
    let mut bench = router();
    bench.meet(1, 128);
    let dio = Message::Dio(Dio { version: 241, ..bench.dio_of(128) });
    bench.hear(5, &dio, &[]).unwrap();
    assert_eq!((bench.parent(), bench.node.version()), (Some(1), Some(240)));
    bench.pass(5_000, true);
    assert_eq!((bench.parent(), bench.node.version()), (Some(5), Some(241)), "it was probed");
}

/// Mistake 1: what would be divided by, or shifted by, is checked (contiki-ng#3243, #3242).
#[test]
fn configurations_that_cannot_be_kept_are_refused() {
    for wrong in [
        Configuration { min_hop_rank_increase: 0, ..configuration() },
        Configuration { interval_minimum: 31, ..configuration() },
        Configuration { interval_minimum: 255, ..configuration() },
        Configuration { lifetime_unit: 0, ..configuration() },
        Configuration { default_lifetime: 0, ..configuration() },
        Configuration { objective: 0, ..configuration() },
    ] {
        let mut bench = router();
        let dio = Message::Dio(bench.dio_of(256));
        let heard = bench.hear(1, &dio, &[RplOption::Configuration(wrong)]);
        assert_eq!(heard, Err(Error::Configuration), "{wrong:?}");
        bench.outcome(1, true);
        assert_eq!(bench.parent(), None);
    }
    let mut bench = router();
    let doubled = Configuration { interval_doublings: 255, ..configuration() };
    bench.hear(1, &Message::Dio(bench.dio_of(128)), &[RplOption::Configuration(doubled)]).unwrap();
    bench.outcome(1, true);
    assert_eq!(bench.parent(), Some(1));
    bench.pass(u32::MAX / 4, true);
}

#[test]
fn dios_that_are_nothing_for_this_node_are_refused_with_the_reason() {
    let mut bench = router();
    let options = [RplOption::Configuration(configuration())];
    let base = bench.dio_of(128);
    let refused = |bench: &mut Bench<Router>, dio: Dio| bench.hear(1, &Message::Dio(dio), &options);
    assert_eq!(refused(&mut bench, Dio { instance: 1, ..base }), Err(Error::Instance));
    assert_eq!(refused(&mut bench, Dio { mode: ModeOfOperation::STORING, ..base }), Err(Error::Mode));
    assert_eq!(
        refused(&mut bench, Dio { mode: ModeOfOperation::STORING_MULTICAST, ..base }),
        Err(Error::Mode)
    );
    assert_eq!(refused(&mut bench, Dio { mode: ModeOfOperation(7), ..base }), Err(Error::Mode));
    assert_eq!(refused(&mut bench, Dio { rank: 127, ..base }), Err(Error::Rank));
    assert_eq!(refused(&mut bench, Dio { rank: 0, ..base }), Err(Error::Rank));
    assert_eq!(bench.count(Counter::RplRefused), 6);
    bench.meet(1, 128);
    assert_eq!(refused(&mut bench, Dio { dodag: mesh(9), ..base }), Err(Error::Dodag));
    let global = bench.hear_at(mesh(1), link_local(OWN), &Message::Dio(base), &[]);
    assert_eq!(global, Err(Error::Address), "it comes from beyond the link");
    let mut leaf = Bench::<Leaf>::new(ModeOfOperation::STORING);
    leaf.meet(1, 128);
    assert_eq!(leaf.parent(), Some(1), "a leaf stores nothing and may be in either mode");
}

#[test]
fn a_dodag_with_a_constraint_that_must_be_kept_is_not_joined() {
    for (is_optional, expected) in [(false, Err(Error::Constraint)), (true, Ok(()))] {
        let object =
            MetricObject { is_constraint: true, is_optional, ..MetricObject::with_hop_count(&[0, 3]) };
        let mut bytes = [0; 8];
        let length = object.emit(&mut bytes).unwrap();
        let metrics = RplOption::Metrics(Metrics::parse(&bytes[..length]).unwrap());
        let mut bench = router();
        let dio = Message::Dio(bench.dio_of(128));
        assert_eq!(bench.hear(1, &dio, &[metrics, RplOption::Configuration(configuration())]), expected);
    }
}

#[test]
fn a_node_that_was_not_told_the_configuration_asks_for_it() {
    let mut bench = router();
    let dio = Message::Dio(bench.dio_of(128));
    bench.hear(1, &dio, &[]).unwrap();
    let sent = bench.pass(0, true);
    assert_eq!((sent[0].message(), sent[0].destination), (Message::Dis, link_local(1)));
    assert_eq!(bench.parent(), None);
}

/// Mistake 13: MRHOF with ETX carries no container (contiki#290); each DIO carries the configuration.
#[test]
fn a_dio_carries_the_configuration_and_no_metrics() {
    let mut bench = router();
    bench.meet(1, 128);
    let sent = bench.pass(5_000, true);
    let dio = sent.iter().find(|sent| is_dio(sent)).unwrap();
    assert_eq!(dio.options(), [RplOption::Configuration(configuration())]);
    let Message::Dio(dio) = dio.message() else { panic!() };
    assert!(dio.rank.abs_diff(bench.node.rank()) < 8, "{dio:?}");
    assert_eq!(dio, bench.dio_of(dio.rank));
}

#[test]
fn who_asks_alone_is_answered_alone_and_who_asks_for_another_dodag_is_not() {
    let mut bench = router();
    assert_eq!(bench.hear(5, &Message::Dis, &[]), Err(Error::NotJoined));
    bench.meet(1, 128);
    bench.pass(3_600_000, true);
    let ask = |bench: &mut Bench<Router>, solicited: Option<Solicited>| {
        let options: Vec<_> = solicited.into_iter().map(RplOption::Solicited).collect();
        let heard = bench.hear_at(link_local(5), link_local(OWN), &Message::Dis, &options);
        let sent = bench.pass(0, true);
        (heard, sent.iter().filter(|sent| sent.destination == link_local(5) && is_dio(sent)).count())
    };
    assert_eq!(ask(&mut bench, None), (Ok(()), 1));
    let all = Solicited { instance: Some(0), dodag: Some(mesh(0)), version: Some(240) };
    assert_eq!(ask(&mut bench, Some(all)), (Ok(()), 1));
    for other in [
        Solicited { instance: Some(1), ..all },
        Solicited { dodag: Some(mesh(1)), ..all },
        Solicited { version: Some(241), ..all },
    ] {
        assert_eq!(ask(&mut bench, Some(other)), (Err(Error::Dodag), 0), "{other:?}");
    }
}

/// Mistake 14: a flood of DIS neither silences a router nor drains it (contiki-ng#1015).
#[test]
fn a_flood_of_solicitations_is_bounded_and_silences_nobody() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.pass(3_600_000, true);
    let mut dios = 0;
    for _ in 0..3_600 {
        let _ = bench.hear(5, &Message::Dis, &[]);
        dios += bench.pass(1_000, true).iter().filter(|sent| is_dio(sent)).count();
    }
    assert!((30..=400).contains(&dios), "{dios} in an hour");
    assert!(bench.count(Counter::RplRefused) > 3_000);
}

#[test]
fn a_leaf_tells_of_itself_and_of_no_dodag() {
    let mut leaf = Bench::<Leaf>::new(NON_STORING);
    leaf.meet(1, 128);
    assert_eq!(leaf.hear(5, &Message::Dis, &[]), Err(Error::Mode));
    let sent = leaf.pass(3_600_000, true);
    assert!(!sent.iter().any(is_dio));
    assert!(sent.iter().any(|sent| matches!(sent.message(), Message::Dao(_))));
    let router = size_of::<sixlock_rpl::Node<Router>>();
    assert!(size_of::<sixlock_rpl::Node<Leaf>>() + 100 < router, "it has no tables of a router");
    assert!(size_of::<sixlock_rpl::Node<StoringRouter>>() > router + 64 * 20);
}

/// Who invents neighbours displaces others that are only heard of; the parent stays, and so does who is heard by one that is better.
#[test]
fn a_flood_of_invented_neighbours_costs_no_parent() {
    let mut bench = router();
    bench.meet(1, 128);
    bench.meet(2, 140);
    let parent = bench.parent().unwrap();
    for id in 1000..3000 {
        let _ = bench.dio(id, 128 + (id % 50) as u16 * 100);
        bench.outcome(parent, true);
    }
    assert_eq!(bench.parent(), Some(parent));
    assert!(bench.count(Counter::RplNeighboursFull) > 0);
}
