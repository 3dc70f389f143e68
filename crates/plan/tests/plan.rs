//! Plans of small networks.

use std::time::Duration;

use sixlock_plan::{
    Candidate, Change, Condition, Limits, Modes, Network, OBJECTIVES, Outcome, Plan, Screening, Shift,
    Verdict, plan,
};

const CHAIN: &str = "[topology]\nnodes = 2\n[traffic]\nperiod = \"30s\"\n[radio]\nloss = 0.1\n";

/// Enough for options to fall.
fn few_seeds() -> Limits {
    Limits { most_seeds: 5, ..Limits::default() }
}

/// The plan of two nodes of which this is demanded.
fn planned(demands: &str, limits: Limits) -> Plan {
    let text = format!("{CHAIN}[plan]\nconditions = []\n{demands}");
    let network = Network::parse("f", &text).unwrap_or_else(|error| panic!("{error}"));
    plan(&network, limits, |_| ()).unwrap()
}

fn of<'a>(plan: &'a Plan, mode: &str) -> &'a Candidate {
    let is_mode = |candidate: &&Candidate| candidate.choice.to_string() == mode;
    plan.comparison.candidates.iter().find(is_mode).unwrap_or_else(|| panic!("there is no {mode}"))
}

#[test]
fn of_nothing_but_costs_no_security_is_the_best() {
    let plan = planned("", Limits::default());
    assert_eq!(of(&plan, "none").verdict, Verdict::Remains);
    for mode in ["llsec:ccm-64", "ah:xcbc", "dtls-rpk", "llsec:ccm-64+dtls-x509"] {
        let Verdict::Dominated(by) = of(&plan, mode).verdict else {
            panic!("{mode}: {:?}", of(&plan, mode).verdict)
        };
        assert!(!matches!(plan.comparison.candidates[by].verdict, Verdict::Struck(_)), "{mode}");
    }
}

#[test]
fn what_does_not_protect_is_not_simulated_and_what_is_simulated_has_enough_seeds() {
    let limits = few_seeds();
    let plan = planned("secret_from = [\"captured-node\"]", limits.clone());
    for candidate in &plan.comparison.candidates {
        match &candidate.verdict {
            Verdict::Struck(why) => {
                assert_eq!(
                    (why.as_str(), candidate.seeds()),
                    ("It does not keep readings secret from a captured node.", 0)
                );
            }
            verdict => assert!(candidate.seeds() >= limits.least_seeds, "{verdict:?}"),
        }
    }
    assert_eq!(of(&plan, "esp:ctr-xcbc").verdict, Verdict::Remains);
    assert!(plan.comparison.duration.as_secs() >= 30.0 * f64::from(limits.readings / limits.least_seeds));
}

#[test]
fn a_demand_that_is_surely_missed_is_told_with_figures() {
    let demands =
        "life = \"1y\"\nunforgeable_by = [\"border-router\"]\n[battery]\n[platform]\nprofile = \"openmote\"";
    let plan = planned(demands, few_seeds());
    let left = plan
        .comparison
        .candidates
        .iter()
        .filter(|candidate| !matches!(candidate.verdict, Verdict::Struck(_)));
    for candidate in left {
        match &candidate.verdict {
            Verdict::FallsShort(why) => {
                assert!(
                    why.starts_with("Life of the worst node: 4.2 d")
                        && why.ends_with("at least 365.0 d are demanded."),
                    "{why}"
                );
            }
            Verdict::Dominated(_) => {}
            verdict => panic!("{}: {verdict:?}", candidate.choice),
        }
    }
}

#[test]
fn without_time_everything_is_open() {
    let plan = planned("", Limits { time: Duration::ZERO, ..Limits::default() });
    assert!(
        plan.comparison
            .candidates
            .iter()
            .all(|candidate| candidate.verdict == Verdict::Open && candidate.seeds() == 0)
    );
}

/// A radio that always listens takes 24 mA, a CPU that sleeps 0.6 mA, and an idle node does nothing else.
#[test]
fn an_idle_node_lives_as_long_as_its_battery_feeds_its_receiver() {
    let text = "[topology]\nnodes = 1\n[traffic]\nperiod = \"1h\"\n[battery]\ncapacity = \"2400mAh\"\n\
        [platform]\nprofile = \"openmote\"\n[plan]\nfar_end = [\"coap\"]\nconditions = []";
    let network = Network::parse("f", text).unwrap();
    let plan = plan(&network, few_seeds(), |_| ()).unwrap();
    let life = OBJECTIVES.iter().position(|objective| objective.quantity.column == "life_days").unwrap();
    let days = of(&plan, "none").estimate(life).mean().unwrap();
    let expected = 2400.0 / (24.0 + 0.6) / 24.0;
    assert!((days / expected - 1.0).abs() < 0.02, "{days} days, {expected} by hand");
}

#[test]
fn what_is_wrong_in_a_network_is_told_with_its_line() {
    for (text, why) in [
        ("", "f: it says nothing of what is demanded: add a table [plan]"),
        ("[plan]\nsecret = true", "f:2: unknown key `secret` in [plan]; it has `conditions`, `delivered`, "),
        (
            "[plan]\n\nsecret_form = []",
            "f:3: unknown key `secret_form` in [plan]; did you mean `secret_from`?",
        ),
        (
            "[plan]\nsecret_from = [\"injector\"]",
            "f:2: secret_from: \"injector\" is not \"listener\" or \"captured-node\" or \"border-router\"",
        ),
        (
            "[plan]\nsecret_from = [\n\"captured-node\",\n\"listner\"]",
            "f:4: secret_from: \"listner\" is not \"listener\" or \"captured-node\" or \"border-router\"; did you mean \"listener\"?",
        ),
        (
            "[plan]\nsecret_from = \"listener\"",
            "f:2: secret_from is not an array of strings, such as [\"listener\"]",
        ),
        (
            "[plan]\nfar_end = [\"dtls-pks\"]",
            "f:2: far_end: \"dtls-pks\" is not \"coap\" or \"dtls-psk\" or \"dtls-rpk\" or \"dtls-x509\"; did you mean \"dtls-psk\"?",
        ),
        ("[plan]\nlisten = []", "f:2: listen names nothing: leave it out for what the scenario has"),
        (
            "[plan]\nconditions = [\"battery\"]",
            "f:2: conditions: no battery is given; add a table [battery], or leave \"battery\" out",
        ),
        ("[plan]\nconditions = [\"los\"]", "f:2: conditions: \"los\" is not \"loss\" or "),
        ("[plan]\nforward_secrecy = \"yes\"", "f:2: forward_secrecy is neither true nor false"),
        (
            "[plan]\nflash = \"64K\"",
            "f:2: flash is not a whole number of bytes above 0: write it without quotes and unit, such as 65536 for 64 KB",
        ),
        ("[plan]\nram = 0", "f:2: ram is not a whole number of bytes above 0"),
        (
            "[plan]\nlatency = 2",
            "f:2: latency is not a time: write it in quotes with its unit, such as \"2s\"",
        ),
        ("[plan]\nlatency = \"2\"", "f:2: latency: "),
        ("[plan]\nlife = \"2 years\"", "f:2: life: "),
        ("[plan]\nlife = \"0d\"", "f:2: life: it must be longer than nothing, such as \"2y\""),
        (
            "[plan]\nlife = \"2m\"",
            "f:2: life: \"2m\" is not a time such as \"60s\", \"10min\", \"1h\", \"2d\" or \"20ms\"; did you mean \"2min\" or \"2ms\"?; two years are \"2y\"",
        ),
        ("[plan]\nlife = \"0y\"", "f:2: life: it must be longer than nothing, such as \"2y\""),
        (
            "[plan]\nlife = \"2y\"",
            "f:2: life: no battery is given; add a table [battery], such as capacity = ",
        ),
        (
            "[plan]\ndelivered = 101.0",
            "f:2: delivered is not a share between 0.0 and 100.0, in per cent: write it without quotes, such as 99.5",
        ),
        ("[plan]\ndelivered = \"99\"", "f:2: delivered is not a share between 0.0 and 100.0"),
        ("[plan]\nflash = 1\nram = 2\nflash = 3", "f:4: flash is there twice: leave one out"),
        ("[plan]\nlisten = [\"contiki\"]", "f:2: listen: \"contiki\" is not \"always\""),
        ("[plna]", "f:1: unknown key `plna` in the scenario; did you mean `plan`?"),
        ("plan = 1", "f:1: [plan] is not a table"),
        ("[radio]\nlos = 1\n[plan]", "f:2: unknown key `los` in [radio]; did you mean `loss`?"),
    ] {
        let error = Network::parse("f", text).expect_err(text).to_string();
        assert!(error.starts_with(why), "{text}: {error}");
    }
}

/// Both are told, whatever is demanded, and a mode is as good as itself.
#[test]
fn two_modes_are_compared_seed_by_seed() {
    let these = ["none", "esp", "esp:ctr-xcbc"].map(|mode| mode.parse().unwrap());
    let limits = Limits { modes: Modes::These(these.to_vec()), ..few_seeds() };
    let plan = planned("forward_secrecy = true", limits);
    let names: Vec<_> =
        plan.comparison.candidates.iter().map(|candidate| candidate.choice.to_string()).collect();
    assert_eq!(names, ["none", "esp:ctr-xcbc", "esp:ctr-xcbc"]);
    assert!(plan.comparison.candidates.iter().all(|candidate| candidate.verdict == Verdict::Remains));
    let bytes =
        OBJECTIVES.iter().position(|objective| objective.quantity.column == "bytes_a_reading").unwrap();
    let (more, [low, high]) = plan.comparison.difference(1, 0, bytes).unwrap();
    assert!(0.0 < low && low <= more && more <= high, "{low} to {high}");
    for objective in 0..OBJECTIVES.len() {
        let itself = plan.comparison.difference(1, 2, objective);
        assert!(itself.is_none_or(|difference| difference == (0.0, [0.0, 0.0])), "{itself:?}");
    }
}

/// A frame that is lost comes again, and so what is lost more often comes later, or not at all. What makes one option fall short makes it
/// fall short from some loss on.
#[test]
fn what_more_loss_changes_is_told_with_where_it_begins() {
    let text = format!(
        "{CHAIN}[plan]\nconditions = [\"loss\"]\nsecret_from = [\"listener\"]\nfar_end = [\"coap\"]\nlatency = \"120ms\""
    );
    let network = Network::parse("f", &text).unwrap();
    let plan = plan(&network, few_seeds(), |_| ()).unwrap();
    let [calm, lossy] = &plan.screenings[..] else { panic!("{:?}", plan.screenings) };
    assert_eq!((calm.condition, calm.base, calm.value), (Condition::Loss, lossy.base, 0.0));
    assert!((lossy.base - 0.1).abs() < 1e-6 && (lossy.value - 0.3).abs() < 1e-6, "{lossy:?}");
    let falls_short = |screening: &Screening| match &screening.outcome {
        Outcome::Changes(shifts) => shifts
            .iter()
            .filter(|shift| matches!(shift.change, Change::FallsShort(..)))
            .cloned()
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(falls_short(calm), [], "less loss makes nothing slower");
    let shifts = falls_short(lossy);
    assert!(!shifts.is_empty(), "{lossy:?}");
    for Shift { between: [from, to], .. } in shifts {
        assert!(lossy.base <= from && from < to && to <= lossy.value, "{from} {to}");
        assert!((to - from - 0.05).abs() < 1e-6, "a quarter of the way: {from} {to}");
    }
}

/// Each session that is given up after four readings takes bytes, and a battery of which nothing is demanded changes nothing.
#[test]
fn what_more_handshakes_and_other_batteries_change_is_told_and_nothing_where_there_are_no_sessions() {
    let plan = |far_end: &str, life: &str| {
        let text = format!(
            "{CHAIN}[platform]\nprofile = \"openmote\"\n[battery]\ncapacity = \"2500mAh\"\n\
             [plan]\nconditions = [\"handshakes\", \"battery\"]\nsecret_from = [\"captured-node\"]\nfar_end = [\"{far_end}\"]\n{life}"
        );
        plan(&Network::parse("f", &text).unwrap(), few_seeds(), |_| ()).unwrap()
    };
    let shifts = |screening: &Screening| match &screening.outcome {
        Outcome::Changes(shifts) => shifts.clone(),
        other => panic!("{other:?}"),
    };
    let plain = plan("coap", "");
    let [sessions, smaller, larger] = &plain.screenings[..] else { panic!("{:?}", plain.screenings) };
    assert_eq!((sessions.condition, sessions.base), (Condition::Handshakes, 0.0));
    assert_eq!([sessions, smaller, larger].map(|screening| shifts(screening).len()), [0, 0, 0]);
    // Receivers are always on, which empties the battery in four days.
    let demanding = plan("dtls-psk", "life = \"3d\"");
    let [sessions, smaller, larger] = &demanding.screenings[..] else { panic!("{:?}", demanding.screenings) };
    assert_eq!(sessions.condition.spell(sessions.value).to_string(), "120s");
    let is_short =
        |shift: &Shift| matches!(&shift.change, Change::FallsShort(_, why) if why.starts_with("Life"));
    assert!(shifts(smaller).iter().any(is_short), "{smaller:?}");
    assert_eq!(shifts(larger), []);
}

/// What must be so whatever chance does: more loss delivers no more, and a larger battery lasts no shorter.
#[test]
fn more_loss_delivers_no_more_and_a_larger_battery_lasts_no_shorter() {
    let planned = |loss: &str, capacity: &str| {
        let text = format!(
            "[topology]\nnodes = 3\n[traffic]\nperiod = \"30s\"\n[radio]\nloss = {loss}\n[battery]\ncapacity = \"{capacity}\"\n\
             [platform]\nprofile = \"openmote\"\n[plan]\nconditions = []"
        );
        let network = Network::parse("f", &text).unwrap();
        let modes = ["none", "ah"].map(|mode| mode.parse().unwrap());
        plan(&network, Limits { modes: Modes::These(modes.to_vec()), ..few_seeds() }, |_| ()).unwrap()
    };
    let value = |plan: &Plan, mode: &str, column: &str| {
        let index = OBJECTIVES.iter().position(|objective| objective.quantity.column == column).unwrap();
        of(plan, mode).estimate(index).mean().unwrap()
    };
    let plans = [("0.0", "1000mAh"), ("0.3", "1000mAh"), ("0.5", "2000mAh")]
        .map(|(loss, capacity)| planned(loss, capacity));
    for mode in ["none", "ah:xcbc"] {
        let delivered = plans.each_ref().map(|plan| value(plan, mode, "delivered_percent"));
        assert!(
            delivered.is_sorted_by(|more, less| more >= less) && delivered[2] < delivered[0],
            "{mode}: {delivered:?}"
        );
        let [small, _, large] = plans.each_ref().map(|plan| value(plan, mode, "life_days"));
        assert!(large > small, "{mode}: {small} {large} days");
    }
}
