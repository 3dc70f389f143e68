//! Prints which tests failed by the log of a step of `./test`, and why; where none did, what the step said last. Usage: `failed_tests LOG`

use std::env;
use std::fs;
use std::process::ExitCode;

use sixlock_checks::test_log;

/// The most panics that are printed: many tests may fail for one reason.
const PANICS: usize = 30;
/// The last lines of a step that has failed without a test.
const LINES: usize = 20;

fn main() -> ExitCode {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: failed_tests LOG");
        return ExitCode::from(2);
    };
    match fs::read(&path) {
        Ok(log) => {
            let log = String::from_utf8_lossy(&log);
            let failed = test_log::failed_tests(&log);
            for name in &failed {
                println!("{name}");
            }
            if failed.is_empty() {
                let lines: Vec<_> = log.lines().collect();
                println!("{}", lines[lines.len().saturating_sub(LINES)..].join("\n"));
            }
            for panic in test_log::panics(&log).iter().take(PANICS) {
                eprintln!("{panic}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path} cannot be read: {error}");
            ExitCode::FAILURE
        }
    }
}
