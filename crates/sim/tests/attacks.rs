//! Attackers reach their aim where nothing protects the network, judged by what was on the air.

mod capture;

use capture::Capture;
use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks};
use sixlock_testing::Recording;

/// The border router and four nodes, in a line.
const STATIONS: u32 = 5;

fn scenario(security: &str, routing: &str, seed: u64, attack: &str) -> Scenario {
    let routing = match routing {
        "static" => "kind = \"static\"".to_string(),
        mode => format!("kind = \"rpl\"\nmode = \"{mode}\""),
    };
    let attack = if attack.is_empty() { String::new() } else { format!("[[attack]]\n{attack}\n") };
    let text = format!(
        "security = \"{security}\"\nseed = {seed}\nduration = \"900s\"\n[routing]\n{routing}\n\
        [topology]\nkind = \"chain\"\nnodes = 4\n[traffic]\nperiod = \"60s\"\n{attack}"
    );
    Scenario::parse("attack", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> (Capture, Report) {
    let pcap = Recording::default();
    let sinks = Sinks { pcap: Some(pcap.sink()), ..Sinks::default() };
    let report = Simulation::new(scenario, Options { sinks, ..Options::default() }).unwrap().run().unwrap();
    (Capture::new(&pcap.bytes()), report)
}

#[test]
fn probe() {
    let place = "x = \"160m\"\ny = \"40m\"\n";
    for (kind, rest) in [
        ("jam", place),
        ("replay", place),
        ("inject", place),
        ("forge", place),
        ("handshake-flood", place),
        ("hello-flood", "range = \"500m\"\nx = \"160m\"\ny = \"40m\"\n"),
        ("dio-flood", place),
        ("dao-flood", place),
        ("dis-flood", place),
        ("sink-hole", place),
        ("wormhole", "x = \"0m\"\ny = \"40m\"\nto_x = \"160m\"\nto_y = \"40m\"\n"),
        ("black-hole", "node = 2\n"),
        ("selective-forwarding", "node = 2\nshare = 0.9\n"),
        ("forge", "node = 3\n"),
    ] {
        for routing in ["static", "non-storing", "storing"] {
            if routing == "static"
                && ["hello-flood", "dio-flood", "dao-flood", "dis-flood", "sink-hole", "wormhole"]
                    .contains(&kind)
            {
                continue;
            }
            for security in ["none", "llsec", "ah", "esp", "dtls-psk"] {
                let calm = scenario(security, routing, 1, "");
                let (calm, _) = {
                    let (c, r) = run(&calm);
                    (c, r)
                };
                let attacked =
                    scenario(security, routing, 1, &format!("kind = \"{kind}\"\nstart = \"200s\"\n{rest}"));
                let (capture, report) = run(&attacked);
                let report = sixlock_sim::with_cost(&attacked, report).unwrap();
                println!("{kind} {routing} {security}: {:?} {:?}", report.attacks[0], report.cost.unwrap());
                let since = 200_000_000;
                if security == "none" {
                    let arrived: Vec<_> = (1..5)
                        .map(|n| (capture.arrived(n, since).len(), calm.arrived(n, since).len()))
                        .collect();
                    println!(
                        "   arrived {arrived:?} frames {} calm {} echoes {} hellos {} readings_to5 {:?} foreign {}",
                        capture.count(0..5, |_| true),
                        calm.count(0..5, |_| true),
                        capture.echoes(4),
                        capture.hellos(),
                        capture.readings_to(5),
                        capture.foreign_control(5)
                    );
                }
            }
        }
    }
}
