//! Attackers reach their aim where nothing protects the network, judged by what was on the air; what they reach where something does,
//! SECURITY.md says.
//!
//! `cargo test --release -p sixlock-sim --test attacks -- --ignored --nocapture` tries each of them over 20 seeds, or as many as
//! `SIXLOCK_ATTACKS` says, and computes every figure of SECURITY.md.

mod capture;

use std::thread;

use capture::Capture;
use sixlock_base::Counter;
use sixlock_sim::{AttackCost, Options, Report, Scenario, Simulation, Sinks, Time};
use sixlock_testing::{Recording, seeds_to_try};

/// The border router and four nodes, in a line.
const STATIONS: u32 = 5;
/// When attacks begin, in microseconds.
const START: u64 = 120_000_000;
/// From then on readings are judged: those that were under way when an attack began have arrived.
const JUDGED: u64 = START + 1_000_000;
/// After so many microseconds a reading that is replayed is not known any more to who takes readings.
const AFTER: u64 = 250_000_000;
/// The station number of the attacker.
const ATTACKER: u32 = STATIONS;

const RPL: &[&str] = &["non-storing", "storing"];
const ANY: &[&str] = &["static", "non-storing", "storing"];

/// An attack, and how to tell from the capture whether it has reached its aim.
struct Case {
    /// Its row in SECURITY.md.
    name: &'static str,
    /// Its keys in a scenario.
    keys: &'static str,
    routings: &'static [&'static str],
    aim: fn(&Seen<'_>) -> bool,
}

/// What was seen of two runs, one with the attack.
struct Seen<'c> {
    attacked: &'c Capture,
    calm: &'c Capture,
}

impl Seen<'_> {
    /// How many readings of a node came as far as the border router since the attack began; and how many without it.
    fn arrived(&self, node: u32) -> (usize, usize) {
        (self.attacked.arrived(node, JUDGED).len(), self.calm.arrived(node, JUDGED).len())
    }

    /// Whether the nodes and the border router have sent so many times as many frames with control messages as without the attack.
    fn control_grows(&self, times: usize) -> bool {
        let count = |capture: &Capture| capture.count(0..STATIONS, |frame| frame.is_control());
        count(self.attacked) >= times * count(self.calm)
    }
}

/// The place (140, 20) is next to nodes 3 and 4 alone, (80, 40) next to node 2.
const CASES: [Case; 14] = [
    Case {
        name: "jam",
        keys: "kind = \"jam\"\nx = \"140m\"\ny = \"20m\"",
        routings: ANY,
        aim: |seen| matches!(seen.arrived(4), (attacked, calm) if 10 * attacked <= calm),
    },
    Case {
        name: "replay",
        keys: "kind = \"replay\"\nafter = \"250s\"\nx = \"140m\"\ny = \"20m\"",
        routings: ANY,
        aim: |seen| {
            // It comes to the border router again, and the cloud says again that it has it.
            let arrived = seen.attacked.arrived(4, 0);
            let accepted = seen.attacked.accepted(4);
            let is_late = |times: &[u64]| times.iter().any(|time| time - times[0] >= AFTER);
            let late = |id: u16| {
                accepted
                    .iter()
                    .filter(|(accepted, _)| *accepted == id)
                    .map(|(_, time)| *time)
                    .collect::<Vec<_>>()
            };
            arrived
                .iter()
                .any(|(id, times)| is_late(&times.iter().copied().collect::<Vec<_>>()) && is_late(&late(*id)))
        },
    },
    Case {
        name: "inject",
        keys: "kind = \"inject\"\ntarget = 4\nx = \"80m\"\ny = \"40m\"",
        routings: ANY,
        aim: |seen| seen.attacked.echoes(4) >= 20,
    },
    Case {
        name: "forge",
        keys: "kind = \"forge\"\ntarget = 4\nx = \"80m\"\ny = \"40m\"",
        routings: ANY,
        aim: is_forged,
    },
    Case {
        name: "forge, captured node",
        keys: "kind = \"forge\"\ntarget = 4\nnode = 2",
        routings: ANY,
        aim: is_forged,
    },
    Case {
        name: "hello-flood",
        keys: "kind = \"hello-flood\"\nrange = \"500m\"\nx = \"80m\"\ny = \"40m\"",
        routings: RPL,
        aim: |seen| seen.control_grows(3),
    },
    Case {
        name: "dio-flood",
        keys: "kind = \"dio-flood\"\nx = \"140m\"\ny = \"20m\"",
        routings: RPL,
        aim: |seen| seen.control_grows(3),
    },
    Case {
        name: "dao-flood",
        keys: "kind = \"dao-flood\"\nx = \"140m\"\ny = \"20m\"",
        routings: RPL,
        aim: |seen| seen.control_grows(3),
    },
    Case {
        name: "dis-flood",
        keys: "kind = \"dis-flood\"\nx = \"140m\"\ny = \"20m\"",
        routings: RPL,
        aim: |seen| seen.control_grows(3),
    },
    Case {
        name: "handshake-flood",
        keys: "kind = \"handshake-flood\"\nevery = \"1s\"\nx = \"140m\"\ny = \"20m\"",
        routings: ANY,
        // Half of those that it sends.
        aim: |seen| 2 * seen.attacked.hellos() >= (480_000_000 - START as usize) / 1_000_000,
    },
    Case {
        name: "black-hole",
        keys: "kind = \"black-hole\"\nnode = 2",
        routings: ANY,
        aim: |seen| [3, 4].into_iter().all(|node| seen.arrived(node).0 == 0) && seen.arrived(3).1 > 0,
    },
    Case {
        name: "sink-hole",
        keys: "kind = \"sink-hole\"\nx = \"140m\"\ny = \"20m\"",
        routings: RPL,
        // Node 3 hears it as well as node 4 does: whichever of them it draws, the readings of node 4 go to it.
        aim: |seen| {
            let (attacked, calm) = seen.arrived(4);
            let drawn = seen.attacked.readings_to(ATTACKER);
            [3, 4].iter().any(|node| drawn.contains_key(node)) && 2 * attacked <= calm
        },
    },
    Case {
        name: "wormhole",
        keys: "kind = \"wormhole\"\nx = \"0m\"\ny = \"40m\"\nto_x = \"160m\"\nto_y = \"40m\"",
        routings: RPL,
        // Node 4 is not in range of the border router.
        aim: |seen| {
            seen.attacked.readings_to(0).contains_key(&4) && !seen.calm.readings_to(0).contains_key(&4)
        },
    },
    Case {
        name: "selective-forwarding",
        keys: "kind = \"selective-forwarding\"\nshare = 0.9\nnode = 2",
        routings: ANY,
        aim: |seen| {
            let sum = |of: fn((usize, usize)) -> usize| of(seen.arrived(3)) + of(seen.arrived(4));
            let (attacked, calm) = (sum(|(attacked, _)| attacked), sum(|(_, calm)| calm));
            4 * attacked <= 3 * calm && seen.arrived(2).0 == seen.arrived(2).1
        },
    },
];

/// The cloud says to node 4 that it has a reading that the node did not send.
fn is_forged(seen: &Seen<'_>) -> bool {
    let own = seen.attacked.sent(4);
    seen.attacked.accepted(4).iter().any(|(id, _)| !own.contains(id))
}

/// A scenario as a file has it; the keys of its attack are at the end. Its readings have a jitter: without, an attacker that does
/// something every 10 s, or the same 250 s later, meets the reading of the same node again and again.
fn text(security: &str, routing: &str, seed: u64, attack: Option<&Case>) -> String {
    let (routing, platform) = match routing {
        // What RPL takes on a platform is not known. Node 2 is native, as it may be captured.
        "static" => ("kind = \"static\"".to_string(), "platform = \"openmote\"\n"),
        mode => (format!("kind = \"rpl\"\nmode = \"{mode}\""), ""),
    };
    let node = |id: u32| {
        let platform = if id == 2 { "" } else { platform };
        format!("[[node]]\nid = {id}\nx = \"{}m\"\n{platform}", 40 * id)
    };
    let nodes: String = (1..STATIONS).map(node).collect();
    let attack =
        attack.map(|case| format!("[[attack]]\n{}\nstart = \"120s\"\n", case.keys)).unwrap_or_default();
    format!(
        "security = \"{security}\"\nseed = {seed}\nduration = \"480s\"\n[routing]\n{routing}\n\
        [topology]\nkind = \"list\"\n[traffic]\nperiod = \"20s\"\njitter = \"5s\"\n{nodes}{attack}"
    )
}

fn scenario(security: &str, routing: &str, seed: u64, attack: Option<&Case>) -> Scenario {
    let text = text(security, routing, seed, attack);
    Scenario::parse("attack", &text).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> (Capture, Report) {
    let pcap = Recording::default();
    let sinks = Sinks { pcap: Some(pcap.sink()), ..Sinks::default() };
    let report = Simulation::new(scenario, Options { sinks, ..Options::default() }).unwrap().run().unwrap();
    (Capture::new(&pcap.bytes()), report)
}

/// The attacks that can be tried with this routing.
fn cases(routing: &str) -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(move |case| case.routings.contains(&routing))
}

/// What is on the air where nothing protects the network.
fn capture(routing: &str, seed: u64, attack: Option<&Case>) -> Capture {
    run(&scenario("none", routing, seed, attack)).0
}

/// Which of the attacks do not reach their aim where nothing protects the network.
fn misses<'c>(cases: impl Iterator<Item = &'c Case>, routing: &str, seed: u64) -> Vec<&'c str> {
    let calm = capture(routing, seed, None);
    let misses =
        |case: &&Case| !(case.aim)(&Seen { attacked: &capture(routing, seed, Some(case)), calm: &calm });
    cases.filter(misses).map(|case| case.name).collect()
}

fn reaches_its_aim(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for routing in case.routings {
        assert_eq!(misses([case].into_iter(), routing, 1), [""; 0], "{routing}");
    }
}

#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn a_jammer_keeps_readings_from_arriving() {
    reaches_its_aim("jam");
}

#[test]
fn a_reading_that_is_replayed_is_accepted_again() {
    reaches_its_aim("replay");
}

#[test]
fn an_injected_datagram_is_answered() {
    reaches_its_aim("inject");
}

#[test]
fn a_forged_reading_is_accepted() {
    reaches_its_aim("forge");
}

#[test]
fn a_captured_node_forges_readings_of_others() {
    reaches_its_aim("forge, captured node");
}

#[test]
fn hellos_in_the_router_s_name_make_all_join_anew() {
    reaches_its_aim("hello-flood");
}

#[test]
fn routers_that_there_are_not_are_looked_for() {
    reaches_its_aim("dio-flood");
}

#[test]
fn routes_to_nodes_that_there_are_not_are_told_on() {
    reaches_its_aim("dao-flood");
}

#[test]
fn who_asks_often_is_answered_often() {
    reaches_its_aim("dis-flood");
}

#[test]
fn handshakes_of_strangers_are_carried_to_the_router() {
    reaches_its_aim("handshake-flood");
}

#[test]
fn nothing_comes_out_of_a_black_hole() {
    reaches_its_aim("black-hole");
}

#[test]
fn a_sink_hole_draws_readings_and_keeps_them() {
    reaches_its_aim("sink-hole");
}

#[test]
fn a_wormhole_makes_distant_stations_neighbours() {
    reaches_its_aim("wormhole");
}

#[test]
fn selective_forwarding_loses_readings() {
    reaches_its_aim("selective-forwarding");
}

/// An attack that has ended, and whatever it has filled, keeps nothing from arriving later.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn every_network_recovers_when_an_attack_has_ended() {
    for (number, case) in CASES.iter().enumerate() {
        let routing = case.routings[number % case.routings.len()];
        let text = text("none", routing, 1, Some(case)).replace("480s", "1000s") + "end = \"240s\"\n";
        let scenario = Scenario::parse("attack", &text).unwrap();
        let events = Recording::default();
        let sinks = Sinks { events: Some(events.sink()), ..Sinks::default() };
        Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap().run().unwrap();
        let lines = String::from_utf8(events.bytes()).unwrap();
        let late = |line: &&str| -> bool {
            let micros: u64 = line[6..].split(',').next().unwrap().parse().unwrap();
            (700_000_000..970_000_000).contains(&micros)
        };
        let count = |event: &str| lines.lines().filter(late).filter(|line| line.contains(event)).count();
        assert_eq!(count("\"failed\"") + count("\"skipped\""), 0, "{}, {routing}", case.name);
        assert!(lines.contains("\"event\":\"attack\"") && lines.contains("\"event\":\"attack-ends\""));
        // One may be due before and confirmed after, or the reverse.
        assert!(
            count("\"confirmed\"") + 4 >= count("\"due\"") && count("\"due\"") > 40,
            "{}, {routing}",
            case.name
        );
    }
}

/// Routes to nodes that there are not fill the tables of the root, or of the router next to the attacker; neighbours that there are
/// not that of a node, and flows that of the border router. Whose routes are there already keeps them. The floods are as slow as
/// leaves the air to readings.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn a_flood_fills_a_table_and_no_reading_is_lost() {
    for (name, every, routing, station, full) in [
        ("dao-flood", "150ms", "non-storing", 0, Counter::RplRoutesFull),
        ("dao-flood", "150ms", "storing", 3, Counter::RplRoutesFull),
        ("dio-flood", "200ms", "non-storing", 4, Counter::RplNeighboursFull),
        ("handshake-flood", "150ms", "static", 0, Counter::GatewayFlowsEvicted),
    ] {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let text =
            text("none", routing, 1, Some(case)).replace("480s", "360s").replace("every = \"1s\"\n", "");
        let scenario = Scenario::parse("attack", &format!("{text}every = \"{every}\"\n")).unwrap();
        let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
        simulation.step_until(Time::ZERO + scenario.duration());
        assert!(simulation.counters(station).unwrap().get(full) > 0, "{name}, {routing}");
        let report = simulation.report();
        assert_eq!(report.sum(|node| node.failed + node.skipped), 0, "{name}, {routing}");
        assert!(report.sum(|node| node.delivered) >= 40, "{name}, {routing}");
    }
}

/// What judges can say no: of each attacker whose first frame comes too late to do anything.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn an_attacker_that_does_nothing_reaches_no_aim() {
    for routing in ANY {
        let calm = capture(routing, 1, None);
        for case in cases(routing) {
            let text =
                text("none", routing, 1, Some(case)).replace("start = \"120s\"", "start = \"479999ms\"");
            let (attacked, report) = run(&Scenario::parse("attack", &text).unwrap());
            assert_eq!(report.attacks.len(), 1);
            assert!(!(case.aim)(&Seen { attacked: &attacked, calm: &calm }), "{}, {routing}", case.name);
        }
    }
}

#[test]
#[ignore = "it simulates many hours: to be run in release"]
fn each_reaches_its_aim_over_twenty_seeds() {
    let seeds: Vec<_> = seeds_to_try("SIXLOCK_ATTACKS", 20).map(|seed| seed as u64).collect();
    let tries: Vec<_> =
        ANY.iter().flat_map(|&routing| seeds.iter().map(move |&seed| (routing, seed))).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let missed: Vec<_> = thread::scope(|scope| {
        let share = |first| {
            let share = tries.iter().skip(first).step_by(threads);
            let missed = |&(routing, seed): &(&'static str, u64)| {
                misses(cases(routing), routing, seed).into_iter().map(move |name| (name, routing, seed))
            };
            scope.spawn(move || share.flat_map(missed).collect::<Vec<_>>())
        };
        let shares: Vec<_> = (0..threads).map(share).collect();
        shares.into_iter().flat_map(|share| share.join().unwrap()).collect()
    });
    for &routing in ANY {
        for Case { name, .. } in cases(routing) {
            let missed = missed.iter().filter(|(of, by, _)| (*of, *by) == (*name, routing)).count();
            println!(
                "{name}, {routing}: reaches its aim with {} of {} seeds",
                seeds.len() - missed,
                seeds.len()
            );
        }
    }
    assert_eq!(missed, []);
}

/// The tables of SECURITY.md: their headings, and how packets are routed in them.
const TABLES: [(&str, &str); 3] = [
    ("### Static routes", "static"),
    ("### RPL in non-storing mode", "non-storing"),
    ("### RPL in storing mode", "storing"),
];

/// The table of what a hello flood comes to with one seed and another, and how many these are.
const FLOODED: &str = "### Hello floods, seeds 1 to 10";
const FLOODED_SEEDS: u64 = 10;

/// Their columns.
const MODES: [&str; 6] = ["none", "llsec", "ah", "esp", "dtls-psk", "llsec+dtls-psk"];

/// How many readings in a hundred an attack has cost.
fn lost(report: &Report, calm: &Report) -> f64 {
    100.0 * AttackCost::of(report, calm).readings as f64 / calm.sum(|node| node.delivered) as f64
}

/// What an attack has come to, as a cell of those tables tells it.
fn cell(report: &Report, calm: &Report) -> String {
    let cost = AttackCost::of(report, calm);
    let frames =
        |report: &Report| f64::from(report.router.frames) + report.sum(|node| node.frames.into()) as f64;
    let energy = |report: &Report| -> f64 {
        let nodes = report.nodes.iter().filter_map(|node| node.energy_mj);
        nodes.map(|energy| energy.computing_and_sending()).sum()
    };
    let travels = report.attacks[0].travels.map(|travels| format!("{:.1} hops", travels.mean_hops));
    let is_false = (cost.false_readings > 0).then(|| format!("{} false", cost.false_readings));
    let lost = lost(report, calm);
    let lost = (lost >= 0.5).then(|| format!("{lost:.0} % lost"));
    let times = |amount: &dyn Fn(&Report) -> f64, noun| {
        let times = amount(report) / amount(calm);
        (amount(calm) > 0.0 && !(0.95..1.05).contains(&times)).then(|| format!("{times:.1} × {noun}"))
    };
    let carried = (report.attacks[0].kind == "wormhole")
        .then(|| format!("carries {} frames", report.attacks[0].frames));
    let all = [travels, carried, is_false, lost, times(&frames, "frames"), times(&energy, "energy")];
    let all: Vec<_> = all.into_iter().flatten().collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}

fn report(security: &str, routing: &str, attack: Option<&Case>) -> Report {
    run(&scenario(security, routing, 1, attack)).1
}

/// The rows of a table.
fn rows(routing: &str) -> Vec<String> {
    let calm = MODES.map(|security| report(security, routing, None));
    let row = |case: &Case| {
        let tried = |(security, calm): (&&str, &Report)| cell(&report(security, routing, Some(case)), calm);
        let cells: Vec<_> = MODES.iter().zip(&calm).map(tried).collect();
        format!("| {} | {} |", case.name, cells.join(" | "))
    };
    cases(routing).map(row).collect()
}

/// The least and the most that a hello flood costs over the seeds, as a cell tells it.
fn flooded(security: &str, routing: &str) -> String {
    let case = CASES.iter().find(|case| case.name == "hello-flood").unwrap();
    let lost = (1..=FLOODED_SEEDS).map(|seed| {
        let report = |attack: Option<&Case>| run(&scenario(security, routing, seed, attack)).1;
        lost(&report(Some(case)), &report(None)).round() as u32
    });
    let (least, most) = lost.fold((u32::MAX, 0), |(least, most), lost| (least.min(lost), most.max(lost)));
    if most == 0 { "nothing".into() } else { format!("{least} to {most} % lost") }
}

/// The rows of their table.
fn flooded_rows() -> Vec<String> {
    let row =
        |routing: &&str| format!("| {routing} | {} |", MODES.map(|mode| flooded(mode, routing)).join(" | "));
    RPL.iter().map(row).collect()
}

const SECURITY: &str = include_str!("../../../SECURITY.md");

/// The rows of the table below this heading in the documentation.
fn documented(heading: &str) -> Vec<&'static str> {
    let section = SECURITY.split(heading).nth(1).unwrap_or_default();
    let section = section.split("\n#").next().unwrap_or_default();
    section.lines().filter(|line| line.starts_with("| ")).skip(1).collect()
}

/// One cell of each row is tried here; all of them are below.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn the_documentation_says_what_each_attack_comes_to() {
    for (table, (heading, routing)) in TABLES.iter().enumerate() {
        let rows = documented(heading);
        let cases: Vec<_> = cases(routing).collect();
        assert_eq!(rows.len(), cases.len(), "{heading}");
        for (place, (row, case)) in rows.iter().zip(cases).enumerate() {
            let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(cells[0], case.name, "{heading}");
            if place % TABLES.len() == table {
                let mode = place % MODES.len();
                let report = |attack: Option<&Case>| report(MODES[mode], routing, attack);
                assert_eq!(
                    cells[1 + mode],
                    cell(&report(Some(case)), &report(None)),
                    "{heading}, {}, {}",
                    case.name,
                    MODES[mode]
                );
            }
        }
    }
}

/// One cell of it is tried here; all of them are below.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn the_documentation_says_how_far_hello_floods_differ() {
    let rows = documented(FLOODED);
    assert_eq!(rows.len(), RPL.len());
    let cells: Vec<_> = rows[0].trim_matches('|').split('|').map(str::trim).collect();
    assert_eq!([cells[0], cells[1]], [RPL[0], &flooded(MODES[0], RPL[0])]);
}

#[test]
#[ignore = "it simulates many hours: to be run in release"]
fn the_documentation_has_every_figure() {
    let tables: Vec<_> = thread::scope(|scope| {
        let flooded = scope.spawn(flooded_rows);
        let table = |(heading, routing): &(&'static str, &'static str)| {
            let routing = *routing;
            (*heading, scope.spawn(move || rows(routing)))
        };
        let tables: Vec<_> = TABLES.iter().map(table).chain([(FLOODED, flooded)]).collect();
        tables.into_iter().map(|(heading, rows)| (heading, rows.join().unwrap())).collect()
    });
    for (heading, rows) in &tables {
        println!("{heading}\n\n{}", rows.join("\n"));
    }
    if std::env::var_os("SIXLOCK_ACCEPT").is_some() {
        let text =
            tables.iter().fold(SECURITY.to_string(), |text, (heading, rows)| with_rows(&text, heading, rows));
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../SECURITY.md"), text).unwrap();
        return;
    }
    for (heading, rows) in &tables {
        assert_eq!(
            &documented(heading),
            rows,
            "{heading}; if that is right, SIXLOCK_ACCEPT=1 cargo test --release -p sixlock-sim --test attacks figure -- --ignored writes it"
        );
    }
}

/// The documentation with these rows in the table below the heading.
fn with_rows(text: &str, heading: &str, rows: &[String]) -> String {
    let (before, section) = text.split_once(heading).unwrap();
    let (section, after) = section.split_once("\n#").unwrap_or((section, ""));
    let mut lines: Vec<_> = section.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("|---")).unwrap();
    let end = lines[head + 1..]
        .iter()
        .position(|line| !line.starts_with('|'))
        .map_or(lines.len(), |at| head + 1 + at);
    lines.splice(head + 1..end, rows.iter().map(String::as_str));
    format!("{before}{heading}{}\n{}{after}", lines.join("\n"), if after.is_empty() { "" } else { "\n#" })
}

/// Nodes whose way ends at an attacker have joined no border router.
#[test]
fn a_sink_hole_that_begins_before_nodes_have_joined_is_no_border_router() {
    let text = "duration = \"600s\"\n[routing]\nkind = \"rpl\"\n[[attack]]\nkind = \"sink-hole\"\nx = \"120m\"\ny = \"20m\"\n";
    let scenario = Scenario::parse("s", text).unwrap();
    let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
    assert!(report.nodes.iter().any(|node| node.joined_s.is_none()), "{report:?}");
}
