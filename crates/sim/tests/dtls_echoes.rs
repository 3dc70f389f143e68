//! Echoes over DTLS: the host at the far end begins a session with each node, and sends what comes back.

use sixlock_base::Counter;
use sixlock_sim::{NodeReport, Options, Platform, Scenario, ScenarioBuilder, Simulation, Span, Time};

fn chain(more: &str) -> Scenario {
    secured("dtls-psk", more)
}

fn secured(security: &str, more: &str) -> Scenario {
    let text = format!(
        "security = \"{security}\"\nduration = \"60s\"\n[topology]\nkind = \"chain\"\nnodes = 3\n\
        [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"2s\"\n{more}"
    );
    Scenario::parse("chain", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario, Options::default()).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation
}

fn handshake(node: &NodeReport) -> f64 {
    node.handshake_ms().expect("a handshake").mean
}

#[test]
fn every_echo_comes_back_in_the_one_session_of_its_node() {
    let simulation = run(&chain(""));
    let report = simulation.report();
    for node in &report.nodes {
        assert!(node.sent >= 28 && node.delivered + 1 >= node.sent, "{node:?}");
        assert_eq!(node.handshakes(), 1);
    }
    assert!(handshake(&report.nodes[0]) < handshake(&report.nodes[2]), "it is further away");
    let network = simulation.network();
    assert!(network.nodes.iter().all(|node| node.transmissions.security_bytes > 0));
}

#[test]
fn echoes_come_back_from_boards_and_take_them_time() {
    let scenario = chain("to = 2");
    let native = run(&scenario).report();
    let boards = ScenarioBuilder::from(scenario).profile(Some(Platform::mb851())).build().unwrap();
    let boards = run(&boards).report();
    let (native, board) = (&native.nodes[1], &boards.nodes[1]);
    assert_eq!((board.handshakes(), boards.nodes[0].sent), (1, 0));
    assert!(board.sent >= 28 && board.delivered + 1 >= board.sent, "{board:?}");
    assert!(board.rtt_ms.unwrap().mean > native.rtt_ms.unwrap().mean);
    assert!(handshake(board) > handshake(native));
}

#[test]
fn nodes_that_are_servers_prove_by_public_keys_who_they_are() {
    let times = ["dtls-psk", "dtls-rpk@engine", "dtls-x509@engine"].map(|security| {
        let report = run(&secured(security, "to = 2\n[platform]\nprofile = \"openmote\"")).report();
        let board = &report.nodes[1];
        assert_eq!(board.handshakes(), 1, "{security}");
        assert!(board.sent >= 25 && board.delivered + 1 >= board.sent, "{security}: {board:?}");
        handshake(board)
    });
    // It multiplies points five times, and with certificates twice more: each time 1/6 s. The rest are longer flights.
    let [psk, raw, certified] = times;
    assert!((5.0 / 6.0..1.5).contains(&((raw - psk) / 1000.0)), "{times:?}");
    assert!((2.0 / 6.0..1.0).contains(&((certified - raw) / 1000.0)), "{times:?}");
}

#[test]
fn handshakes_are_made_though_frames_are_lost_or_begun_again() {
    let report = run(&chain("[radio]\nloss = 0.3")).report();
    assert!(report.nodes.iter().all(|node| node.handshakes() > 0 && node.delivered > 10), "{report:?}");
    let scenario = ScenarioBuilder::from(chain("[radio]\nloss = 1.0"));
    let simulation = run(&scenario.duration(Span::from_secs(900)).build().unwrap());
    assert!(simulation.report().nodes.iter().all(|node| node.sent == 0 && node.handshake_ms().is_none()));
    assert!(simulation.counters(0).unwrap().get(Counter::FramesSent) > 100, "it tries again");
}
