//! `sixlock plan`: what it prints.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

const NETWORK: &str = "name = \"pair\"\n[topology]\nnodes = 2\n[traffic]\nperiod = \"10s\"\n\
    [plan]\nsecret_from = [\"captured-node\"]\nfar_end = [\"coap\", \"dtls-psk\"]\nconditions = [\"loss\"]\n";

fn planned(text: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("network.toml"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixlock"));
    command.current_dir(folder.path()).args(["plan", "network.toml"]).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = planned(NETWORK, args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn json_csv_and_text_say_the_same() {
    let json: Value = serde_json::from_str(&printed(&["--json"])).unwrap();
    let options = json["options"].as_array().unwrap();
    assert_eq!((&json["schema"], &json["network"], options.len()), (&1.into(), &"pair".into(), 12));
    let csv = printed(&["--csv"]);
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heading = rows.next().unwrap();
    assert_eq!(heading[..5], ["security", "listen", "verdict", "seeds", "delivered_percent"]);
    let text = printed(&[]);
    let mut remain = 0;
    for (option, row) in options.iter().zip(rows) {
        assert_eq!(
            [row[0], row[2], row[3]],
            [
                option["security"].as_str().unwrap(),
                option["verdict"].as_str().unwrap(),
                &option["seeds"].to_string()
            ]
        );
        match option["verdict"].as_str().unwrap() {
            "remains" => {
                remain += 1;
                let delivered = option["values"]["delivered_percent"]["mean"].as_f64().unwrap();
                assert_eq!(row[4].parse::<f64>().unwrap(), delivered);
                let again = format!("to repeat its runs: sixlock sim network.toml --security {} ", row[0]);
                assert!(text.contains(&again), "{text}");
            }
            "struck" => {
                let why = option["why"].as_str().unwrap();
                assert!(text.contains(&format!("{}: struck. {why}", row[0])), "{text}");
                assert_eq!((&option["seeds"], row[4]), (&0.into(), ""));
            }
            verdict => assert!(text.contains(&format!("{}: {verdict}. ", row[0])), "{text}"),
        }
    }
    assert!(remain >= 1 && text.starts_with(&format!("pair: 12 options, {remain} remain; ")), "{text}");
}

#[test]
fn a_report_has_the_page_its_values_and_scenarios_that_repeat_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let json: Value =
        serde_json::from_str(&printed(&["--json", "--report", report.to_str().unwrap()])).unwrap();
    let read = |name: &str| fs::read_to_string(report.join(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&read("plan.json")).unwrap(), json);
    assert!(read("plan.csv").starts_with("security,listen,verdict,seeds,"));
    let page = read("index.html");
    for option in json["options"].as_array().unwrap() {
        let security = option["security"].as_str().unwrap();
        assert!(page.contains(security), "{security}");
        let file = format!("scenarios/{}.toml", security.replace([':', '+'], "-"));
        let is_struck = option["verdict"] == "struck";
        assert_eq!(report.join(&file).exists(), !is_struck, "{file}");
        if option["verdict"] == "remains" {
            assert!(page.contains(&format!("href=\"{file}\"")), "{file}");
            let mut sim = Command::new(env!("CARGO_BIN_EXE_sixlock"));
            let args = ["sim", &file, "--json", "--runs", &option["seeds"].to_string()];
            let output = sim.current_dir(&report).args(args).output().unwrap();
            let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
            let deliveries = reports.as_array().unwrap().iter().map(|report| {
                let sum = |key: &str| {
                    report["nodes"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|node| node[key].as_f64().unwrap())
                        .sum::<f64>()
                };
                100.0 * sum("delivered") / sum("due")
            });
            let mean = deliveries.sum::<f64>() / option["seeds"].as_f64().unwrap();
            let told = option["values"]["delivered_percent"]["mean"].as_f64().unwrap();
            assert!((mean - told).abs() < 1e-9, "{security}: {mean}, {told}");
        }
    }
    let charts = page.matches("<svg ").count();
    assert!(charts >= 3 && page.matches("</svg>").count() == charts, "{charts}");
}

#[test]
fn a_network_of_which_nothing_is_demanded_is_refused_with_what_to_do() {
    let output = planned("[topology]\nnodes = 2\n", &[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains("network.toml: it says nothing of what is demanded: add a table [plan]"),
        "{error}"
    );
}

#[test]
fn two_modes_are_compared_difference_by_difference() {
    let text = printed(&["--compare", "none", "llsec"]);
    assert!(text.contains("llsec:ccm-64 beside none:"), "{text}");
    let line = text.lines().find(|line| line.contains("Bytes on the air a delivered reading")).unwrap();
    assert!(line.contains(": +") && line.ends_with(", worse"), "{text}");

    let document: Value = serde_json::from_str(&printed(&["--compare", "none", "llsec", "--json"])).unwrap();
    let verdicts: Vec<_> = (0..2).map(|index| document["options"][index]["verdict"].as_str()).collect();
    assert_eq!(verdicts, [Some("compared"); 2]);
    let difference = &document["differences"][0];
    assert_eq!((&difference["security"], &difference["than"]), (&"llsec:ccm-64".into(), &"none".into()));
    let bytes = &difference["values"]["bytes_a_reading"];
    assert!(bytes["low"].as_f64() > Some(0.0) && bytes["says"] == "worse", "{difference}");
}
