//! TSCH: networks in time slots.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks, Span, Time};
use sixlock_testing::Recording;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("s", text).unwrap_or_else(|wrong| panic!("{wrong}"))
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
        self.report.nodes.iter().map(|node| node.id).filter(move |id| !parents.contains(id))
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

#[test]
fn what_makes_no_sense_in_time_slots_is_refused() {
    for (text, message) in [
        ("kind = \"null\"", "kind: \"null\" is not \"csma\""),
        ("phase_lock = true", "unknown key `phase_lock` in [mac]"),
        ("ack = false", "unknown key `ack` in [mac]"),
        ("shared_slotframe = 100", "a slotframe of 100 slots misses channels"),
        ("unicast_slotframe = 303", "slotframes of 101 and 303 slots have a common divisor"),
        ("shared_slotframe = 1", "shared_slotframe is not a whole number between 3 and 9999"),
        ("guard = \"2ms\"", "guard: it is between \"0.16ms\" and \"1.1ms\""),
        ("[platform]\nprofile = \"openmote\"", "no firmware is in time slots yet"),
        ("[router]\nprofile = \"openmote\"", "no firmware is in time slots yet"),
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
    assert!(wrong.contains("unknown key `guard` in [mac]"), "{wrong}");
}
