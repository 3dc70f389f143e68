//! Networks that route by RPL: every security mode delivers in them.

use sixlock_base::Counter;
use sixlock_sim::{Options, RouterReport, Scenario, Simulation, Sinks, Time};
use sixlock_testing::Recording;

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

/// A chain of three nodes that loses nothing.
fn scenario(security: &str, mode: &str, kind: &str) -> Scenario {
    // Where the cloud begins the sessions, a handshake may begin before the network has formed, and wait.
    let duration = if kind == "echo" { 356 } else { 176 };
    let text = format!(
        "security = \"{security}\"\nduration = \"{duration}s\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
        [topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nkind = \"{kind}\"\nperiod = \"60s\"\n"
    );
    Scenario::parse("rpl", &text).unwrap_or_else(|error| panic!("{error}"))
}

/// The same, simulated to its end.
fn run(security: &str, mode: &str, kind: &str) -> Simulation {
    let scenario = scenario(security, mode, kind);
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation
}

/// What is sent before there is a way would be sent again only after longer and longer pauses.
#[test]
fn a_handshake_waits_for_a_way_and_begins_as_soon_as_there_is_one() {
    let log = Recording::default();
    let scenario = scenario("dtls-psk", "non-storing", "report");
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let log = String::from_utf8(log.bytes()).unwrap();
    for node in 1..=3 {
        let first = |name: &str| {
            let is_first = |line: &&str| {
                line.contains(&format!("\"node\":{node},")) && line.contains(&format!("\"event\":\"{name}\""))
            };
            let line = log.lines().find(is_first).unwrap_or_else(|| panic!("node {node}: no {name}"));
            line[6..line.find(',').unwrap()].parse::<u64>().unwrap()
        };
        let [due, parent, handshake] = ["due", "parent", "handshake"].map(first);
        let wait = handshake.checked_sub(due.max(parent));
        assert!(wait.is_some_and(|wait| wait < 1_000_000), "node {node}: {due} {parent} {handshake}");
    }
}

/// A reading that waited for ever would stand in the way of all later ones.
#[test]
fn a_node_that_no_way_leads_from_gives_its_readings_up() {
    for security in ["none", "llsec+ah", "esp"] {
        let text = format!(
            "security = \"{security}\"\nduration = \"600s\"\n[routing]\nkind = \"rpl\"\n\
            [topology]\nkind = \"chain\"\nnodes = 2\n[traffic]\nkind = \"report\"\nperiod = \"60s\"\n\
            [[event]]\nat = \"1s\"\nnode = 1\nkind = \"die\"\n"
        );
        let scenario = Scenario::parse("alone", &text).unwrap_or_else(|error| panic!("{error}"));
        let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
        let alone = report.nodes.iter().find(|node| node.id == 2).unwrap();
        assert!(alone.failed >= 2, "{security}: {alone:?}");
    }
}

#[test]
fn the_network_tells_what_rpl_has_found_and_what_that_took() {
    for mode in ["non-storing", "storing"] {
        let scenario = scenario("none", mode, "report");
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        let before = simulation.network();
        assert_eq!(before.routing, "rpl");
        for node in &before.nodes {
            assert_eq!((node.parent, node.hops, node.rank, node.joined_s), (None, None, None, None));
        }
        simulation.step_until(Time::ZERO + scenario.duration());
        let (network, report) = (simulation.network(), simulation.report());
        let mut above = (0, 128, 0.0);
        for node in &network.nodes {
            let (rank, joined) = (node.rank.unwrap(), node.joined_s.unwrap());
            assert_eq!((node.parent, node.hops), (Some(above.0), Some(node.id)), "{mode}");
            // Of a link without loss MRHOF makes 128 more, and each joins behind the one before.
            assert!(rank >= above.1 + 128 && joined > above.2, "{mode}: {node:?}");
            above = (node.id, rank, joined);
            let reported = &report.nodes[node.id as usize - 1];
            assert_eq!((reported.rank, reported.joined_s), (Some(rank), Some(joined)));
            assert_eq!((node.parent_changes, reported.parent_changes), (Some(1), Some(1)), "{mode}");
            let control = node.transmissions.control_bytes.unwrap();
            assert!(control > 0 && control < node.transmissions.bytes, "{mode}: {node:?}");
            assert_eq!(reported.control_bytes, Some(control));
        }
        assert!(network.router.control_bytes > Some(0), "{mode}");
        let events = network.nodes.iter().map(|node| node.transmissions.control_bytes.unwrap()).sum::<u32>();
        assert_eq!(told_control_bytes(&scenario), events + network.router.control_bytes.unwrap());
    }
}

/// The bytes of frames that the event log says to carry control messages.
fn told_control_bytes(scenario: &Scenario) -> u32 {
    let log = Recording::default();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(scenario, Options { sinks, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let log = String::from_utf8(log.bytes()).unwrap();
    let of =
        |kind: &'static str| log.lines().filter(move |line| line.contains(&format!("\"kind\":\"{kind}\"")));
    assert_eq!(of("other").next(), None, "messages to all are control messages, too");
    of("control")
        .map(|line| {
            let (_, rest) = line.split_once("\"bytes\":").unwrap();
            rest[..rest.find(',').unwrap()].parse::<u32>().unwrap()
        })
        .sum()
}

fn delivers_all(mode: &str, kind: &str) {
    for security in MODES {
        let simulation = run(security, mode, kind);
        for node in &simulation.report().nodes {
            assert!(node.sent >= 2, "{security}, {kind}: {node:?}");
            // An echo that comes before the network has formed is lost, as nobody sends it again.
            let lost = if kind == "echo" { 1 } else { 0 };
            assert!(node.delivered + lost >= node.sent, "{security}, {kind}: {node:?}");
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
fn every_mode_delivers_all_readings_by_source_routes() {
    delivers_all("non-storing", "report");
}

#[test]
fn every_mode_delivers_all_readings_by_stored_routes() {
    delivers_all("storing", "report");
}

#[test]
fn every_mode_delivers_all_echoes_by_source_routes() {
    delivers_all("non-storing", "echo");
}

#[test]
fn every_mode_delivers_all_echoes_by_stored_routes() {
    delivers_all("storing", "echo");
}

/// Fields that lose a tenth of their frames, by either objective function: how often nodes change their parents, and how many readings
/// are delivered, over these seeds.
fn settles_by(objective: &str) -> (u64, u64) {
    let settled = (1..=3).map(|seed| {
        let text = format!(
            "security = \"none\"\nseed = {seed}\nduration = \"600s\"\n[radio]\nloss = 0.1\n\
            [routing]\nkind = \"rpl\"\nobjective = \"{objective}\"\n\
            [topology]\nkind = \"random\"\nnodes = 50\nwidth = \"260m\"\nheight = \"260m\"\n"
        );
        let scenario = Scenario::parse("field", &text).unwrap_or_else(|error| panic!("{error}"));
        let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
        let changes = report.nodes.iter().filter_map(|node| node.parent_changes).map(u64::from).sum::<u64>();
        (changes, report.sum(|node| node.delivered))
    });
    settled.fold((0, 0), |(changes, delivered), settled| (changes + settled.0, delivered + settled.1))
}

/// Each node takes a parent, and changes it seldom: what chance does to single frames moves nobody.
#[test]
fn a_lossy_field_settles_by_either_objective_function() {
    let (mrhof, of0) = (settles_by("mrhof"), settles_by("of0"));
    assert!(of0.0 <= 2 * mrhof.0, "OF0 {of0:?}, MRHOF {mrhof:?}");
    assert!(of0.1 >= mrhof.1, "OF0 {of0:?}, MRHOF {mrhof:?}");
}

/// Each node finds the way to one of them, is answered over it, and the report counts the frames of all.
#[test]
fn several_border_routers_share_a_field() {
    let log = Recording::default();
    let text = "security = \"llsec+dtls-psk\"\nduration = \"300s\"\n[routing]\nkind = \"rpl\"\n\
        [topology]\nkind = \"random\"\nnodes = 40\nrouters = 3\nwidth = \"240m\"\nheight = \"160m\"\n";
    let scenario = Scenario::parse("routers", text).unwrap();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let report = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap().run().unwrap();
    let routers = [0, 0xff_0001, 0xff_0002];
    for router in routers {
        let below: Vec<_> = report.nodes.iter().filter(|node| node.parent == Some(router)).collect();
        assert!(!below.is_empty(), "nobody is next to {router:x}");
        assert!(below.iter().all(|node| node.hops == Some(1) && node.delivered > 0));
    }
    assert!(report.nodes.iter().all(|node| node.joined_s.is_some()));
    assert!(report.delivery() > Some(0.95), "{:?}", report.delivery());
    // Each sends frames, under its own number.
    let log = String::from_utf8(log.bytes()).unwrap();
    let sent = |router: u32| {
        let name = format!("\"node\":{router},\"event\":\"transmit\"");
        log.lines().filter(|line| line.contains(&name)).count() as u32
    };
    let sent = routers.map(sent);
    assert!(sent.iter().all(|&frames| frames > 0), "{sent:?}");
    assert_eq!(sent.iter().sum::<u32>(), report.router.frames);
    // The report has each, and their sum.
    let each: Vec<_> = report.routers.iter().map(|router| (router.id, router.router.frames)).collect();
    assert_eq!(each, routers.into_iter().zip(sent).collect::<Vec<_>>());
    let sum =
        |figure: fn(&RouterReport) -> u32| report.routers.iter().map(|of| figure(&of.router)).sum::<u32>();
    assert_eq!(sum(|router| router.bytes), report.router.bytes);
    assert_eq!(sum(|router| router.control_bytes.unwrap()), report.router.control_bytes.unwrap());
    assert_eq!(sum(|router| router.drops.values().sum()), report.router.drops.values().sum::<u32>());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["routers"][1]["id"], 0xff_0001);
    assert_eq!(json["routers"][1]["frames"], sent[1]);
}

/// 0 – 1 – 2 – 3: node 2 is away for a second, or for good.
#[test]
fn who_has_lost_the_way_has_none_in_the_report_and_the_log_tells_when_it_is_found_again() {
    for mode in ["non-storing", "storing"] {
        let run = |event: &str| {
            let text = format!(
                "security = \"none\"\nduration = \"900s\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
                [topology]\nkind = \"chain\"\nnodes = 3\n[[event]]\nat = \"300s\"\n{event}\n"
            );
            let scenario = Scenario::parse("lost", &text).unwrap();
            let log = Recording::default();
            let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
            let simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
            let report = simulation.run().unwrap();
            let log = String::from_utf8(log.bytes()).unwrap();
            let told = move |name: &str| {
                let nodes = log.lines().filter(|line| line.contains(&format!("\"event\":\"{name}\"")));
                let mut nodes: Vec<_> = nodes
                    .map(|line| {
                        let event: serde_json::Value = serde_json::from_str(line).unwrap();
                        (event["node"].as_u64().unwrap(), event["us"].as_u64().unwrap() / 1_000_000)
                    })
                    .collect();
                nodes.sort_unstable();
                nodes
            };
            (report, told)
        };
        let (report, told) = run("node = 2\nkind = \"die\"");
        let ways: Vec<_> = report.nodes.iter().map(|node| (node.hops, node.parent)).collect();
        assert_eq!(ways, [(Some(1), Some(0)), (None, None), (None, None)], "{mode}");
        assert!(report.nodes.iter().all(|node| node.joined_s.is_some()), "{mode}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["nodes"][2].get("hops"), Some(&serde_json::Value::Null), "{mode}");
        assert_eq!(json["nodes"][2].get("parent"), Some(&serde_json::Value::Null), "{mode}");
        assert!(json.get("routers").is_none(), "there is one");
        assert!(told("rejoined").is_empty(), "{mode}: {:?}", told("rejoined"));
        for (event, lost) in
            [("node = 2\nkind = \"reboot\"", &[2, 3][..]), ("node = 0\nkind = \"reboot\"", &[1, 2, 3])]
        {
            let (report, told) = run(event);
            let rejoined = told("rejoined");
            let nodes: std::collections::BTreeSet<_> = rejoined.iter().map(|(node, _)| *node).collect();
            assert_eq!(nodes, lost.iter().copied().collect(), "{mode}, {event}: {rejoined:?}");
            assert!(
                rejoined.iter().all(|&(_, second)| (300..700).contains(&second)),
                "{mode}, {event}: {rejoined:?}"
            );
            assert_eq!(told("joined").len(), 3, "{mode}: once each");
            assert!(report.nodes.iter().all(|node| node.hops == Some(node.id)), "{mode}, {event}");
        }
    }
}

#[test]
fn modelled_nodes_route_by_rpl_in_every_mode_and_what_they_take_is_reckoned() {
    for security in ["llsec", "ah", "esp", "llsec+esp", "esp+dtls-psk"] {
        for mode in ["non-storing", "storing"] {
            let text = format!(
                "security = \"{security}\"\nduration = \"176s\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
                [platform]\nprofile = \"openmote\"\n[topology]\nkind = \"chain\"\nnodes = 3\n"
            );
            let scenario = Scenario::parse("boards", &text).unwrap();
            let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
            for node in &report.nodes {
                let (id, due) = (node.id, node.due);
                assert_eq!(
                    (node.parent, node.delivered),
                    (Some(id - 1), due),
                    "{security}, {mode}, node {id}"
                );
                assert!(node.joined_s.is_some() && node.energy_mj.is_some_and(|energy| energy.cpu > 0.0));
            }
        }
    }
}

/// Nothing outside of the mesh has a part in it, so that addresses are compressed.
#[test]
fn the_border_router_sends_echoes_itself_and_they_take_less_time() {
    for mode in ["non-storing", "storing"] {
        let times = ["", "from = 0\n"].map(|from| {
            let text = format!(
                "security = \"none\"\nduration = \"600s\"\n[routing]\nkind = \"rpl\"\nmode = \"{mode}\"\n\
                [topology]\nkind = \"chain\"\nnodes = 3\n[traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"20s\"\n{from}"
            );
            let scenario = Scenario::parse("rpl", &text).unwrap_or_else(|error| panic!("{error}"));
            let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
            let times = report.nodes.iter().map(|node| node.rtt_ms.expect("an echo").mean);
            times.collect::<Vec<_>>()
        });
        let [by_cloud, by_router] = &times;
        assert!(by_router.iter().zip(by_cloud).all(|(router, cloud)| router < cloud), "{mode}: {times:?}");
    }
}
