//! Fields of 50 nodes that form their network by RPL over lossy links, a fifth of which carries frames one way only.
//!
//! Many hours are simulated, so that no run of all tests has this. `cargo test --release -p sixlock-sim --test field -- --ignored` runs it;
//! `SIXLOCK_FIELDS` says how many seeds.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use serde_json::Value;
use sixlock_sim::{Options, Scenario, Simulation, Sinks, Time};
use sixlock_testing::Recording;

/// The field of the scenario.
const FIELD: &str = include_str!("../../../scenarios/field-50.toml");

const SECURITY: [&str; 5] = ["none", "llsec", "ah", "esp", "dtls-psk"];
const MODES: [&str; 2] = ["non-storing", "storing"];

/// How far the farthest node is.
const HOPS: core::ops::RangeInclusive<u32> = 3..=7;

/// Within this many microseconds all nodes have joined.
const JOINED: u64 = 180_000_000;
/// What is due so many microseconds before the end may be under way still.
const LAST: u64 = 60_000_000;

/// What came of a field, or of several.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Readings that were due between their node's joining and a minute before the end, and those of them that were delivered.
    due: u32,
    delivered: u32,
    /// All that were due, and delivered.
    all_due: u32,
    all_delivered: u32,
    /// When the last node had joined, in microseconds.
    joined: u64,
}

fn scenario(security: &str, mode: &str, seed: u64) -> Scenario {
    let text = FIELD
        .replace("security = \"none\"", &format!("security = \"{security}\"\nseed = {seed}"))
        .replace("kind = \"rpl\"", &format!("kind = \"rpl\"\nmode = \"{mode}\""));
    Scenario::parse("field", &text).unwrap()
}

/// The first seeds of which the farthest node is so many hops away over links that carry frames both ways.
fn seeds(count: usize) -> Vec<u64> {
    let hops = |seed: u64| {
        let scenario = scenario("none", "storing", seed);
        scenario.topology().lay_out(scenario.radio().links(), seed).unwrap().hops.into_iter().max().unwrap()
    };
    (1..).filter(|&seed| HOPS.contains(&hops(seed))).take(count).collect()
}

fn simulate(security: &str, mode: &str, seed: u64) -> Count {
    let scenario = scenario(security, mode, seed);
    let log = Recording::default();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    let end = Time::ZERO + scenario.duration();
    simulation.step_until(end);
    drop(simulation);

    let (mut joined, mut due, mut accepted) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    for line in log.bytes().split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let event: Value = serde_json::from_slice(line).unwrap();
        let (at, node) = (event["us"].as_u64().unwrap(), event["node"].as_u64().unwrap());
        let reading = || (node, event["reading"].as_u64().unwrap());
        match event["event"].as_str().unwrap() {
            "joined" => drop(joined.insert(node, at)),
            "due" => due.push((at, reading())),
            "accepted" => drop(accepted.insert(reading())),
            _ => {}
        }
    }
    assert_eq!(joined.len(), 50, "{security}, {mode}, seed {seed}: nodes that have joined");
    let last = end.since(Time::ZERO).micros() - LAST;
    let is_meant = |&&(at, (node, _)): &&(u64, (u64, u64))| joined[&node] <= at && at < last;
    let is_delivered = |&&(_, reading): &&(u64, (u64, u64))| accepted.contains(&reading);
    let meant: Vec<_> = due.iter().filter(is_meant).collect();
    Count {
        due: meant.len() as u32,
        delivered: meant.into_iter().filter(is_delivered).count() as u32,
        all_due: due.len() as u32,
        all_delivered: due.iter().filter(is_delivered).count() as u32,
        joined: joined.values().copied().max().unwrap_or(u64::MAX),
    }
}

#[test]
#[ignore = "it simulates many hours: to be run in release"]
fn all_join_and_deliver_in_every_mode() {
    let seeds = seeds(std::env::var("SIXLOCK_FIELDS").map_or(20, |seeds| seeds.parse().unwrap()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut short = Vec::new();
    for (security, mode) in SECURITY.into_iter().flat_map(|security| MODES.map(|mode| (security, mode))) {
        let counts: Vec<_> = thread::scope(|scope| {
            let share = |first| {
                let seeds = seeds.iter().skip(first).step_by(threads);
                scope.spawn(move || {
                    seeds.map(|&seed| (seed, simulate(security, mode, seed))).collect::<Vec<_>>()
                })
            };
            let shares: Vec<_> = (0..threads).map(share).collect();
            shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
        });
        let mut sum = Count::default();
        for &(seed, count) in &counts {
            sum.due += count.due;
            sum.delivered += count.delivered;
            sum.all_due += count.all_due;
            sum.all_delivered += count.all_delivered;
            sum.joined = sum.joined.max(count.joined);
            if count.joined > JOINED || count.delivered < count.due {
                println!("  seed {seed}: {count:?}");
            }
        }
        let share = |delivered, due| 100.0 * f64::from(delivered) / f64::from(due);
        println!(
            "{security}, {mode}: {:.3} % of {} delivered, {:.3} % of all; joined within {:.0} s",
            share(sum.delivered, sum.due),
            sum.due,
            share(sum.all_delivered, sum.all_due),
            sum.joined as f64 / 1e6
        );
        if sum.joined > JOINED || u64::from(sum.delivered) * 1000 < u64::from(sum.due) * 999 {
            short.push(format!("{security}, {mode}"));
        }
    }
    assert!(short.is_empty(), "{short:?}");
}
