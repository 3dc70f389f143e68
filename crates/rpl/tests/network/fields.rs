//! Random fields of nodes in virtual time. A seed that fails is printed; `RPL_SEED=7 cargo test -p sixlock-rpl --test network` runs it
//! alone.

use sixlock_base::Entropy;
use sixlock_ipv6::rpl::ModeOfOperation;

use crate::network::Network;

fn seeds() -> Vec<u32> {
    match std::env::var("RPL_SEED") {
        Ok(seed) => vec![seed.parse().expect("a number")],
        Err(_) => (1..=20).collect(),
    }
}

fn field(seed: u32, mode: ModeOfOperation) -> Network {
    let count = 20 + seed * 13 % 31;
    let mut network = Network::field(seed, mode, count, 150 + 6 * count);
    for _ in 0..count / 4 {
        // One-way links.
        let (a, b) = (network.random.below(count), network.random.below(count));
        network.cut.insert((a, b));
    }
    network
}

/// Runs each seed in each mode, and says which one fails and how.
fn each_seed(scenario: impl Fn(&mut Network, u32) -> Vec<String>) {
    let mut failed = Vec::new();
    for mode in [ModeOfOperation::NON_STORING, ModeOfOperation::STORING] {
        for seed in seeds() {
            let mut network = field(seed, mode);
            let faults = scenario(&mut network, seed);
            if !faults.is_empty() {
                failed.push(format!("RPL_SEED={seed}, mode {}: {faults:?}", mode.0));
            }
        }
    }
    assert!(failed.is_empty(), "\n{}\n", failed.join("\n"));
}

/// What is wrong when the network has had time to settle: a packet that is lost to chance may be sent again.
fn check(network: &mut Network, seconds: u32) -> Vec<String> {
    network.settle(seconds);
    let mut faults = network.faults();
    if faults.is_empty() {
        // Who has just lost a parent is without one for some seconds.
        let lost: Vec<_> = (0..3)
            .map(|_| {
                network.run(20_000);
                network.ping_all()
            })
            .collect();
        let always = lost[0].iter().filter(|fault| lost.iter().all(|lost| lost.contains(fault)));
        faults.extend(always.cloned());
    }
    if !faults.is_empty() {
        let ways: Vec<_> = network.stations.keys().map(|id| network.way_up(*id)).collect();
        faults.push(format!("{ways:?}"));
        faults.push(format!("of {} nodes, {} known", network.reachable().len() - 1, network.node_count()));
    }
    faults
}

#[test]
fn nodes_in_a_field_form_a_dodag_and_each_is_reached_both_ways() {
    each_seed(|network, _| check(network, 600));
}

#[test]
fn a_field_repairs_what_dies_moves_and_reboots() {
    each_seed(|network, seed| {
        let faults = check(network, 600);
        if !faults.is_empty() {
            return faults;
        }
        let count = network.stations.len() as u32;
        // The node with the most children dies.
        let children = |network: &Network, id: u32| {
            (1..count).filter(|child| network.parent(*child) == Some(id)).count()
        };
        let busiest = (1..count).max_by_key(|id| children(network, *id)).unwrap();
        network.station(busiest).is_on = false;
        let mut faults: Vec<_> =
            check(network, 1200).into_iter().map(|fault| format!("dead {busiest}: {fault}")).collect();
        network.reboot(busiest);
        faults.extend(check(network, 1200).into_iter().map(|fault| format!("rebooted {busiest}: {fault}")));
        // Another one goes to where the root is.
        let moved = 1 + (busiest + seed) % (count - 1);
        network.station(moved).at = network.stations[&0].at;
        faults.extend(check(network, 1200).into_iter().map(|fault| format!("moved {moved}: {fault}")));
        faults
    });
}

#[test]
fn a_field_joins_a_root_again_that_has_rebooted() {
    each_seed(|network, seed| {
        check(network, 600);
        let version = network.version(0);
        for _ in 0..=seed % 3 {
            network.reboot(0);
            network.run(2_000);
        }
        let mut faults = check(network, 1200);
        if network.version(0) == version {
            faults.push("the version is the same".into());
        }
        faults
    });
}

#[test]
fn no_loop_lasts_and_at_rest_little_is_said() {
    each_seed(|network, _| {
        let faults = check(network, 600);
        if !faults.is_empty() {
            return faults;
        }
        // Links change for the worse here and there, and nobody reboots.
        let mut faults = Vec::new();
        let mut since = None;
        for _ in 0..40 {
            let ids: Vec<u32> = network.stations.keys().copied().collect();
            let pick = |network: &mut Network| ids[network.random.below(ids.len() as u32) as usize];
            let link = (pick(network), pick(network));
            network.cut.insert(link);
            network.settle(30);
            match (network.in_loops().is_empty(), since) {
                (true, _) => since = None,
                (false, None) => since = Some(network.now),
                (false, Some(since)) if network.now - since > 180_000 => {
                    faults.push(format!("a loop of {:?} lasts", network.in_loops()));
                }
                _ => {}
            }
        }
        faults.extend(check(network, 1200));
        let dios = |network: &Network| {
            network.stations.values().map(|station| station.sent.get(&1).copied().unwrap_or(0)).sum::<u32>()
        };
        let before = dios(network);
        network.run(3_600_000);
        let each_hour = (dios(network) - before) / network.stations.len() as u32;
        // Trickle's longest interval is 17 minutes; a probe of a parent, each five minutes, is answered by a DIO; and neighbours
        // that would be better parents are tried.
        if each_hour > 60 {
            faults.push(format!("{each_hour} DIOs of each node in an hour"));
        }
        faults
    });
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let mut network = field(seed, ModeOfOperation::STORING);
        network.settle(300);
        let parents: Vec<_> = network.stations.keys().map(|id| network.parent(*id)).collect();
        (network.now, parents, network.random.next_u32())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}
