//! Timelines of runs, whose times and energies `measure/timeline.py` reckons anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use sixlock_sim::{Options, Report, Scenario, Simulation, Sinks};
use sixlock_testing::Recording;

/// What a run leaves behind.
pub(crate) struct Run {
    pub(crate) timeline: String,
    #[allow(dead_code, reason = "not every test looks at it")]
    pub(crate) picture: String,
    pub(crate) report: Report,
}

/// Runs a scenario and records its timeline.
pub(crate) fn run(scenario: &Scenario) -> Run {
    let [timeline, picture] = [(); 2].map(|()| Recording::default());
    let sinks =
        Sinks { timeline: Some(timeline.sink()), timeline_picture: Some(picture.sink()), ..Sinks::default() };
    let simulation = Simulation::new(scenario, Options { sinks, ..Options::default() });
    let report = simulation.unwrap_or_else(|error| panic!("{error}")).run().unwrap();
    let [timeline, picture] = [timeline, picture].map(|sink| String::from_utf8(sink.bytes()).unwrap());
    Run { timeline, picture, report }
}

/// What the script says of a timeline, and of a report beside it; an error is what it complains of.
pub(crate) fn reckon(timeline: &str, report: &Report) -> Result<String, String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("sixlock-timeline-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let files: [PathBuf; 2] = ["timeline.jsonl", "report.json"].map(|name| folder.join(name));
    fs::write(&files[0], timeline).unwrap();
    fs::write(&files[1], serde_json::to_string(report).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../measure/timeline.py");
    let output = Command::new("python3").arg(script).args(&files).output();
    let output = output.expect("python3 runs: install it, on Debian as package python3");
    fs::remove_dir_all(&folder).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    match output.status.success() {
        true => Ok(text(output.stdout)),
        false => Err(text(output.stderr)),
    }
}
