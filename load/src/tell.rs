//! Progress on what takes longer than people like to wait without a word.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// How often it is told.
const EVERY: Duration = Duration::from_secs(2);

/// Tells on standard error how far things are.
#[derive(Debug)]
pub struct Tell {
    written: Instant,
    /// Whether a line is to be written over.
    unfinished: bool,
}

impl Default for Tell {
    fn default() -> Self {
        Self { written: Instant::now(), unfinished: false }
    }
}

impl Tell {
    /// So much is done of `all`; told every two seconds.
    pub fn progress(&mut self, what: &str, done: usize, all: usize) {
        if self.written.elapsed() < EVERY {
            return;
        }
        self.written = Instant::now();
        self.unfinished = stderr().is_terminal();
        let (begin, end) = if self.unfinished { ("\r\x1b[K", "") } else { ("", "\n") };
        // Whoever does not want to hear of it does not stop the rest.
        let _ = write!(stderr(), "{begin}{done} of {all} {what}{end}");
    }

    /// Takes an unfinished line away.
    pub fn done(&mut self) {
        if std::mem::take(&mut self.unfinished) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
