//! Every experiment, with few runs: networks of the thesis take long where nothing is optimised, and so `./test` runs them with the fields.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;
use sixlock_eval::{
    Context, EXPERIMENTS, Evaluation, Figure, KeptRuns, Provenance, Series, Statement, Verdict, report,
};

/// All of them, made once.
fn evaluations() -> &'static [Evaluation] {
    static ALL: OnceLock<Vec<Evaluation>> = OnceLock::new();
    ALL.get_or_init(|| {
        let kept = KeptRuns::default();
        let progress = |share| assert!((0.0..=1.0).contains(&share));
        // Two would leave too much open.
        let context = Context { runs: 5, most_runs: 5, commit: "unknown", kept: &kept, progress: &progress };
        EXPERIMENTS.iter().map(|experiment| experiment.run(&context).unwrap()).collect()
    })
}

#[test]
#[ignore = "takes long where nothing is optimised"]
fn every_experiment_runs_and_every_claim_has_its_reason() {
    for (experiment, evaluation) in EXPERIMENTS.iter().zip(evaluations()) {
        assert!(!experiment.shows.is_empty(), "{}", experiment.name);
        for figures in &evaluation.figures {
            let units: BTreeSet<_> = figures.rows.iter().map(|row| row.unit).collect();
            assert_eq!(units.len(), 1, "{}: {}", experiment.name, figures.title);
            let says = |what: &str| figures.title.contains(what);
            for row in &figures.rows {
                if says("in place of CSMA-CA") {
                    assert_eq!(row.mac, Some("NullMAC, radios always on"), "{}", figures.title);
                } else if says("with CSMA-CA") {
                    assert_eq!(row.mac, Some("CSMA-CA of IEEE 802.15.4-2006, radios always on"));
                }
                if says("took no time") && row.provenance != Provenance::Published {
                    assert!(row.platform.is_some_and(|it| it.contains("native")), "{}", figures.title);
                }
                assert!(row.value.is_finite(), "{}: {}", experiment.name, row.label);
                assert_eq!(row.read.is_some(), row.published.is_some());
            }
        }
        assert!(!evaluation.figures.is_empty() && !evaluation.claims.is_empty(), "{}", experiment.name);
        for claim in &evaluation.claims {
            assert!(!claim.why.is_empty(), "{}", claim.text);
            if let Statement::Published(series, _) = &claim.statement {
                let has_value = evaluation.figures.iter().any(|figure| {
                    figure.title == series.figure
                        && figure.rows.iter().any(|row| row.label == series.label && row.published.is_some())
                });
                assert!(
                    has_value,
                    "{}: nothing is published beside {series:?}: {}",
                    experiment.name, claim.text
                );
            }
            let names_cause = claim.why.contains("Cause: ") && claim.why.contains("Run that removes it: ");
            let guesses = claim.why.contains("A guess, which no run has shown: ");
            let tried = claim.why.contains("It does not hold either in a run without this: ")
                || claim.why.contains("It is not decided in runs without this: ");
            let is_open = claim.why.contains(". With 95 % confidence, ");
            let has_reason = match claim.verdict {
                Verdict::Holds => true,
                Verdict::NotDecided => is_open,
                Verdict::DoesNotHold => names_cause || guesses || tried,
            };
            assert!(has_reason, "{}: {}", claim.text, claim.why);
        }
    }
}

#[test]
fn names_are_those_that_others_rely_on_and_none_stands_twice() {
    let names: BTreeSet<_> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
    assert_eq!(names.len(), EXPERIMENTS.len());
    for name in [
        "thesis-fig30",
        "thesis-table11",
        "raza2012-table2",
        "raza2012-fig11",
        "granjal2008-table3",
        "derubertis2013-fig5",
        "securesense-fig15",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
#[ignore = "takes long where nothing is optimised"]
fn json_and_the_report_have_all_that_was_found() {
    let evaluations = evaluations();
    let json: Value = serde_json::from_str(&serde_json::to_string(evaluations).unwrap()).unwrap();
    let files = report(evaluations);
    let pages: String =
        files.iter().filter(|file| file.name.ends_with(".html")).map(|file| file.text.as_str()).collect();
    for (evaluation, found) in json.as_array().unwrap().iter().zip(evaluations) {
        assert_eq!(evaluation["schema"], 1);
        assert_eq!(evaluation["experiment"], found.experiment);
        assert!(evaluation["parameters"].is_object(), "{}", found.experiment);
        assert!(evaluation["source"].is_string() && evaluation["reproduced"] == true);
        assert!(pages.contains(found.experiment));
        let rows = evaluation["rows"].as_array().unwrap();
        assert_eq!(rows.len(), found.figures.iter().map(|figure| figure.rows.len()).sum::<usize>());
        let titles: BTreeSet<_> = found.figures.iter().map(|figure| figure.title).collect();
        for row in rows {
            assert!(titles.contains(row["figure"].as_str().unwrap()), "{row}");
            assert_eq!(row["x"].is_f64(), row["x_axis"].is_string(), "{row}");
            assert!(row["x_unit"].is_string() || row["x_unit"].is_null(), "{row}");
            assert!(row["label"].is_string() && row["value"].is_f64() && row["unit"].is_string(), "{row}");
            assert!(row["x"].is_null() || row["x"].is_f64(), "{row}");
            assert!(row["published"].is_null() || row["published"].is_f64(), "{row}");
            let provenance = row["provenance"].as_str().unwrap();
            assert!(["measured", "exact emulation", "estimate", "published", "aim"].contains(&provenance));
        }
        for claim in evaluation["claims"].as_array().unwrap() {
            assert!(claim["text"].is_string() && claim["why"].is_string());
            assert_eq!(claim["holds"], claim["verdict"] == "holds");
            assert!(["holds", "not decided", "does not hold"].contains(&claim["verdict"].as_str().unwrap()));
        }
    }
    for unchecked in evaluations.iter().flat_map(|evaluation| &evaluation.unchecked) {
        assert!(pages.contains(&sixlock_eval::escape(&unchecked.says)), "{}", unchecked.says);
    }
    let plots = evaluations.iter().map(|evaluation| evaluation.figures.len()).sum::<usize>();
    assert_eq!(pages.matches("<svg ").count(), plots);
    assert_eq!(pages.matches("</svg>").count(), plots);
    // One for each plot, and that which readers fill in.
    assert_eq!(files.iter().filter(|file| file.name.ends_with(".csv")).count(), plots + 1);
    assert!(!pages.contains("NaN") && !pages.contains("inf\""));
}

/// Figures in which the values of a series are others: all of them, or the last alone, which is what tells how a series goes.
fn with_a_lie(
    figures: &[Figure],
    series: &Series,
    is_last_alone: bool,
    lie: impl Fn(f64) -> f64,
) -> Vec<Figure> {
    let mut figures = figures.to_vec();
    for figure in figures.iter_mut().filter(|figure| figure.title == series.figure) {
        let rows = figure.rows.iter_mut().filter(|row| row.label == series.label);
        let mut rows: Vec<_> = rows.collect();
        let first = if is_last_alone { rows.len() - 1 } else { 0 };
        for row in &mut rows[first..] {
            row.value = lie(row.value);
            row.runs.iter_mut().for_each(|run| *run = lie(*run));
            row.interval = row.interval.map(|ends| ends.map(&lie));
        }
    }
    figures
}

/// Whether a statement says how a series goes.
fn is_of_growth(statement: &Statement) -> bool {
    match statement {
        Statement::Grows(_) | Statement::Linear(..) => true,
        Statement::All(all) => all.iter().any(is_of_growth),
        _ => false,
    }
}

/// Lies about values of a unit, one up and one down.
fn lies(unit: &str) -> [Box<dyn Fn(f64) -> f64>; 2] {
    match unit {
        "ms" | "s" | "h" | "J" | "mJ" | "µJ" | "%" | "times" | "frames" | "messages" | "place" => {
            [Box::new(|value| value * 3.0), Box::new(|value| value / 3.0)]
        }
        "B" | "B/s" => [Box::new(|value| value * 1.2), Box::new(|value| value * 0.8)],
        "of 100" => [Box::new(|value| value + 10.0), Box::new(|value| value - 10.0)],
        unit => panic!("no lie is known about {unit}"),
    }
}

/// A lie about the one series that a claim speaks of, or about one side, makes what holds false: else it could not have failed. What does not hold may
/// be too far off for one to make it true.
#[test]
#[ignore = "takes long where nothing is optimised"]
fn a_lie_is_noticed_by_the_claims_that_hold() {
    let (mut noticed, mut others) = (0, Vec::new());
    for evaluation in evaluations() {
        for claim in evaluation.claims.iter().filter(|claim| claim.counted) {
            let statement = &claim.statement;
            assert_eq!(statement.verdict(&evaluation.figures), claim.verdict, "{}", claim.text);
            if claim.verdict != Verdict::Holds {
                continue;
            }
            let is_last_alone = is_of_growth(statement);
            let is_noticed = statement.series().into_iter().any(|series| {
                let figure = evaluation.figures.iter().find(|figure| figure.title == series.figure).unwrap();
                let unit = figure.rows.iter().find(|row| row.label == series.label).unwrap().unit;
                lies(unit).iter().any(|lie| {
                    let figures = with_a_lie(&evaluation.figures, series, is_last_alone, lie);
                    statement.verdict(&figures) != Verdict::Holds
                })
            });
            if is_noticed {
                noticed += 1;
            } else {
                others.push(format!("{}: {}: {}", evaluation.experiment, claim.text, claim.why));
            }
        }
    }
    let share = f64::from(noticed) / (f64::from(noticed) + others.len() as f64);
    println!(
        "{noticed} claims notice a lie, {:.1} % of those that hold, and these {} do not:\n{}",
        100.0 * share,
        others.len(),
        others.join("\n")
    );
    assert!(noticed > 120 && share >= 0.95, "{noticed} notice a lie, and {} do not", others.len());
}
