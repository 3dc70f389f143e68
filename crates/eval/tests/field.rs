//! Fields of 50 nodes that form their network by RPL over lossy links, a fifth of which carries frames one way only.
//!
//! Many hours are simulated: `./test` runs this in release. `cargo test --release -p sixlock-eval --test field -- --ignored --nocapture`
//! runs it alone. `SIXLOCK_FIELDS` says how many seeds, or which (`201..400`), and `SIXLOCK_FIELD_LOGS` names a folder that gets the events, the capture and the
//! keys of each run that has lost a reading or was late.

mod passes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use serde_json::Value;
use sixlock_sim::{Options, Scenario, Simulation, Sinks, Time};
use sixlock_testing::{Recording, seeds_to_try};

/// The field of the scenario.
const FIELD: &str = include_str!("../../../scenarios/field-50.toml");

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
    /// The same in a run in which readings are non-confirmable messages.
    non_confirmable_due: u32,
    non_confirmable_delivered: u32,
    /// All that were due, and delivered.
    all_due: u32,
    all_delivered: u32,
    /// When the last node had joined, in microseconds.
    joined: u64,
    /// Times that a packet has passed a node twice, as a router has sent it back to repair a route, and for no such reason.
    sent_back: u32,
    passed_twice: u32,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.delivered += other.delivered;
        self.non_confirmable_due += other.non_confirmable_due;
        self.non_confirmable_delivered += other.non_confirmable_delivered;
        self.all_due += other.all_due;
        self.all_delivered += other.all_delivered;
        self.joined = self.joined.max(other.joined);
        self.sent_back += other.sent_back;
        self.passed_twice += other.passed_twice;
    }
}

fn scenario(security: &str, mode: &str, seed: u64, confirmable: bool) -> Scenario {
    let text = FIELD
        .replace("security = \"none\"", &format!("security = \"{security}\"\nseed = {seed}"))
        .replace("kind = \"rpl\"", &format!("kind = \"rpl\"\nmode = \"{mode}\""))
        .replace("[traffic]", &format!("[traffic]\nconfirmable = {confirmable}"));
    Scenario::parse("field", &text).unwrap()
}

/// The seeds to try, of those of which the farthest node is so many hops away over links that carry frames both ways.
fn seeds() -> Vec<u64> {
    let positions = seeds_to_try("SIXLOCK_FIELDS", 20);
    let hops = |seed: u64| {
        let scenario = scenario("none", "storing", seed, true);
        scenario.topology().lay_out(scenario.radio().links(), seed).unwrap().hops.into_iter().max().unwrap()
    };
    let seeds = (1..).filter(|&seed| HOPS.contains(&hops(seed)));
    seeds.take(*positions.end()).skip(positions.start() - 1).collect()
}

/// When each node of a field joined, which readings were due, and which were accepted.
#[derive(Default)]
struct Readings {
    joined: BTreeMap<u64, u64>,
    /// When each was due, its node and its number there.
    due: Vec<(u64, (u64, u64))>,
    accepted: BTreeSet<(u64, u64)>,
}

impl Readings {
    /// Those of an event log.
    fn of(log: &[u8]) -> Self {
        let mut readings = Self::default();
        for line in log.split(|&byte| byte == b'\n').filter(|line| is_counted(line)) {
            let event: Value = serde_json::from_slice(line).unwrap();
            let (at, node) = (event["us"].as_u64().unwrap(), event["node"].as_u64().unwrap());
            let reading = || (node, event["reading"].as_u64().unwrap());
            match event["event"].as_str().unwrap() {
                "joined" => drop(readings.joined.insert(node, at)),
                "due" => readings.due.push((at, reading())),
                "accepted" => drop(readings.accepted.insert(reading())),
                _ => {}
            }
        }
        readings
    }

    /// How many were due, and delivered, between their node's joining and a minute before `end`.
    fn count(&self, end: Time) -> [u32; 2] {
        let last = end.since(Time::ZERO).micros() - LAST;
        let is_joined = |node, at| self.joined.get(node).is_some_and(|joined| *joined <= at);
        let meant = self.due.iter().filter(|(at, (node, _))| is_joined(node, *at) && *at < last);
        let delivered = meant.clone().filter(|(_, reading)| self.accepted.contains(reading));
        [meant.count() as u32, delivered.count() as u32]
    }
}

/// How many non-confirmable readings are due, and delivered.
fn non_confirmable(security: &str, mode: &str, seed: u64) -> [u32; 2] {
    let scenario = scenario(security, mode, seed, false);
    let events = Recording::default();
    let sinks = Sinks { events: Some(events.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    let end = Time::ZERO + scenario.duration();
    simulation.step_until(end);
    Readings::of(&events.bytes()).count(end)
}

fn simulate(security: &str, mode: &str, seed: u64) -> Count {
    let scenario = scenario(security, mode, seed, true);
    let [events, capture, keys] = [(); 3].map(|()| Recording::default());
    let sinks = Sinks {
        events: Some(events.sink()),
        pcap: Some(capture.sink()),
        key_log: Some(keys.sink()),
        ..Sinks::default()
    };
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    let end = Time::ZERO + scenario.duration();
    simulation.step_until(end);
    drop(simulation);

    let readings = Readings::of(&events.bytes());
    assert_eq!(readings.joined.len(), 50, "{security}, {mode}, seed {seed}: nodes that have joined");
    let [due, delivered] = readings.count(end);
    let [non_confirmable_due, non_confirmable_delivered] = non_confirmable(security, mode, seed);
    let twice = passes::twice(&capture.bytes(), &String::from_utf8(keys.bytes()).unwrap());
    let (sent_back, passed_twice): (Vec<_>, Vec<_>) = twice.into_iter().partition(|pass| pass.is_of_repair);
    for pass in &passed_twice {
        println!("  {security}, {mode}, seed {seed}: {}", pass.what);
    }
    let count = Count {
        due,
        delivered,
        non_confirmable_due,
        non_confirmable_delivered,
        all_due: readings.due.len() as u32,
        all_delivered: readings.accepted.len() as u32,
        joined: readings.joined.values().copied().max().unwrap_or(u64::MAX),
        sent_back: sent_back.len() as u32,
        passed_twice: passed_twice.len() as u32,
    };
    if count.joined > JOINED || count.delivered < count.due || count.passed_twice > 0 {
        println!("  {security}, {mode}, seed {seed}: {count:?}");
        if let Ok(folder) = env::var("SIXLOCK_FIELD_LOGS") {
            let file = |kind| Path::new(&folder).join(format!("{security}-{mode}-{seed}.{kind}"));
            for (kind, recording) in [("jsonl", &events), ("pcap", &capture), ("keys", &keys)] {
                fs::write(file(kind), recording.bytes()).unwrap();
            }
        }
    }
    count
}

/// Whether a line of the log tells of one of the events that are counted: most tell of frames.
fn is_counted(line: &[u8]) -> bool {
    let names: [&[u8]; 3] = [br#""joined""#, br#""due""#, br#""accepted""#];
    names.iter().any(|name| line.windows(name.len()).any(|part| part == *name))
}

/// Simulates a field of each seed, one after the other, and what must hold of all.
fn joins_and_delivers(security: &str, mode: &str) {
    let mut count = Count::default();
    seeds().into_iter().for_each(|seed| count.add(&simulate(security, mode, seed)));
    let share = |delivered, due| 100.0 * f64::from(delivered) / f64::from(due);
    println!(
        "{security}, {mode}: {:.3} % of {} delivered, {:.3} % of {} non-confirmable ones; {:.3} % of all that was due; joined within {:.0} s; {} \
        times sent back, {} passed a node twice else",
        share(count.delivered, count.due),
        count.due,
        share(count.non_confirmable_delivered, count.non_confirmable_due),
        count.non_confirmable_due,
        share(count.all_delivered, count.all_due),
        count.joined as f64 / 1e6,
        count.sent_back,
        count.passed_twice
    );
    assert!(count.joined <= JOINED, "the last node joined too late");
    assert!(u64::from(count.delivered) * 1000 >= u64::from(count.due) * 999, "too much was lost");
    assert_eq!(count.passed_twice, 0, "packets have passed a node twice");
}

/// A test of its own for each security mode and mode of RPL, so that they run beside each other.
macro_rules! fields {
    ($($name:ident: $security:literal, $mode:literal;)*) => {
        $(
            #[test]
            #[ignore = "it simulates many hours: to be run in release"]
            fn $name() {
                joins_and_delivers($security, $mode);
            }
        )*
    };
}

fields! {
    all_join_and_deliver_in_the_clear_by_source_routes: "none", "non-storing";
    all_join_and_deliver_in_the_clear_by_stored_routes: "none", "storing";
    all_join_and_deliver_by_link_security_by_source_routes: "llsec", "non-storing";
    all_join_and_deliver_by_link_security_by_stored_routes: "llsec", "storing";
    all_join_and_deliver_by_ah_by_source_routes: "ah", "non-storing";
    all_join_and_deliver_by_ah_by_stored_routes: "ah", "storing";
    all_join_and_deliver_by_esp_by_source_routes: "esp", "non-storing";
    all_join_and_deliver_by_esp_by_stored_routes: "esp", "storing";
    all_join_and_deliver_by_dtls_by_source_routes: "dtls-psk", "non-storing";
    all_join_and_deliver_by_dtls_by_stored_routes: "dtls-psk", "storing";
}
