//! Follows each guide, and prints a table: its readers, its number of commands, the seconds they take and the last line printed.
//! Usage: `./bench guides [--dev]`

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

use sixlock_checks::readers::readers;

/// The tests of guides print it before what they found.
const MARK: &str = "followed ";

fn main() -> ExitCode {
    match follow() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The result of following a guide.
struct Outcome {
    commands: String,
    seconds: String,
    seen: String,
}

/// Follows all guides; whether each printed what it shows.
fn follow() -> Result<bool, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // With --dev, as tests build the program; else as it is released.
    let profile = if env::args().any(|argument| argument == "--dev") { "dev" } else { "release" };
    let examples = ["build", "--quiet", "--locked", "--profile", profile, "-p", "sixlock-dtls", "--examples"];
    let build = Command::new(&cargo).args(examples).current_dir(&root).status()?;
    if !build.success() {
        return Err("the examples do not build: see the messages above".into());
    }
    let only = ["test", "--quiet", "--locked", "--profile", profile, "-p", "sixlock", "--test", "guides"];
    let options = ["--", "--nocapture", "--include-ignored", "--test-threads", "1"];
    let output =
        Command::new(&cargo).args(only).args(options).current_dir(&root).stderr(Stdio::inherit()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let outcomes: BTreeMap<&str, Outcome> = printed.lines().filter_map(outcome).collect();
    println!("{:<52} {:>8} {:>7}  the last output", "task", "commands", "seconds");
    let mut all = output.status.success();
    for reader in readers(&fs::read_to_string(root.join("README.md"))?) {
        println!("\n{}", reader.name);
        for (title, path) in reader.documents.iter().filter(|(_, path)| path.starts_with("docs/guide/")) {
            let Some(Outcome { commands, seconds, seen }) = outcomes.get(path.as_str()) else {
                println!("{title:<52} {:>8} {:>7}  it does not print what it shows", "-", "-");
                all = false;
                continue;
            };
            println!("{title:<52} {commands:>8} {seconds:>7}  {seen}");
        }
    }
    Ok(all)
}

/// A guide that was followed, and printed what it shows.
fn outcome(line: &str) -> Option<(&str, Outcome)> {
    let mut parts = line.split_once(MARK)?.1.splitn(4, '\t');
    let guide = parts.next()?;
    let mut next = || parts.next().map(str::to_owned);
    Some((guide, Outcome { commands: next()?, seconds: next()?, seen: next()? }))
}
