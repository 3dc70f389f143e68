//! `sixlock eval`: what it prints and writes.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use serde_json::Value;
use sixlock_node::meter;

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
        assert_eq!(keys, ["experiment", "part", "state", "reproduced", "missing", "why", "unchecked"].into());
        for unchecked in listed["unchecked"].as_array().unwrap() {
            let parts = ["section", "says", "why"].map(|part| unchecked[part].as_str().unwrap());
            assert!(parts.iter().all(|part| !part.is_empty()), "{listed}");
        }
        assert!(!listed["why"].as_str().unwrap().is_empty(), "{listed}");
        let is_whole = listed["missing"].as_array().unwrap().is_empty();
        assert_eq!(listed["state"] == "part", !is_whole, "{listed}");
        assert!(is_whole == (listed["state"] == "made") && listed["reproduced"] == true, "{listed}");
    }
    let of = |part: &str| list.iter().filter(|listed| listed["part"] == part).count();
    assert_eq!([of("papers"), of("own")], [54, 8]);
    let unchecked = list.iter().map(|listed| listed["unchecked"].as_array().unwrap().len()).sum::<usize>();
    assert!(unchecked > 0);
    let text = String::from_utf8(eval(&["--list"]).stdout).unwrap();
    assert!(text.lines().next().unwrap().ends_with(&format!("; {unchecked} sentences are not checked")));
    assert_eq!(text.matches(" not checked (section ").count(), unchecked);
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
    assert_eq!([&printed[0]["reproduced"], &printed[1]["reproduced"]], [true, true]);
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
    assert!(text.contains("Of the claims, ") && text.contains(" not decided, "), "{text}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_evaluated() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = file.path().join("report");
    let output = eval(&["raza2012-table2", "--report", below.to_str().unwrap()]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("cannot write the report to "), "{error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn an_unknown_experiment_is_a_wrong_use_and_the_nearest_is_named() {
    let output = eval(&["raza2012-table3"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("raza2012-table2"), "{error}");
}

#[test]
fn a_readers_measurements_stand_beside_ours_and_wrong_ones_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let report = report.to_str().unwrap();
    assert!(eval(&["raza2012-table2", "--report", report]).status.success());
    let measured = folder.path().join("report/measured.csv");
    let empty = std::fs::read_to_string(&measured).unwrap();
    let first = empty.lines().nth(1).unwrap();
    let (names, unit) = first.rsplit_once(",,").unwrap();
    std::fs::write(&measured, empty.replacen(first, &format!("{names},17.5,{unit}"), 1)).unwrap();
    let measured = measured.to_str().unwrap();
    let rows = json(&["raza2012-table2", "--json", "--measured", measured]);
    let rows = rows[0]["rows"].as_array().unwrap();
    assert_eq!(rows[0]["measured"], 17.5);
    assert!(rows.len() > 1 && rows[1..].iter().all(|row| row.get("measured").is_none()), "{rows:?}");
    let text = String::from_utf8(eval(&["raza2012-table2", "--measured", measured]).stdout).unwrap();
    assert!(text.contains("published      yours") && text.contains("17.5 "), "{text}");

    std::fs::write(measured, empty.replacen(first, &format!("{names},17.5,furlongs"), 1)).unwrap();
    let refused = eval(&["raza2012-table2", "--measured", measured]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && error.contains("measured.csv:2: the unit is"), "{error}");
}

#[test]
fn a_report_does_not_take_the_place_of_what_a_reader_has_entered() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let measured = report.join("measured.csv");
    let [report, file] = [&report, &measured].map(|path| path.to_str().unwrap());
    let said = |args: &[&str]| {
        let output = eval(&[&["raza2012-table2", "--report", report][..], args].concat());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let kept = "is kept as it is";
    assert!(!said(&[]).contains(kept) && !said(&[]).contains(kept), "nothing has been entered");
    let empty = std::fs::read_to_string(&measured).unwrap();
    let (names, unit) = empty.lines().nth(1).unwrap().rsplit_once(",,").unwrap();
    let filled = empty.replacen(&format!("{names},,{unit}"), &format!("{names},17.5,{unit}"), 1);
    std::fs::write(&measured, &filled).unwrap();
    assert!(said(&[]).contains(kept));
    assert_eq!(std::fs::read_to_string(&measured).unwrap(), filled);
    // Entered, they are part of the new file.
    assert!(!said(&["--measured", file]).contains(kept));
    assert_eq!(std::fs::read_to_string(&measured).unwrap(), filled);
}

#[test]
fn a_report_of_echoes_that_no_experiment_has_is_said_to_stand_beside_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let serial = folder.path().join("serial.log");
    let report =
        |lines: &str| std::fs::write(&serial, format!("{}\n{lines}\n{}\n", meter::HEADER, meter::LAST_LINE));
    let evaluated = || eval(&["raza2012-table2", "--measured", serial.to_str().unwrap()]);
    report("echo,1,none,csma,16,100,100,6630,5008,8736").unwrap();
    let (output, note) = (evaluated(), "has no value of these experiments");
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains(note));
    report("echo,1,none").unwrap();
    let (output, wrong) = (evaluated(), "serial.log:2: 3 columns instead of 10");
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains(wrong));
}
