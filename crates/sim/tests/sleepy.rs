//! Nodes at the edge of a network whose receivers are off: their parents hold what is for them.

use sixlock_sim::{NodeReport, Options, Report, Scenario, Simulation};

const MODES: [&str; 6] = ["none", "llsec", "ah", "esp", "dtls-psk", "llsec+dtls-psk"];

fn run(text: &str) -> Report {
    let scenario = Scenario::parse("s", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    Simulation::new(&scenario, Options::default()).unwrap().run().unwrap()
}

fn chain(security: &str, nodes: u32, more: &str) -> String {
    format!(
        "duration = \"2h\"\nsecurity = \"{security}\"\n[mac]\nlisten = \"sleepy\"\n[topology]\nnodes = {nodes}\n\
         [traffic]\nkind = \"report\"\nperiod = \"5min\"\n{more}"
    )
}

fn duty_cycle(node: &NodeReport) -> f64 {
    node.duty_cycle.unwrap()
}

#[test]
fn a_leaf_that_reports_each_five_minutes_is_on_for_less_than_a_two_thousandth_of_the_time() {
    for security in MODES {
        let report = run(&chain(security, 3, ""));
        let leaf = report.nodes.last().unwrap();
        println!("{security}: duty cycle {:.4} %, {:?}", duty_cycle(leaf) * 100.0, leaf.delivered);
        assert!(duty_cycle(leaf) <= 0.000_5, "{security}: {}", duty_cycle(leaf));
        assert_eq!((leaf.delivered, leaf.failed), (leaf.due - leaf.pending, 0), "{security}");
        for router in &report.nodes[..2] {
            assert!(duty_cycle(router) > 0.999, "routers listen: {}", duty_cycle(router));
        }
    }
}

#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn the_leaves_of_a_field_sleep_and_lose_no_reading() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/field-50.toml");
    let field = std::fs::read_to_string(path).unwrap();
    for security in ["none", "llsec+dtls-psk"] {
        let mac = "[mac]\nlisten = \"sleepy\"\n[routing]";
        let text = field.replace("[routing]", mac).replace("\"none\"", &format!("\"{security}\""));
        let report = run(&text);
        let leaves: Vec<_> = report.nodes.iter().filter(|node| duty_cycle(node) < 0.5).collect();
        let worst = leaves.iter().map(|node| duty_cycle(node)).fold(0.0, f64::max);
        let joined =
            report.nodes.iter().map(|node| node.joined_s.unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
        println!(
            "{security}: {} leaves, whose radios are on for at most {:.2} % with the time until all have joined, {joined:.0} s",
            leaves.len(),
            worst * 100.0
        );
        assert!(leaves.len() > 15 && worst < 0.02, "{} {worst}", leaves.len());
        assert!(joined <= 120.0, "{joined}");
        for node in report.nodes {
            let over = node.delivered + node.failed;
            assert!(node.delivered * 100 >= over * 98 && over > 50, "{security}: {node:?}");
        }
    }
}

/// Over up to six hops, and of leaves that sleep: datagrams with their source routes, several of which wait for the same leaf.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn handshakes_with_public_keys_reach_the_leaves_of_an_office() {
    for mode in ["dtls-rpk", "dtls-x509"] {
        for seed in 1..=3 {
            let report = run(&format!(
                "security = \"{mode}\"\nduration = \"4h\"\nseed = {seed}\n{}[mac]\nlisten = \"sleepy\"\n",
                include_str!("../../../scenarios/plan/building.toml")
            ));
            let count = |of: fn(&NodeReport) -> u64| report.nodes.iter().map(of).sum::<u64>();
            let [due, delivered, pending] =
                [count(|node| node.due), count(|node| node.delivered), count(|node| node.pending)];
            println!("{mode}, seed {seed}: {delivered} of {due} delivered, {pending} under way");
            assert!(
                due > 600 && (delivered + pending) * 100 >= due * 99,
                "{mode}, seed {seed}: {delivered} of {due}"
            );
        }
    }
}

#[test]
fn a_host_that_sleeps_is_reached_through_the_router_that_it_has_registered_at() {
    for traffic in ["kind = \"report\"", "kind = \"echo\"\npayload = \"300B\""] {
        for (mode, security) in [("non-storing", "llsec"), ("storing", "esp"), ("storing", "none")] {
            let what = format!("{traffic}, {mode}, {security}");
            let report = run(&format!(
                "security = \"{security}\"\nduration = \"3600s\"\n[mac]\nlisten = \"sleepy\"\npoll = \"2s\"\n\
                 [network]\ndiscovery = \"nd\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
                 [traffic]\nperiod = \"60s\"\n{traffic}\n[topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"40m\"\n\
                 [[node]]\nid = 2\nx = \"80m\"\n[[node]]\nid = 3\nx = \"120m\"\nhost = true\n"
            ));
            let host = &report.nodes[2];
            assert!(
                duty_cycle(host) < 0.01 && host.joined_s.is_some_and(|joined| joined < 60.0),
                "{what}: {host:?}"
            );
            assert!(host.delivered >= 59 && host.failed == 0, "{what}: {host:?}");
            let rtt = host.rtt_ms.as_ref().unwrap();
            assert!(rtt.p95 < 3_000.0, "what waits is there with the next data request: {what}: {rtt:?}");
        }
    }
}

#[test]
fn a_parent_that_starts_anew_learns_again_who_sleeps() {
    let text = chain("llsec", 3, "[[event]]\nat = \"1800s\"\nnode = 2\nkind = \"reboot\"\n");
    let echo = "kind = \"echo\"\npayload = \"64B\"";
    let text = text
        .replace("kind = \"report\"", echo)
        .replace("\"5min\"", "\"60s\"")
        .replace("\"sleepy\"", "\"sleepy\"\npoll = \"2s\"");
    let report = run(&text);
    let leaf = &report.nodes[2];
    assert!(leaf.due == 120 && leaf.delivered >= 118, "{leaf:?}");
    assert!(duty_cycle(leaf) < 0.01, "{leaf:?}");
}

#[test]
fn a_coin_cell_gets_its_answers_from_a_parent_that_takes_long_to_seal_a_frame() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/coin-cell.toml");
    let text = std::fs::read_to_string(path).unwrap().replace("\"7d\"", "\"12h\"");
    for security in ["llsec", "llsec+dtls-psk"] {
        let report = run(&text.replace("\"llsec+dtls-psk\"", &format!("\"{security}\"")));
        let leaf = &report.nodes[1];
        println!(
            "{security}: {} of {}, duty cycle {:.4} %",
            leaf.delivered,
            leaf.due,
            duty_cycle(leaf) * 100.0
        );
        assert!(leaf.delivered + 1 >= leaf.due && leaf.due >= 143, "{security}: {leaf:?}");
        assert!(duty_cycle(leaf) < 0.001, "{security}: {}", duty_cycle(leaf));
    }
}

#[test]
fn a_leaf_whose_parent_has_died_searches_ever_more_rarely() {
    for routing in ["static", "rpl"] {
        let text = |duration: &str| {
            format!(
                "duration = \"{duration}\"\n[mac]\nlisten = \"sleepy\"\n[routing]\nkind = \"{routing}\"\n\
                 [traffic]\nperiod = \"5min\"\n[topology]\nnodes = 2\n\
                 [[event]]\nat = \"1h\"\nnode = 1\nkind = \"die\"\n"
            )
        };
        let [before, after] = ["2h", "26h"].map(|duration| run(&text(duration)));
        let on = |report: &Report| duty_cycle(&report.nodes[1]) * report.simulated_s;
        let share = (on(&after) - on(&before)) / (after.simulated_s - before.simulated_s);
        println!("{routing}: {:.3} % of the time, {:.1} s in the first hour", 100.0 * share, on(&before));
        assert!(share < 0.02, "{routing}: {share}");
    }
}

/// A chain whose end sleeps and sends an echo each ten seconds; node `node` starts anew after ten minutes, and is off for `off`.
fn starts_anew(mode: &str, seed: u32, node: u32) -> Report {
    run(&format!(
        "duration = \"1500s\"\nseed = {seed}\n[mac]\nlisten = \"sleepy\"\npoll = \"30s\"\n\
         [routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n[traffic]\nkind = \"echo\"\npayload = \"32B\"\n\
         period = \"10s\"\n[topology]\nnodes = 2\n[[event]]\nat = \"600s\"\nnode = {node}\nkind = \"reboot\"\n"
    ))
}

#[test]
fn a_leaf_learns_from_its_parent_that_the_root_or_the_parent_has_started_anew() {
    for (mode, node) in [("non-storing", 0), ("storing", 0), ("non-storing", 1), ("storing", 1)] {
        for seed in 1..=3 {
            let report = starts_anew(mode, seed, node);
            let leaf = &report.nodes[1];
            let lost = leaf.due - leaf.delivered - leaf.pending;
            println!("{mode}, node {node}, seed {seed}: {lost} of {} lost", leaf.due);
            assert!(leaf.due >= 140 && lost <= 6, "{mode}, node {node}, seed {seed}: {leaf:?}");
        }
    }
}

#[test]
fn the_battery_of_a_leaf_on_a_board_lasts_thirty_times_as_long() {
    let lives = ["always", "sleepy"].map(|listen| {
        let text = chain("llsec+dtls-psk", 3, "[platform]\nprofile = \"openmote\"\n[battery]\n");
        let report = run(&text.replace("\"sleepy\"", &format!("\"{listen}\"")));
        let leaf = &report.nodes[2];
        assert!(leaf.delivered + 1 >= leaf.due, "{leaf:?}");
        println!("{listen}: {:?} days", leaf.life_days);
        leaf.life_days.unwrap()
    });
    // Then it is the CPU that takes most, although it does nothing.
    assert!(lives[1] > 30.0 * lives[0], "{lives:?}");
}

#[test]
fn a_node_with_mains_has_no_battery_to_last() {
    let text = "duration = \"60s\"\n[platform]\nprofile = \"openmote\"\n[battery]\n[topology]\nkind = \"list\"\n\
        [[node]]\nid = 1\nmains = true\nx = \"30m\"\n[[node]]\nid = 2\nx = \"60m\"\n";
    let report = run(text);
    let [router, sensor] = &report.nodes[..] else { panic!("{report:?}") };
    assert!(
        router.life_days.is_none() && router.energy_mj.is_some() && sensor.life_days.is_some(),
        "{report:?}"
    );
}

#[test]
fn only_csma_with_acknowledgements_tells_a_leaf_whether_something_waits() {
    for mac in ["kind = \"null\"", "kind = \"contiki-csma\"", "ack = false"] {
        let text = chain("none", 1, "").replace("[mac]\n", &format!("[mac]\n{mac}\n"));
        let error = Scenario::parse("s", &text).unwrap_err().to_string();
        assert!(error.contains("set [mac] kind to \"csma\", and leave ack out"), "{error}");
    }
    let text = chain("none", 1, "").replace("\"sleepy\"", "\"sleepy\"\npoll = \"10min\"");
    let error = Scenario::parse("s", &text).unwrap_err().to_string();
    assert!(error.contains("between \"125ms\" and \"5min\""), "{error}");
}
