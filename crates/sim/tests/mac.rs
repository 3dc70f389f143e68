//! MACs of others, by their times and rules: what is on the air is as they say.

use std::path::PathBuf;

use serde_json::Value;
use sixlock_sim::{Options, Scenario, ScenarioBuilder, Simulation, Sinks, Span, Time};
use sixlock_testing::Recording;

/// A symbol in microseconds.
const SYMBOL: u64 = 16;
/// An assessment of the channel, and from it to sending, in symbols.
const ASSESSED: u64 = 8 + 12;
/// One reading that nobody receives.
const LOST: &str = "duration = \"60s\"\nsecurity = \"none\"\n[radio]\nloss = 1.0\n[topology]\nnodes = 1\n\
    [traffic]\nconfirmable = false\n";

/// A frame on the air: when it began, when it ended, and which attempt it was.
struct Sent {
    begin: u64,
    end: u64,
    attempt: u64,
}

/// The acknowledgements that `node` has sent, or all else.
fn sent(scenario: &Scenario, node: u64, acknowledgements: bool) -> Vec<Sent> {
    let log = Recording::default();
    let sinks = Sinks { events: Some(log.sink()), ..Sinks::default() };
    let mut simulation = Simulation::new(scenario, Options { sinks, ..Options::default() }).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let bytes = log.bytes();
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let events = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
    let is_wanted = |event: &Value| (event["kind"] == "ack") == acknowledgements;
    let transmissions =
        events.filter(|event| event["event"] == "transmit" && event["node"] == node && is_wanted(event));
    let sent = transmissions.map(|event| {
        let begin = event["us"].as_u64().unwrap();
        let bytes = event["bytes"].as_u64().unwrap();
        // Before it come a preamble of 4 bytes, a delimiter and a length.
        Sent { begin, end: begin + (bytes + 6) * 32, attempt: event["attempt"].as_u64().unwrap_or(1) }
    });
    sent.collect()
}

fn parse(text: &str) -> Scenario {
    Scenario::parse("s", text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Each time that the first frame was sent.
fn first_frame(scenario: &Scenario) -> Vec<Sent> {
    let frames = sent(scenario, 1, false).into_iter().zip(1..);
    frames.map_while(|(sent, attempt)| (sent.attempt == attempt).then_some(sent)).collect()
}

/// From the end of each attempt to the beginning of the next, in symbols.
fn gaps(attempts: &[Sent]) -> Vec<u64> {
    let pairs = attempts.windows(2).filter(|pair| pair[1].attempt > pair[0].attempt);
    pairs.map(|pair| (pair[1].begin - pair[0].end).div_ceil(SYMBOL)).collect()
}

#[test]
fn contiki_ng_s_mac_waits_in_ticks_of_its_clock_and_sends_eight_times() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/contiki-ng-mac.toml");
    let scenario = Scenario::load(&path).unwrap();
    let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
    assert!(report.nodes.iter().all(|node| node.delivered >= 9 && node.failed == 0), "{report:#?}");

    let lost = ScenarioBuilder::from(parse(LOST)).mac(scenario.mac()).build().unwrap();
    let (mut drawn, mut attempts) = (Vec::new(), Vec::new());
    for seed in 1..=10 {
        let sent = first_frame(&lost.with_seed(seed));
        attempts.push(sent.len());
        drawn.extend(gaps(&sent).into_iter().map(|gap| gap - 67 - ASSESSED));
    }
    assert_eq!(attempts, [8; 10]);
    assert!(drawn.iter().all(|wait| wait % 488 == 0 && *wait <= 6 * 488), "{drawn:?}");
    assert!(drawn.contains(&0) && drawn.contains(&(6 * 488)), "{drawn:?}");
}

#[test]
fn contiki_s_mac_sends_at_once_and_then_five_times_in_all_ever_later() {
    let text = LOST.replace("[topology]", "[mac]\nkind = \"contiki-csma\"\n[topology]");
    for seed in 1..=10 {
        let scenario = parse(&text).with_seed(seed);
        let sent = first_frame(&scenario);
        assert_eq!(sent.len(), 5);
        let waits: Vec<_> = gaps(&sent).into_iter().map(|gap| gap - 54 - ASSESSED).collect();
        for (wait, units) in waits.iter().zip([2, 3, 3, 3]) {
            assert!((7812..7812 + units * 7812).contains(wait), "{waits:?}");
        }
    }
}

#[test]
fn acknowledgements_come_a_turnaround_of_the_scenario_later() {
    for platform in ["native", "openmote"] {
        let text = format!(
            "duration = \"120s\"\nsecurity = \"none\"\n[platform]\nprofile = \"{platform}\"\n[mac]\n\
             ack_turnaround = \"640us\"\nack_wait = \"1600us\"\n[topology]\nnodes = 2\n"
        );
        let scenario = parse(&text);
        let [frames, acknowledgements] =
            [(2, false), (1, true)].map(|(node, acks)| sent(&scenario, node, acks));
        assert!(!frames.is_empty());
        for Sent { end, .. } in frames {
            let answered = acknowledgements
                .iter()
                .any(|ack| (640..640 + SYMBOL).contains(&(ack.begin - end.min(ack.begin))));
            assert!(answered, "{platform}: no acknowledgement 640 us after {end}");
        }
    }
}

#[test]
fn a_frame_begins_a_turnaround_of_the_scenario_after_the_assessment() {
    for platform in ["native", "openmote"] {
        let begins = |turnaround: &str| {
            let text = format!(
                "security = \"none\"\nduration = \"120s\"\n[platform]\nprofile = \"{platform}\"\n[mac]\n\
                 turnaround = \"{turnaround}\"\n[topology]\nnodes = 1\n[traffic]\nconfirmable = false\n"
            );
            first_frame(&parse(&text))[0].begin
        };
        assert_eq!(begins("1600us") - begins("192us"), 1600 - 192, "{platform}");
    }
}

#[test]
fn times_that_cannot_be_are_refused() {
    for (mac, message) in [
        ("unit_backoff = \"0s\"", "s:2: unit_backoff: it must be longer than nothing"),
        ("turnaround = \"100us\"", "s:2: turnaround: it is in whole symbols of 16us, such as \"96us\""),
        ("ack_turnaround = \"11s\"", "s:2: ack_turnaround: it is at most 10s"),
        (
            "kind = \"csma\"\nack_wait = \"400us\"",
            "s:2: ack_wait: it is at least ack_turnaround and the 352us of an acknowledgement",
        ),
        ("kind = \"csma\"\nshort_pause = \"960us\"", "s:2: short_pause: it is at most as long as long_pause"),
        (
            "kind = \"contiki-csma\"\nmin_be = 3",
            "s:3: unknown key `min_be` in [mac]; it has `ack_turnaround`, `ack_wait`, `ack`, `kind`, `listen`, `long_pause`, \
             `max_retries`, `short_pause`, `turnaround`, `unit_backoff`",
        ),
        (
            "unit_backoff = \"640us\"\n[topology]\nkind = \"list\"\n[[node]]\nid = 1\nkind = \"emulated\"\n\
             platform = \"openmote\"",
            "s:1: node 1 is emulated, and its firmware has the times of the standard: leave them out of [mac], and \
             set kind to \"csma\"",
        ),
    ] {
        let wrong = Scenario::parse("s", &format!("[mac]\n{mac}")).unwrap_err();
        assert_eq!(wrong.to_string(), message);
    }
}

/// That which a caller sets is held to the same.
#[test]
fn the_unit_of_waits_is_a_caller_s_to_set_too() {
    let scenario = parse(LOST);
    let sixlock_sim::Mac::Csma(csma) = scenario.mac() else { panic!("no CSMA-CA") };
    let rules = sixlock_sim::Rules { ack_wait: 30, ..csma.rules };
    let mac = sixlock_sim::Mac::Csma(sixlock_sim::Csma { rules, ..csma });
    let wrong = ScenarioBuilder::from(scenario).duration(Span::from_secs(1)).mac(mac).build().unwrap_err();
    assert!(wrong.message.starts_with("ack_wait: it is at least"), "{wrong}");
}
