//! The NullMAC, and the network of Raza et al. 2012 that uses it.

use std::path::PathBuf;

use sixlock_base::{Counter, Security};
use sixlock_sim::{
    Csma, Destination, Distribution, Echo, Energy, Mac, Options, Platform, Probability, Radio, Scenario,
    ScenarioBuilder, Simulation, Span, Time, TrafficKind,
};

fn scenario(security: &str, payload: u16, to: u32) -> Scenario {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/raza2012.toml");
    let builder = ScenarioBuilder::load(&path).unwrap_or_else(|error| panic!("{error}"));
    builder
        .security(Security::any(security).unwrap())
        .traffic_kind(TrafficKind::Echo { payload })
        .destination(Destination::Node(to))
        .duration(Span::from_secs(20))
        .build()
        .unwrap()
}

fn with_csma(scenario: Scenario) -> Scenario {
    ScenarioBuilder::from(scenario).mac(Mac::Csma(Csma::default())).build().unwrap()
}

fn run(scenario: &Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario, Options::default()).unwrap();
    simulation.step_until(Time::ZERO + scenario.duration());
    simulation
}

/// What each echo takes, which is the same for all: on an idle channel nothing is left to chance.
fn echo(scenario: &Scenario) -> Echo {
    let simulation = run(scenario);
    let echoes = simulation.echoes();
    assert_eq!(echoes.len(), 2);
    let took = |echo: &Echo| {
        let cpu: Vec<_> = echo.way.iter().map(|(id, _)| echo.cpu(*id).unwrap()).collect();
        (echo.round_trip.expect("it is back").micros() / 16, cpu)
    };
    // The radio's symbols do not divide the host's microseconds.
    assert!(echoes.iter().all(|echo| took(echo).0.abs_diff(took(&echoes[1]).0) <= 1), "{echoes:?}");
    echoes[1].clone()
}

#[test]
fn echoes_of_every_size_come_back_over_every_number_of_hops() {
    for security in ["none", "llsec:cbc-mac-32@engine", "llsec:cbc-mac-128@engine", "llsec:ccm-128@engine"] {
        let mut before = Span::ZERO;
        for payload in [16, 128, 512] {
            let times = [1, 2, 3, 4].map(|to| {
                let echo = echo(&scenario(security, payload, to));
                assert_eq!(
                    echo.way.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
                    Vec::from_iter((1..=to).rev())
                );
                echo.round_trip.unwrap()
            });
            assert!(times.is_sorted() && times[0] > before, "{security}, {payload} bytes: {times:?}");
            before = times[0];
        }
    }
}

#[test]
fn nothing_is_acknowledged_repeated_or_delayed() {
    let simulation = run(&scenario("none", 512, 4));
    let count = |id, counter| simulation.counters(id).unwrap().get(counter);
    for id in 0..=4 {
        // Six fragments a datagram, on the way there and back.
        let datagrams = if id == 0 || id == 4 { 2 } else { 4 };
        assert_eq!(count(id, Counter::FramesSent), 6 * datagrams, "node {id}");
        assert_eq!(count(id, Counter::MacRetries) + count(id, Counter::MacNoAck), 0, "node {id}");
    }
    let mean = |scenario: &Scenario| run(scenario).report().nodes[3].rtt_ms.unwrap().mean;
    let with_csma = with_csma(scenario("none", 512, 4));
    assert!(mean(&with_csma) > mean(&scenario("none", 512, 4)));
}

#[test]
fn a_lost_frame_is_a_lost_echo() {
    let perfect = scenario("none", 64, 4);
    let radio = Radio { loss: Probability::new(0.1).unwrap(), ..perfect.radio() };
    let lossy = ScenarioBuilder::from(perfect).radio(radio);
    let lossy = lossy.duration(Span::from_secs(200)).period(Span::from_secs(1)).build().unwrap();
    let report = run(&lossy).report();
    // Eight frames, none of which may be lost: 0.9^8 is 0.43.
    let delivered = report.nodes[3].delivered;
    assert_eq!(report.nodes[3].sent, 200);
    assert!((60..110).contains(&delivered), "{delivered} of 200");
    let delivered = run(&with_csma(lossy)).report().nodes[3].delivered;
    assert!(delivered >= 198, "{delivered} of 200 with retries");
}

#[test]
fn what_two_send_at_once_collides_and_is_lost() {
    let text = "security = \"none\"\nduration = \"10s\"\n[mac]\nkind = \"null\"\n[topology]\nkind = \"chain\"\nnodes = 4\n\
        [traffic]\nkind = \"echo\"\nperiod = \"25ms\"";
    let report = run(&Scenario::parse("crowded", text).unwrap()).report();
    assert!(report.delivery().is_some_and(|delivery| delivery < 0.9), "{report:?}");
}

#[test]
fn the_cpu_s_work_is_told_of_who_answers_and_who_sends_on() {
    let work = |security, payload, to| {
        let echo = echo(&scenario(security, payload, to));
        let [end, forwarder] = [to, 1].map(|id| echo.cpu(id).unwrap());
        assert!(to == 1 || forwarder > end, "who sends on does so twice");
        (end, forwarder)
    };
    let (end, forwarder) = work("none", 512, 4);
    assert_eq!(work("none", 512, 2).0, end, "however far it is");
    assert!(work("none", 16, 4).0 < end);
    let (secured, sent_on) = work("llsec:ccm-128@engine", 512, 4);
    assert!(secured > end && sent_on > forwarder);

    let simulation = run(&scenario("none", 512, 4));
    let report = simulation.report();
    let one = |span: Span| {
        let millis = span.micros() as f64 / 1000.0;
        Some(Distribution { mean: millis, p50: millis, p95: millis })
    };
    for node in &report.nodes {
        let work = node.cpu_ms.unwrap();
        match node.id {
            4 => assert_eq!((work.echoed, work.forwarded), (one(end), None)),
            _ => assert_eq!(work.echoed, None),
        }
        // All that a CPU did but start it did for the echoes.
        let all = work.echoed.or(work.forwarded).unwrap().mean * 2.0;
        let whole = simulation.state_times(node.id).unwrap().cpu.micros() as f64 / 1000.0;
        assert!(whole - all < 1.0, "node {}: {whole} ms, {all} ms of them for echoes", node.id);
    }
    let times = simulation.echoes()[1].way[0].1;
    let energy = Energy::of(Platform::tmote_sky().profile(), &times);
    assert!(energy.cpu > 0.0 && energy.tx > 0.0 && energy.rx > 0.0);
}

/// The 512 bytes are 33 blocks of AES and more with each code and each cipher, there and back.
#[test]
fn ipsec_is_the_work_of_who_answers_and_not_of_who_sends_on() {
    let micros = |span: Span| span.micros() as i64;
    let work = |security: &str| {
        // Of the second: the first says its sequence number whole.
        let echo = run(&scenario(security, 512, 2)).echoes().swap_remove(1);
        [2, 1].map(|id| micros(echo.cpu(id).unwrap()))
    };
    let [end, forwarder] = work("none");
    for (security, ciphers) in [("ah", 1), ("esp:null-xcbc", 1), ("esp", 2)] {
        let [protects, sends_on] = work(security);
        let [helped, sends_on_too] = work(&format!("{security}@engine"));
        // A block takes 1.5 ms in software, a sixth of a millisecond with the radio's engine; what is left are policy, headers
        // and the longer packet.
        let blocks = 2 * 33 * ciphers;
        assert!(
            (1300..1700).contains(&((protects - helped) / blocks)),
            "{security}: {protects} and {helped}"
        );
        let left = helped - end - blocks * 166;
        assert!((5_000..40_000).contains(&left), "{security}: {helped} and {end}");
        assert_eq!(sends_on, sends_on_too);
        // Headers are restored and compressed again.
        assert!(
            (forwarder / 50..forwarder / 8).contains(&(sends_on - forwarder)),
            "{security}: {sends_on} and {forwarder}"
        );
    }
}

#[test]
fn echoes_to_all_nodes_are_told_apart() {
    let builder = ScenarioBuilder::from(scenario("none", 64, 4)).destination(Destination::Cloud);
    let all = (1..=4).fold(builder, ScenarioBuilder::without_platform);
    let report = run(&all.clone().build().unwrap()).report();
    assert!(report.nodes.iter().all(|node| (node.sent, node.delivered) == (2, 2)), "{report:?}");
    assert_eq!(report.nodes[3].cpu_ms.unwrap().forwarded, None);
    assert!(report.nodes[0].cpu_ms.unwrap().forwarded.is_some());
    let native = run(&all.profile(None).build().unwrap());
    assert!(native.report().nodes.iter().all(|node| node.cpu_ms.is_none()));
    assert_eq!(native.echoes().len(), 8);
}
