//! Packets that carry RPL's option: every mode delivers under it what it does without.

use sixlock_base::Counter;
use sixlock_sim::{Options, Scenario, Simulation, Time};

/// Every way to secure a network, alone and joined.
const MODES: [&str; 17] = [
    "none",
    "llsec",
    "ah",
    "esp",
    "esp:joint-ctr-xcbc",
    "dtls-psk",
    "dtls-rpk",
    "dtls-x509",
    "llsec+ah",
    "llsec+esp",
    "llsec+dtls-psk",
    "llsec+dtls-rpk",
    "llsec+dtls-x509",
    "ah+dtls-psk",
    "esp+dtls-psk",
    "esp+dtls-rpk",
    "llsec+esp+dtls-x509",
];

/// A chain of three nodes that loses nothing, to its end.
fn run(security: &str, kind: &str) -> Simulation {
    let text = format!(
        "security = \"{security}\"\nduration = \"56s\"\n[routing]\nheaders = \"rpl\"\n\
        [topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nkind = \"{kind}\"\nperiod = \"20s\"\n"
    );
    let scenario = Scenario::parse("rpl", &text).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation
}

fn delivers_all(kind: &str) {
    for security in MODES {
        let simulation = run(security, kind);
        for node in &simulation.report().nodes {
            assert!(node.sent >= 2, "{security}, {kind}: {node:?}");
            assert_eq!(node.delivered, node.sent, "{security}, {kind}: {node:?}");
        }
        let gateway = simulation.counters(0).unwrap();
        assert_eq!(gateway.get(Counter::GatewayNotUdp), 0, "{security}, {kind}");
        let nodes = simulation.network().nodes;
        let secured: Vec<_> = nodes.iter().map(|node| node.transmissions.security_bytes).collect();
        assert!(
            secured.iter().all(|&bytes| (bytes > 0) == (security != "none")),
            "{security}, {kind}: {secured:?}"
        );
    }
}

#[test]
fn every_mode_delivers_all_readings_behind_rpl_s_option() {
    delivers_all("report");
}

#[test]
fn every_mode_delivers_all_echoes_behind_rpl_s_option() {
    delivers_all("echo");
}
