//! Nodes whose firmware runs in emulators, among native ones. What needs emulators and images is left out unless it is
//! asked for (`-- --ignored`): `./test` sees to both.

mod images;
mod line;
mod recomputed;

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::path::Path;

use images::with_images;
use serde_json::Value;
use sixlock_base::{Eui64, MESH_PREFIX};
use sixlock_ipv6::icmpv6::{Echo, Message};
use sixlock_node::ECHO_PORT;
use sixlock_sim::{
    EmulatedNode, FarEnd, Mac, NodeReport, Options, Platform, Report, Scenario, ScenarioBuilder, Simulation,
    Sinks, Span, Time, built_image,
};
use sixlock_testing::Recording;
use sixlock_testing::packets::icmpv6;

/// The scenario of [`line::line`], with the images where tests find them.
fn line(platform: &str, security: &str, rest: &str) -> Scenario {
    with_images(&line::line(platform, security, line::CSMA, rest))
}

/// Four readings each, the last of them early enough to be sent again when it is lost.
const REPORTS: &str = "[traffic]\nperiod = \"14s\"";

fn start(scenario: &Scenario, options: Options) -> Simulation {
    Simulation::new(scenario, options).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario, sinks: Sinks) -> Report {
    let simulation = start(scenario, Options { sinks, ..Options::default() });
    simulation.run().unwrap_or_else(|error| panic!("{error}"))
}

/// The emulated node posts its readings, and forwards those of the node behind it.
fn posts_its_readings(platform: &str, security: &str) {
    let report = run(&line(platform, security, REPORTS), Sinks::default());
    let handshakes = u64::from(security == "dtls-psk");
    for node in &report.nodes {
        let fared = (node.sent, node.delivered, node.handshakes());
        assert_eq!(fared, (4, 4, handshakes), "{platform}, {security}: {report:#?}");
    }
    let [first, emulated, _] = &report.nodes[..] else { panic!("{report:#?}") };
    let emulated_cpu = emulated.provenance.as_ref().is_some_and(|provenance| provenance.cpu == "emulated");
    assert!(emulated_cpu && first.provenance.is_none());
    let consumes =
        |node: &NodeReport| node.energy_mj.is_some_and(|energy| energy.cpu > 0.0 && energy.tx > 0.0);
    assert_eq!(report.nodes.iter().map(consumes).collect::<Vec<_>>(), [false, true, false]);
    let median = |node: &NodeReport| node.rtt_ms.unwrap().p50;
    assert!(median(first) < median(emulated));
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_makes_a_handshake_and_posts_its_readings() {
    posts_its_readings("openmote", "dtls-psk");
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_mb851_makes_a_handshake_and_posts_its_readings() {
    posts_its_readings("mb851", "dtls-psk");
}

/// The same with public keys. The native nodes are such boards, too: a datagram of a flight is as long as a node's buffers, and
/// the emulated one passes on what its own have room for. Three long handshakes at a time collide, so that some come through
/// late, and the first reading waits for them.
fn proves_and_posts_its_readings(platform: &str, security: &str) {
    let board = Platform::named(platform).unwrap();
    let builder = ScenarioBuilder::from(line(platform, security, REPORTS));
    let builder = builder.platform(1, board.clone()).platform(3, board).duration(Span::from_secs(120));
    let scenario = builder.build().unwrap();
    let report = run(&scenario, Sinks::default());
    for node in &report.nodes {
        let fared = (node.sent >= 4, node.delivered, node.handshakes());
        assert_eq!(fared, (true, node.sent, 1), "{platform}, {security}: {report:#?}");
        let expected = if node.id == 2 { "emulated" } else { "modelled" };
        assert_eq!(node.provenance.as_ref().unwrap().cpu, expected);
    }
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_proves_by_a_raw_public_key_who_it_is_and_posts_its_readings() {
    proves_and_posts_its_readings("openmote", "dtls-rpk");
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_mb851_proves_by_a_certificate_who_it_is_and_posts_its_readings() {
    proves_and_posts_its_readings("mb851", "dtls-x509");
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn a_tmote_sky_makes_a_handshake_and_posts_its_readings() {
    posts_its_readings("tmote-sky", "dtls-psk");
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn a_tmote_sky_posts_its_readings_in_the_clear_and_secured_on_the_link() {
    posts_its_readings("tmote-sky", "none");
    posts_its_readings("tmote-sky", "llsec");
}

/// An emulated node takes the readings of an emulated one and of a native one.
fn takes_readings(server: &str, client: &str) {
    let scenario = line(server, "dtls-psk", "[traffic]\nperiod = \"14s\"\nto = 2");
    let platform = Platform::named(client).unwrap();
    let built = built_image(&platform, &scenario, 1).unwrap();
    let image = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(built));
    let node = EmulatedNode { platform, image };
    let scenario = ScenarioBuilder::from(scenario).emulated(1, node).build().unwrap();
    let report = run(&scenario, Sinks::default());
    for node in &report.nodes {
        let fared = (node.sent, node.delivered, node.handshakes());
        // A handshake between two nodes is its client's.
        let expected = if node.id == 2 { (0, 0, 0) } else { (4, 4, 1) };
        assert_eq!(fared, expected, "{client} to {server}: {report:#?}");
    }
}

#[test]
#[ignore = "needs QEMU and the images"]
fn an_openmote_takes_the_readings_of_an_mb851_and_of_another() {
    takes_readings("openmote", "mb851");
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn a_tmote_sky_takes_the_readings_of_another() {
    takes_readings("tmote-sky", "tmote-sky");
}

const HOST: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, 1);

/// What comes out until nothing is under way any more.
fn settle<T>(simulation: &mut Simulation, mut poll: impl FnMut(&mut Simulation) -> Option<T>) -> Vec<T> {
    simulation.step_until(simulation.now() + Span::from_secs(5));
    simulation.flush().unwrap_or_else(|error| panic!("{error}"));
    std::iter::from_fn(|| poll(simulation)).collect()
}

fn answers(platform: &str, security: &str, kind: &str, longest: usize) {
    let scenario = line(platform, security, &format!("[traffic]\nkind = \"{kind}\"\nperiod = \"1h\""));
    let mut simulation =
        start(&scenario, Options { far_end: FarEnd::Outside, packets: true, ..Options::default() });
    let node = Eui64::of_node(2).with_prefix(MESH_PREFIX);
    let flow = simulation.open_flow(2, ECHO_PORT).unwrap();
    for len in [0, 16, longest] {
        let (identifier, body) = (0x5157, vec![0x42; len]);
        let echo = |sequence| Echo { identifier, sequence };
        simulation.handle_packet(&icmpv6(HOST, node, 64, Message::EchoRequest(echo(len as u16)), &body));
        let reply = icmpv6(node, HOST, 62, Message::EchoReply(echo(len as u16)), &body);
        assert_eq!(
            settle(&mut simulation, Simulation::poll_packet),
            [reply],
            "{platform}: ping of {len} bytes"
        );
        simulation.handle_upstream(flow, &body).unwrap();
        let echoed: Vec<_> =
            settle(&mut simulation, Simulation::poll_upstream).into_iter().map(|echo| echo.payload).collect();
        // Where it speaks DTLS, it echoes nothing in the clear.
        let expected = if security.contains("dtls") { vec![] } else { vec![body] };
        assert_eq!(echoed, expected, "{platform}: UDP echo of {len} bytes");
    }
}

#[test]
#[ignore = "needs the emulators and the images"]
fn emulated_nodes_answer_pings_and_without_dtls_udp_echoes() {
    answers("openmote", "dtls-psk", "report", 200);
    answers("tmote-sky", "dtls-psk", "report", 200);
    answers("tmote-sky", "none", "echo", 200);
    answers("micaz", "none", "echo", 200);
    answers("micaz", "llsec", "echo", 200);
}

/// The emulated node sends back what comes under IPsec, passes on what nodes behind it send so, and answers nobody else.
fn answers_what_is_protected(platform: &str, security: &str) {
    let traffic = "[traffic]\nkind = \"echo\"\nperiod = \"12s\"\npayload = \"120B\"";
    let emulated = line(platform, security, traffic);
    let native = ScenarioBuilder::from(emulated.clone()).without_platform(2).build().unwrap();
    let [emulated, native] = [emulated, native].map(|scenario| {
        let mut simulation = start(&scenario, Options { packets: true, ..Options::default() });
        simulation.step_until(Time::ZERO + scenario.duration());
        simulation.flush().unwrap_or_else(|error| panic!("{error}"));
        for node in &simulation.report().nodes {
            assert_eq!((node.sent, node.delivered), (5, 5), "{platform}, {security}: {node:?}");
        }
        let echo = Echo { identifier: 7, sequence: 1 };
        for id in 1..=3 {
            let node = Eui64::of_node(id).with_prefix(MESH_PREFIX);
            simulation.handle_packet(&icmpv6(HOST, node, 64, Message::EchoRequest(echo), b"in the clear"));
        }
        assert!(settle(&mut simulation, Simulation::poll_packet).is_empty(), "{platform}, {security}");
        simulation.network()
    });
    // What it is for security, the observer says as of native nodes.
    for (emulated, native) in emulated.nodes.iter().zip(&native.nodes) {
        assert!(native.transmissions.security_bytes > 0);
        let case = format!("{platform}, {security}: {emulated:?}, {native:?}");
        assert_eq!(emulated.transmissions.security_bytes, native.transmissions.security_bytes, "{case}");
    }
}

#[test]
#[ignore = "needs the emulators and the images"]
fn emulated_nodes_echo_what_ah_and_esp_protect_and_answer_nothing_else() {
    for platform in ["openmote", "tmote-sky", "micaz"] {
        answers_what_is_protected(platform, "ah");
        answers_what_is_protected(platform, "esp");
    }
}

/// The emulated node finds its parent among native ones, and the native node behind it, which nobody else hears, the emulated one: echoes
/// come through from both, by source routes of a native root, but for those from before that.
fn routes_by_rpl(platform: &str, security: &str) {
    let rest = "[routing]\nkind = \"rpl\"\n[traffic]\nkind = \"echo\"\nperiod = \"10s\"\npayload = \"64B\"";
    let builder = ScenarioBuilder::from(line(platform, security, rest)).duration(Span::from_secs(180));
    routes_in(builder.build().unwrap(), 17, 2);
}

/// The same in a network whose radios sleep.
fn routes_asleep(platform: &str, security: &str, lost: u64) {
    let rest = "[routing]\nkind = \"rpl\"\n[traffic]\nkind = \"echo\"\nperiod = \"20s\"\npayload = \"64B\"";
    let mac = "kind = \"contiki-csma\"\nlisten = \"contikimac\"";
    let scenario = with_images(&line::line(platform, security, mac, rest));
    routes_in(ScenarioBuilder::from(scenario).duration(Span::from_secs(300)).build().unwrap(), 14, lost);
}

/// All but `lost` of the echoes of each node come back, of which there are at least `least`.
fn routes_in(scenario: Scenario, least: u64, lost: u64) {
    let (platform, security) = (&scenario.emulated()[&2].platform.clone(), scenario.security());
    let mut simulation = start(&scenario, Options::default());
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation.flush().unwrap_or_else(|error| panic!("{error}"));
    let report = simulation.report();
    for node in &report.nodes {
        let case = format!("{platform:?}, {security}: {node:?}");
        println!("{case}");
        assert!(node.sent >= least && node.delivered + lost >= node.sent, "{case}");
    }
    let [first, emulated, behind] = [1, 2, 3].map(|id| report.nodes[id - 1].joined_s.unwrap());
    assert!(first < emulated && emulated < behind, "{platform:?}, {security}: {report:#?}");
    assert_eq!(report.nodes[1].provenance.as_ref().unwrap().cpu, "emulated");
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn a_tmote_sky_that_speaks_rpl_joins_native_nodes_delivers_and_forwards_for_another() {
    routes_by_rpl("tmote-sky", "none");
    routes_by_rpl("tmote-sky", "ah");
}

#[test]
#[ignore = "needs QEMU and the images"]
fn an_openmote_that_speaks_rpl_joins_native_nodes_delivers_and_forwards_for_another() {
    routes_by_rpl("openmote", "none");
    routes_by_rpl("openmote", "ah");
}

/// A leaf whose receiver is off posts its readings through a native parent, which holds the answers for it.
fn polls(platform: &str, security: &str, most: f64) {
    let text = format!(
        "duration = \"150s\"\nsecurity = \"{security}\"\n[mac]\nlisten = \"sleepy\"\n[traffic]\nperiod = \"20s\"\n\
        [topology]\nkind = \"list\"\n[[node]]\nid = 1\nx = \"40m\"\n[[node]]\nid = 2\nx = \"80m\"\nkind = \"emulated\"\n\
        platform = \"{platform}\"\n"
    );
    let report = run(&with_images(&text), Sinks::default());
    let leaf = &report.nodes[1];
    let case = format!("{platform}, {security}: {leaf:?}");
    println!("{case}");
    assert!(leaf.sent >= 6 && leaf.delivered + 1 >= leaf.sent && leaf.failed == 0, "{case}");
    assert!(leaf.duty_cycle.is_some_and(|share| share < most), "{case}");
    assert_eq!(leaf.provenance.as_ref().unwrap().cpu, "emulated");
}

#[test]
#[ignore = "needs QEMU and the images"]
fn an_openmote_whose_receiver_is_off_gets_its_answers_from_a_native_parent() {
    polls("openmote", "none", 0.01);
    polls("openmote", "dtls-psk", 0.02);
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn a_tmote_sky_whose_receiver_is_off_gets_its_answers_from_a_native_parent() {
    polls("tmote-sky", "none", 0.02);
}

/// A chain of two nodes whose radios sleep, of which this one is emulated.
fn sleepers(platform: &str, security: &str, emulated: u32, seconds: u32, period: &str) -> Scenario {
    let text = format!(
        "duration = \"{seconds}s\"\nsecurity = \"{security}\"\n[mac]\nkind = \"contiki-csma\"\nlisten = \"contikimac\"\n\
        [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"{period}\"\n[topology]\nkind = \"list\"\n\
        [[node]]\nid = 1\nx = \"40m\"\n[[node]]\nid = 2\nx = \"80m\"\n"
    );
    let node = format!("[[node]]\nid = {emulated}\n");
    with_images(&text.replace(&node, &format!("{node}kind = \"emulated\"\nplatform = \"{platform}\"\n")))
}

/// The emulated node is found asleep by native ones that sleep, too, and finds them: it answers over one hop and over two, and forwards.
fn sleeps_and_answers(platform: &str, lost: u64) {
    for (emulated, security) in [(1, "none"), (2, "none"), (2, "ah"), (1, "esp")] {
        let report = run(&sleepers(platform, security, emulated, 150, "10s"), Sinks::default());
        for node in &report.nodes {
            let case = format!("{platform}, {security}, node {emulated}: {node:?}");
            println!("{case}");
            assert!(node.sent >= 14 && node.delivered + lost >= node.sent, "{case}");
            assert!(node.duty_cycle.is_some_and(|share| share < 0.1), "{case}");
        }
    }
    // With nothing to do, its radio is on for as long as that of the native node.
    let idle = run(&sleepers(platform, "none", 2, 60, "20d"), Sinks::default());
    let [native, emulated] = [0, 1].map(|node: usize| idle.nodes[node].duty_cycle.unwrap());
    println!("{platform}: {emulated}, native {native}");
    assert!(
        (0.005..0.012).contains(&emulated) && (emulated / native - 1.0).abs() < 0.1,
        "{emulated}, {native}"
    );
}

#[test]
#[ignore = "needs QEMU and the images"]
fn an_openmote_whose_radio_sleeps_answers_over_one_and_two_hops() {
    sleeps_and_answers("openmote", 0);
}

#[test]
#[ignore = "needs mspdebug and the images"]
fn a_tmote_sky_whose_radio_sleeps_answers_over_one_and_two_hops() {
    sleeps_and_answers("tmote-sky", 2);
}

#[test]
#[ignore = "needs QEMU and the images"]
fn an_openmote_whose_radio_sleeps_joins_native_nodes_by_rpl_delivers_and_forwards_for_another() {
    for security in ["none", "ah", "esp"] {
        routes_asleep("openmote", security, 3);
    }
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn a_tmote_sky_whose_radio_sleeps_joins_native_nodes_by_rpl_delivers_and_forwards_for_another() {
    // With IPsec, too, it would not fit.
    routes_asleep("tmote-sky", "none", 4);
}

/// What a network says in which nodes register their addresses, and the ways to them are found by RPL.
const DISCOVERING: &str = "[network]\ndiscovery = \"nd\"\nprefix = \"2001:db8:7::/64\"\n[routing]\nkind = \"rpl\"\n\
    [traffic]\nkind = \"echo\"\nperiod = \"10s\"\npayload = \"64B\"";

/// The emulated node knows no prefix when it starts. It registers its address at the first node, which is native, and the third, a router
/// or a host, at it: echoes to all addresses of the prefix come through, but for those from before that.
fn registers_and_is_registered_at(platform: &str, third: &str) {
    let text = line::line(platform, "none", line::CSMA, DISCOVERING).replace("\"120m\"", third);
    let builder = ScenarioBuilder::from(with_images(&text)).duration(Span::from_secs(180));
    let scenario = builder.build().unwrap();
    let mut simulation = start(&scenario, Options::default());
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation.flush().unwrap_or_else(|error| panic!("{error}"));
    let report = simulation.report();
    for node in &report.nodes {
        assert!(node.sent >= 17 && node.delivered + 3 >= node.sent, "{platform}, {third}: {node:?}");
    }
    let [first, emulated, third] = &report.nodes[..] else { panic!("{report:#?}") };
    assert_eq!(emulated.provenance.as_ref().unwrap().cpu, "emulated");
    for (node, router) in [(first, 0), (third, 2)] {
        let registered = node.registered.as_ref().unwrap();
        let expected = format!("2001:db8:7:0:12:7400:0:{:x}", node.id);
        assert_eq!((registered.at, &registered.address), (router, &expected));
    }
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_registers_its_address_and_others_register_theirs_at_it() {
    registers_and_is_registered_at("openmote", "\"120m\"");
    registers_and_is_registered_at("openmote", "\"120m\"\nhost = true");
}

/// The emulated node is a host below a native router: it registers, and its router tells the way to it.
fn is_a_host(platform: &str) {
    let text = line::line(platform, "none", line::CSMA, DISCOVERING);
    let text = text.replace("kind = \"emulated\"", "kind = \"emulated\"\nhost = true");
    // It hears the host better than the router, and nobody registers at a host.
    let text = text.replace("x = \"120m\"", "x = \"80m\"\ny = \"20m\"");
    let report = run(&with_images(&text), Sinks::default());
    for node in &report.nodes {
        assert!(node.sent >= 5 && node.delivered + 2 >= node.sent, "{platform}: {node:?}");
    }
    let [_, host, beside] = &report.nodes[..] else { panic!("{report:#?}") };
    assert_eq!(host.provenance.as_ref().unwrap().cpu, "emulated");
    let at = beside.registered.as_ref().map(|registered| registered.at);
    assert_eq!(at, Some(1), "{platform}: {beside:?}");
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_is_a_host_below_a_native_router() {
    is_a_host("openmote");
}

#[test]
#[ignore = "needs mspdebug and the image"]
fn a_tmote_sky_is_a_host_below_a_native_router() {
    is_a_host("tmote-sky");
}

/// The same network with the emulated node, and with a native one that is charged what the costs of its platform say.
fn takes_as_long(platform: &str, security: &str, traffic: &str) {
    takes_as_long_in(line(platform, security, traffic));
}

fn takes_as_long_in(scenario: Scenario) {
    let platform = scenario.emulated()[&2].platform.clone();
    let emulated = ScenarioBuilder::from(scenario).duration(Span::from_secs(120));
    let modelled = emulated.clone().platform(2, platform.clone());
    let [emulated, modelled] =
        [emulated, modelled].map(|builder| run(&builder.build().unwrap(), Sinks::default()));
    for (emulated, modelled) in emulated.nodes.iter().zip(&modelled.nodes) {
        let case = format!("{platform:?}: {emulated:?}, {modelled:?}");
        let fared = |node: &NodeReport| (node.sent, node.delivered, node.handshakes());
        assert_eq!(fared(emulated), fared(modelled), "{case}");
        let [of_emulated, of_modelled] = [emulated, modelled].map(|node| node.rtt_ms.unwrap().mean);
        assert!((of_modelled / of_emulated - 1.0).abs() < 0.05, "{case}");
    }
}

#[test]
#[ignore = "needs the emulators and the images"]
fn a_native_node_of_a_platform_takes_as_long_as_the_emulated_one() {
    let echo = "[traffic]\nkind = \"echo\"\nperiod = \"12s\"\npayload = \"140B\"";
    let report = "[traffic]\nperiod = \"12s\"";
    for platform in ["openmote", "tmote-sky", "micaz"] {
        takes_as_long(platform, "none", echo);
        takes_as_long(platform, "llsec", echo);
    }
    takes_as_long("openmote", "dtls-psk", echo);
    takes_as_long("tmote-sky", "dtls-psk", echo);
    for platform in ["openmote", "tmote-sky", "micaz"] {
        takes_as_long(platform, "llsec", report);
    }
    takes_as_long("openmote", "dtls-psk", report);
    takes_as_long("tmote-sky", "dtls-psk", report);
}

#[test]
#[ignore = "needs the emulators and the images"]
fn with_the_null_mac_a_native_node_of_a_platform_takes_as_long_as_the_emulated_one_too() {
    // A datagram is one frame: native neighbours take no time, and would outrun the node with more.
    let echo = "[traffic]\nkind = \"echo\"\nperiod = \"12s\"\npayload = \"24B\"";
    for (platform, security) in
        [("tmote-sky", "none"), ("tmote-sky", "llsec:cbc-mac-32"), ("openmote", "none")]
    {
        let builder = ScenarioBuilder::from(line(platform, security, echo)).mac(Mac::Null);
        takes_as_long_in(builder.build().unwrap());
    }
}

#[test]
#[ignore = "needs the emulators and the images"]
fn the_energy_of_emulated_boards_is_what_their_timelines_come_to() {
    for platform in ["openmote", "tmote-sky"] {
        let run = recomputed::run(&line(platform, "dtls-psk", REPORTS));
        let reckoned = recomputed::reckon(&run.timeline, &run.report);
        let reckoned = reckoned.unwrap_or_else(|wrong| panic!("{platform}: {wrong}"));
        assert!(reckoned.starts_with("node 2: "), "{reckoned}");
        assert!(run.timeline.contains("\"node\":2,\"component\":\"cpu\",\"state\":\"active\""));
    }
}

#[test]
#[ignore = "needs QEMU and the image"]
fn the_same_seed_gives_the_same_bytes_with_an_emulated_node_too() {
    let record = || {
        let (pcap, events) = (Recording::default(), Recording::default());
        let sinks = Sinks { pcap: Some(pcap.sink()), events: Some(events.sink()), ..Sinks::default() };
        let report = run(&line("openmote", "dtls-psk", REPORTS), sinks);
        (report, pcap.bytes(), events.bytes())
    };
    let (first, second) = (record(), record());
    assert!(first.1.len() > 1000);
    assert_eq!(first, second);
}

#[test]
fn an_image_that_is_not_there_is_an_error_that_says_what_builds_it() {
    let node = EmulatedNode { platform: Platform::micaz(), image: Some("nothing".into()) };
    let scenario = ScenarioBuilder::from(line("micaz", "none", "")).emulated(2, node).build().unwrap();
    let error = Simulation::new(&scenario, Options::default()).err().unwrap();
    let message = "node 2 cannot be emulated: nothing is not there: scripts/firmware.sh images builds it";
    assert_eq!(error.message, message);
}

/// A chain in time slots, whose crystals drift: a native node, one that is emulated, and a native one that hears that alone.
fn slotted(platform: &str, rest: &str) -> Scenario {
    let rest = format!(
        "[radio]\ndrift = \"40ppm\"\n[traffic]\nkind = \"echo\"\nperiod = \"20s\"\npayload = \"64B\"\n{rest}"
    );
    let scenario = with_images(&line::line(platform, "none", "listen = \"tsch\"", &rest));
    ScenarioBuilder::from(scenario).duration(Span::from_secs(900)).build().unwrap()
}

/// What a run in time slots shows.
struct Slotted {
    /// Of each node, when it has sent its first beacon, and its first frame of all, in microseconds.
    first: BTreeMap<u64, (u64, u64)>,
    /// Of each node, how many echoes were sent since all had joined, and how many came back.
    echoes: Vec<(u64, u64)>,
    /// Of each node, for which share of that time its radio was on.
    duty_cycles: Vec<f64>,
}

fn run_slotted(scenario: &Scenario, joined: u64) -> Slotted {
    let log = Recording::default();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = start(scenario, Options { sinks, ..Options::default() });
    let on = |simulation: &Simulation, id| {
        let times = simulation.state_times(id).unwrap();
        let on = (times.tx + times.rx + times.listen).as_secs();
        (on, on + times.off.as_secs())
    };
    let told = |simulation: &Simulation| {
        let nodes = simulation.report().nodes;
        let of = |node: &NodeReport| (node.sent, node.delivered, on(simulation, node.id));
        nodes.iter().map(of).collect::<Vec<_>>()
    };
    simulation.step_until(Time::ZERO + Span::from_secs(joined));
    let before = told(&simulation);
    simulation.step_until(Time::ZERO + scenario.duration());
    let after = told(&simulation);
    simulation.flush().unwrap_or_else(|error| panic!("{error}"));
    let since = || before.iter().zip(&after);
    let mut first = BTreeMap::new();
    for line in String::from_utf8(log.bytes()).unwrap().lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event"] == "transmit" {
            let (node, at) = (event["node"].as_u64().unwrap(), event["us"].as_u64().unwrap());
            let (beacon, _) = first.entry(node).or_insert((u64::MAX, at));
            if event["kind"] == "beacon" {
                *beacon = at.min(*beacon);
            }
        }
    }
    Slotted {
        first,
        echoes: since().map(|(before, after)| (after.0 - before.0, after.1 - before.1)).collect(),
        duty_cycles: since()
            .map(|((.., before), (.., after))| (after.0 - before.0) / (after.1 - before.1))
            .collect(),
    }
}

/// It joins by the beacons of a native node, lets another join by its own, answers, forwards, and sleeps as a native node does.
fn is_in_time_slots(platform: &str, rest: &str) {
    let emulated = slotted(platform, rest);
    let native = ScenarioBuilder::from(emulated.clone()).without_platform(2).build().unwrap();
    let [emulated, native] = [emulated, native].map(|scenario| run_slotted(&scenario, 450));
    for (kind, run) in [("emulated", &emulated), ("native", &native)] {
        println!("{kind}: {:?}, {:?}, {:?}", run.first, run.echoes, run.duty_cycles);
        // Who has heard no beacon sends nothing.
        let [router, first, second, third] = [0, 1, 2, 3].map(|node| run.first[&node]);
        assert!(router.0 < first.1 && first.0 < second.1 && second.0 < third.1, "{kind}: {:?}", run.first);
        for &(sent, delivered) in &run.echoes {
            assert!(sent >= 20 && delivered + 1 >= sent, "{kind}: {:?}", run.echoes);
        }
    }
    let more = emulated.duty_cycles[1] / native.duty_cycles[1];
    assert!((0.9..1.5).contains(&more), "{more} of what a native node takes");
}

#[test]
#[ignore = "needs QEMU and the image"]
fn an_openmote_in_time_slots_joins_by_a_beacon_answers_and_forwards() {
    is_in_time_slots("openmote", "");
}
