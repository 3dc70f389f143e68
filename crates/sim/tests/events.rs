//! What happens to stations by the scenario: they reboot, move, die and join.

use serde_json::Value;
use sixlock_sim::{FarEnd, Options, Scenario, Simulation, Sinks, Time};
use sixlock_testing::Recording;

/// An event of the log: when, where, its name, and all of it.
struct Logged {
    second: f64,
    node: u64,
    name: String,
    all: Value,
}

impl Logged {
    fn reading(&self) -> u64 {
        self.all["reading"].as_u64().unwrap()
    }
}

/// What a run of this scenario logs. Each reading is in exactly one of delivered, failed, skipped and pending, as the log tells.
fn run(text: &str) -> Vec<Logged> {
    let scenario = Scenario::parse("events", text).unwrap_or_else(|error| panic!("{error}"));
    let log = Recording::default();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let text = String::from_utf8(log.bytes()).unwrap();
    let logged = text.lines().map(|line| {
        let all: Value = serde_json::from_str(line).unwrap();
        Logged {
            second: all["us"].as_u64().unwrap() as f64 / 1e6,
            node: all["node"].as_u64().unwrap(),
            name: all["event"].as_str().unwrap().into(),
            all,
        }
    });
    let logged: Vec<_> = logged.collect();
    for node in &simulation.report().nodes {
        let of = |names: &[&str]| {
            let of_node = logged.iter().filter(|event| event.node == u64::from(node.id));
            let of_kind = of_node.filter(|event| names.contains(&event.name.as_str()));
            of_kind.map(Logged::reading).collect::<std::collections::BTreeSet<_>>()
        };
        let [due, delivered, skipped, mut failed] =
            [&["due"][..], &["accepted", "echoed"], &["skipped"], &["failed"]].map(of);
        failed.retain(|reading| !delivered.contains(reading));
        assert!(delivered.is_disjoint(&skipped) && failed.is_disjoint(&skipped));
        let counted = [node.due, node.delivered, node.skipped, node.failed];
        assert_eq!([&due, &delivered, &skipped, &failed].map(|set| set.len() as u64), counted, "{node:?}");
        assert_eq!(node.due, node.delivered + node.skipped + node.failed + node.pending, "{node:?}");
    }
    logged
}

/// Whether every reading of `node` that is due between these seconds is delivered, and there are some; of those that are not.
fn delivers(logged: &[Logged], node: u64, from: f64, to: f64) -> Result<(), Vec<u64>> {
    let of_node =
        |name: &'static str| logged.iter().filter(move |event| event.node == node && event.name == name);
    let is_meant = |event: &&Logged| from <= event.second && event.second < to;
    let due: Vec<_> = of_node("due").filter(is_meant).map(Logged::reading).collect();
    assert!(!due.is_empty(), "no reading of {node} is due");
    let accepted: Vec<_> = of_node("accepted").chain(of_node("echoed")).map(Logged::reading).collect();
    let missing: Vec<_> = due.into_iter().filter(|reading| !accepted.contains(reading)).collect();
    if missing.is_empty() { Ok(()) } else { Err(missing) }
}

/// When which stations went off, came on and moved.
fn changes(logged: &[Logged]) -> Vec<(f64, u64, &str)> {
    let changes = logged.iter().filter(|event| ["off", "on", "moved"].contains(&event.name.as_str()));
    changes.map(|event| (event.second, event.node, event.name.as_str())).collect()
}

/// Three nodes in a row, by static routes, of which the second reboots, and then dies.
const CHAIN: &str =
    "duration = \"600s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nperiod = \"5s\"\n";

#[test]
fn what_is_off_makes_no_readings_and_sends_none_on() {
    for security in ["none", "llsec+esp", "dtls-psk"] {
        let logged = run(&format!(
            "security = \"{security}\"\n{CHAIN}[[event]]\nat = \"100s\"\nnode = 2\nkind = \"reboot\"\n\
            [[event]]\nat = \"400s\"\nnode = 2\nkind = \"die\"\n"
        ));
        assert_eq!(changes(&logged), [(100.0, 2, "off"), (101.0, 2, "on"), (400.0, 2, "off")]);
        for node in 1..=3 {
            assert_eq!(delivers(&logged, node, 40.0, 90.0), Ok(()), "{security}: {node}");
            assert_eq!(delivers(&logged, node, 220.0, 390.0), Ok(()), "{security}: {node}");
        }
        assert_eq!(delivers(&logged, 1, 400.0, 590.0), Ok(()), "{security}");
        assert!(delivers(&logged, 3, 401.0, 590.0).unwrap_err().len() > 30, "{security}");
        let is_of_dead = |event: &&Logged| event.node == 2 && event.second > 400.0;
        let names: Vec<_> = logged.iter().filter(is_of_dead).map(|event| event.name.as_str()).collect();
        assert!(names.iter().all(|name| ["due", "skipped"].contains(name)), "{security}: {names:?}");
        let causes = logged.iter().filter(|event| is_of_dead(event) && event.name == "skipped");
        assert_eq!(causes.filter(|event| event.all["cause"] == "off").count(), 40, "{security}");
    }
}

#[test]
fn who_joins_later_is_off_until_then() {
    for routing in ["static", "rpl"] {
        let logged = run(&format!(
            "security = \"none\"\n{CHAIN}[routing]\nkind = \"{routing}\"\n\
            [[event]]\nat = \"200s\"\nnode = 2\nkind = \"join\"\n"
        ));
        assert_eq!(changes(&logged), [(0.0, 2, "off"), (200.0, 2, "on")]);
        assert_eq!(delivers(&logged, 1, 60.0, 590.0), Ok(()), "{routing}");
        for node in 2..=3 {
            assert!(delivers(&logged, node, 0.0, 199.0).unwrap_err().len() > 30, "{routing}: {node}");
            assert_eq!(delivers(&logged, node, 320.0, 590.0), Ok(()), "{routing}: {node}");
        }
    }
}

#[test]
fn the_border_router_reboots_and_the_network_comes_back() {
    for routing in ["static", "rpl\"\nmode = \"storing", "rpl\"\nmode = \"non-storing"] {
        for traffic in ["report", "echo"] {
            let logged = run(&format!(
                "security = \"none\"\n{CHAIN}kind = \"{traffic}\"\n[routing]\nkind = \"{routing}\"\n\
                [[event]]\nat = \"200s\"\nnode = 0\nkind = \"reboot\"\n"
            ));
            assert_eq!(changes(&logged), [(200.0, 0, "off"), (201.0, 0, "on")]);
            for node in 1..=3 {
                let delivered = delivers(&logged, node, 320.0, 590.0);
                assert_eq!(delivered, Ok(()), "{routing}, {traffic}: {node}");
            }
        }
    }
}

/// The fourth node stands beside the first, and moves to behind the third.
#[test]
fn who_moves_goes_by_others() {
    let nodes = [(1, 40, 0), (2, 80, 0), (3, 120, 0), (4, 40, 30)];
    let nodes = nodes.map(|(id, x, y)| format!("[[node]]\nid = {id}\nx = \"{x}m\"\ny = \"{y}m\"\n")).concat();
    let logged = run(&format!(
        "security = \"none\"\nduration = \"900s\"\n[traffic]\nperiod = \"5s\"\n[topology]\nkind = \"list\"\n{nodes}\
        [routing]\nkind = \"rpl\"\n[[event]]\nat = \"300s\"\nnode = 4\nkind = \"move\"\nx = \"160m\"\ny = \"0m\"\n"
    ));
    assert_eq!(changes(&logged), [(300.0, 4, "moved")]);
    for node in 1..=4 {
        assert_eq!(delivers(&logged, node, 100.0, 295.0), Ok(()), "{node}");
        assert_eq!(delivers(&logged, node, 420.0, 890.0), Ok(()), "{node}");
    }
    let mut parents = logged.iter().filter(|event| event.node == 4 && event.name == "parent");
    assert_eq!(parents.next_back().unwrap().all["to"], 3);
    let has_heard = |event: &&Logged| {
        event.node == 4 && event.second > 301.0 && ["lost", "missed"].contains(&event.name.as_str())
    };
    assert!(logged.iter().filter(has_heard).all(|event| event.all["from"] == 3));
}

#[test]
fn a_border_router_that_hosts_outside_reach_does_not_reboot() {
    let text = format!("{CHAIN}[[event]]\nat = \"200s\"\nnode = 0\nkind = \"reboot\"\n");
    let scenario = Scenario::parse("events", &text).unwrap();
    let options = || Options { far_end: FarEnd::Outside, ..Options::default() };
    let refused = Simulation::new(&scenario, options()).err().unwrap();
    assert!(refused.to_string().contains("cannot reboot: leave that [[event]] out"), "{refused}");
    let other = Scenario::parse("events", &text.replace("node = 0", "node = 1")).unwrap();
    assert!(Simulation::new(&other, options()).is_ok());
}
