//! Tells the program which commit it is built from.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Changes with each commit and checkout.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=SIXLOCK_COMMIT={commit}");
}

/// What git says; nothing where it is not there, or the sources are not in a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !said.trim().is_empty()).then(|| said.trim().into())
}
