//! Cloud, border router and nodes, each a process of its own, as a person starts them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long anything may take that they do by themselves.
const PATIENCE: Duration = Duration::from_secs(120);

fn sixlock(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixlock"));
    command.args(args).current_dir(directory).stdin(Stdio::null());
    command
}

/// A process that runs until it is dropped, and the lines that it says.
struct Part {
    process: Child,
    lines: Receiver<String>,
}

impl Part {
    fn start(directory: &Path, args: &[&str]) -> Self {
        let mut process = sixlock(directory, args).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, lines) = channel();
        std::thread::spawn(move || said.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, lines }
    }

    /// Waits for a line with `text` in it, and gives what stands behind it.
    fn says(&self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("nobody says {text:?}"));
            if let Some((_, rest)) = line.split_once(text) {
                return rest.to_owned();
            }
        }
    }

    /// Whether it has said so by now.
    fn has_said(&self, text: &str) -> bool {
        self.lines.try_iter().any(|line| line.contains(text))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Makes devices of this mode; their border router's file is `network.toml`.
fn enrol(directory: &Path, mode: &str, devices: &[&str]) {
    for device in devices {
        let args = [
            "keys",
            "psk",
            "--data",
            "data",
            "--network",
            "network.toml",
            "--mode",
            mode,
            "--resource",
            device,
        ];
        let output = sixlock(directory, &args).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }
}

/// The cloud's address, and that of the channel.
fn cloud_and_router(directory: &Path, mode: &str, devices: &[&str]) -> ([Part; 2], String) {
    let cloud = Part::start(
        directory,
        &["cloud", "--data", "data", "--listen", "127.0.0.1:0", "--coaps", "127.0.0.1:0"],
    );
    let coaps = cloud.says("coaps=");
    enrol(directory, mode, devices);
    let router =
        Part::start(directory, &["router", "network.toml", "--air", "127.0.0.1:0", "--coaps", &coaps]);
    let air = router.says("ready air=");
    ([cloud, router], air)
}

#[test]
fn nodes_join_a_border_router_and_the_cloud_has_their_readings() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_parts, air) = cloud_and_router(directory, "llsec+esp+dtls-psk", &["first", "second", "stranger"]);
    // A node that has the link's key, and another's of IPsec.
    let stranger = std::fs::read_to_string(directory.join("stranger.toml")).unwrap();
    let first = std::fs::read_to_string(directory.join("first.toml")).unwrap();
    let (own, _) = stranger.split_once("[ipsec]").unwrap();
    let (_, keys) = first.split_once("[ipsec]").unwrap();
    std::fs::write(directory.join("stranger.toml"), format!("{own}[ipsec]{keys}")).unwrap();

    std::fs::write(directory.join("sensors"), "-3.5 43.1 310\n").unwrap();
    let node = |file: &str| {
        Part::start(directory, &["node", file, "--air", &air, "--period", "1s", "--sensors", "sensors"])
    };
    let stranger = node("stranger.toml");
    assert_eq!(stranger.says("reading: "), "-3.5 °C, 43.1 %RH, 310 lx");
    let nodes = [node("first.toml"), node("second.toml")];
    for node in &nodes {
        node.says("DTLS session opened");
        for _ in 0..3 {
            node.says("the cloud has the reading");
        }
    }
    assert!(!stranger.has_said("DTLS session opened"));
    // A node that starts anew is heard again: its counters go on.
    let [first, second] = nodes;
    drop(first);
    let first = node("first.toml");
    first.says("the cloud has the reading");
    second.says("the cloud has the reading");
}

#[test]
fn nodes_do_without_ipsec_as_well_on_a_channel_of_this_machine_alone() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (_parts, air) = cloud_and_router(directory, "dtls-psk", &["only"]);
    let node = Part::start(directory, &["node", "only.toml", "--air", &air, "--period", "1s"]);
    node.says("the cloud has the reading");
    let output = sixlock(directory, &["node", "only.toml", "--air", &air]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("only.counters: another process is this device already"),
        "{}",
        said(&output)
    );
    drop(node);
    let output = sixlock(directory, &["node", "only.toml", "--air", "192.0.2.1:17754"]).output().unwrap();
    assert!(said(&output).contains("frames would go to 192.0.2.1:17754 in the clear"), "{}", said(&output));
}

#[test]
fn keys_of_ipsec_are_made_for_a_node_and_its_border_router_only() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let args = [
        "keys",
        "psk",
        "--data",
        "data",
        "--coaps",
        "127.0.0.1:5684",
        "--mode",
        "ah+dtls-psk",
        "--resource",
        "a",
    ];
    let output = sixlock(directory, &args).output().unwrap();
    assert!(said(&output).contains("name its file with --network"), "{}", said(&output));
    assert!(!directory.join("a.toml").exists());
}
