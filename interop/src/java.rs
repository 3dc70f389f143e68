//! The programs of `interop/californium`, in Java.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::{Process, Settings};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/californium");

/// Starts a program with Californium's libraries, which Maven fetches into `folder` first, where it is compiled, too.
///
/// # Panics
/// With the message of what did not work out.
pub fn californium(folder: &str, program: &str, settings: &Settings<'_>) -> Process {
    let arguments = settings.arguments();
    let mut all = vec!["-cp", classes(folder), program];
    all.extend(arguments.iter().map(String::as_str));
    Process::start("java", "default-jdk-headless", &all)
}

/// Where the programs and their libraries are: made once.
fn classes(folder: &str) -> &'static str {
    static CLASSES: OnceLock<String> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let folder = format!("{folder}/californium");
        let (model, fetched) = (format!("{SOURCES}/pom.xml"), format!("{folder}/fetched.xml"));
        let (output, libraries) = (format!("-DoutputDirectory={folder}"), format!("{folder}/*"));
        // Another test may have done it.
        if fs::read(&model).ok() != fs::read(&fetched).ok() {
            let fetch =
                ["--quiet", "--batch-mode", "--file", &model, "dependency:copy-dependencies", &output];
            run("mvn", "maven", &fetch);
            fs::copy(&model, &fetched).expect("there is room for a file");
        }
        let classes = format!("{folder}/classes");
        let sources = ["Client", "Options", "Peer", "Sensor"].map(|name| format!("{SOURCES}/{name}.java"));
        let mut compile = vec!["-cp", &libraries, "-d", &classes];
        compile.extend(sources.iter().map(String::as_str));
        run("javac", "default-jdk-headless", &compile);
        assert!(Path::new(&classes).join("Sensor.class").exists());
        format!("{classes}:{libraries}")
    })
}

/// Runs a tool, and shows what it has to say if it fails.
fn run(program: &str, package: &str, arguments: &[&str]) {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("cannot start {program} ({error}): apt-get install {package}"));
    let message = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&message));
}
