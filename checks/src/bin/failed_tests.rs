//! Prints which tests failed by a log of `cargo test`, and why. Usage: `failed_tests LOG`

use std::env;
use std::fs;
use std::process::ExitCode;

use sixlock_checks::test_log;

/// The most panics that are printed: many tests may fail for one reason.
const PANICS: usize = 30;

fn main() -> ExitCode {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: failed_tests LOG");
        return ExitCode::from(2);
    };
    match fs::read(&path) {
        Ok(log) => {
            let log = String::from_utf8_lossy(&log);
            for name in test_log::failed_tests(&log) {
                println!("{name}");
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
