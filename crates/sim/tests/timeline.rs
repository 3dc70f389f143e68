//! Timelines: what a run reports of times and energies is what its changes of state come to, to the last digit.

mod recomputed;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use recomputed::{reckon, run};
use serde_json::Value;
use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks, Span, Time};
use sixlock_testing::Recording;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("s", text).unwrap_or_else(|error| panic!("{error}"))
}

/// The lines of a timeline but the first and the last.
fn changes(timeline: &str) -> Vec<Value> {
    let lines: Vec<_> = timeline.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    lines[1..lines.len() - 1].to_vec()
}

/// How often each component enters each state, at all stations together.
fn counts(timeline: &str) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for change in changes(timeline) {
        let text = |field: &str| change[field].as_str().unwrap().to_owned();
        *counts.entry((text("component"), text("state"))).or_default() += 1;
    }
    counts
}

/// Runs a scenario; what the script reckons is what is said. Which states there were.
fn agrees(text: &str) -> (Report, BTreeMap<(String, String), usize>) {
    let run = run(&scenario(text));
    let reckoned = reckon(&run.timeline, &run.report).unwrap_or_else(|wrong| panic!("{text}\n{wrong}"));
    let on_platforms = run.report.nodes.iter().filter(|node| node.energy_mj.is_some()).count();
    assert_eq!(reckoned.lines().count(), on_platforms + 1, "{reckoned}");
    (run.report, counts(&run.timeline))
}

const BOARDS: &str = "duration = \"300s\"\nsecurity = \"llsec+dtls-psk\"\n[radio]\nloss = 0.1\n[topology]\nnodes = 3\n\
                      [traffic]\nperiod = \"20s\"\n";

#[test]
fn the_energy_of_boards_whose_radios_always_listen_is_what_their_timelines_come_to() {
    for platform in ["tmote-sky", "openmote", "nrf52840"] {
        let (report, counts) = agrees(&format!("{BOARDS}[platform]\nprofile = \"{platform}\"\n"));
        assert!(report.nodes.iter().all(|node| node.handshakes() > 0), "{report:?}");
        let is_there = |component: &str, state: &str| counts.contains_key(&(component.into(), state.into()));
        for state in ["listen", "rx", "tx", "ack"] {
            assert!(is_there("radio", state), "{state}");
        }
        assert!(is_there("cpu", "active") && is_there("handshake", "under-way"));
        assert!(!is_there("radio", "off"), "they always listen");
        assert!(!is_there("engine", "work") && !is_there("storage", "write"), "nothing is known of these");
    }
}

#[test]
fn the_energy_of_boards_whose_radios_sleep_is_what_their_timelines_come_to() {
    let mac = "[mac]\nkind = \"contiki-csma\"\nlisten = \"contikimac\"\n[platform]\nprofile = \"openmote\"\n";
    let (report, counts) = agrees(&format!("{}{mac}", BOARDS.replace("\"20s\"", "\"60s\"")));
    let sleeps = counts[&("radio".into(), "off".into())];
    // Each of four radios wakes up eight times a second, traffic aside.
    assert!((4 * 8 * 200..4 * 8 * 400).contains(&sleeps), "{sleeps}");
    assert!(report.nodes.iter().all(|node| node.duty_cycle.unwrap() < 0.1), "{report:?}");
}

/// A board of its own in a folder of its own, and the scenario beside it.
fn with_board(name: &str, board: &str, text: &str) -> Scenario {
    let folder = std::env::temp_dir().join(format!("sixlock-timeline-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("board.toml"), board).unwrap();
    let path = folder.join("scenario.toml");
    fs::write(&path, text).unwrap();
    let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
    fs::remove_dir_all(&folder).unwrap();
    scenario
}

/// The Tmote Sky, of which all is known.
fn whole_board() -> String {
    let text = include_str!("../boards/tmote-sky.toml").replace("name = \"tmote-sky\"", "name = \"mine\"");
    let off = "off = { value = \"20uA\", source = \"a test\" }\nengine = { value = \"1.3mA\", source = \"a test\" }\n";
    let text = text.replace("[radio]", &format!("{off}[radio]"));
    let text =
        text.replace("[current]", "energest = { value = \"62500Hz\", source = \"a test\" }\n[current]");
    let storage = "[storage]\nword = { value = \"2B\", source = \"a test\" }\nword_time = { value = \"85.7us\", source = \"a test\" }\n\
                   current = { value = \"3mA\", source = \"a test\" }\n";
    text.replace("emulated = true\n", "") + storage
}

#[test]
fn accelerator_storage_and_a_radio_that_is_off_count_where_the_board_says_what_they_draw() {
    let text = BOARDS.replace("llsec+dtls-psk", "llsec@engine+dtls-psk")
        + "[mac]\nkind = \"contiki-csma\"\nlisten = \"contikimac\"\n[platform]\nfile = \"board.toml\"\n";
    let run = run(&with_board("whole", &whole_board(), &text));
    reckon(&run.timeline, &run.report).unwrap_or_else(|wrong| panic!("{wrong}"));
    for node in &run.report.nodes {
        let energy = node.energy_mj.unwrap();
        assert!(energy.off.unwrap() > 0.0 && energy.engine.unwrap() > 0.0, "{energy:?}");
        // Four words of 2 bytes at once, for each range of frame counters.
        let once = 4.0 * 85.7 * 3.0 * 3.0 / 1e6;
        let times = energy.storage.unwrap() / once;
        assert!(times > 0.5 && (times - times.round()).abs() < 0.01, "{energy:?} {times}");
        assert_eq!(node.energest.unwrap().hz, 62_500);
    }
    let counts = counts(&run.timeline);
    assert!(counts.contains_key(&("engine".into(), "work".into())));
    assert!(counts.contains_key(&("storage".into(), "write".into())));
}

#[test]
fn native_nodes_that_start_anew_have_timelines_too() {
    let text = "duration = \"300s\"\nsecurity = \"dtls-psk\"\n[topology]\nnodes = 3\n[routing]\nkind = \"rpl\"\n\
                [[event]]\nat = \"100s\"\nnode = 2\nkind = \"reboot\"\n[[event]]\nat = \"200s\"\nnode = 3\nkind = \"die\"\n";
    let (_, counts) = agrees(text);
    assert_eq!(counts[&("radio".into(), "off".into())], 2, "{counts:?}");
    assert!(!counts.keys().any(|(component, _)| component == "cpu"), "the CPU of native nodes takes no time");
}

#[test]
fn a_timeline_of_which_a_line_is_missing_or_wrong_does_not_agree() {
    let run = run(&scenario(&format!("{BOARDS}[platform]\nprofile = \"tmote-sky\"\n")));
    let lines: Vec<_> = run.timeline.lines().collect();
    let changed = |at: usize, line: Option<&str>| {
        let mut lines = lines.clone();
        match line {
            Some(line) => lines[at] = line,
            None => {
                lines.remove(at);
            }
        }
        reckon(&lines.join("\n"), &run.report).unwrap_err()
    };
    let find = |what: &str| lines.iter().rposition(|line| line.contains(what)).unwrap();
    for what in ["\"state\":\"active\"", "\"state\":\"tx\"", "\"state\":\"ack\"", "\"state\":\"rx\""] {
        changed(find(what), None);
    }
    // A microsecond later, where nothing else happens just then.
    let micros = |line: &str| serde_json::from_str::<Value>(line).unwrap()["us"].as_u64().unwrap();
    let ends = |at: &usize| {
        let is_alone = micros(lines[at + 1]) > micros(lines[*at]) + 1;
        is_alone && lines[*at].contains("\"component\":\"cpu\",\"state\":\"lpm\"")
    };
    let at = (1..lines.len() - 1).rfind(ends).unwrap();
    let mut late: Value = serde_json::from_str(lines[at]).unwrap();
    late["us"] = (late["us"].as_u64().unwrap() + 1).into();
    let wrong = changed(at, Some(&late.to_string()));
    assert!(wrong.contains("microseconds: the timeline comes to "), "{wrong}");
    let wrong = changed(lines.len() - 1, None);
    assert!(wrong.contains("has no last line"), "{wrong}");
    let current = lines[0].replace("1800000", "1800001");
    let wrong = changed(0, Some(&current));
    assert!(wrong.contains("energy in nanojoules"), "{wrong}");
    // A nanojoule in the report.
    let mut report = run.report.clone();
    report.nodes[1].energy_mj.as_mut().unwrap().rx += 1e-6;
    let wrong = reckon(&run.timeline, &report).unwrap_err();
    assert!(wrong.starts_with("node 2: energy_mj: "), "{wrong}");
}

#[test]
fn handshakes_and_what_is_outside_of_them_add_up() {
    let run = run(&scenario(&format!("{BOARDS}[platform]\nprofile = \"tmote-sky\"\n[battery]\n")));
    for node in &run.report.nodes {
        let (all, steady) = (node.energy_mj.unwrap(), node.steady.unwrap());
        let handshakes = node.handshake.as_ref().unwrap().energy_mj.unwrap();
        for (all, parts) in [
            (all.cpu, [steady.energy_mj.cpu, handshakes.cpu]),
            (all.lpm, [steady.energy_mj.lpm, handshakes.lpm]),
            (all.listen, [steady.energy_mj.listen, handshakes.listen]),
            (all.rx, [steady.energy_mj.rx, handshakes.rx]),
            (all.tx, [steady.energy_mj.tx, handshakes.tx]),
        ] {
            let nanojoules = |millijoules: f64| (millijoules * 1e6).round();
            assert!(parts.iter().all(|part| *part > 0.0));
            assert_eq!(nanojoules(all), parts.into_iter().map(nanojoules).sum::<f64>());
        }
        // A handshake takes more power than what comes later.
        assert!(steady.life_days.unwrap() > node.life_days.unwrap(), "{node:?}");
    }
}

#[test]
fn energest_sees_no_acknowledgement_that_a_radio_sends_by_itself() {
    let run = run(&scenario(&format!("{BOARDS}[platform]\nprofile = \"tmote-sky\"\n")));
    let mut acknowledged: BTreeMap<u64, u64> = BTreeMap::new();
    for change in changes(&run.timeline).iter().filter(|change| change["state"] == "ack") {
        *acknowledged.entry(change["node"].as_u64().unwrap()).or_default() += 1;
    }
    for node in &run.report.nodes {
        let (energest, energy) = (node.energest.unwrap(), node.energy_mj.unwrap());
        let ticks = energest.ticks;
        assert_eq!(ticks.cpu + ticks.lpm, 300 * 32_768);
        assert_eq!(ticks.tx + ticks.rx, 300 * 32_768, "the radio is always on");
        // Five bytes and what comes before them take 352 µs.
        let sent = ticks.tx as f64 / 32_768.0 + acknowledged[&node.id.into()] as f64 * 352e-6;
        let all = energy.tx / (17.7 * 3.0);
        assert!((sent - all).abs() < 0.01 * all, "{sent} s are not {all} s");
        // Listening takes more than sending.
        assert!(energest.energy_mj > energy.total(), "{node:?}");
    }
}

/// The timeline of a network, simulated in steps of this length.
fn recorded(step: Span) -> (Report, Vec<u8>) {
    let scenario = scenario(&format!("{BOARDS}[platform]\nprofile = \"openmote\"\n"));
    let timeline = Recording::default();
    let sinks = Sinks { timeline: Some(timeline.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    while simulation.now() < Time::ZERO + scenario.duration() {
        simulation.step_until(simulation.now() + step);
    }
    (simulation.run().unwrap(), timeline.bytes())
}

#[test]
fn a_timeline_changes_nothing_and_is_the_same_each_time() {
    let (report, timeline) = recorded(Span::from_secs(300));
    assert_eq!(recorded(Span::from_millis(750)).1, timeline, "however it is run");
    assert_eq!(recorded(Span::from_secs(300)), (report.clone(), timeline));
    let scenario = scenario(&format!("{BOARDS}[platform]\nprofile = \"openmote\"\n"));
    assert_eq!(Simulation::new(&scenario, Options::default()).unwrap().run().unwrap(), report);
}

#[test]
fn a_picture_is_xml_with_a_band_for_each_station_and_a_legend() {
    let text = format!("name = \"a <b> & \\\"c\\\"\"\n{BOARDS}[platform]\nprofile = \"tmote-sky\"\n");
    let picture = run(&scenario(&text)).picture;
    let program = "import sys, xml.etree.ElementTree as tree\n\
        root = tree.fromstring(sys.stdin.read())\n\
        print(root.tag, *(text.text for text in root.iter('{http://www.w3.org/2000/svg}text')), sep='\\n')";
    let mut python = Command::new("python3");
    let python = python.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut python = python.expect("python3 runs: install it, on Debian as package python3");
    python.stdin.take().unwrap().write_all(picture.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{picture}");
    let texts = String::from_utf8(output.stdout).unwrap();
    let texts: Vec<_> = texts.lines().collect();
    assert_eq!(texts[0], "{http://www.w3.org/2000/svg}svg");
    for text in
        ["router", "node 1", "node 2", "node 3", "radio sends a frame", "CPU at work", "seconds", "300"]
    {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    assert!(texts[1].starts_with("a <b> & \"c\", "), "{texts:?}");
    assert!(picture.len() < 300_000, "{} bytes", picture.len());
}

#[test]
fn a_picture_has_room_for_so_many_stations() {
    let many = scenario("security = \"none\"\n[topology]\nnodes = 200\n");
    let of = |picture: bool| {
        let sink = || Some(Recording::default().sink());
        let sinks = match picture {
            true => Sinks { timeline_picture: sink(), ..Sinks::default() },
            false => Sinks { timeline: sink(), ..Sinks::default() },
        };
        Simulation::new(&many, Options { sinks, ..Options::default() }).map(drop)
    };
    let wrong = of(true).unwrap_err().to_string();
    assert!(wrong.contains("a picture has room for 200 stations, and these are 201"), "{wrong}");
    assert!(of(false).is_ok());
}
