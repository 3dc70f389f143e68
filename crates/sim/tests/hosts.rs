//! Hosts that do not speak RPL, below routers that do.

use std::net::Ipv6Addr;

use serde_json::Value;
use sixlock_base::{Counter, Eui64};
use sixlock_ipv6::Header;
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_sim::{NodeReport, Options, Report, Scenario, Simulation, Sinks, Span, Time};
use sixlock_testing::Recording;
use sixlock_testing::packets::icmpv6;

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
                assert_eq!((host.parent, host.hops), (Some(2), Some(3)), "{what}");
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

/// Around what the host sends its router puts a header, for which a packet of 1,280 bytes leaves no room.
#[test]
fn a_host_answers_pings_up_to_the_mtu() {
    for mode in ["non-storing", "storing"] {
        let scenario = Scenario::parse("hosts", &chain("none", mode, "from = 1")).unwrap();
        let options = Options { packets: true, ..Options::default() };
        let mut simulation = Simulation::new(&scenario, options).unwrap();
        simulation.step_until(Time::ZERO + Span::from_secs(120));
        let outside: Ipv6Addr = "fd00:0:0:1::1".parse().unwrap();
        let host = Eui64::of_node(3).with_prefix([0x20, 0x01, 0x0d, 0xb8, 0, 7, 0, 0]);
        let echo = Echo { identifier: 7, sequence: 1 };
        for len in [56, 1150, 1184, 1200, 1232] {
            let body = vec![0x42; len];
            // Frames of so many are lost now and then, as others send.
            let answer = (0..5).find_map(|_| {
                simulation.handle_packet(&icmpv6(outside, host, 64, Message::EchoRequest(echo), &body));
                simulation.step_until(simulation.now() + Span::from_secs(8));
                simulation.poll_packet()
            });
            let answer = answer.unwrap_or_else(|| panic!("{mode}: no answer of {len} bytes"));
            let hop_limit = answer[Header::HOP_LIMIT_AT];
            assert_eq!(
                answer,
                icmpv6(host, outside, hop_limit, Message::EchoReply(echo), &body),
                "{mode}, {len}"
            );
        }
        assert_eq!(simulation.counters(2).unwrap().get(Counter::Ipv6TooBig), 0, "{mode}");
    }
}

/// Routers on either side of the border router, and node 3, a host, which moves from one end to the other at 300 s: 2 – 1 – 0 – 4 – 5.
fn moving(security: &str, mode: &str, traffic: &str) -> String {
    let text = chain(security, mode, traffic).replace("\"600s\"", "\"5400s\"").replace("\"20s\"", "\"60s\"");
    format!(
        "{text}[[node]]\nid = 4\nx = \"-40m\"\n[[node]]\nid = 5\nx = \"-80m\"\n\
        [[event]]\nat = \"300s\"\nnode = 3\nkind = \"move\"\nx = \"-120m\"\ny = \"0m\"\n"
    )
}

/// For how many seconds hosts register.
const REGISTRATION: u64 = 3_600;

#[test]
fn a_host_that_moves_is_reached_again_within_the_lifetime_of_a_registration() {
    for (security, mode, traffic) in [
        ("none", "non-storing", "kind = \"report\""),
        ("esp", "storing", "kind = \"report\""),
        ("ah", "non-storing", "kind = \"echo\"\npayload = \"40B\""),
        ("none", "storing", "kind = \"echo\"\npayload = \"40B\""),
    ] {
        let what = format!("{security}, {mode}, {traffic}");
        let (simulation, log) = run(&moving(security, mode, traffic));
        let report = simulation.report();
        let host = node(&report, 3);
        let registered: Vec<(u64, u64)> = log
            .iter()
            .filter(|event| event["node"] == 3 && event["event"] == "registered")
            .map(|event| (event["at"].as_u64().unwrap(), event["us"].as_u64().unwrap() / 1_000_000))
            .collect();
        let [(2, _), (5, again)] = registered[..] else { panic!("{what}: {registered:?}") };
        assert!((300..300 + REGISTRATION).contains(&again), "{what}: {again} s");
        assert_eq!((host.parent, host.hops), (Some(5), Some(3)), "{what}");
        // What is due before it moves and after it is found again arrives, but for what is under way just then.
        let before_and_after = (300 + 5_400 - again) / 60;
        assert!(host.delivered + 5 >= before_and_after, "{what}: {host:?}");
        assert!(host.delivered <= host.due - (again - 300) / 60 + 3, "{what}: {host:?}");
    }
}

#[test]
fn a_host_whose_registration_is_refused_delivers_nothing_and_the_report_tells() {
    // It has the EUI-64 of node 4, which no neighbour of it hears, and comes when that is registered: 3 – 2 – 1 – 0 – 5 – 4.
    let text = chain("none", "non-storing", "kind = \"report\"\ncredential = \"query\"");
    let text = format!(
        "{text}eui64 = 4\n[[node]]\nid = 5\nx = \"-40m\"\n[[node]]\nid = 4\nx = \"-80m\"\n\
        [[event]]\nat = \"200s\"\nnode = 3\nkind = \"join\"\n"
    );
    let (simulation, log) = run(&text);
    let report = simulation.report();
    let host = node(&report, 3);
    assert!(host.due > 0 && host.duplicates > Some(0), "{host:?}");
    assert_eq!((host.delivered, host.joined_s, &host.registered), (0, None, &None), "{host:?}");
    assert!(log.iter().any(|event| event["node"] == 3 && event["event"] == "duplicate"));
    assert!([1, 2, 4, 5].iter().all(|&id| node(&report, id).delivered >= 20));
}

/// Two hosts at router 2, which reboots at 300 s, and one at the border router, which reboots at 400 s.
#[test]
fn hosts_below_a_router_that_has_rebooted_are_reached_again_within_a_minute() {
    for mode in ["non-storing", "storing"] {
        let text = chain("none", mode, "kind = \"report\"");
        let (_, log) = run(&format!(
            "{text}[[node]]\nid = 4\nx = \"80m\"\ny = \"40m\"\nhost = true\n\
            [[node]]\nid = 5\nx = \"0m\"\ny = \"40m\"\nhost = true\n\
            [[event]]\nat = \"300s\"\nnode = 2\nkind = \"reboot\"\n\
            [[event]]\nat = \"400s\"\nnode = 0\nkind = \"reboot\"\n"
        ));
        for (host, at) in [(3, 300), (4, 300), (5, 400)] {
            let named = |name: &'static str| {
                log.iter().filter(move |event| event["node"] == host && event["event"] == name)
            };
            let seconds = |event: &Value| event["us"].as_u64().unwrap() / 1_000_000;
            let confirmed: Vec<u64> =
                named("confirmed").map(|event| event["reading"].as_u64().unwrap()).collect();
            assert_eq!(named("registered").count(), 1, "{mode}: {host} has kept its address");
            let rejoined: Vec<u64> =
                named("rejoined").map(seconds).filter(|time| (at..at + 100).contains(time)).collect();
            let [rejoined] = rejoined[..] else { panic!("{mode}: {host}: {rejoined:?}") };
            assert!(rejoined < at + 60, "{mode}: {host}: {rejoined}");
            let reached = |due: &&Value| (rejoined + 1..at + 100).contains(&seconds(due));
            let missed: Vec<&Value> = named("due")
                .filter(reached)
                .filter(|due| !confirmed.contains(&due["reading"].as_u64().unwrap()))
                .collect();
            assert!(missed.is_empty(), "{mode}: {missed:?}, rejoined at {rejoined}");
        }
    }
}
