//! The same seed gives the same bytes, however the simulator was compiled and on however many threads it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// The command as it is released.
fn released() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(FOLDER).args([
        "build",
        "--quiet",
        "--locked",
        "--release",
        "--bin=sixlock",
        "--message-format=json",
    ]);
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the release does not build");
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut executables = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    executables.next_back().expect("the package has an executable")
}

/// Everything that a run writes: capture, events, keys and report.
fn run(program: &Path, threads: u32, seed: u32) -> Vec<u8> {
    let place = tempfile::tempdir().unwrap();
    let scenario = format!("{FOLDER}/../../scenarios/lossy-6.toml");
    let mut command = Command::new(program);
    command.current_dir(place.path()).args([
        "sim",
        &scenario,
        "--security",
        "llsec+dtls-psk",
        "--runs",
        "2",
        "--json",
    ]);
    command.args(["--threads", &threads.to_string(), "--seed", &seed.to_string()]);
    let output = command.args(["--pcap", "pcap", "--events", "events", "--keylog", "keys"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = ["pcap", "events", "keys"].map(|file| fs::read(place.path().join(file)).unwrap());
    [&files[0][..], &files[1], &files[2], &output.stdout].concat()
}

#[test]
#[ignore = "it builds the release: ./test runs it"]
fn the_same_seed_gives_the_same_bytes_in_every_build_and_on_any_number_of_threads() {
    let (debug, release) = (PathBuf::from(env!("CARGO_BIN_EXE_sixlock")), released());
    let once = run(&debug, 1, 7);
    for (program, threads) in [(&debug, 2), (&release, 1), (&release, 2)] {
        assert!(run(program, threads, 7) == once, "{} on {threads} threads gives others", program.display());
    }
    assert!(run(&release, 1, 8) != once, "seed 8 gives the same as seed 7");
}
