//! `sixlock eval`: what it prints and writes.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use serde_json::Value;

fn eval(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sixlock")).arg("eval").args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = eval(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_list_has_every_table_and_figure_of_the_papers_and_says_what_is_missing() {
    let list = json(&["--list", "--json"]);
    let list = list.as_array().unwrap();
    for listed in list {
        let keys: BTreeSet<_> = listed.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["experiment", "part", "state", "reproduced", "missing", "why"].into());
        assert!(!listed["why"].as_str().unwrap().is_empty(), "{listed}");
        let is_whole = listed["missing"].as_array().unwrap().is_empty();
        assert_eq!(listed["state"] == "part", !is_whole, "{listed}");
        assert_eq!(listed["reproduced"], listed["state"] != "not", "{listed}");
    }
    let of = |part: &str| list.iter().filter(|listed| listed["part"] == part).count();
    assert_eq!([of("papers"), of("own")], [54, 3]);
    let text = String::from_utf8(eval(&["--list"]).stdout).unwrap();
    for listed in list {
        let begin = format!("  {} ", listed["experiment"].as_str().unwrap());
        assert_eq!(text.lines().filter(|line| line.starts_with(&begin)).count(), 1, "{text}");
    }
}

#[test]
fn an_experiment_is_printed_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let printed =
        json(&["raza2012-table2", "granjal2008-table2", "--json", "--report", report.to_str().unwrap()]);
    let written: Value = serde_json::from_slice(&std::fs::read(report.join("eval.json")).unwrap()).unwrap();
    assert_eq!(printed, written);
    let names: Vec<_> = printed.as_array().unwrap().iter().map(|one| &one["experiment"]).collect();
    assert_eq!(names, ["raza2012-table2", "granjal2008-table2"]);
    assert_eq!([&printed[0]["reproduced"], &printed[1]["reproduced"]], [true, false]);
    let commit = printed[0]["parameters"]["commit"].as_str().unwrap();
    assert!(!commit.is_empty());
    let file = |name: &str| std::fs::read_to_string(report.join(name)).unwrap();
    let index = file("index.html");
    assert!(index.contains("href=\"raza2012.html\"") && index.contains("href=\"granjal2008.html\""));
    let page = file("raza2012.html");
    assert!(
        page.contains(commit) && page.contains("<svg ") && page.contains("href=\"raza2012-table2-1.csv\"")
    );
    assert!(file("raza2012-table2-1.csv").starts_with("label,x,value,"));
    assert!(file("granjal2008.html").contains("granjal2008-table2"));

    let text = String::from_utf8(eval(&["raza2012-table2"]).stdout).unwrap();
    assert!(text.contains("holds: ") && text.contains("does not hold: "), "{text}");
}

#[test]
fn an_unknown_experiment_is_a_wrong_use_and_the_nearest_is_named() {
    let output = eval(&["raza2012-table3"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("raza2012-table2"), "{error}");
}
