//! ContikiMAC: nodes whose radios sleep, in networks.

use std::path::PathBuf;

use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks, Span, Time};
use sixlock_testing::Recording;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("s", text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn run(scenario: &Scenario) -> Report {
    Simulation::new(scenario, Options::default()).unwrap().run().unwrap()
}

fn echoes(nodes: u32, mac: &str) -> String {
    format!(
        "duration = \"1800s\"\nsecurity = \"llsec\"\n[mac]\nkind = \"contiki-csma\"\nlisten = \"contikimac\"\n{mac}\n\
         [topology]\nnodes = {nodes}\n[traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"60s\"\n"
    )
}

/// How many of the echoes came back.
fn delivery(report: &Report) -> (u64, u64) {
    let over = report.sum(|node| node.delivered + node.failed);
    (report.sum(|node| node.delivered), over)
}

#[test]
fn a_node_that_does_nothing_is_on_for_a_hundredth_of_the_time() {
    let idle = scenario(
        "duration = \"600s\"\nsecurity = \"none\"\n[mac]\nlisten = \"contikimac\"\n[topology]\nnodes = 2\n\
         [traffic]\nkind = \"echo\"\npayload = \"64B\"\nperiod = \"20d\"\n",
    );
    for node in run(&idle).nodes {
        let share = node.duty_cycle.unwrap();
        assert!((0.005..0.012).contains(&share), "{share}");
    }
}

#[test]
fn sixty_four_bytes_go_there_and_back_over_one_to_six_hops() {
    for phase_lock in [false, true] {
        let report = run(&scenario(&echoes(6, &format!("phase_lock = {phase_lock}"))));
        println!("phase lock: {phase_lock}");
        for node in &report.nodes {
            let over = node.delivered + node.failed;
            let (hops, on) = (node.hops.unwrap(), node.duty_cycle.unwrap() * 100.0);
            println!("{hops} hops: {} of {over} echoes, duty cycle {on:.2} %", node.delivered);
        }
        let (delivered, over) = delivery(&report);
        assert!(over >= 6 * 29 && delivered * 100 >= over * 99, "{delivered} of {over}");
    }
}

/// A phase is kept for 4 ms, and two crystals of 40 ppm are 10 ms apart after two minutes.
#[test]
fn crystals_that_drift_cost_no_echo() {
    let text =
        echoes(3, "phase_lock = true").replace("\"60s\"", "\"120s\"").replace("\"1800s\"", "\"7200s\"");
    for seed in 1..=3 {
        let drifting = scenario(&format!("{text}[radio]\ndrift = \"40ppm\"\n")).with_seed(seed);
        let (delivered, over) = delivery(&run(&drifting));
        println!("seed {seed}: {delivered} of {over} echoes");
        assert!(over >= 3 * 59 && delivered * 100 >= over * 99, "{delivered} of {over}");
    }
}

#[test]
fn a_board_whose_crystal_is_slow_listens_when_its_firmware_says() {
    let text = echoes(2, "").replace("\"llsec\"", "\"none\"");
    let text = format!("{text}[platform]\nprofile = \"openmote\"\n[radio]\ndrift = \"500ppm\"\n");
    for seed in 1..=3 {
        let (delivered, over) = delivery(&run(&scenario(&text).with_seed(seed)));
        assert!(over >= 2 * 29 && delivered * 100 >= over * 99, "seed {seed}: {delivered} of {over}");
    }
}

#[test]
fn a_node_that_starts_anew_sleeps_again() {
    let text = format!("{}[[event]]\nat = \"600s\"\nnode = 1\nkind = \"reboot\"\n", echoes(2, ""));
    let report = run(&scenario(&text));
    let (delivered, over) = delivery(&report);
    assert!(delivered + 2 >= over, "{delivered} of {over}");
    let shares = report.nodes.iter().map(|node| node.duty_cycle.unwrap());
    assert!(shares.clone().all(|share| share < 0.02), "{:?}", shares.collect::<Vec<_>>());
}

/// contiki#224: with the gap of Contiki 2.6, copies destroy acknowledgements.
#[test]
fn what_is_lost_with_the_gap_of_contiki_2_6() {
    let lost = ["0.18ms", "0.4ms"].map(|gap| {
        let report = run(&scenario(&echoes(3, &format!("strobe_gap = \"{gap}\""))));
        let (delivered, over) = delivery(&report);
        let no_ack = report.sum(|node| node.drops.get("no-ack").copied().unwrap_or(0).into());
        println!("gap {gap}: {delivered} of {over} echoes, {no_ack} frames without acknowledgement");
        no_ack
    });
    assert!(lost[0] > 50 && lost[1] == 0, "{lost:?}");
}

#[test]
fn the_radios_of_boards_sleep_too_and_consume_less() {
    let openmote = |mac: &str| {
        let text = format!(
            "{}[platform]\nprofile = \"openmote\"\n[battery]\nself_discharge = \"2%/year\"\n",
            echoes(3, "")
        );
        run(&scenario(&text.replace("listen = \"contikimac\"", mac)))
    };
    let (sleeps, listens) = (openmote("listen = \"contikimac\""), openmote("listen = \"always\""));
    let (delivered, over) = delivery(&sleeps);
    assert!(delivered * 100 >= over * 99, "{delivered} of {over}");
    for (sleeps, listens) in sleeps.nodes.iter().zip(&listens.nodes) {
        assert!(sleeps.duty_cycle.is_some_and(|share| share < 0.02) && listens.duty_cycle.is_none());
        let [longer, shorter] = [sleeps, listens].map(|node| node.life_days.unwrap());
        println!("{} hops: {longer:.1} days instead of {shorter:.1}", sleeps.hops.unwrap());
        assert!(shorter > 4.0 && longer > 10.0 * shorter);
        let [sleeps, listens] = [sleeps, listens].map(|node| node.energy_mj.unwrap());
        assert!(sleeps.listen * 20.0 < listens.listen, "{sleeps:?} {listens:?}");
    }
}

/// In steps that are shorter than a wake-up, each of its assessments and tasks is an event of its own; else a board that finds the channel
/// clear sleeps on at once.
#[test]
fn wake_ups_that_find_nothing_are_the_same_at_once_and_one_by_one() {
    let text =
        echoes(3, "") + "[radio]\ndrift = \"40ppm\"\nloss = 0.1\n[platform]\nprofile = \"tmote-sky\"\n";
    let scenario = scenario(&text.replace("1800s", "200s"));
    let recorded = |step: Span| {
        let [events, timeline] = <[Recording; 2]>::default();
        let sinks =
            Sinks { events: Some(events.sink()), timeline: Some(timeline.sink()), ..Sinks::default() };
        let mut simulation = Simulation::new(&scenario, Options { sinks, ..Options::default() }).unwrap();
        while simulation.now() < Time::ZERO + scenario.duration() {
            simulation.step_until(simulation.now() + step);
        }
        (simulation.run().unwrap(), events.bytes(), timeline.bytes())
    };
    let at_once = recorded(Span::from_secs(10));
    let one_by_one = recorded(Span::from_micros(400));
    assert!(delivery(&at_once.0).0 > 5);
    assert!(at_once == one_by_one, "{:?}\n{:?}", at_once.0, one_by_one.0);
}

#[test]
fn a_field_of_fifty_forms_its_network_by_rpl() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/field-50.toml");
    let field = std::fs::read_to_string(path).unwrap();
    let mac = "[mac]\nkind = \"contiki-csma\"\nlisten = \"contikimac\"\n[routing]";
    let text =
        field.replace("[routing]", mac).replace("\"60s\"", "\"600s\"").replace("\"3600s\"", "\"600s\"");
    for seed in 1..=2 {
        let report = run(&scenario(&text).with_seed(seed));
        let mut joined: Vec<_> =
            report.nodes.iter().map(|node| node.joined_s.unwrap_or(f64::INFINITY)).collect();
        joined.sort_by(f64::total_cmp);
        let on = report.nodes.iter().filter_map(|node| node.duty_cycle).sum::<f64>() * 2.0;
        println!(
            "seed {seed}: the first after {:.0} s, half after {:.0} s, the last after {:.0} s; duty cycle {on:.1} %",
            joined[0], joined[25], joined[49]
        );
        assert!(joined[49] <= 300.0, "{joined:?}");
    }
}

#[test]
fn what_does_not_go_with_sleeping_radios_is_refused() {
    let emulated =
        "[topology]\nkind = \"list\"\n[[node]]\nid = 1\nkind = \"emulated\"\nplatform = \"openmote\"";
    for (mac, message) in [
        (
            "strobe_gap = \"1ms\"".to_owned(),
            "strobe_gap: it is between \"0.128ms\", which an assessment takes, and \"0.4ms\"",
        ),
        ("strobe_gap = \"0.1ms\"".into(), "strobe_gap: it is between"),
        (
            emulated.into(),
            "node 1 is emulated, and its firmware sleeps by Contiki's CSMA, with its times and those of ContikiMAC, polls each 30s, or is in time slots: set kind to \
            \"contiki-csma\" in [mac], and leave times, strobe_gap and phase_lock out; or leave poll out; or leave guard and the lengths of slotframes out; or leave listen out",
        ),
        (
            "[[attack]]\nkind = \"jam\"\nx = \"0m\"\ny = \"0m\"".into(),
            "attackers send to nodes that always listen",
        ),
        (
            "ack_wait = \"1ms\"".into(),
            "s:3: ack_wait: with listen = \"contikimac\" an acknowledgement begins within strobe_gap: set that, or leave ack_wait out",
        ),
    ] {
        let wrong =
            Scenario::parse("s", &format!("[mac]\nlisten = \"contikimac\"\n{mac}")).unwrap_err().to_string();
        assert!(wrong.contains(message), "{wrong}");
    }
    let wrong = Scenario::parse("s", "[battery]\ncapacity = \"2.5Ah\"").unwrap_err().to_string();
    assert!(wrong.contains("s:1: native nodes consume nothing that is known"), "{wrong}");
    let wrong = Scenario::parse("s", "[mac]\nphase_lock = true").unwrap_err().to_string();
    assert_eq!(wrong, "s:2: phase_lock belongs to listen = \"contikimac\"");
}
