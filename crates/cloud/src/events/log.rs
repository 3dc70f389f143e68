//! The log: a line of `name=value` pairs for each event, on standard error.

use std::fmt::{self, Display, Write as _};
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use jiff::Timestamp;

/// Lines waiting to be written. Nobody is held up by them: beyond, they are counted and the count is written.
const WAITING: usize = 4096;

/// How much is logged: with each level also what those before it log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// What failed inside.
    #[default]
    Error,
    /// Who comes and who is refused, and polls that fail.
    Info,
    /// Every request, poll and commit.
    Debug,
}

impl LogLevel {
    const ALL: [Self; 3] = [Self::Error, Self::Info, Self::Debug];

    const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

impl Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LogLevel {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|level| level.name() == text);
        known.ok_or("a level is error, info or debug")
    }
}

/// A line of the log.
pub(crate) struct Line(String);

impl Line {
    /// A line of `level` about `what`, now.
    pub(crate) fn new(level: LogLevel, what: &str) -> Self {
        Self(format!("{:.3} {level} {what}", Timestamp::now()))
    }

    /// Adds a field. What a peer can choose neither begins another field nor another line.
    pub(crate) fn field(mut self, name: &str, value: impl Display) -> Self {
        let value = value.to_string();
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '=' | '\\');
        // Nothing fails that is written to a string.
        let _ = if !value.is_empty() && value.chars().all(plain) {
            write!(self.0, " {name}={value}")
        } else {
            write!(self.0, " {name}={}", serde_json::Value::String(value))
        };
        self
    }

    /// Adds a field that may be missing.
    pub(crate) fn maybe(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }
}

/// The way to the log. Clones share it.
#[derive(Clone)]
pub(crate) struct Log {
    level: LogLevel,
    /// Nothing ends the log.
    lines: SyncSender<Option<String>>,
    lost: Arc<AtomicU64>,
}

impl Log {
    /// A log of this level to `sink`. The thread ends when all lines are written after [`Log::close`], or after the last
    /// clone was dropped.
    pub(crate) fn open(
        level: LogLevel,
        mut sink: impl Write + Send + 'static,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (lines, waiting) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        let write = move || write(&mut sink, &waiting, &counted);
        let thread = std::thread::Builder::new().name("log".into()).spawn(write)?;
        Ok((Self { level, lines, lost }, thread))
    }

    /// Whether lines of `level` are written.
    pub(crate) fn takes(&self, level: LogLevel) -> bool {
        level <= self.level
    }

    /// Writes a line.
    pub(crate) fn write(&self, Line(line): Line) {
        if self.lines.try_send(Some(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the log when what waits is written. Waits itself while very much does.
    pub(crate) fn close(&self) {
        // It may have ended for a reason of its own.
        let _ = self.lines.send(None);
    }
}

/// Writes until the log is closed. A line that cannot be written is gone: there is nobody to tell.
fn write(sink: &mut impl Write, waiting: &Receiver<Option<String>>, lost: &AtomicU64) {
    while let Ok(Some(line)) = waiting.recv() {
        let _ = writeln!(sink, "{line}");
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let Line(line) = Line::new(LogLevel::Error, "log").field("lost_lines", lost);
            let _ = writeln!(sink, "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_chooses_makes_neither_fields_nor_lines() {
        let line = Line::new(LogLevel::Info, "refused")
            .field("from", "127.0.0.1:1")
            .field("who", "a b=\"c\"\nd")
            .maybe("what", None::<&str>);
        let (time, rest) = line.0.split_once(' ').unwrap();
        assert!(time.parse::<Timestamp>().is_ok(), "{time}");
        assert_eq!(rest, r#"info refused from=127.0.0.1:1 who="a b=\"c\"\nd""#);
    }

    #[test]
    fn levels_are_named_and_each_takes_those_before_it() {
        for level in LogLevel::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert!("loud".parse::<LogLevel>().is_err());
        let (log, thread) = Log::open(LogLevel::Info, Vec::new()).unwrap();
        assert_eq!(LogLevel::ALL.map(|level| log.takes(level)), [true, true, false]);
        log.close();
        thread.join().unwrap();
    }
}
