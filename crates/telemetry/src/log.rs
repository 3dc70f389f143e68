//! The log: a line of `name=value` pairs for each event, on standard error.

use std::fmt::{self, Display, Write as _};
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use jiff::Timestamp;

use crate::clock::Clock;

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
pub struct Line(String);

impl Line {
    /// A line of `level` about `what`, written at `now` in milliseconds since 1970.
    pub fn new(now: i64, level: LogLevel, what: &str) -> Self {
        let time = Timestamp::from_millisecond(now).unwrap_or_default();
        Self(format!("{time:.3} {level} {what}"))
    }

    /// Adds a field. What a peer can choose neither begins another field nor another line.
    pub fn field(mut self, name: &str, value: impl Display) -> Self {
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
    pub fn maybe(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }
}

/// The way to the log. Clones share it.
#[derive(Clone)]
pub struct Log {
    level: LogLevel,
    /// `None` ends the log.
    lines: SyncSender<Option<String>>,
    lost: Arc<AtomicU64>,
    clock: Clock,
}

impl Log {
    /// A log of this level to `sink`. The thread ends when all lines are written after [`Log::close`], or after the last
    /// clone was dropped.
    pub fn open(
        level: LogLevel,
        mut sink: impl Write + Send + 'static,
        clock: Clock,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (lines, waiting) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = lost.clone();
        let write = move || write(&mut sink, &waiting, &counted, clock);
        let thread = std::thread::Builder::new().name("log".into()).spawn(write)?;
        Ok((Self { level, lines, lost, clock }, thread))
    }

    /// Returns the present time, in milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Whether lines of `level` are written.
    pub fn takes(&self, level: LogLevel) -> bool {
        level <= self.level
    }

    /// Writes a line.
    pub fn write(&self, Line(line): Line) {
        if self.lines.try_send(Some(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the log after the lines that wait. Waits itself while very many do.
    pub fn close(&self) {
        // It may have ended for a reason of its own.
        let _ = self.lines.send(None);
    }
}

/// Writes until the log is closed. A line that cannot be written is gone: there is nobody to tell.
fn write(sink: &mut impl Write, waiting: &Receiver<Option<String>>, lost: &AtomicU64, clock: Clock) {
    while let Ok(Some(line)) = waiting.recv() {
        let _ = writeln!(sink, "{line}");
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let Line(line) = Line::new(clock(), LogLevel::Error, "log").field("lost_lines", lost);
            let _ = writeln!(sink, "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_peer_chooses_makes_neither_fields_nor_lines() {
        let line = Line::new(0, LogLevel::Info, "refused")
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
        let (log, thread) = Log::open(LogLevel::Info, Vec::new(), || 0).unwrap();
        assert_eq!(LogLevel::ALL.map(|level| log.takes(level)), [true, true, false]);
        log.close();
        thread.join().unwrap();
    }
}
