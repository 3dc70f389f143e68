//! Nodes that prove by public keys who they are, raw and in certificates.

use sixlock_sim::{
    Destination, Options, Platform, Report, Scenario, ScenarioBuilder, Simulation, Span, Time,
};

fn chain(security: &str, platform: &str) -> Scenario {
    let text = format!(
        "security = \"{security}\"\nduration = \"120s\"\n[platform]\nprofile = \"{platform}\"\n\
        [topology]\nkind = \"chain\"\nnodes = 2\n[traffic]\nperiod = \"30s\""
    );
    Scenario::parse("chain", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// What became of it, and for how long the CPU of node 2 was at work, in seconds.
fn run(security: &str, platform: &str) -> (Report, f64) {
    let scenario = chain(security, platform);
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let cpu = simulation.state_times(2).map_or(Span::ZERO, |times| times.cpu);
    (simulation.report(), cpu.micros() as f64 / 1e6)
}

fn delivers(report: &Report) {
    for node in &report.nodes {
        assert!(node.handshakes() == 1 && node.delivered >= 3, "{node:?}");
        assert!(node.delivered + 1 >= node.sent, "{node:?}");
    }
}

#[test]
fn readings_arrive_in_sessions_made_with_public_keys() {
    let bytes = ["dtls-psk", "dtls-rpk", "llsec+dtls-x509"].map(|security| {
        let (report, _) = run(security, "native");
        delivers(&report);
        report.nodes[1].bytes
    });
    assert!(bytes.is_sorted(), "certificates are longer than keys, and keys than a name: {bytes:?}");
}

#[test]
fn a_node_takes_in_the_readings_of_others_in_sessions_made_with_public_keys() {
    for security in ["dtls-rpk", "dtls-x509"] {
        let scenario = ScenarioBuilder::from(chain(security, "native"));
        let scenario = scenario.destination(Destination::Node(1)).build().unwrap();
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        simulation.step_until(Time::ZERO + scenario.duration());
        let report = simulation.report();
        let client = &report.nodes[1];
        assert!(
            client.handshakes() == 1 && client.delivered >= 3 && client.delivered + 1 >= client.sent,
            "{report:?}"
        );
    }
}

/// The native node has buffers of 1280 bytes, the one that forwards for it of 336.
#[test]
fn flights_go_through_nodes_with_shorter_buffers_than_their_sender() {
    for security in ["dtls-rpk", "dtls-x509"] {
        let scenario = ScenarioBuilder::from(chain(security, "native"));
        let scenario = scenario.platform(1, Platform::mb851()).build().unwrap();
        let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
        delivers(&report);
    }
}

/// A client makes a key, agrees, signs and verifies a signature, and with certificates another: 23 and 32 million instructions, of
/// 4/3 cycles each at 24 MHz.
#[test]
fn a_board_takes_as_long_for_p_256_as_it_was_measured_to_take() {
    let [(psk, without), (raw, with_keys), (certified, with_certificates)] =
        ["dtls-psk", "dtls-rpk", "dtls-x509"].map(|security| run(security, Platform::mb851().name()));
    [psk, raw, certified].iter().for_each(delivers);
    let (keys, certificates) = (with_keys - without, with_certificates - with_keys);
    assert!((1.30..1.40).contains(&keys), "{keys} s");
    assert!((0.47..0.55).contains(&certificates), "{certificates} s");
}

#[test]
fn an_engine_multiplies_points_where_there_is_one() {
    let (software, at_work) = run("dtls-rpk", Platform::openmote().name());
    let (engine, relieved) = run("dtls-rpk@engine", Platform::openmote().name());
    [software, engine].iter().for_each(delivers);
    // Five multiplications of 1/6 s each, instead of 23 million instructions at 32 MHz.
    assert!((0.80..0.90).contains(&relieved) && at_work > relieved + 0.1, "{at_work} s and {relieved} s");
}
