//! Hosts that do not speak RPL, below routers that do.

use serde_json::Value;
use sixlock_base::Counter;
use sixlock_sim::{NodeReport, Options, Report, Scenario, Simulation, Sinks, Time};
use sixlock_testing::Recording;

/// A chain of two routers, at the end of which stands node 3, a host.
fn chain(security: &str, mode: &str, traffic: &str) -> String {
    format!(
        "security = \"{security}\"\nduration = \"600s\"\n[network]\ndiscovery = \"nd\"\nprefix = \"2001:db8:7::/64\"\n\
        [routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n[traffic]\nperiod = \"20s\"\n{traffic}\n\
        [topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"40m\"\n[[node]]\nid = 2\nx = \"80m\"\n\
        [[node]]\nid = 3\nx = \"120m\"\nhost = true\n"
    )
}

/// The run of a scenario, and its events.
fn run(text: &str) -> (Simulation, Vec<Value>) {
    let scenario = Scenario::parse("hosts", text).unwrap_or_else(|error| panic!("{error}"));
    let log = Recording::default();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let log = String::from_utf8(log.bytes()).unwrap();
    (simulation, log.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn node(report: &Report, id: u32) -> &NodeReport {
    &report.nodes[id as usize - 1]
}

#[test]
fn a_host_below_a_router_posts_readings_and_answers_echoes_in_every_mode() {
    for traffic in ["kind = \"report\"", "kind = \"echo\"\npayload = \"40B\""] {
        for mode in ["non-storing", "storing"] {
            for security in ["none", "esp", "ah"] {
                let what = format!("{security}, {mode}, {traffic}");
                let (simulation, _) = run(&chain(security, mode, traffic));
                let report = simulation.report();
                for node in &report.nodes {
                    assert!(node.joined_s.is_some_and(|joined| joined < 120.0), "{what}: {node:?}");
                    assert!(node.delivered >= 22 && node.rtt_ms.is_some(), "{what}: {node:?}");
                }
                let host = node(&report, 3);
                assert_eq!((host.parent, host.hops), (2, 3), "{what}");
                assert_eq!(host.registered.as_ref().map(|registered| registered.at), Some(2), "{what}");
                // The host hears what is for the group of those that speak RPL, and is not in it.
                for id in 0..3 {
                    let counters = simulation.counters(id).unwrap();
                    for counter in [Counter::NdFull, Counter::RplRoutesFull, Counter::Ipv6BadAddress] {
                        assert_eq!(counters.get(counter), 0, "{what}: {counter:?} at {id}");
                    }
                }
            }
        }
    }
}
