//! TSCH: networks in time slots.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;
use sixlock_base::Eui64;
use sixlock_crypto::{BlockCiphers as _, CcmNonce, Soft, Tag};
use sixlock_ieee802154::enhanced::{
    Asn, Header, HeaderElements, NestedElements, PayloadElements, SYNCHRONIZATION, Synchronization,
};
use sixlock_ieee802154::{Address, FrameType};
use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks, Span, Time};
use sixlock_testing::Recording;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("s", text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn shipped(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// A run, its events, and the share of the time for which each node's radio was on from `from` seconds on.
struct Run {
    report: Report,
    events: Vec<Value>,
    duty_cycles: BTreeMap<u32, f64>,
}

impl Run {
    fn of(scenario: &Scenario, from: u64) -> Self {
        let log = Recording::default();
        let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
        let mut simulation = Simulation::new(scenario, Options { sinks, ..Options::default() }).unwrap();
        let on = |simulation: &Simulation, id| {
            let times = simulation.state_times(id).unwrap();
            let on = (times.tx + times.rx + times.listen).as_secs();
            (on, on + times.off.as_secs())
        };
        simulation.step_until(Time::ZERO + Span::from_secs(from));
        let nodes: Vec<u32> = simulation.report().nodes.iter().map(|node| node.id).collect();
        let before: Vec<_> = nodes.iter().map(|&id| on(&simulation, id)).collect();
        simulation.step_until(Time::ZERO + scenario.duration());
        let share = |(&id, before): (&u32, &(f64, f64))| {
            let after = on(&simulation, id);
            (id, (after.0 - before.0) / (after.1 - before.1))
        };
        let duty_cycles = nodes.iter().zip(&before).map(share).collect();
        let report = simulation.report();
        let text = String::from_utf8(log.bytes()).unwrap();
        let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { report, events, duty_cycles }
    }

    fn of_kind<'r>(&'r self, name: &'r str) -> impl Iterator<Item = (f64, u64, &'r Value)> {
        self.events
            .iter()
            .filter(move |event| event["event"] == name)
            .map(|event| (event["us"].as_u64().unwrap() as f64 / 1e6, event["node"].as_u64().unwrap(), event))
    }

    /// Of the readings that were due between these times, at nodes that had joined: how many were accepted, and how many there were.
    fn delivered(&self, from: f64, to: f64) -> (usize, usize) {
        let joined: BTreeMap<_, _> = self.of_kind("joined").map(|(second, node, _)| (node, second)).collect();
        let reading = |event: &Value| event["reading"].as_u64().unwrap();
        let accepted: BTreeSet<_> =
            self.of_kind("accepted").map(|(_, node, event)| (node, reading(event))).collect();
        let due: Vec<_> = self
            .of_kind("due")
            .filter(|(second, node, _)| {
                let has_joined = joined.get(node).is_some_and(|joined| joined < second);
                has_joined && (from..to).contains(second)
            })
            .map(|(_, node, event)| (node, reading(event)))
            .collect();
        (due.iter().filter(|due| accepted.contains(due)).count(), due.len())
    }

    /// The nodes over which no other goes.
    fn leaves(&self) -> impl Iterator<Item = u32> + '_ {
        let parents: BTreeSet<_> = self.report.nodes.iter().map(|node| node.parent).collect();
        self.report.nodes.iter().map(|node| node.id).filter(move |id| !parents.contains(&Some(*id)))
    }

    fn tell(&self, what: &str) {
        let mut joined: Vec<_> =
            self.report.nodes.iter().map(|node| node.joined_s.unwrap_or(f64::INFINITY)).collect();
        joined.sort_by(f64::total_cmp);
        let (last, half) = (joined.len() - 1, joined.len() / 2);
        let leaves: Vec<_> = self.leaves().map(|id| self.duty_cycles[&id] * 100.0).collect();
        let most = self.duty_cycles.values().fold(0.0, |most: f64, share| most.max(share * 100.0));
        let mean = leaves.iter().sum::<f64>() / leaves.len() as f64;
        let busiest = leaves.iter().fold(0.0f64, |most, share| most.max(*share));
        println!(
            "{what}: joined after {:.0} s, half {:.0} s, the last {:.0} s; {} leaves, duty cycle {mean:.2} %, at most {busiest:.2} %; of all at most {most:.2} %",
            joined[0],
            joined[half],
            joined[last],
            leaves.len()
        );
        let sum = |name: &str| self.report.sum(|node| node.drops.get(name).copied().unwrap_or(0).into());
        println!(
            "  no-ack {}, queue {}, reassembly {}; failed {}, skipped {}, pending {}",
            sum("no-ack"),
            sum("queue"),
            sum("reassembly"),
            self.report.sum(|node| node.failed),
            self.report.sum(|node| node.skipped),
            self.report.sum(|node| node.pending)
        );
    }
}

#[test]
fn two_nodes_in_a_chain_deliver_their_readings_in_time_slots() {
    for security in ["none", "llsec", "llsec:cbc-mac-32"] {
        let run = Run::of(
            &scenario(&format!(
                "duration = \"1200s\"\nsecurity = \"{security}\"\n[mac]\nlisten = \"tsch\"\n[topology]\nnodes = 2\n\
                 [routing]\nkind = \"rpl\"\n[radio]\ndrift = \"40ppm\"\n"
            )),
            600,
        );
        run.tell(security);
        let (delivered, due) = run.delivered(600.0, 1100.0);
        assert!(due >= 16 && delivered == due, "{delivered} of {due}");
    }
}

/// The field of field-50.toml, whose readings fill three frames, and 1.25 on their way.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn a_field_of_fifty_joins_in_ten_minutes_and_loses_no_reading_then() {
    let (mut delivered, mut due) = (0, 0);
    for seed in [1, 2, 4, 5, 42] {
        let run = Run::of(&scenario(&shipped("field-50-tsch.toml")).with_seed(seed), 600);
        run.tell(&format!("field-50-tsch, seed {seed}"));
        let last =
            run.report.nodes.iter().map(|node| node.joined_s.unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
        assert!(last <= 600.0, "seed {seed}: the last has joined after {last} s");
        let (of_seed, due_of_seed) = run.delivered(600.0, 3480.0);
        println!("  {of_seed} of {due_of_seed} readings from 600 s on");
        (delivered, due) = (delivered + of_seed, due + due_of_seed);
        for id in run.leaves() {
            let share = run.duty_cycles[&id];
            assert!(share <= 0.01, "seed {seed}, node {id}: {share}");
        }
    }
    // 99.99 %.
    assert!(due >= 10_000 && delivered * 10_000 >= due * 9_999, "{delivered} of {due}");
}

#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn a_leaf_with_one_frame_a_minute_is_awake_for_a_two_hundredth_of_the_time() {
    let text = "duration = \"3600s\"\nsecurity = \"llsec\"\n[radio]\nloss = 0.1\ndrift = \"40ppm\"\n[mac]\nlisten = \"tsch\"\n\
                [topology]\nnodes = 3\n[routing]\nkind = \"rpl\"\n\
                [traffic]\nkind = \"echo\"\npayload = \"32B\"\nperiod = \"60s\"\n";
    for seed in 1..=3 {
        let run = Run::of(&scenario(text).with_seed(seed), 600);
        run.tell("echoes");
        assert!(run.duty_cycles[&3] <= 0.005, "seed {seed}: {:?}", run.duty_cycles);
        let lost = run.report.nodes.iter().map(|node| node.failed).sum::<u64>();
        assert!(run.report.nodes.iter().all(|node| node.delivered >= 50), "seed {seed}: {lost} lost");
    }
}

#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn a_device_that_has_lost_its_network_looks_for_it_ever_more_rarely() {
    let scenario = scenario(
        "duration = \"26h\"\n[mac]\nlisten = \"tsch\"\n[routing]\nkind = \"rpl\"\n[traffic]\nperiod = \"5min\"\n\
         [topology]\nnodes = 2\n[[event]]\nat = \"1h\"\nnode = 1\nkind = \"die\"\n",
    );
    let run = Run::of(&scenario, 7200);
    println!("its radio is on for {:.2} % of the time", 100.0 * run.duty_cycles[&2]);
    assert!((0.05..0.12).contains(&run.duty_cycles[&2]), "{:?}", run.duty_cycles);
}

/// The frames of a capture of classic pcap: when each began, in microseconds, and its bytes.
fn frames(pcap: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let (mut rest, mut frames) = (&pcap[24..], Vec::new());
    while let Some((header, bytes)) = rest.split_first_chunk::<16>() {
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let (frame, behind) = bytes.split_at(word(8) as usize);
        frames.push((u64::from(word(0)) * 1_000_000 + u64::from(word(4)), frame.to_vec()));
        rest = behind;
    }
    frames
}

/// Whether a frame was sealed by this sender in this slot.
fn is_sealed_by(frame: &[u8], key: &[u8; 16], source: Eui64, asn: Asn) -> bool {
    let body = &frame[..frame.len() - 2];
    let (header, header_len) = Header::parse(body).unwrap();
    let security = header.security.unwrap();
    let (clear, mic) = body.split_at(body.len() - security.level.mic_len());
    let from = match header.frame_type {
        FrameType::Data if security.level.is_encrypted() => header_len,
        _ => clear.len(),
    };
    let mut sealed = clear[from..].to_vec();
    let nonce = security.nonce(source, asn);
    let key = Soft.aes_128(key);
    let mic = Tag::from_bytes(mic).unwrap();
    Soft.ccm_open(&key, CcmNonce::Thirteen(&nonce), &clear[..from], &mut sealed, &mic).is_ok()
}

/// The slot of a beacon, which it tells.
fn told_by(frame: &[u8]) -> Option<u64> {
    let (header, header_len) = Header::parse(frame).unwrap();
    if header.frame_type != FrameType::Beacon {
        return None;
    }
    let mut headers = HeaderElements::new(&frame[header_len..]);
    assert!(headers.by_ref().all(|element| element.is_ok()));
    let (_, rest) = headers.follows().unwrap();
    let mlme = PayloadElements::new(rest).next().unwrap().unwrap();
    let synchronization = NestedElements::new(mlme.content).next().unwrap().unwrap();
    assert_eq!(synchronization.id, SYNCHRONIZATION);
    Some(Synchronization::parse(synchronization.content).unwrap().asn.number())
}

/// The border router and nodes start anew, and one is away for a while: a nonce is a sender and a slot.
#[test]
#[ignore = "hours of networks are simulated: ./test runs it in release"]
fn no_nonce_comes_twice_and_the_network_comes_back_whatever_starts_anew() {
    let text = "duration = \"5400s\"\nsecurity = \"llsec\"\n[radio]\nloss = 0.05\ndrift = \"40ppm\"\n[mac]\nlisten = \"tsch\"\n\
                [topology]\nnodes = 3\n[routing]\nkind = \"rpl\"\n\
                [[event]]\nat = \"900s\"\nnode = 0\nkind = \"reboot\"\n[[event]]\nat = \"1800s\"\nnode = 1\nkind = \"reboot\"\n\
                [[event]]\nat = \"2700s\"\nnode = 3\nkind = \"move\"\nx = \"900m\"\ny = \"0m\"\n\
                [[event]]\nat = \"2800s\"\nnode = 3\nkind = \"move\"\nx = \"120m\"\ny = \"0m\"\n\
                [[event]]\nat = \"3600s\"\nnode = 0\nkind = \"reboot\"\n[[event]]\nat = \"3700s\"\nnode = 2\nkind = \"reboot\"\n";
    let (pcap, events, keys) = (Recording::default(), Recording::default(), Recording::default());
    let sinks = Sinks {
        pcap: Some(pcap.sink()),
        events: Some(events.sink()),
        key_log: Some(keys.sink()),
        ..Sinks::default()
    };
    let scenario = scenario(text);
    let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let text = String::from_utf8(events.bytes()).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let report = simulation.report();
    let run = Run { report, events, duty_cycles: BTreeMap::new() };
    for (from, to) in [(600.0, 880.0), (1400.0, 1780.0), (2300.0, 2600.0), (3200.0, 3500.0), (4500.0, 5300.0)]
    {
        let (delivered, due) = run.delivered(from, to);
        assert!(due >= 12 && delivered == due, "{delivered} of {due} from {from} s to {to} s");
    }

    let keys = String::from_utf8(keys.bytes()).unwrap();
    let (_, key) = keys.lines().next().unwrap().rsplit_once(' ').unwrap();
    let key: Vec<_> = (0..16).map(|at| u8::from_str_radix(&key[2 * at..2 * at + 2], 16).unwrap()).collect();
    let key: [u8; 16] = key.try_into().unwrap();
    let stations: Vec<_> = (0..4).map(Eui64::of_node).collect();
    // What slots each of those who send beacons counts: when one began, and its number.
    let mut counts: BTreeMap<Eui64, (u64, u64)> = BTreeMap::new();
    let mut nonces = BTreeSet::new();
    let frames = frames(&pcap.bytes());
    for (at, frame) in &frames {
        let (header, _) = Header::parse(frame).unwrap();
        let source = match header.source {
            Some(Address::Extended(source)) => Some(source),
            _ => None,
        };
        if let (Some(told), Some(source)) = (told_by(frame), source) {
            counts.insert(source, (*at, told));
        }
        let counted = counts.values().flat_map(|&(then, asn)| {
            let asn = asn + (at - then + 5_000) / 10_000;
            [asn.saturating_sub(1), asn, asn + 1]
        });
        let slots: BTreeSet<_> = counted.filter_map(Asn::new).collect();
        let found = slots.into_iter().find_map(|asn| {
            let sender = stations.iter().find(|&&station| {
                source.is_none_or(|source| source == station) && is_sealed_by(frame, &key, station, asn)
            });
            sender.map(|&sender| (sender, asn))
        });
        let nonce =
            found.unwrap_or_else(|| panic!("a frame at {at} us is of no slot that is known: {frame:02x?}"));
        assert!(nonces.insert(nonce), "{nonce:?} at {at} us was there before");
    }
    assert!(frames.len() > 10_000, "{}", frames.len());
}

#[test]
fn what_makes_no_sense_in_time_slots_is_refused() {
    for (text, message) in [
        ("kind = \"null\"", "kind: \"null\" is not \"csma\""),
        ("phase_lock = true", "phase_lock belongs to listen = \"contikimac\""),
        ("ack = false", "unknown key `ack` in [mac]"),
        ("shared_slotframe = 100", "a slotframe of 100 slots misses channels"),
        ("unicast_slotframe = 303", "slotframes of 101 and 303 slots have a common divisor"),
        ("shared_slotframe = 1", "shared_slotframe is not a whole number between 3 and 9999"),
        ("guard = \"2ms\"", "guard: it is between \"0.16ms\" and \"1.1ms\""),
        (
            "[platform]\nprofile = \"openmote\"",
            "what boards take in time slots is counted in emulators alone",
        ),
        ("[router]\nprofile = \"openmote\"", "what boards take in time slots is counted in emulators alone"),
        (
            "[topology]\nkind = \"random\"\nrouters = 2\n[routing]\nkind = \"rpl\"",
            "one border router is the coordinator of a network",
        ),
        ("[[attack]]\nkind = \"jam\"\nx = \"0m\"\ny = \"0m\"", "attackers send to nodes that always listen"),
    ] {
        let wrong =
            Scenario::parse("s", &format!("[mac]\nlisten = \"tsch\"\n{text}")).unwrap_err().to_string();
        assert!(wrong.contains(message), "{wrong}");
    }
    let text = "unauthenticated = true\nsecurity = \"llsec:ctr\"\n[mac]\nlisten = \"tsch\"";
    let wrong = Scenario::parse("s", text).unwrap_err().to_string();
    assert!(wrong.contains("in time slots frames need a MIC"), "{wrong}");
    let wrong = Scenario::parse("s", "[mac]\nguard = \"1ms\"").unwrap_err().to_string();
    assert!(wrong.contains("guard belongs to listen = \"tsch\""), "{wrong}");
}
