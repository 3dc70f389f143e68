//! Networks drawn from seeds, in which the same must hold whatever they go through.

use sixlock_sim::{Invariant, Sinks, swarm, trial};

/// How many networks are tried; `SIXLOCK_SWARM` says another number, and after a comma the first seed.
const NETWORKS: u32 = 100;

#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn what_must_hold_holds_in_every_network() {
    let wanted = std::env::var("SIXLOCK_SWARM").unwrap_or_else(|_| NETWORKS.to_string());
    let (count, first) = wanted.split_once(',').unwrap_or((&wanted, "1"));
    let (count, first) = (count.parse().unwrap(), first.parse().unwrap());
    let tried = swarm(first, count, None, |_| ()).unwrap();
    let broken: Vec<_> = tried.iter().filter(|tried| !tried.breaches.is_empty()).collect();
    for tried in &broken {
        println!("{tried}");
    }
    assert!(
        broken.is_empty(),
        "{} of {count} networks: {:?}",
        broken.len(),
        broken.iter().map(|b| b.seed).collect::<Vec<_>>()
    );
}

#[test]
fn a_seed_comes_to_the_same_again() {
    for seed in 1..6 {
        let tried = trial(seed, Sinks::default());
        assert!(tried.breaches.is_empty(), "{tried}");
        assert_eq!(trial(seed, Sinks::default()), tried);
    }
}

#[test]
fn the_documentation_has_every_invariant() {
    let text = include_str!("../../../docs/swarm.md");
    let table = text.split("\n## ").find(|section| section.starts_with("What must hold")).unwrap_or_default();
    let rows = table.lines().filter_map(|row| row.strip_prefix("| ")?.split(" |").next());
    let documented: Vec<_> = rows.skip(1).collect();
    let all: Vec<_> = Invariant::ALL.iter().map(|invariant| invariant.text()).collect();
    assert_eq!(documented, all);
}
