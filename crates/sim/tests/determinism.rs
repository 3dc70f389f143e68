//! The same seed gives the same bytes, however the simulator was compiled and on however many threads it runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// The example `record`, compiled with this profile.
fn built(profile: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // Beside the tests of the whole workspace: what these have built serves, too.
    let build = ["build", "--quiet", "--locked", "--workspace", "--example=record", "--message-format=json"];
    command.current_dir(FOLDER).args(build).args(["--profile", profile]);
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the profile {profile} does not build");
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut examples = messages.filter(|message| message["target"]["name"] == "record");
    examples.next().and_then(|example| Some(example["executable"].as_str()?.into())).expect("it is a program")
}

/// Everything that two runs write: capture, events, keys and reports.
fn run(program: &Path, seed: u32, threads: u32) -> Vec<u8> {
    let scenario = format!("{FOLDER}/../../scenarios/lossy-6.toml");
    let args = [&scenario, "llsec+dtls-psk", &seed.to_string(), &threads.to_string()];
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
#[ignore = "it builds the release: ./test runs it"]
fn the_same_seed_gives_the_same_bytes_in_every_build_and_on_any_number_of_threads() {
    let (debug, release) = (built("dev"), built("release"));
    let once = run(&debug, 7, 1);
    assert!(once.len() > 100_000, "only {} bytes were written", once.len());
    for (program, threads) in [(&debug, 2), (&release, 1), (&release, 2)] {
        assert!(run(program, 7, threads) == once, "{} on {threads} threads gives others", program.display());
    }
    assert!(run(&release, 8, 1) != once, "seed 8 gives the same as seed 7");
}
