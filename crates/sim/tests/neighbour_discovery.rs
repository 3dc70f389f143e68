//! Networks whose nodes know neither prefix nor router nor contexts when they start.

use serde_json::Value;
use sixlock_base::Counter;
use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks, Time};
use sixlock_testing::Recording;

const PREFIX: &str = "2001:db8:7::";

/// A chain of three nodes that loses nothing, with these keys of its sections.
fn scenario(security: &str, network: &str, routing: &str) -> Scenario {
    let text = format!(
        "security = \"{security}\"\nduration = \"300s\"\n[network]\n{network}\n\
        [routing]\nkind = \"rpl\"\n{routing}\n\
        [topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nkind = \"report\"\nperiod = \"60s\"\n"
    );
    Scenario::parse("nd", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn discovering() -> String {
    format!("discovery = \"nd\"\nprefix = \"{PREFIX}/64\"")
}

/// The run of a scenario, and its events.
fn run(scenario: &Scenario) -> (Simulation, Vec<Value>) {
    let log = Recording::default();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(scenario, Options { sinks, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let log = String::from_utf8(log.bytes()).unwrap();
    (simulation, log.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// All that was due once the network had formed has arrived.
fn assert_delivers(report: &Report, what: &str) {
    for node in &report.nodes {
        assert!(node.joined_s.is_some_and(|joined| joined < 120.0), "{what}: {node:?}");
        assert!(
            node.delivered + node.pending + node.skipped >= node.due && node.delivered >= 3,
            "{what}: {node:?}"
        );
        // Something has come back to it.
        assert!(node.rtt_ms.is_some() && node.failed == 0, "{what}: {node:?}");
    }
}

#[test]
fn nodes_register_addresses_of_the_prefix_that_they_are_told_and_deliver_in_every_mode() {
    for mode in ["non-storing", "storing"] {
        for security in ["none", "llsec", "ah", "esp", "dtls-psk", "llsec+esp"] {
            let what = format!("{security}, {mode}");
            let (simulation, _) = run(&scenario(security, &discovering(), &format!("mode = \"{mode}\"")));
            let report = simulation.report();
            assert_delivers(&report, &what);
            for node in &report.nodes {
                let registered = node.registered.as_ref().unwrap_or_else(|| panic!("{what}: {node:?}"));
                let expected = format!("2001:db8:7:0:12:7400:0:{:x}", node.id);
                assert_eq!((registered.at, &registered.address), (node.id - 1, &expected), "{what}");
            }
            for id in 0..4 {
                let counters = simulation.counters(id).unwrap();
                for counter in [Counter::NdMalformed, Counter::NdFull, Counter::Ipv6BadAddress] {
                    assert_eq!(counters.get(counter), 0, "{what}: {counter:?} at {id}");
                }
            }
        }
    }
}

#[test]
fn the_log_tells_who_is_registered_where_before_it_joins() {
    let (_, log) = run(&scenario("none", &discovering(), ""));
    for node in 1..=3 {
        let first = |name: &str| log.iter().find(|event| event["node"] == node && event["event"] == name);
        let (registered, joined) = (first("registered").unwrap(), first("joined").unwrap());
        assert_eq!(registered["at"], node - 1);
        assert_eq!(registered["address"], format!("2001:db8:7:0:12:7400:0:{node}"));
        assert!(registered["us"].as_u64() < joined["us"].as_u64());
        assert_eq!(first("duplicate"), None);
    }
}

#[test]
fn a_prefix_that_is_given_to_all_is_that_of_the_network() {
    let (simulation, _) = run(&scenario("esp", &format!("prefix = \"{PREFIX}/64\""), ""));
    let report = simulation.report();
    assert_delivers(&report, "given");
    assert!(report.nodes.iter().all(|node| node.registered.is_none()));
}

#[test]
fn nodes_take_the_prefix_that_the_dios_of_the_root_tell() {
    for mode in ["non-storing", "storing"] {
        for security in ["none", "esp"] {
            let what = format!("{security}, {mode}");
            let network = format!("discovery = \"rpl\"\nprefix = \"{PREFIX}/64\"");
            let (simulation, log) = run(&scenario(security, &network, &format!("mode = \"{mode}\"")));
            assert_delivers(&simulation.report(), &what);
            assert!(log.iter().all(|event| event["event"] != "registered"), "{what}");
        }
    }
}

#[test]
fn attackers_speak_with_addresses_of_the_network() {
    let attack = "[[attack]]\nkind = \"forge\"\nx = \"20m\"\ny = \"30m\"\nstart = \"150s\"\nevery = \"20s\"\n\
        target = 2\n";
    for discovery in ["nd", "rpl", "given"] {
        let network = format!("discovery = \"{discovery}\"\nprefix = \"{PREFIX}/64\"");
        let (simulation, _) = run(&scenario("none", &network, attack));
        let node = &simulation.report().nodes[1];
        assert!(node.false_readings > 0, "{discovery}: {node:?}");
    }
}

/// Node 4 has the EUI-64 of node 3, which it does not hear: 3 – 1 – 0 – 2 – 4.
const DUPLICATES: &str = "security = \"none\"\nduration = \"900s\"\n[network]\ndiscovery = \"nd\"\n[routing]\nkind = \"rpl\"\n\
    [traffic]\nkind = \"report\"\nperiod = \"60s\"\ncredential = \"query\"\n[topology]\nkind = \"list\"\n\
    [[node]]\nid = 1\nx = \"40m\"\n[[node]]\nid = 2\nx = \"-40m\"\n\
    [[node]]\nid = 3\nx = \"80m\"\n[[node]]\nid = 4\nx = \"-80m\"\neui64 = 3\n";

#[test]
fn of_two_nodes_with_one_address_the_second_is_refused_and_does_not_use_it() {
    let scenario = Scenario::parse("duplicates", DUPLICATES).unwrap();
    let (simulation, log) = run(&scenario);
    let report = simulation.report();
    let named = |node: u32, name: &str| {
        let of_node = |event: &&Value| event["node"] == node && event["event"] == name;
        log.iter().filter(of_node).count()
    };
    let refused: Vec<u32> = (1..=4).filter(|&node| named(node, "duplicate") > 0).collect();
    let [refused @ (3 | 4)] = refused[..] else { panic!("refused: {refused:?}") };
    let owner = 7 - refused;
    let [owner, refused] = [owner, refused].map(|id| &report.nodes[id as usize - 1]);
    let expected = "fd00::12:7400:0:3";
    assert_eq!(owner.registered.as_ref().unwrap().address, expected);
    assert!(owner.delivered >= 10 && owner.duplicates.is_none(), "{owner:?}");
    // It rests for five minutes or more before it tries again, and is refused again.
    let times = named(refused.id, "duplicate") as u32;
    assert!((2..=4).contains(&times), "{times}");
    assert_eq!((refused.duplicates, &refused.registered), (Some(times), &None));
    assert_eq!((refused.joined_s, refused.delivered), (None, 0), "{refused:?}");
    // What it has to say has no way without an address.
    assert_eq!(refused.drops.keys().copied().collect::<Vec<_>>(), ["no-route"]);
    assert_eq!([named(refused.id, "registered"), named(refused.id, "joined")], [0, 0]);
}

/// Twenty nodes in a field whose links lose a tenth.
fn field(seconds: u32, mode: &str, event: &str) -> Scenario {
    let text = format!(
        "security = \"none\"\nduration = \"{seconds}s\"\n[radio]\nrange = \"50m\"\nloss = 0.1\none_way = 0.2\n\
        [network]\ndiscovery = \"nd\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
        [topology]\nkind = \"random\"\nnodes = 20\nwidth = \"160m\"\nheight = \"160m\"\n\
        [traffic]\nperiod = \"60s\"\n{event}"
    );
    Scenario::parse("field", &text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn nobody_is_a_parent_before_it_has_an_address() {
    let (simulation, log) = run(&field(120, "non-storing", "").with_seed(102));
    let mut registered = vec![0];
    let mut parents = 0;
    for event in &log {
        if event["event"] == "registered" {
            registered.push(event["node"].as_u64().unwrap());
        } else if event["event"] == "parent" {
            assert!(registered.contains(&event["to"].as_u64().unwrap()), "{event}");
            parents += 1;
        }
    }
    assert!(parents >= 10, "{parents}");
    for node in &simulation.report().nodes {
        assert_eq!(node.drops.get("malformed"), None, "{node:?}");
    }
}

#[test]
fn a_router_that_reboots_is_registered_again_soon_and_an_address_is_lost_only_by_who_has_it() {
    let reboot = "[[event]]\nat = \"600s\"\nnode = 20\nkind = \"reboot\"\n";
    let (_, log) = run(&field(800, "storing", reboot).with_seed(105));
    let mut registered = std::collections::BTreeSet::new();
    for event in &log {
        let node = event["node"].as_u64().unwrap();
        match event["event"].as_str().unwrap() {
            // It has lost all that it knew, and does not say so.
            "on" => drop(registered.remove(&node)),
            "registered" => assert!(registered.insert(node), "{event}"),
            "unregistered" => assert!(registered.remove(&node), "{event}"),
            _ => {}
        }
    }
    let again = log.iter().rfind(|event| event["node"] == 20 && event["event"] == "registered").unwrap();
    let seconds = again["us"].as_u64().unwrap() / 1_000_000;
    assert!((600..645).contains(&seconds), "{seconds}");
}
