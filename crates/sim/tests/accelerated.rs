//! Networks of which an accelerator computes a part: what goes over the air is the same, its time and energy are not.

use sixlock_sim::{NodeReport, Options, Report, Scenario, ScenarioBuilder, Simulation, Sinks};
use sixlock_testing::Recording;

/// A node beside the router, in a minute of reports or echoes.
fn scenario(platform: &str, security: &str, traffic: &str) -> Scenario {
    let text = format!(
        "duration = \"60s\"\nsecurity = \"{security}\"\n[platform]\nprofile = \"{platform}\"\n\
         [topology]\nkind = \"chain\"\nnodes = 1\n[traffic]\nkind = \"{traffic}\"\nperiod = \"10s\""
    );
    Scenario::parse("accelerated", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(platform: &str, security: &str, traffic: &str) -> (Report, Vec<Vec<u8>>) {
    let capture = Recording::default();
    let options =
        Options { sinks: Sinks { pcap: Some(capture.sink()), ..Sinks::default() }, ..Options::default() };
    let simulation = Simulation::new(&scenario(platform, security, traffic), options).unwrap();
    (simulation.run().unwrap(), capture.frames())
}

/// The frames without an engine and with one, which does its work in less time and for less energy.
fn beside(platform: &str, security: &str, with_engine: &str, traffic: &str) -> [Vec<Vec<u8>>; 2] {
    let (software, frames) = run(platform, security, traffic);
    let (engine, same) = run(platform, with_engine, traffic);
    let [software, engine] = [&software.nodes[0], &engine.nodes[0]];
    assert_eq!((software.sent, software.delivered), (6, 6), "{platform}, {security}");
    assert_eq!((engine.sent, engine.delivered), (6, 6), "{platform}, {with_engine}");
    let mean = |node: &NodeReport| node.rtt_ms.unwrap().mean;
    assert!(mean(engine) < mean(software), "{platform}: {software:?} {engine:?}");
    let cpu = |node: &NodeReport| node.energy_mj.unwrap().cpu;
    assert!(cpu(engine) < cpu(software), "{platform}: {software:?} {engine:?}");
    let modelled = |node: &NodeReport| node.provenance.as_ref().and_then(|provenance| provenance.engine);
    assert_eq!([modelled(software), modelled(engine)], [None, Some("modelled")]);
    [frames, same]
}

#[test]
fn with_an_engine_the_same_bytes_go_over_the_air_in_less_time_and_for_less_energy() {
    for platform in ["tmote-sky", "micaz", "openmote", "mb851"] {
        let [software, engine] = beside(platform, "llsec", "llsec@engine", "echo");
        assert!(software.len() > 10);
        assert!(software == engine, "{platform}");
    }
}

/// Randomness is handed out task by task, and so which bytes of it a message takes depends on time.
#[test]
fn with_an_engine_a_handshake_and_its_records_take_the_same_frames() {
    for (platform, security, with_engine) in [
        ("tmote-sky", "dtls-psk", "dtls-psk@engine"),
        ("openmote", "llsec+dtls-psk", "llsec+dtls-psk@engine"),
        ("openmote", "llsec+dtls-psk", "llsec@engine+dtls-psk@engine"),
        ("mb851", "llsec+dtls-psk", "llsec@engine+dtls-psk"),
    ] {
        let lengths = |frames: Vec<Vec<u8>>| frames.iter().map(Vec::len).collect::<Vec<_>>();
        let [software, engine] = beside(platform, security, with_engine, "report").map(lengths);
        assert_eq!(software, engine, "{platform}: {security} and {with_engine}");
    }
}

#[test]
fn an_engine_that_is_taken_on_the_command_line_needs_a_platform_that_has_one() {
    let accelerated = |builder: ScenarioBuilder| {
        builder.security(sixlock_base::Security::any("llsec@engine").unwrap()).build()
    };
    let error = accelerated(Scenario::builder()).unwrap_err();
    let message =
        "the native platform has no engine: name another in [platform] profile, or leave @engine out";
    assert_eq!(error.message, message);
    assert!(accelerated(scenario("tmote-sky", "none", "report").into()).is_ok());
}
