//! IPsec through whole networks.

use sixlock_base::{AhSuite, Counter, EspSuite, NetworkSuite};
use sixlock_sim::{Options, Report, Scenario, ScenarioBuilder, Simulation, Sinks, Span, Time};
use sixlock_testing::Recording;

/// A chain of four nodes with this mode, and what is said of the rest.
fn chain(security: &str, text: &str) -> Scenario {
    let text = format!("security = \"{security}\"\n[topology]\nkind = \"chain\"\nnodes = 4\n{text}");
    Scenario::parse("chain", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> Report {
    Simulation::new(scenario, Options::default()).unwrap().run().unwrap()
}

fn count(simulation: &Simulation, counter: Counter) -> u32 {
    (0..=4).map(|id| simulation.counters(id).unwrap().get(counter)).sum()
}

#[test]
fn every_suite_that_authenticates_carries_readings_and_echoes_across_every_hop() {
    let ah = AhSuite::ALL.iter().map(|suite| format!("ah:{}", suite.name()));
    let esp = EspSuite::ALL.iter().filter(|&&suite| NetworkSuite::Esp(suite).authenticates());
    let joint = ["ctr-xcbc", "cbc-hmac-sha1", "gcm-implicit"].map(|suite| format!("esp:joint-{suite}"));
    for security in ah.chain(esp.map(|suite| format!("esp:{}", suite.name()))).chain(joint) {
        for kind in ["report", "echo"] {
            let text = format!("[traffic]\nperiod = \"20s\"\nkind = \"{kind}\"");
            let text = if kind == "echo" { text + "\npayload = \"512B\"" } else { text };
            let scenario = ScenarioBuilder::from(chain(&security, &text));
            let scenario = scenario.duration(Span::from_secs(50)).build().unwrap();
            for node in &run(&scenario).nodes {
                assert!(node.sent >= 2 && node.rtt_ms.is_some(), "{security}, {kind}: {node:?}");
                assert_eq!(node.delivered, node.sent, "{security}, {kind}: {node:?}");
            }
        }
    }
}

#[test]
fn suites_that_accept_forgeries_are_simulated_where_the_scenario_says_so_alone() {
    for security in ["esp:ctr", "esp:cbc", "llsec:ctr", "llsec:ccm-64+esp:ctr", "llsec:ctr+ah"] {
        let text = format!("security = \"{security}\"");
        let error = Scenario::parse("s", &text).unwrap_err().to_string();
        let (expected, _) = security.rsplit_once("+ah").unwrap_or((security, ""));
        let expected = expected.trim_start_matches("llsec:ccm-64+");
        assert!(
            error.starts_with(&format!("s:1: {expected} accepts forged and replayed packets")),
            "{error}"
        );
        assert!(error.contains("unauthenticated = true"), "{error}");
        for kind in ["report", "echo"] {
            let text = format!("[traffic]\nperiod = \"20s\"\nkind = \"{kind}\"");
            let text = format!("security = \"none\"\n{text}");
            let secured = |text: &str| {
                let builder = ScenarioBuilder::parse("s", text).unwrap();
                let security = sixlock_base::Security::any(security).unwrap();
                builder.security(security).duration(Span::from_secs(50)).nodes(4).build()
            };
            let scenario = secured(&format!("unauthenticated = true\n{text}")).unwrap();
            for node in &run(&scenario).nodes {
                assert!(node.sent >= 2 && node.delivered == node.sent, "{security:?}, {kind}: {node:?}");
            }
            assert!(secured(&text).is_err());
        }
    }
}

/// The papers' sizes: the 24 bytes of AH take 16, the 8 of ESP 4, when the number is short.
#[test]
fn headers_are_compressed_on_the_air_but_for_every_64th_packet() {
    let [none, ah, esp] = ["none", "ah", "esp:ctr-xcbc"].map(|security| {
        let capture = Recording::default();
        let sinks = Sinks { pcap: Some(capture.sink()), ..Sinks::default() };
        let text = "duration = \"200s\"\n[topology]\nkind = \"chain\"\nnodes = 1\n\
            [traffic]\nkind = \"echo\"\npayload = \"22B\"\nperiod = \"1s\"";
        let text = format!("security = \"{security}\"\n{text}");
        let scenario = Scenario::parse("one", &text).unwrap();
        let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
        simulation.step_until(Time::ZERO + scenario.duration());
        simulation.flush().unwrap();
        let frames = capture.frames();
        frames.iter().filter(|frame| frame[0] & 7 == 1).map(Vec::len).collect::<Vec<_>>()
    });
    let bare = none[0];
    assert!(none.iter().all(|&len| len == bare));
    // A whole number takes two bytes more, and says how long the ICV is in another.
    let [ah_short, ah_whole] = [16, 16 + 3].map(|more| bare + more);
    let mut widths: Vec<_> = ah.clone();
    widths.sort_unstable();
    widths.dedup();
    assert_eq!(widths, [ah_short, ah_whole]);
    let whole = ah.iter().filter(|&&len| len == ah_whole).count();
    assert_eq!(whole, 2 * ah.len().div_ceil(2).div_ceil(64), "of {} packets", ah.len());
    let shortest = esp.iter().min().unwrap();
    // Header, initialization vector, trailer and ICV; and UDP's 8 bytes as they are, of which compression leaves 7.
    assert_eq!(*shortest, bare + 4 + 8 + 2 + 12 + 1);
}

/// Each pair has keys of its own, in both directions; who forwards has none of them.
#[test]
fn nodes_protect_what_goes_from_one_to_another() {
    for security in ["ah+dtls-psk", "esp+dtls-psk", "llsec+esp:joint-gcm+dtls-psk"] {
        let scenario = chain(security, "[traffic]\nperiod = \"20s\"\nto = 2");
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        let between: Vec<_> =
            simulation.peerings().iter().filter(|peering| peering.host.segments()[1] == 0).collect();
        assert_eq!(between.iter().map(|peering| peering.id).collect::<Vec<_>>(), [1, 3, 4]);
        let mut keys: Vec<_> =
            between.iter().flat_map(|peering| [&peering.from_node, &peering.from_host]).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 6);
        simulation.step_until(Time::ZERO + scenario.duration());
        let report = simulation.report();
        for id in [1, 3, 4] {
            let node = &report.nodes[id - 1];
            assert!(node.handshakes() == 1 && node.delivered >= 29, "{security}: {node:?}");
        }
        for refused in [Counter::IpsecBadIcv, Counter::IpsecNoAssociation, Counter::IpsecPolicyViolated] {
            assert_eq!(count(&simulation, refused), 0, "{security}: {}", refused.name());
        }
    }
}

#[test]
fn more_nodes_than_one_has_room_for_are_refused() {
    let text = "security = \"esp+dtls-psk\"\nduration = \"1s\"\n[topology]\nkind = \"chain\"\nnodes = 70\n[traffic]\nto = 1";
    let scenario = Scenario::parse("s", text).unwrap();
    let error = Simulation::new(&scenario, Options::default()).err().unwrap().to_string();
    assert!(error.contains("station 1 has no room for so much IPsec"), "{error}");
}

/// Link layer retries repeat frames, and losses leave gaps: nothing is restored wrongly.
#[test]
fn under_loss_no_packet_is_opened_with_a_wrong_number() {
    for security in ["ah", "esp"] {
        let scenario = chain(
            security,
            "[radio]\nloss = 0.25\n[traffic]\nkind = \"echo\"\npayload = \"100B\"\nperiod = \"2s\"",
        );
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        simulation.step_until(Time::ZERO + scenario.duration());
        let report = simulation.report();
        assert!(report.nodes.iter().all(|node| node.rtt_ms.is_some()));
        for refused in [Counter::IpsecBadIcv, Counter::IpsecMalformed, Counter::IpsecPolicyViolated] {
            assert_eq!(count(&simulation, refused), 0, "{security}: {}", refused.name());
        }
        let lost = count(&simulation, Counter::MacNoAck);
        assert!(lost > 0, "there was loss: {lost}");
    }
}

/// On a platform AES takes time, in software more than with the radio's engine.
#[test]
fn on_a_platform_ipsec_takes_the_cpus_time() {
    let busy = |security: &str| {
        let text = format!(
            "security = \"{security}\"\nduration = \"30s\"\n[platform]\nprofile = \"tmote-sky\"\n\
            [topology]\nkind = \"chain\"\nnodes = 2\n\
            [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"5s\""
        );
        let scenario = Scenario::parse("sky", &text).unwrap_or_else(|error| panic!("{error}"));
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        simulation.step_until(Time::ZERO + scenario.duration());
        let report = simulation.report();
        assert!(report.nodes.iter().all(|node| node.delivered >= 5), "{security}: {report:?}");
        let network = simulation.network();
        let added = network.nodes.iter().map(|node| node.transmissions.security_bytes).sum::<u64>();
        assert_eq!(added > 0, security != "none", "{security}");
        simulation.state_times(2).unwrap().cpu
    };
    let [none, software, engine] = ["none", "esp", "esp@engine"].map(busy);
    assert!(none < engine && engine < software, "{none:?}, {engine:?}, {software:?}");
    // An echo of 64 bytes is opened and sealed: some 6,000 cycles a block of AES at 3.9 MHz, 19 of them.
    let each = (software.micros() - none.micros()) / 6;
    assert!((20_000..60_000).contains(&each), "{each} µs an echo");
}
