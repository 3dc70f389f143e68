//! Every experiment, with few runs.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::Value;
use sixlock_eval::{Context, EXPERIMENTS, Evaluation, html};

/// All of them, made once.
fn evaluations() -> &'static [Evaluation] {
    static ALL: OnceLock<Vec<Evaluation>> = OnceLock::new();
    ALL.get_or_init(|| {
        let context = Context { runs: 2, progress: &|share| assert!((0.0..=1.0).contains(&share)) };
        EXPERIMENTS.iter().map(|experiment| experiment.run(&context).unwrap()).collect()
    })
}

#[test]
fn every_experiment_runs_or_says_why_not_and_every_claim_has_its_reason() {
    for (experiment, evaluation) in EXPERIMENTS.iter().zip(evaluations()) {
        assert!(!experiment.why().is_empty(), "{}", experiment.name);
        assert_eq!(evaluation.reproduced, experiment.is_reproduced());
        assert_eq!(evaluation.why.is_none(), evaluation.reproduced);
        for figures in &evaluation.figures {
            let units: BTreeSet<_> = figures.rows.iter().map(|row| row.unit).collect();
            assert_eq!(units.len(), 1, "{}: {}", experiment.name, figures.title);
            for row in &figures.rows {
                assert!(row.value.is_finite(), "{}: {}", experiment.name, row.label);
                assert_eq!(row.read.is_some(), row.published.is_some());
            }
        }
        assert_eq!(evaluation.figures.is_empty(), !evaluation.reproduced, "{}", experiment.name);
        assert_eq!(evaluation.claims.is_empty(), !evaluation.reproduced, "{}", experiment.name);
        for claim in &evaluation.claims {
            assert!(!claim.why.is_empty(), "{}", claim.text);
            let names_cause = claim.why.contains("Cause: ") && claim.why.contains("Run that removes it: ");
            assert!(claim.holds || names_cause, "{}: {}", claim.text, claim.why);
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
fn json_and_the_report_have_all_that_was_found() {
    let evaluations = evaluations();
    let json: Value = serde_json::from_str(&serde_json::to_string(evaluations).unwrap()).unwrap();
    let page = html(evaluations);
    for (evaluation, found) in json.as_array().unwrap().iter().zip(evaluations) {
        assert_eq!(evaluation["schema"], 1);
        assert_eq!(evaluation["experiment"], found.experiment);
        assert!(evaluation["source"].is_string() && evaluation["reproduced"].is_boolean());
        assert!(page.contains(found.experiment));
        let rows = evaluation["rows"].as_array().unwrap();
        assert_eq!(rows.len(), found.figures.iter().map(|figure| figure.rows.len()).sum::<usize>());
        for row in rows {
            assert!(row["label"].is_string() && row["value"].is_f64() && row["unit"].is_string(), "{row}");
            assert!(row["x"].is_null() || row["x"].is_f64(), "{row}");
            assert!(row["published"].is_null() || row["published"].is_f64(), "{row}");
            let provenance = row["provenance"].as_str().unwrap();
            assert!(["measured", "exact emulation", "estimate", "published"].contains(&provenance));
        }
        for claim in evaluation["claims"].as_array().unwrap() {
            assert!(claim["text"].is_string() && claim["holds"].is_boolean() && claim["why"].is_string());
        }
    }
    let plots = evaluations.iter().map(|evaluation| evaluation.figures.len()).sum::<usize>();
    assert_eq!(page.matches("<svg ").count(), plots);
    assert_eq!(page.matches("</svg>").count(), plots);
    assert!(!page.contains("NaN") && !page.contains("inf\""));
}
