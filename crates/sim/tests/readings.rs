//! What becomes of each reading that is due: in reports, and in the events that they are counted from.

mod log;

use proptest::prelude::*;
use sixlock_base::Counter;
use sixlock_ieee802154::{FrameType, Header};
use sixlock_sim::{
    Destination, NodeReport, Options, Report, Scenario, ScenarioBuilder, Simulation, Span, Time, TrafficKind,
};
use sixlock_sixlowpan::FragmentHeader;

use crate::log::{Event, Log, Recorded};

fn scenario(text: &str) -> Scenario {
    Scenario::parse("s", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(scenario: &Scenario) -> (Simulation, Report, Log) {
    let (simulation, recorded) = run_recorded(scenario);
    let report = simulation.report();
    (simulation, report, recorded.log())
}

fn run_recorded(scenario: &Scenario) -> (Simulation, Recorded) {
    let recorded = Recorded::default();
    let options = Options { sinks: recorded.sinks(), ..Options::default() };
    let mut simulation = Simulation::new(scenario, options).unwrap_or_else(|error| panic!("{error}"));
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation.flush().unwrap();
    (simulation, recorded)
}

/// Counts the readings of a node again, from its events.
fn recounted(log: &Log, id: u32) -> [u64; 6] {
    let events: Vec<_> = log.of(id).collect();
    let of = |name: &str| {
        let named = events.iter().filter(|event| event.name == name);
        named.map(|event| event.number("reading")).collect::<Vec<_>>()
    };
    let [due, mut sent, mut accepted, skipped, failed] =
        [of("due"), of("sent"), of("accepted"), of("skipped"), of("failed")];
    sent.extend(of("echo"));
    accepted.extend(of("echoed"));
    assert_eq!(due, (1..=due.len() as u64).collect::<Vec<_>>(), "node {id}: each has its number");
    for numbers in [&sent, &accepted, &skipped] {
        let mut once = numbers.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), numbers.len(), "node {id}: once each");
        assert!(numbers.iter().all(|number| due.contains(number)), "node {id}: what was due");
    }
    let failed = due.iter().filter(|number| failed.contains(number) && !accepted.contains(number)).count();
    let decided = |number: &&u64| accepted.contains(number) || skipped.contains(number);
    let open = due.iter().filter(|number| !decided(number)).count();
    let counts = [due.len(), sent.len(), accepted.len(), failed, skipped.len(), open - failed];
    counts.map(|count| count as u64)
}

fn counts(node: &NodeReport) -> [u64; 6] {
    [node.due, node.sent, node.delivered, node.failed, node.skipped, node.pending]
}

/// A round trip ends at `confirmed` and began when the node took up the reading, before `sent`.
fn round_trips_are_recounted(log: &Log, id: u32) {
    for confirmed in log.named(id, "confirmed") {
        let is_its = |sent: &&Event| sent.number("reading") == confirmed.number("reading");
        let sent = log.named(id, "sent").find(is_its).unwrap();
        let begun = sent.micros - sent.number("took_us");
        assert_eq!(confirmed.micros - begun, confirmed.number("after_us"), "node {id}");
    }
}

fn posts(scenario: &Scenario, id: u32) -> bool {
    let traffic = scenario.traffic();
    let is_server = traffic.to == Destination::Node(id);
    traffic.kind == TrafficKind::Report && !is_server && traffic.from.is_none_or(|from| from == id)
}

/// That the sums hold, and are those of the events.
fn agree(scenario: &Scenario) {
    let (simulation, report, log) = run(scenario);
    let (end, period) = (scenario.duration().micros(), scenario.traffic().period.micros());
    for node in &report.nodes {
        let id = node.id;
        assert_eq!(node.due, node.delivered + node.failed + node.skipped + node.pending, "{node:?}");
        assert_eq!(node.skipped_for.values().sum::<u64>(), node.skipped, "{node:?}");
        assert!(!node.skipped_for.contains_key("not-begun"), "{node:?}");
        assert_eq!(recounted(&log, id), counts(node), "node {id}");
        round_trips_are_recounted(&log, id);

        // By the schedule, and not by what the node made of it.
        let due: Vec<_> = log.named(id, "due").map(|event| event.micros).collect();
        assert!(due.windows(2).all(|pair| pair[1] - pair[0] == period), "node {id}");
        if let (Some(first), Some(last)) = (due.first(), due.last()) {
            assert!(*first < period && *last <= end && end < last + period, "node {id}");
        }

        let handshakes = node.handshake.as_ref().map_or([0; 3], |all| [all.begun, all.done, all.failed]);
        let told =
            ["handshake", "connected", "handshake-failed"].map(|name| log.named(id, name).count() as u64);
        assert_eq!(handshakes, told, "node {id}");
        assert!(told[1] + told[2] <= told[0] && told[0] <= told[1] + told[2] + 1, "node {id}: {told:?}");
        let counted = |counter| simulation.counters(id).unwrap().get(counter);
        // The node counts what it sends itself; of echoes, and at a server, there are none.
        if posts(scenario, id) {
            // On a board, the task that is under way at the end may have sent one.
            let under_way = u64::from(node.provenance.is_some());
            let by_node = u64::from(counted(Counter::ReadingsSent));
            assert!((node.sent..=node.sent + under_way).contains(&by_node), "{by_node} {node:?}");
        }
        let again = log.named(id, "transmit").filter(|event| event.number("attempt") > 1).count();
        assert!(again <= counted(Counter::MacRetries) as usize, "node {id}");
    }
    let stations = report.nodes.iter().map(|node| (node.id, &node.drops, node.frames, node.bytes));
    let router = &report.router;
    let cloud = report.cloud.map_or(Default::default(), |cloud| cloud.drops);
    assert_eq!(cloud, log.causes("cloud-drop", 0));
    for (id, drops, frames, bytes) in stations.chain([(0, &router.drops, router.frames, router.bytes)]) {
        assert_eq!(*drops, log.causes("drop", id), "station {id}");
        let sent: Vec<_> = log.named(id, "transmit").map(|event| event.number("bytes")).collect();
        assert_eq!((sent.len() as u32, sent.iter().sum::<u64>()), (frames, bytes.into()), "station {id}");
    }
}

#[test]
fn sums_hold_and_agree_with_events_for_each_kind_of_traffic_and_platform() {
    let base = |more: &str| format!("duration = \"31.7s\"\n[radio]\nloss = 0.3\n{more}");
    for more in [
        "[topology]\nnodes = 3\n[traffic]\nperiod = \"700ms\"",
        "[topology]\nnodes = 3\n[traffic]\nkind = \"echo\"\nperiod = \"300ms\"",
        "[platform]\nprofile = \"openmote\"\n[topology]\nnodes = 3\n[traffic]\nperiod = \"1s\"",
        "[platform]\nprofile = \"tmote-sky\"\n[topology]\nnodes = 2\n[traffic]\nkind = \"echo\"\nperiod = \"500ms\"",
        "[topology]\nnodes = 3\n[traffic]\nperiod = \"2s\"\nto = 2",
        "[topology]\nnodes = 3\n[traffic]\nperiod = \"90s\"\nfrom = 3",
    ] {
        for security in ["none", "llsec", "esp", "dtls-psk", "llsec+dtls-psk"] {
            if more.contains("to = 2") && !security.contains("dtls") {
                continue;
            }
            agree(&scenario(&format!("security = \"{security}\"\n{}", base(more))));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_hold_and_agree_with_events_in_any_network(
        seed in 0u64..1000,
        nodes in 1u32..5,
        loss in 0u32..80,
        period in 1u64..30_000,
        duration in 1u64..90_000,
        security in prop::sample::select(&["none", "llsec", "ah", "dtls-psk", "llsec+dtls-psk"][..]),
        platform in prop::sample::select(&["native", "openmote", "tmote-sky", "mb851"][..]),
        echo: bool,
        null: bool,
    ) {
        // As short as that, nothing is begun between two: there are only more of them.
        let period = period.max(duration / 2000);
        let kind = if echo { "echo" } else { "report" };
        let mac = if null { "null" } else { "csma" };
        agree(&scenario(&format!(
            "seed = {seed}\nduration = \"{duration}ms\"\nsecurity = \"{security}\"\n[radio]\nloss = 0.{loss:02}\n\
             [mac]\nkind = \"{mac}\"\n[platform]\nprofile = \"{platform}\"\n[topology]\nnodes = {nodes}\n\
             [traffic]\nkind = \"{kind}\"\nperiod = \"{period}ms\""
        )));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// With such periods, readings are due at the beginning and whenever something else happens, too.
    #[test]
    fn readings_that_are_due_as_something_else_happens_are_not_lost_sight_of(
        seed in 0u64..1_000_000,
        nodes in 1u32..5,
        period in 1u64..5,
        duration in 1u64..1_500,
        security in prop::sample::select(&["none", "llsec", "ah", "esp", "dtls-psk"][..]),
        platform in prop::sample::select(&["native", "native", "openmote", "tmote-sky"][..]),
    ) {
        agree(&scenario(&format!(
            "seed = {seed}\nduration = \"{duration}ms\"\nsecurity = \"{security}\"\n\
             [platform]\nprofile = \"{platform}\"\n[topology]\nnodes = {nodes}\n[traffic]\nperiod = \"{period}ms\""
        )));
    }
}

#[test]
fn a_reading_is_due_before_a_frame_that_ends_then_lets_the_node_take_it() {
    agree(&scenario(
        "seed = 634376\nduration = \"1200ms\"\nsecurity = \"esp\"\n[topology]\nnodes = 3\n[traffic]\nperiod = \"1ms\"",
    ));
}

/// How many requests the only node of a mesh without losses has put on the air.
fn requests(recorded: &Recorded) -> usize {
    let (log, frames) = (recorded.log(), recorded.frames());
    let transmissions = log.all().filter(|event| event.name == "transmit").zip(frames);
    let of_node = transmissions.filter(|(event, _)| event.node == 1 && event.number("attempt") == 1);
    let begins_datagram = |frame: &[u8]| {
        let (header, len) = Header::parse(frame).unwrap();
        let (fragment, _) = FragmentHeader::parse(&frame[len..]).unwrap();
        header.frame_type == FrameType::Data && fragment.is_none_or(|fragment| fragment.offset == 0)
    };
    of_node.filter(|(_, frame)| begins_datagram(frame)).count()
}

#[test]
fn what_is_on_the_air_is_what_was_sent() {
    // At some of these seeds, the first reading is due at the very beginning.
    let mut at_beginning = 0;
    for seed in (0..12).chain([31]) {
        let period = if seed == 31 { 1000 } else { 1 + seed % 4 };
        let scenario = scenario(&format!(
            "seed = {seed}\nduration = \"1s\"\nsecurity = \"none\"\n[topology]\nnodes = 1\n[traffic]\nperiod = \"{period}ms\""
        ));
        let (simulation, recorded) = run_recorded(&scenario);
        let (node, log) = (&simulation.report().nodes[0], recorded.log());
        at_beginning += log.named(1, "due").filter(|due| due.micros == 0).count();
        // The last may be made and not yet on the air.
        let requests = requests(&recorded) as u64;
        assert!((requests..=requests + 1).contains(&node.sent), "seed {seed}: {requests} {node:?}");
        assert!(requests > 0 && node.delivered + 1 >= requests, "seed {seed}: {requests} {node:?}");
        assert!(!node.skipped_for.contains_key("not-begun"), "seed {seed}: {node:?}");
    }
    assert!(at_beginning > 1);
}

/// Flights that losses have torn apart reach the far end, too late or in part.
#[test]
fn what_the_far_end_drops_has_a_cause() {
    for traffic in ["kind = \"report\"", "kind = \"echo\""] {
        let scenario = scenario(&format!(
            "duration = \"900s\"\nsecurity = \"dtls-rpk\"\n[radio]\nloss = 0.7\n[topology]\nnodes = 3\n\
             [traffic]\nperiod = \"2s\"\n{traffic}"
        ));
        let (_, report, log) = run(&scenario);
        let drops = report.cloud.expect("something is dropped").drops;
        assert!(drops.values().sum::<u32>() > 0, "{traffic}: {drops:?}");
        assert_eq!(drops, log.causes("cloud-drop", 0), "{traffic}");
    }
}

#[test]
fn a_handshake_among_nodes_counts_once() {
    let scenario = scenario(
        "duration = \"60s\"\nsecurity = \"dtls-psk\"\n[topology]\nnodes = 3\n[traffic]\nperiod = \"10s\"\nto = 1",
    );
    let (simulation, report, log) = run(&scenario);
    let counted: Vec<_> = report.nodes.iter().map(|node| node.handshake.as_ref().unwrap()).collect();
    assert_eq!([0, 1, 2].map(|place| counted[place].begun), [0, 1, 1]);
    assert_eq!([0, 1, 2].map(|place| counted[place].done), [0, 1, 1]);
    assert!(counted[0].frames > 0, "the server sends its share");
    assert_eq!((log.named(1, "handshake").count(), log.named(1, "opened").count()), (0, 2));
    assert_eq!(simulation.counters(1).unwrap().get(Counter::DtlsHandshakes), 2);
}

/// The worse a network, the fewer of its readings are begun at all: these count, too.
#[test]
fn what_a_bad_network_delivers_is_told_of_what_was_due() {
    let scenario = scenario(
        "duration = \"1h\"\nsecurity = \"dtls-rpk\"\n[radio]\nloss = 0.6\n[platform]\nprofile = \"openmote\"\n\
         [topology]\nnodes = 6\n[traffic]\nperiod = \"10s\"",
    );
    let report = Simulation::new(&scenario, Options::default()).unwrap().run().unwrap();
    let [due, sent, delivered] =
        [report.sum(|node| node.due), report.sum(|node| node.sent), report.sum(|node| node.delivered)];
    let share = report.delivery().unwrap();
    println!(
        "{delivered} of {due} due: {:.2} %; of {sent} sent {:.2} %",
        100.0 * share,
        100.0 * delivered as f64 / sent as f64
    );
    assert_eq!(due, 6 * 360);
    assert!(share < 0.25, "{share}");
    assert!(delivered * 100 > sent * 85, "most of those that are sent arrive");
    assert_eq!(due, delivered + report.sum(|node| node.failed + node.skipped + node.pending));
}

#[test]
fn readings_due_while_the_processor_is_at_work_are_skipped_and_the_schedule_is_kept() {
    let scenario = scenario(
        "duration = \"300s\"\nsecurity = \"dtls-rpk\"\n[platform]\nprofile = \"tmote-sky\"\n[topology]\nnodes = 1\n\
         [traffic]\nperiod = \"5s\"",
    );
    let (_, report, log) = run(&scenario);
    let node = &report.nodes[0];
    assert_eq!(node.due, 60);
    assert!(node.skipped_for["processor-busy"] >= 8, "it makes its keys for minutes: {node:?}");
    let due: Vec<_> = log.named(1, "due").map(|event| event.micros).collect();
    let mut late = Vec::new();
    for sent in log.named(1, "sent") {
        late.push(sent.micros - due[sent.number("reading") as usize - 1]);
    }
    assert_eq!(late.len() as u64, node.sent);
    let last = late.last().copied().unwrap();
    assert!(last < 200_000, "it is as punctual afterwards as before: {late:?}");
}

#[test]
fn a_handshake_is_not_in_the_round_trips_of_readings() {
    let scenario = scenario(
        "duration = \"600s\"\nsecurity = \"dtls-rpk\"\n[radio]\nloss = 0.1\n[platform]\nprofile = \"openmote\"\n\
         [topology]\nnodes = 3\n[traffic]\nperiod = \"20s\"",
    );
    let (_, report, log) = run(&scenario);
    for node in &report.nodes {
        let handshake = node.handshake.as_ref().unwrap();
        let (took, rtt) = (handshake.ms.unwrap(), node.rtt_ms.unwrap());
        assert!(took.mean > 1000.0 && rtt.mean < took.mean / 4.0, "{node:?}");
        let first = log.named(node.id, "confirmed").next().unwrap();
        assert!(first.number("after_us") as f64 >= 1000.0 * took.mean, "the first reading waited for it");
        assert!(0 < handshake.frames && handshake.frames < node.frames, "{node:?}");
        assert!(0 < handshake.bytes && handshake.bytes < node.bytes, "{node:?}");
        let (spent, all) = (handshake.energy_mj.unwrap(), node.energy_mj.unwrap());
        assert!(0.0 < spent.cpu && spent.cpu < all.cpu && spent.listen < all.listen, "{node:?}");
        let kinds =
            |kind| log.named(node.id, "transmit").filter(move |event| event.text("kind") == kind).count();
        let with_acknowledgements = kinds("handshake")..=kinds("handshake") + kinds("ack");
        assert!(with_acknowledgements.contains(&(handshake.frames as usize)), "{node:?}");
    }
}

#[test]
fn a_full_receive_fifo_is_told() {
    let text = include_str!("../../../scenarios/sky-4.toml");
    let builder = ScenarioBuilder::parse("sky-4", text).unwrap();
    let scenario = builder.security("llsec".parse().unwrap()).build().unwrap();
    let (_, report, log) = run(&scenario);
    let full: u32 = report.nodes.iter().filter_map(|node| node.drops.get("rxfifo")).sum();
    assert!(full > 0, "{report:?}");
    let told = (1..=4).map(|id| log.causes("drop", id).get("rxfifo").copied().unwrap_or(0)).sum::<u32>();
    assert_eq!(told, full);
    let again = (0..=4).flat_map(|id| log.named(id, "transmit")).filter(|event| event.number("attempt") > 1);
    assert!(again.count() >= full as usize, "what found no room is sent again");
}

#[test]
fn a_transmission_names_whom_it_is_for() {
    let (_, _, log) = run(&scenario("security = \"none\"\n[topology]\nnodes = 2\n[traffic]\nfrom = 2"));
    let told: Vec<_> = log
        .all()
        .filter(|event| event.name == "transmit")
        .take(4)
        .map(|event| (event.node, event.text("kind"), event.find("to"), event.find("attempt")))
        .collect();
    let frame = |node, to| (node, "fragment", Some(to), Some(1));
    assert_eq!(told, [frame(2, 1), (1, "ack", None, None), frame(2, 1), (1, "ack", None, None)]);
}

/// The payload of the first reading's UDP datagram, in bytes.
fn first_reading(security: &str, credential: &str) -> usize {
    let scenario = scenario(&format!(
        "duration = \"61s\"\nsecurity = \"{security}\"\n[topology]\nnodes = 1\n[traffic]\ncredential = \"{credential}\""
    ));
    let recorded = Recorded::default();
    let options = Options { sinks: recorded.sinks(), ..Options::default() };
    let mut simulation = Simulation::new(&scenario, options).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    let log = recorded.log();
    let transmissions = log.all().filter(|event| event.name == "transmit");
    let mut frames = transmissions.zip(recorded.frames());
    let first = frames.find(|(event, _)| event.node == 1 && event.text("kind") == "fragment").unwrap().1;
    let (header, len) = Header::parse(&first).unwrap();
    assert!(header.security.is_none());
    let (fragment, _) = FragmentHeader::parse(&first[len..]).unwrap();
    usize::from(fragment.unwrap().datagram_size) - 48
}

#[test]
fn each_mode_sends_the_same_request() {
    let none = first_reading("none", "none");
    // A record's header, explicit nonce and tag.
    assert_eq!(first_reading("dtls-psk", "none"), none + 13 + 8 + 8);
    assert_eq!(first_reading("dtls-psk", "query"), none + 13 + 8 + 8);
    // Two options: id=node-1, and key= with 32 characters.
    assert_eq!(first_reading("none", "query"), none + 10 + 38);
}

#[test]
fn readings_are_delivered_with_a_credential_and_without() {
    for credential in ["none", "query"] {
        let (_, report, _) = run(&scenario(&format!(
            "security = \"none\"\nduration = \"100s\"\n[topology]\nnodes = 2\n\
             [traffic]\nperiod = \"10s\"\ncredential = \"{credential}\""
        )));
        let delivered: Vec<_> = report.nodes.iter().map(|node| (node.due, node.delivered)).collect();
        assert_eq!(delivered, [(10, 10), (10, 10)], "{credential}");
    }
}

#[test]
fn a_time_in_which_nothing_is_due_has_no_ratio() {
    let scenario = scenario("security = \"none\"\n[traffic]\nperiod = \"20d\"");
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    for duration in [Span::ZERO, Span::from_millis(1)] {
        simulation.step_until(Time::ZERO + duration);
        let report = simulation.report();
        assert_eq!((report.delivery(), report.sum(|node| node.due)), (None, 0));
    }
}

/// Traffic of every pattern, both ways: each node has about as many readings or echoes due as by its period, not all at the same times, and
/// each ends as one of delivered, failed, skipped and pending.
#[test]
fn readings_and_echoes_of_every_pattern_are_accounted_for() {
    for kind in ["report", "echo"] {
        for (pattern, apart) in [
            ("jitter = \"2s\"", 3_000_000),
            ("pattern = \"poisson\"", 1),
            ("pattern = \"burst\"\nburst = 4\nburst_gap = \"300ms\"", 300_000),
        ] {
            let text = format!(
                "duration = \"900s\"\nsecurity = \"none\"\n[topology]\nnodes = 2\n[traffic]\nkind = \"{kind}\"\nperiod = \"5s\"\n\
                {pattern}"
            );
            let (_, report, log) = run(&scenario(&text));
            for node in &report.nodes {
                let [due, _, delivered, ..] = counts(node);
                assert_eq!(counts(node), recounted(&log, node.id), "{text}");
                assert!((140..220).contains(&due), "{text}: {due}");
                assert!(10 * delivered > 9 * due, "{text}: {delivered} of {due}");
                let times: Vec<_> =
                    log.of(node.id).filter(|event| event.name == "due").map(|event| event.micros).collect();
                let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
                assert!(gaps.iter().all(|&gap| gap >= apart), "{text}: {gaps:?}");
                assert!(
                    gaps.iter().any(|&gap| gap < 4_500_000) && gaps.iter().any(|&gap| gap > 5_500_000),
                    "{text}"
                );
            }
        }
    }
}

/// A reading is two frames, of which each hop loses a fifth and repeats none: 64 % of the readings arrive over one hop, and at most 41 % over
/// two, as the node between them also keeps what came of others. Nobody sends one again, and what arrives counts for the reading that it is
/// of, though several may be on their way.
#[test]
fn non_confirmable_readings_are_sent_once_and_each_is_counted_once() {
    let text = "duration = \"3600s\"\nsecurity = \"none\"\n[radio]\nloss = 0.2\n[mac]\nack = false\n[topology]\nnodes = 2\n[traffic]\n\
        period = \"4s\"\nconfirmable = false\npattern = \"burst\"\nburst_gap = \"100ms\"";
    let (simulation, report, log) = run(&scenario(text));
    for (node, expected) in report.nodes.iter().zip([0.58..0.70, 0.22..0.44]) {
        let [due, sent, delivered, _, skipped, _] = counts(node);
        assert_eq!(counts(node), recounted(&log, node.id));
        assert_eq!((sent, skipped), (due, 0));
        let share = delivered as f64 / due as f64;
        assert!(expected.contains(&share), "node {}: {share}", node.id);
        assert_eq!(simulation.counters(node.id).unwrap().get(Counter::CoapRetransmissions), 0);
    }
}

/// A node whose cloud does not answer in its session any more begins another.
#[test]
fn non_confirmable_readings_over_dtls_arrive_and_outlive_a_reboot() {
    let text = "duration = \"1200s\"\nsecurity = \"dtls-psk\"\n[topology]\nnodes = 2\n[traffic]\nperiod = \"10s\"\nconfirmable = false\n\
        [[event]]\nat = \"300s\"\nnode = 0\nkind = \"reboot\"\n[[event]]\nat = \"600s\"\nnode = 1\nkind = \"reboot\"";
    let (_, report, log) = run(&scenario(text));
    for node in &report.nodes {
        let [due, _, delivered, ..] = counts(node);
        assert_eq!(counts(node), recounted(&log, node.id));
        assert!(delivered + 12 > due, "node {}: {delivered} of {due}", node.id);
    }
}

/// On a platform the node's own timer follows the pattern, and its readings are as many as are due.
#[test]
fn boards_keep_to_the_pattern_of_the_scenario() {
    let text = "duration = \"1800s\"\nsecurity = \"none\"\n[platform]\nprofile = \"openmote\"\n[topology]\nnodes = 2\n[traffic]\n\
        period = \"10s\"\npattern = \"poisson\"\nconfirmable = false";
    let (_, report, log) = run(&scenario(text));
    for node in &report.nodes {
        let [due, sent, delivered, _, skipped, _] = counts(node);
        assert_eq!(counts(node), recounted(&log, node.id));
        assert!(sent + skipped + 1 >= due && delivered + skipped + 4 > due, "{:?}", counts(node));
        assert!(skipped * 20 < due, "{skipped} of {due}");
    }
}
