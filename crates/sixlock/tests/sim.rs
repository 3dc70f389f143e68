//! `sixlock sim`: what it refuses, and how it ends.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const NETWORK: &str = "[topology]\nnodes = 1\n[traffic]\nperiod = \"1s\"\n";

fn command(folder: &Path, text: &str, args: &[&str]) -> Command {
    let scenario = folder.join("scenario.toml");
    fs::write(&scenario, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixlock"));
    command.current_dir(folder).args(["sim", "scenario.toml", "--duration", "2s"]).args(args);
    command
}

fn sim(text: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    command(folder.path(), text, args).output().unwrap()
}

#[test]
fn what_the_command_line_says_beats_the_file_before_it_is_checked() {
    let micaz = format!("[platform]\nprofile = \"micaz\"\n{NETWORK}");
    let output = sim(&micaz, &["--security", "none"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let error = String::from_utf8(sim(&micaz, &[]).stderr).unwrap();
    assert!(error.contains("a micaz has no memory for DTLS"), "{error}");
}

/// It is simulated all the same, and what programs read is as it was.
#[test]
fn what_will_not_work_is_noted_at_the_start() {
    let long = "security = \"none\"\n[routing]\nkind = \"rpl\"\n[topology]\nnodes = 33\n";
    let output = sim(long, &["--json"]);
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("note: nodes more than 32 hops away: 1, the deepest 33; "), "{told}");
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
    let told = String::from_utf8(sim(NETWORK, &[]).stderr).unwrap();
    assert!(!told.contains("note: "), "{told}");
}

/// The other end of standard output and standard error is closed before anything is written.
#[test]
fn a_closed_pipe_is_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    for (text, expected) in [(NETWORK, 0), ("nonsense = 1", 1)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = command(folder.path(), text, &[]);
        command.stdout(Stdio::from(writer.try_clone().unwrap())).stderr(Stdio::from(writer));
        assert_eq!(command.status().unwrap().code(), Some(expected), "{text}");
    }
}

#[test]
fn outputs_neither_replace_the_scenario_nor_each_other() {
    for args in [
        ["--events", "scenario.toml"].as_slice(),
        &["--pcap", "./scenario.toml"],
        &["--keylog", "scenario.toml"],
        &["--events", "out", "--pcap", "out"],
        &["--events", "out", "--keylog", "./out"],
        &["--timeline", "scenario.toml"],
        &["--events", "out", "--timeline", "out"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = command(folder.path(), NETWORK, args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("name another file"), "{args:?}: {error}");
        assert_eq!(fs::read_to_string(folder.path().join("scenario.toml")).unwrap(), NETWORK);
        assert!(!folder.path().join("out").exists(), "{args:?}");
    }
    let board =
        include_str!("../../sim/boards/openmote.toml").replace("name = \"openmote\"", "name = \"mine\"");
    let links = "from,to,delivery\n0,1,1\n1,0,1\n";
    let keys = "[platform]\nfile = \"board.toml\"\n[radio]\nmodel = \"links\"\nlinks = \"links.csv\"\n";
    let inputs = [("board.toml", &*board), ("links.csv", links)];
    for (option, (name, _)) in
        ["--pcap", "--events", "--keylog", "--timeline"].iter().flat_map(|o| inputs.map(|i| (o, i)))
    {
        let folder = tempfile::tempdir().unwrap();
        for (input, text) in inputs {
            fs::write(folder.path().join(input), text).unwrap();
        }
        let args = [*option, &format!("./{name}")];
        let output = command(folder.path(), &format!("{NETWORK}{keys}"), &args).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(error.contains("a file that the scenario names: name another file"), "{args:?}: {error}");
        for (input, text) in inputs {
            assert_eq!(fs::read_to_string(folder.path().join(input)).unwrap(), text);
        }
    }
    #[cfg(unix)]
    {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("scenario.toml", folder.path().join("link")).unwrap();
        let output = command(folder.path(), NETWORK, &["--events", "link"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "by another name");
        let output = command(folder.path(), NETWORK, &["--events", "/dev/null", "--pcap", "/dev/null"]);
        assert!({ output }.status().unwrap().success(), "nothing is replaced there");
    }
}

fn swarm(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sixlock")).arg("sim").args(args).output().unwrap()
}

#[test]
fn a_swarm_is_networks_from_a_seed_on_and_one_is_told_of_by_its_own() {
    let output = swarm(&["--swarm", "2", "--swarm-seed", "7"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert_eq!(text, "2 networks tried, 0 with a finding\n");
    let [first, again] = [(); 2].map(|()| String::from_utf8(swarm(&["--swarm-seed", "7"]).stdout).unwrap());
    assert_eq!(first, again);
    assert!(first.ends_with("1 networks tried, 0 with a finding\n"), "{first}");
}

#[test]
fn a_swarm_takes_no_scenario_and_records_one_network_only() {
    for args in [&["network.toml", "--swarm", "2"][..], &["--swarm", "2", "--nodes", "3"], &[]] {
        assert_eq!(swarm(args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(swarm(&["--swarm", "2", "--events", "events"]).status.code(), Some(1));
}

#[test]
fn csv_has_the_values_of_json_in_a_line_for_each_node_and_run() {
    let text = format!(
        "name = \"two\"\nseed = 7\nsecurity = \"dtls-psk\"\n[platform]\nprofile = \"tmote-sky\"\n{NETWORK}"
    );
    let printed = |args: &[&str]| String::from_utf8(sim(&text, args).stdout).unwrap();
    let csv = printed(&["--csv", "--runs", "2"]);
    let rows: Vec<Vec<_>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let reports: serde_json::Value = serde_json::from_str(&printed(&["--json", "--runs", "2"])).unwrap();
    for report in reports.as_array().unwrap() {
        assert_eq!((&report["scenario"], &report["security"]), (&"two".into(), &"dtls-psk".into()));
    }
    let value =
        |row: &[&str], name| row[rows[0].iter().position(|column| *column == name).unwrap()].to_owned();
    let [_, first, first_router, second, second_router] = &rows[..] else { panic!("{csv}") };
    for (n, row, router) in [(0, first, first_router), (1, second, second_router)] {
        assert_eq!([row.len(), router.len()], [rows[0].len(); 2]);
        let (report, node) = (&reports[n], &reports[n]["nodes"][0]);
        assert_eq!([value(row, "seed"), value(row, "id")], [report["seed"].to_string(), "1".into()]);
        assert_eq!(value(row, "due"), node["due"].to_string());
        assert_eq!(value(row, "rtt_ms.p95"), node["rtt_ms"]["p95"].to_string());
        assert_eq!(value(row, "energy_mj.listen"), node["energy_mj"]["listen"].to_string());
        assert_eq!(value(row, "provenance.platform"), "tmote-sky");
        assert_eq!([value(router, "id"), value(router, "due")], ["0", ""]);
        assert_eq!(value(router, "bytes"), report["router"]["bytes"].to_string());
    }
}

/// Each combination is what the scenario with these values comes to alone.
#[test]
fn what_varies_takes_every_combination_of_its_values() {
    let text = format!("seed = 7\n[radio]\nloss = 0.9\n{NETWORK}");
    let printed = |args: &[&str]| {
        let output = sim(&text, args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let varied = ["--vary", "radio.loss=0..0.2:0.2", "--vary", "security=none,llsec", "--runs", "2"];
    let json = printed(&[&varied[..], &["--json"]].concat());
    let combinations: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let csv = printed(&[&varied[..], &["--csv"]].concat());
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heading = rows.next().unwrap();
    assert_eq!(heading[..4], ["radio.loss", "security", "runs", "delivered_percent"]);
    let column = |name| heading.iter().position(|column| *column == name).unwrap();
    let expected = [(0.0, "none"), (0.0, "llsec"), (0.2, "none"), (0.2, "llsec")];
    assert_eq!(combinations.len(), expected.len());
    for ((combination, row), (loss, security)) in combinations.iter().zip(rows).zip(expected) {
        let settings = serde_json::json!({ "radio.loss": loss, "security": security });
        assert_eq!(combination["settings"], settings);
        let alone = text.replace("0.9", &loss.to_string());
        let alone = sim(&alone, &["--security", security, "--runs", "2", "--json"]).stdout;
        assert_eq!(combination["reports"], serde_json::from_slice::<serde_json::Value>(&alone).unwrap());
        assert_eq!(row[..3], [&format!("{loss:.1}"), security, "2"]);
        let bytes = |report: &serde_json::Value| {
            let of = |bytes: &serde_json::Value| bytes.as_f64().unwrap();
            of(&report["nodes"][0]["bytes"]) + of(&report["router"]["bytes"])
        };
        let both: Vec<_> = combination["reports"].as_array().unwrap().iter().map(bytes).collect();
        assert_eq!(row[column("bytes")], ((both[0] + both[1]) / 2.0).to_string());
        let value = |name| row[column(name)].parse::<f64>().unwrap();
        let (mean, low, high) = (value("bytes"), value("bytes.low"), value("bytes.high"));
        assert!(low <= mean && mean <= high, "{csv}");
    }
    let table = printed(&varied);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 2 + expected.len(), "{table}");
    assert!(lines[0].contains("seeds 7 to 8") && lines[4].trim_start().starts_with("0.2"), "{table}");
    assert!(!lines[1].contains("energy") && lines[2].contains(" ± "), "{table}");
}

#[test]
fn what_cannot_vary_is_told_before_anything_is_simulated() {
    for (args, why) in [
        (
            &["--vary", "radio.lss=0"][..],
            "with radio.lss = 0: scenario.toml: unknown key `lss` in [radio]; did you mean `loss`?",
        ),
        (
            &["--vary", "radio.loss=0,2"],
            "with radio.loss = 2: scenario.toml: loss is a probability between 0.0 and 1.0",
        ),
        (
            &["--vary", "topology.nodes=1,0"],
            "with topology.nodes = 0: scenario.toml: nodes is not a whole number",
        ),
        (&["--vary", "traffic=1"], "[traffic] is not a table"),
        (&["--vary", "topology.kind.of=1"], "kind is not a string"),
        (&["--vary", "a b=1"], "the key is a name"),
        (&["--vary", "name=it's"], "the value is a number, true, false, or a string in double quotes"),
        (&["--vary", "seed=1", "--vary", "seed=2"], "--vary seed is there twice"),
        (&["--vary", "security=none", "--security", "ah"], "--vary security: --security sets it, too"),
        (&["--vary", "seed=1..200:1", "--runs", "60"], "that makes 12000 runs, of 10000 at most"),
    ] {
        let output = sim(NETWORK, args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true), "{args:?}: {error}");
        assert!(error.contains(why), "{args:?}: {error}");
    }
    assert_eq!(sim(NETWORK, &["--vary", "radio.loss=0", "--pcap", "x.pcap"]).status.code(), Some(2));
    assert_eq!(swarm(&["--swarm", "1", "--vary", "radio.loss=0"]).status.code(), Some(2));
}
