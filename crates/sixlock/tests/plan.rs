//! `sixlock plan`: what it prints.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

const NETWORK: &str = "name = \"pair\"\n[topology]\nnodes = 2\n[traffic]\nperiod = \"10s\"\n\
    [plan]\nsecret_from = [\"captured-node\"]\nfar_end = [\"coap\", \"dtls-psk\"]\n";

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
                let again = format!("again: sixlock sim network.toml --security {} ", row[0]);
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
}
