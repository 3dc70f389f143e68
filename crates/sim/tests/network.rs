//! Whole networks in virtual time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use sixlock_base::Counter;
use sixlock_coap_msg::{Builder, Code, ContentFormat, Message, OptionNumber, Type, empty};
use sixlock_node::{COAP_PORT, ECHO_PORT};
use sixlock_sim::{
    Destination, FarEnd, Network, NodeReport, Options, Probability, Radio, Report, Scenario, ScenarioBuilder,
    Simulation, Sinks, Span, StateTimes, Time, TrafficKind, run_seeds,
};
use sixlock_testing::Recording;

const MODES: [&str; 8] = [
    "none",
    "llsec",
    "dtls-psk",
    "llsec+dtls-psk",
    "ah",
    "esp",
    "llsec+ah",
    "llsec+esp:gcm-implicit+dtls-psk",
];

fn file(name: &str) -> ScenarioBuilder {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    ScenarioBuilder::load(&path).unwrap_or_else(|error| panic!("{error}"))
}

fn build(builder: ScenarioBuilder) -> Scenario {
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// The scenario of a file, secured in this way.
fn load(name: &str, mode: &str) -> Scenario {
    build(file(name).security(mode.parse().unwrap()))
}

/// The same where each frame is lost with this probability.
fn lossy(scenario: Scenario, loss: f64) -> ScenarioBuilder {
    let radio = Radio { loss: Probability::new(loss).unwrap(), ..scenario.radio() };
    ScenarioBuilder::from(scenario).radio(radio)
}

fn echoing(scenario: Scenario, payload: u16) -> Scenario {
    build(ScenarioBuilder::from(scenario).traffic_kind(TrafficKind::Echo { payload }))
}

fn run(scenario: &Scenario) -> (Report, Network) {
    let mut simulation = Simulation::new(scenario, Options::default()).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    (simulation.report(), simulation.network())
}

#[test]
fn network_1_delivers_every_reading_in_every_mode() {
    for security in MODES {
        let (report, network) = run(&load("network1.toml", security));
        for (node, state) in report.nodes.iter().zip(&network.nodes) {
            assert_eq!(node.hops, Some(node.id));
            assert_eq!((node.sent, node.delivered), (10, 10), "{security}: {node:?}");
            assert_eq!(state.points, 30);
            assert_eq!(state.handshakes, u32::from(security.contains("dtls")), "{security}");
            let transmissions = state.transmissions;
            assert_eq!(transmissions.security_bytes > 0, security != "none", "{security}");
            assert!(transmissions.security_bytes < transmissions.bytes.into());
        }
        let median = |hops: usize| report.nodes[hops - 1].rtt_ms.unwrap().p50;
        assert!((1..6).all(|hops| median(hops) < median(hops + 1)), "{security}: each hop takes time");
    }
}

#[test]
fn a_node_uses_a_session_for_no_longer_than_its_scenario_says() {
    let handshakes = |session: &str| {
        let text = format!(
            "security = \"dtls-psk\"\nduration = \"3610s\"\n[topology]\nnodes = 2\n[traffic]\nperiod = \"60s\"\n{session}"
        );
        let (report, _) = run(&build(ScenarioBuilder::parse("chain.toml", &text).unwrap()));
        for node in &report.nodes {
            assert_eq!((node.due, node.delivered), (60, 60), "node {}", node.id);
        }
        report.nodes.iter().map(|node| node.handshake.as_ref().unwrap().done).collect::<Vec<_>>()
    };
    assert_eq!(handshakes(""), [1, 1]);
    // With the first reading that comes ten minutes later or more: each tenth or eleventh.
    assert_eq!(handshakes("session = \"10min\""), [6, 6]);
}

#[test]
fn a_node_takes_the_readings_of_all_others() {
    for security in ["dtls-psk", "llsec+dtls-psk"] {
        let builder = ScenarioBuilder::from(load("network1.toml", security));
        let scenario = build(builder.destination(Destination::Node(3)));
        let (report, _) = run(&scenario);
        for node in &report.nodes {
            // A handshake counts once: at the client.
            let (readings, handshakes) = if node.id == 3 { (0, 0) } else { (10, 1) };
            assert_eq!(node.due, readings, "a server's readings are not due anywhere");
            let fared = (node.sent, node.delivered, node.handshakes());
            assert_eq!(fared, (readings, readings, handshakes), "{security}: {node:?}");
        }
    }
}

/// A chain on which nothing is ever lost and no two frames meet sends the same frames in each mode,
/// save for what security adds.
#[test]
fn security_bytes_are_what_a_mode_adds_on_the_air() {
    const MODES: [&str; 9] = [
        "none",
        "llsec",
        "dtls-psk",
        "llsec+dtls-psk",
        "llsec:cbc-mac-64+dtls-psk",
        "ah",
        "esp",
        "llsec+ah",
        "llsec+esp:gcm-implicit+dtls-psk",
    ];
    let sums = |security| {
        let (_, network) = run(&load("network1.toml", security));
        let all = network.nodes.iter().map(|node| node.transmissions).chain([network.router]);
        let (mut bytes, mut security) = (0, 0);
        for transmissions in all {
            bytes += i64::from(transmissions.bytes);
            security += transmissions.security_bytes as i64;
        }
        assert_eq!(network.nodes.iter().map(|node| node.retransmissions).sum::<u32>(), 0);
        (bytes, security)
    };
    let [none, link, transport, both, in_the_clear, ah, esp, ah_on_secured_links, three] = MODES.map(sums);
    assert_eq!(both, in_the_clear, "what is encrypted is as long");
    assert_eq!(none.1, 0);
    for more in [link, ah, esp, ah_on_secured_links] {
        assert_eq!(more.0 - none.0, more.1);
    }
    assert_eq!(transport.0 - none.0, transport.1, "the request is the same");
    assert_eq!(three.0 - transport.0, three.1 - transport.1);
    assert_eq!(both.0 - transport.0, both.1 - transport.1);
    assert!(transport.1 > 0);
}

/// Whatever is lost or collides.
#[test]
fn the_times_in_all_states_add_up_to_the_time_simulated_and_sending_takes_as_long_as_the_frames() {
    let scenario = build(lossy(load("grid-100.toml", "llsec+dtls-psk"), 0.1));
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    let (mut sent, mut heard) = (0, 0);
    for end in [0, 1, 10_000_001, 61_234_567] {
        simulation.step_until(Time::ZERO + Span::from_micros(end));
        (sent, heard) = (0, 0);
        for id in 0..=100 {
            let times = simulation.state_times(id).unwrap();
            assert_eq!(times.cpu + times.lpm, Span::from_micros(end), "node {id}: {times:?}");
            assert_eq!(times.tx + times.rx + times.listen, Span::from_micros(end), "node {id}: {times:?}");
            sent += times.tx.micros();
            heard += times.rx.micros();
        }
    }
    let counted = |counter| -> u64 {
        (0..=100).map(|id| u64::from(simulation.counters(id).unwrap().get(counter))).sum()
    };
    // 6 bytes of the physical layer before each frame, and 32 µs a byte; the frames under way are not counted yet.
    let frames = (counted(Counter::BytesSent) + 6 * counted(Counter::FramesSent)) * 32;
    assert!(frames <= sent && sent <= frames + 101 * 133 * 32, "{sent} of {frames} µs");
    assert!(heard > sent, "most nodes of a grid are heard by several");
}

#[test]
fn a_cpu_works_at_most_as_long_as_time_passes_also_in_the_middle_of_its_tasks() {
    let scenario = build(file("sky-4.toml"));
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    let step = Span::from_micros(777);
    let (mut before, mut partly) = (Span::ZERO, 0);
    while simulation.now() < Time::ZERO + Span::from_secs(130) {
        simulation.step_until(simulation.now() + step);
        let cpu = simulation.state_times(1).unwrap().cpu;
        assert!(before <= cpu && cpu <= before + step, "at {}: {before:?}, then {cpu:?}", simulation.now());
        partly += u32::from(before < cpu && cpu < before + step);
        before = cpu;
    }
    assert!(partly > 100, "tasks begin and end within steps");
    let times = simulation.state_times(1).unwrap();
    assert_eq!(times.cpu + times.lpm, simulation.now().since(Time::ZERO));
    assert_eq!(times.tx + times.rx + times.listen, simulation.now().since(Time::ZERO));
}

#[test]
fn nodes_that_do_nothing_sleep_and_listen() {
    let scenario = echoing(load("network1.toml", "none"), 64);
    let options = Options { far_end: FarEnd::Outside, ..Options::default() };
    let mut simulation = Simulation::new(&scenario, options).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let all = scenario.duration();
    let nothing = StateTimes { lpm: all, listen: all, ..StateTimes::default() };
    assert_eq!(simulation.state_times(6), Some(nothing));
    assert_eq!(simulation.state_times(7), None);
}

/// The capture, the event log and the key log of a lossy network.
fn recorded(seed: u64, step: Span) -> [Vec<u8>; 3] {
    let scenario = build(lossy(load("chain-4.toml", "llsec+dtls-psk"), 0.1).seed(seed));
    let sinks = [Recording::default(), Recording::default(), Recording::default()];
    let [pcap, events, key_log] = &sinks;
    let options = Options {
        sinks: Sinks {
            pcap: Some(pcap.sink()),
            events: Some(events.sink()),
            key_log: Some(key_log.sink()),
            ..Sinks::default()
        },
        ..Options::default()
    };
    let mut simulation = Simulation::new(&scenario, options).unwrap();
    while simulation.now() < Time::ZERO + scenario.duration() {
        simulation.step_until(simulation.now() + step);
    }
    simulation.flush().unwrap();
    sinks.map(|sink| sink.bytes())
}

#[test]
fn a_seed_gives_the_same_bytes_however_it_is_stepped_and_another_seed_gives_others() {
    let first = recorded(1, Span::from_secs(600));
    assert!(first.iter().all(|bytes| bytes.len() > 100));
    assert!(first == recorded(1, Span::from_secs(600)));
    assert!(first == recorded(1, Span::from_millis(150)));
    let other = recorded(2, Span::from_secs(600));
    assert!(first.iter().zip(&other).all(|(first, other)| first != other));
}

#[test]
fn runs_come_in_the_order_of_their_seeds_whatever_the_threads() {
    let scenario = build(file("chain-4.toml").seed(5));
    let on = |threads| {
        let done = AtomicU32::new(0);
        let count = || {
            done.fetch_add(1, Ordering::Relaxed);
        };
        let reports = run_seeds(&scenario, 6, Some(threads), count).unwrap();
        assert_eq!(done.into_inner(), 6);
        reports
    };
    let reports = on(1);
    assert_eq!(reports.iter().map(|report| report.seed).collect::<Vec<_>>(), [5, 6, 7, 8, 9, 10]);
    assert_eq!(reports, on(2));
    assert_eq!(reports[1], run(&build(file("chain-4.toml").seed(6))).0);
    assert_ne!(reports[0].nodes, reports[1].nodes);
}

#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn handshakes_over_six_hops_come_through_a_fifth_of_all_frames_lost() {
    const SEEDS: u64 = 100;
    let mut completed = 0;
    for seed in 0..SEEDS {
        let scenario = build(file("network1.toml").seed(seed).duration(Span::from_secs(300)));
        let scenario = build(lossy(scenario, 0.2));
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        simulation.step_until(Time::ZERO + scenario.duration());
        let counters = simulation.counters(6).unwrap();
        let failed = counters.get(Counter::DtlsHandshakesFailed);
        completed += u64::from(counters.get(Counter::DtlsHandshakes) > 0 && failed == 0);
    }
    println!("{completed} of {SEEDS} handshakes over six hops with 20 % loss completed");
    assert!(completed * 100 >= SEEDS * 99, "{completed} of {SEEDS}");
}

#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn a_hundred_nodes_deliver_their_readings() {
    let scenario = build(file("grid-100.toml"));
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let report = simulation.report();
    let skipped = |id| u64::from(simulation.counters(id).unwrap().get(Counter::ReadingsSkipped));
    for node in &report.nodes {
        assert_eq!(node.due, 10, "{node:?}");
        assert_eq!(node.skipped, skipped(node.id), "{node:?}");
    }
    let delivered = report.sum(|node| node.delivered);
    println!("{delivered} of 1000 readings delivered");
    // Also of those that were never sent because the one before was still under way.
    assert!(delivered * 100 >= 1000 * 95);
    assert_eq!(report.delivery(), Some(delivered as f64 / 1000.0));
}

/// Packets of 64 hops' limit would not come so far.
#[test]
fn a_chain_of_a_hundred_nodes_delivers() {
    let text = "duration = \"600s\"\nsecurity = \"none\"\n[topology]\nkind = \"chain\"\nnodes = 100\n\
        [traffic]\nfrom = 100\n";
    let (report, _) = run(&Scenario::parse("chain-100", text).unwrap());
    let last = &report.nodes[99];
    assert_eq!((last.hops, last.failed, last.skipped), (Some(100), 0, 0));
    assert!(last.delivered >= 9, "{} of {}", last.delivered, last.due);
}

#[test]
fn echoes_come_back_from_every_node() {
    let scenario = echoing(load("network1.toml", "llsec"), 64);
    let (report, _) = run(&scenario);
    for node in &report.nodes {
        assert_eq!((node.sent, node.delivered), (10, 10), "{node:?}");
    }
    let median = |hops: usize| report.nodes[hops - 1].rtt_ms.unwrap().p50;
    assert!(median(6) > 5.0 * median(1));
}

#[test]
fn datagrams_for_the_cloud_can_leave_the_simulation_and_answers_come_in() {
    let scenario = load("chain-4.toml", "none");
    let options = Options { far_end: FarEnd::Outside, ..Options::default() };
    let mut simulation = Simulation::new(&scenario, options).unwrap();
    while simulation.now() < Time::ZERO + scenario.duration() {
        simulation.step_until(simulation.now() + Span::from_millis(10));
        while let Some(request) = simulation.poll_upstream() {
            assert_eq!(request.port, 5683);
            // CoAP: 2.04 in the acknowledgement, with the request's message id and token.
            let token_end = 4 + usize::from(request.payload[0] & 0xf);
            let mut response = request.payload[..token_end].to_vec();
            response[0] |= 0x20;
            response[1] = 0x44;
            simulation.handle_upstream(request.flow, &response).unwrap();
        }
    }
    for node in simulation.report().nodes {
        assert_eq!((node.sent, node.delivered), (10, 10), "{node:?}");
    }
    assert!(simulation.open_flow(2, 7).is_some());
}

#[test]
fn devices_that_do_not_fit_the_scenario_are_refused() {
    let scenario = build(file("chain-4.toml"));
    let device = sixlock_sim::Device::of_node(1, 1);
    assert_eq!(device.key.len(), 32);
    let try_devices = |devices| {
        let options = Options { devices: Some(devices), ..Options::default() };
        Simulation::new(&scenario, options).map(|_| ()).map_err(|error| error.message)
    };
    let few = try_devices(vec![device.clone()]);
    assert_eq!(few, Err("1 devices are given for 4 nodes".into()));
    let long = sixlock_sim::Device { key: "k".repeat(65), ..device };
    assert_eq!(try_devices(vec![long; 4]), Err("the names or the key of node 1 are too long".into()));
}

#[test]
fn reports_are_spelled_as_others_read_them() {
    let scenario =
        build(file("chain-4.toml").security("none".parse().unwrap()).duration(Span::from_secs(90)));
    let (report, network) = run(&scenario);
    let keys = |value: &serde_json::Value| {
        value.as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    let report = serde_json::to_value(&report).unwrap();
    assert_eq!(keys(&report), "nodes router scenario schema security seed simulated_s");
    assert_eq!(report["schema"], 2);
    assert_eq!(
        keys(&report["nodes"][0]),
        "bytes delivered drops due failed frames hops id parent pending rtt_ms sent skipped"
    );
    assert_eq!(keys(&report["router"]), "bytes drops frames");
    assert_eq!(keys(&report["nodes"][0]["rtt_ms"]), "mean p50 p95");
    assert_eq!(report["simulated_s"], 90.0);
    let network = serde_json::to_value(&network).unwrap();
    assert_eq!(keys(&network), "nodes router routing schema time_s");
    let expected =
        "address bytes frames handshakes hops id parent points retransmissions security security_bytes";
    assert_eq!(keys(&network["nodes"][3]), expected);
    assert_eq!(network["nodes"][3]["address"], "fd00::12:7400:0:4");
    assert_eq!(network["nodes"][3]["parent"], 3);
}

/// A CoAP GET of `path` from outside to node 6, and the response.
fn get(simulation: &mut Simulation, path: &[&str]) -> Option<Vec<u8>> {
    let flow = simulation.open_flow(6, COAP_PORT).unwrap();
    let mut request = [0; 64];
    let mut builder = Builder::new(&mut request, Type::Confirmable, Code::GET, 1, b"token").unwrap();
    builder.path(path).unwrap();
    let length = builder.finish();
    simulation.handle_upstream(flow, &request[..length]).unwrap();
    simulation.step_until(simulation.now() + Span::from_secs(2));
    std::iter::from_fn(|| simulation.poll_upstream()).find(|sent| sent.flow == flow).map(|sent| sent.payload)
}

#[test]
fn a_node_tells_its_latest_reading_to_who_asks_where_reports_go_in_the_clear() {
    for security in MODES {
        let scenario = load("network1.toml", security);
        let serves = scenario.services().iter().any(|&(name, _)| name == "coap");
        assert_eq!(serves, !security.contains("dtls"), "{security}");
        let options = Options { far_end: FarEnd::Outside, ..Options::default() };
        let mut simulation = Simulation::new(&scenario, options).unwrap();
        let before = get(&mut simulation, &["sensors"]);
        assert_eq!(before.is_some(), serves, "{security}");
        let Some(before) = before else {
            assert_eq!(simulation.counters(6).unwrap().get(Counter::UdpNoPort), 1);
            continue;
        };
        assert_eq!(Message::parse(&before).unwrap().code(), Code::SERVICE_UNAVAILABLE);

        simulation.step_until(Time::ZERO + Span::from_secs(90));
        let links = get(&mut simulation, &[".well-known", "core"]).unwrap();
        let links = Message::parse(&links).unwrap();
        assert_eq!((links.code(), links.content_format()), (Code::CONTENT, Some(ContentFormat::LINK_FORMAT)));
        assert_eq!(links.payload(), b"</sensors>;ct=110;obs");
        let reading = get(&mut simulation, &["sensors"]).unwrap();
        let reading = Message::parse(&reading).unwrap();
        assert_eq!(reading.content_format(), Some(ContentFormat::SENML_JSON));
        let pack: serde_json::Value = serde_json::from_slice(reading.payload()).unwrap();
        assert_eq!(pack[0]["bn"], "urn:dev:mac:0212740000000006:");
        let names: Vec<_> = pack.as_array().unwrap().iter().map(|record| &record["n"]).collect();
        assert_eq!(names, ["temperature", "humidity", "light"]);
        let other = get(&mut simulation, &["other"]).unwrap();
        assert_eq!(Message::parse(&other).unwrap().code(), Code::NOT_FOUND);
    }
}

#[test]
fn a_node_echoes_in_the_clear_only_where_nothing_goes_over_dtls() {
    for (security, traffic) in MODES.iter().flat_map(|mode| [(mode, false), (mode, true)]) {
        let mut scenario = load("network1.toml", security);
        if traffic {
            scenario = echoing(scenario, 20);
        }
        let options = Options { far_end: FarEnd::Outside, ..Options::default() };
        let mut simulation = Simulation::new(&scenario, options).unwrap();
        let flow = simulation.open_flow(6, ECHO_PORT).unwrap();
        simulation.handle_upstream(flow, b"hello").unwrap();
        simulation.step_until(simulation.now() + Span::from_secs(2));
        let echoed = std::iter::from_fn(|| simulation.poll_upstream()).any(|sent| sent.flow == flow);
        assert_eq!(echoed, !security.contains("dtls"), "{security}");
        let is_listed = scenario.services().iter().any(|&(name, _)| name == "echo");
        assert_eq!(is_listed, echoed, "{security}");
    }
}

/// Who observes node 6 from outside, and what it was told: the number of each notification, and its reading.
struct Observer {
    simulation: Simulation,
    flow: sixlock_sim::FlowId,
    notifications: Vec<(u32, Vec<u8>)>,
    acknowledges: bool,
}

impl Observer {
    /// One that has asked to observe, and acknowledges what it is told or does not; a frame is lost so often.
    fn new(security: &str, loss: f64, seed: u64, acknowledges: bool) -> Self {
        let scenario = lossy(load("network1.toml", security), loss);
        let scenario = build(scenario.period(Span::from_secs(10)).seed(seed));
        let options = Options { far_end: FarEnd::Outside, ..Options::default() };
        let mut simulation = Simulation::new(&scenario, options).unwrap();
        simulation.step_until(Time::ZERO + Span::from_secs(30));
        let flow = simulation.open_flow(6, COAP_PORT).unwrap();
        let mut observer = Self { simulation, flow, notifications: Vec::new(), acknowledges };
        // Until it is answered, as a client that sends it again would.
        while observer.notifications.is_empty() {
            observer.ask(0);
            observer.hear(Span::from_secs(2));
        }
        observer
    }

    /// A GET with this Observe option.
    fn ask(&mut self, observe: u32) {
        let mut request = [0; 64];
        let mut builder = Builder::new(&mut request, Type::Confirmable, Code::GET, 1, b"token").unwrap();
        builder.option_uint(OptionNumber::OBSERVE, observe).unwrap();
        builder.path(&["sensors"]).unwrap();
        let length = builder.finish();
        self.simulation.handle_upstream(self.flow, &request[..length]).unwrap();
    }

    /// Hears what the node says for `span`.
    fn hear(&mut self, span: Span) {
        let end = self.simulation.now() + span;
        while self.simulation.now() < end {
            self.simulation.step_until(self.simulation.now() + Span::from_millis(100));
            while let Some(sent) = self.simulation.poll_upstream() {
                if sent.flow != self.flow {
                    continue;
                }
                let message = Message::parse(&sent.payload).unwrap();
                assert_eq!((message.code(), message.token()), (Code::CONTENT, &b"token"[..]));
                if let Some(number) = message.value(OptionNumber::OBSERVE) {
                    self.notifications.push((number.uint().unwrap(), message.payload().to_vec()));
                }
                if message.message_type() == Type::Confirmable && self.acknowledges {
                    let acknowledgement = empty(Type::Acknowledgement, message.id());
                    self.simulation.handle_upstream(self.flow, &acknowledgement).unwrap();
                }
            }
        }
    }
}

#[test]
fn who_observes_a_node_is_told_its_readings_in_order_through_a_mesh_that_loses_frames() {
    for (security, loss) in [("none", 0.0), ("llsec+esp", 0.0), ("llsec", 0.2)] {
        for seed in 1..4 {
            let mut observer = Observer::new(security, loss, seed, true);
            observer.hear(Span::from_secs(400));
            let numbers: Vec<_> = observer.notifications.iter().map(|&(number, _)| number).collect();
            assert!(numbers.is_sorted(), "{security} {seed}: {numbers:?}");
            assert!(numbers.len() >= if loss > 0.0 { 30 } else { 36 }, "{security} {seed}: {numbers:?}");
            for (_, reading) in &observer.notifications {
                let pack: serde_json::Value = serde_json::from_slice(reading).unwrap();
                assert_eq!(pack[0]["bn"], "urn:dev:mac:0212740000000006:");
            }
            // And no more of them once it says so.
            let told = observer.notifications.len();
            observer.ask(1);
            observer.hear(Span::from_secs(60));
            assert!(loss > 0.0 || observer.notifications.len() == told, "{security} {seed}");
        }
    }
}

#[test]
fn who_acknowledges_nothing_is_told_no_more() {
    let mut observer = Observer::new("llsec", 0.0, 1, false);
    observer.hear(Span::from_secs(150));
    // The answer, and the first notification, which is sent five times, each time with the latest reading.
    assert_eq!(observer.notifications.len(), 6);
    observer.hear(Span::from_secs(100));
    assert_eq!(observer.notifications.len(), 6);
}

#[test]
fn nodes_of_a_platform_take_time_and_energy_for_their_work() {
    let of = |platform: &str, security: &str| {
        let text = format!(
            "duration = \"120s\"\nsecurity = \"{security}\"\n[platform]\nprofile = \"{platform}\"\n[topology]\nnodes = 3\n\
             [traffic]\nperiod = \"20s\""
        );
        let scenario = Scenario::parse("s", &text).unwrap();
        Simulation::new(&scenario, Options::default()).unwrap().run().unwrap()
    };
    for security in ["none", "llsec", "dtls-psk"] {
        let [native, openmote, sky] =
            ["native", "openmote", "tmote-sky"].map(|platform| of(platform, security));
        for ((native, openmote), sky) in native.nodes.iter().zip(&openmote.nodes).zip(&sky.nodes) {
            let mean = |node: &NodeReport| node.rtt_ms.unwrap().mean;
            assert_eq!(
                [native, openmote, sky].map(|node| (node.delivered, node.sent)),
                [(6, 6); 3],
                "{security}"
            );
            assert!(mean(native) < mean(openmote) && mean(openmote) < mean(sky), "{security}");
            assert_eq!(openmote.handshakes(), u64::from(security == "dtls-psk"));
            assert!(native.energy_mj.is_none() && sky.energy_mj.unwrap().cpu > 0.0);
        }
        assert_eq!(of("tmote-sky", security), sky, "{security}: the same seed");
    }
}
