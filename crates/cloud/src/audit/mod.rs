//! The record of refusals and of actions that matter to security: one JSON line each in `audit.jsonl`.

mod reader;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde::Serialize;

use crate::Error;
use crate::client::Client;
use crate::events::{At, Event, Events, Line};
use crate::store::now_ms;
pub(crate) use reader::AuditReader;
use reader::begins;

/// By which way somebody came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Door {
    /// HTTP.
    Http,
    /// CoAP without security.
    Coap,
    /// CoAP over DTLS.
    Coaps,
    /// A command on the cloud's machine.
    Command,
}

/// A refusal.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Refused {
    /// Milliseconds since 1970.
    time: i64,
    door: Door,
    /// The peer's address.
    from: Client,
    /// Why, in one word of a fixed list.
    reason: &'static str,
    /// Who the peer says to be, believed or not: a user, a PSK identity, a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    /// What was asked for, without any query: keys can stand there.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
}

/// Something that was done which matters to security.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Done {
    /// Milliseconds since 1970.
    time: i64,
    door: Door,
    /// The address of who did it; none of a command's.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Client>,
    /// What was done, in one word of a fixed list.
    action: &'static str,
    /// The user who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    /// To what.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
}

impl Done {
    /// Something that was done now.
    pub(crate) fn new(door: Door, action: &'static str) -> Self {
        Self { time: now_ms(), door, from: None, action, who: None, what: None }
    }

    /// What was done.
    pub(crate) const fn action(&self) -> &'static str {
        self.action
    }

    /// From where it was done.
    pub(crate) fn from(self, client: Client) -> Self {
        Self { from: Some(client), ..self }
    }

    /// Who did it.
    pub(crate) fn who(self, who: impl Into<String>) -> Self {
        Self { who: Some(who.into()), ..self }
    }

    /// To what it was done.
    pub(crate) fn what(self, what: impl Into<String>) -> Self {
        Self { what: Some(what.into()), ..self }
    }

    /// Adds what is known of it to a line of the log.
    pub(crate) fn line(&self, line: Line) -> Line {
        let Self { door, from, action, who, what, .. } = self;
        line.field("door", door.name())
            .maybe("from", from.as_ref())
            .field("action", action)
            .maybe("who", who.as_ref())
            .maybe("what", what.as_ref())
    }
}

/// A line of the record.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Entry {
    Refused(Refused),
    Done(Done),
}

impl Door {
    /// Its name in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Coap => "coap",
            Self::Coaps => "coaps",
            Self::Command => "command",
        }
    }
}

impl Refused {
    /// Where it was.
    pub(crate) const fn door(&self) -> Door {
        self.door
    }

    /// Why it was.
    pub(crate) const fn reason(&self) -> &'static str {
        self.reason
    }

    /// A refusal now.
    pub(crate) fn new(door: Door, from: impl Into<Client>, reason: &'static str) -> Self {
        Self { time: now_ms(), door, from: from.into(), reason, who: None, what: None }
    }

    /// Adds what is known of it to a line of the log.
    pub(crate) fn line(&self, line: Line) -> Line {
        let Self { door, from, reason, who, what, .. } = self;
        line.field("door", door.name())
            .field("from", from)
            .field("reason", reason)
            .maybe("who", who.as_ref())
            .maybe("what", what.as_ref())
    }

    /// Who it was, or said to be.
    pub(crate) fn who(self, who: impl Into<String>) -> Self {
        Self { who: Some(who.into()), ..self }
    }

    /// What was asked for.
    pub(crate) fn what(self, what: impl Into<String>) -> Self {
        Self { what: Some(what.into()), ..self }
    }
}

/// The newest lines.
const FILE: &str = "audit.jsonl";
/// What becomes of a file that is full.
pub(crate) const OLDER: &str = "audit.1.jsonl";
/// When the file is this long it becomes [`OLDER`], in place of one that is there.
const LONGEST_FILE: u64 = 64 << 20;
/// Lines waiting to be written. Nobody is held up by them: beyond, they are counted and the count is written.
const WAITING: usize = 4096;
/// Refusals written within a moment, and how many more each second. Beyond, they are counted and the count is written:
/// whoever is refused again and again must not push what others did out of the record.
const REFUSALS: i64 = 1000;
const REFUSALS_A_SECOND: i64 = 50;

/// The way to the record. Clones share it.
#[derive(Clone)]
pub(crate) struct Audit {
    /// Nothing ends the record.
    lines: SyncSender<Option<Entry>>,
    lost: Arc<AtomicU64>,
    path: Arc<Path>,
}

impl Audit {
    /// Opens the record in `directory`, and tells `events` if it has to end early. The thread ends when all lines are written after [`Audit::close`], or after
    /// the last clone was dropped.
    pub(crate) fn open(directory: &Path, events: Events) -> Result<(Self, JoinHandle<()>), Error> {
        let path = directory.join(FILE);
        let file = open(&path).map_err(|error| Error::file(&path, error))?;
        let (lines, waiting) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let (counted, kept): (_, Arc<Path>) = (lost.clone(), path.as_path().into());
        let thread = std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || {
                if let Err(error) = write(&path, file, &waiting, &counted) {
                    events.tell(Event::Fault { at: At::Audit, error: &Error::file(&path, error) });
                }
            })
            .map_err(|error| Error::file(directory, error))?;
        Ok((Self { lines, lost, path: kept }, thread))
    }

    /// Records a refusal or an action.
    pub(crate) fn record(&self, entry: Entry) {
        if self.lines.try_send(Some(entry)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the record when what waits is written. Waits itself while very much does.
    pub(crate) fn close(&self) {
        // It may have ended for a reason of its own.
        let _ = self.lines.send(None);
    }

    /// Where the record is read.
    pub(crate) fn reader(&self) -> AuditReader {
        AuditReader(self.path.clone())
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// Adds a line to the record in `directory`, for a command that is not the cloud.
pub(crate) fn append(directory: &Path, done: &Done) -> Result<(), Error> {
    let path = directory.join(FILE);
    let write = || {
        let (mut file, _) = open(&path)?;
        let mut line = serde_json::to_vec(done)?;
        line.push(b'\n');
        // In one piece, so that no line of the cloud stands in it.
        file.write_all(&line)
    };
    write().map_err(|error| Error::file(&path, error))
}

/// How many more refusals are written.
struct Budget {
    left: i64,
    /// When it was reckoned, in milliseconds since 1970.
    at: i64,
}

impl Budget {
    fn new(now: i64) -> Self {
        Self { left: REFUSALS, at: now }
    }

    /// Whether a refusal at the time `now` is written.
    fn takes(&mut self, now: i64) -> bool {
        let earned = now.saturating_sub(self.at).max(0).saturating_mul(REFUSALS_A_SECOND) / 1000;
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(REFUSALS);
            self.at = now;
        }
        let takes = self.left > 0;
        self.left -= i64::from(takes);
        takes
    }
}

fn write(
    path: &Path,
    (file, mut length): (File, u64),
    waiting: &Receiver<Option<Entry>>,
    lost: &AtomicU64,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let mut budget = Budget::new(now_ms());
    let mut next = waiting.recv().unwrap_or(None);
    while let Some(entry) = next {
        if matches!(&entry, Entry::Refused(refused) if !budget.takes(refused.time)) {
            lost.fetch_add(1, Ordering::Relaxed);
        } else {
            let mut line = serde_json::to_vec(&entry)?;
            line.push(b'\n');
            file.write_all(&line)?;
            length += line.len() as u64;
        }
        next = waiting.try_recv().or_else(|_| {
            if budget.left > 0 {
                let lost = lost.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    writeln!(file, "{{\"time\":{},\"lost\":{lost}}}", now_ms())?;
                }
            }
            file.flush()?;
            if length >= LONGEST_FILE {
                (file, length) = begin_anew(path)?;
            }
            io::Result::Ok(waiting.recv().unwrap_or(None))
        })?;
    }
    file.flush()
}

/// Puts the full file in the place of the older one, and begins another.
fn begin_anew(path: &Path) -> io::Result<(BufWriter<File>, u64)> {
    let place = begins(path)? + std::fs::metadata(path)?.len();
    std::fs::rename(path, path.with_file_name(OLDER))?;
    let (mut file, _) = open(path)?;
    let first = format!("{{\"begins\":{place}}}\n");
    file.write_all(first.as_bytes())?;
    Ok((BufWriter::new(file), first.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_is_refused_again_and_again_does_not_fill_the_record() {
        let mut budget = Budget::new(0);
        assert_eq!((0..10_000).filter(|_| budget.takes(0)).count() as i64, REFUSALS);
        assert_eq!((0..10_000).filter(|_| budget.takes(1000)).count() as i64, REFUSALS_A_SECOND);
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = Audit::open(directory.path(), Events::unheard()).unwrap();
        let from: std::net::SocketAddr = "127.0.0.1:4711".parse().unwrap();
        let (refusals, mut sent) = (3 * REFUSALS as u64, 0);
        while sent < refusals {
            audit.record(Entry::Refused(Refused::new(Door::Http, from, "forbidden")));
            sent += 1;
        }
        audit.close();
        thread.join().unwrap();
        let text = std::fs::read_to_string(directory.path().join(FILE)).unwrap();
        assert!((text.lines().count() as u64) < refusals, "all were written");
    }

    #[tokio::test]
    async fn the_newest_lines_are_read_backwards_through_both_files() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = Audit::open(directory.path(), Events::unheard()).unwrap();
        assert_eq!(audit.reader().newest(10, None).await.unwrap().len(), 0);
        let write = |name: &str, numbers: std::ops::Range<u32>, torn: &str| {
            let lines = numbers
                .map(|n| format!("{{\"time\":0,\"n\":{n},\"pad\":\"{}\"}}\n", "x".repeat(n as usize % 200)));
            std::fs::write(directory.path().join(name), lines.collect::<String>() + torn).unwrap();
        };
        write(OLDER, 0..2000, "");
        write("audit.jsonl", 2000..5000, "{\"n\":50");
        for limit in [1, 2, 1000, 2999, 3000, 3001, 5000, 6000] {
            let lines = audit.reader().newest(limit, None).await.unwrap();
            let numbers: Vec<u64> = lines.iter().map(|line| line["n"].as_u64().unwrap()).collect();
            let expected: Vec<u64> = (0..5000).rev().take(limit).collect();
            assert_eq!(numbers, expected, "limit {limit}");
        }
        // Page by page it is the same, also after the files have changed their places.
        let mut before = None;
        let mut numbers = Vec::new();
        loop {
            let lines = audit.reader().newest(700, before).await.unwrap();
            let Some(last) = lines.last() else { break };
            before = last["id"].as_u64();
            numbers.extend(lines.iter().map(|line| line["n"].as_u64().unwrap()));
            if numbers.len() == 1400 {
                begin_anew(&directory.path().join(FILE)).unwrap();
            }
        }
        // What was in the older file is gone then.
        assert_eq!(numbers, (2000..5000).rev().collect::<Vec<_>>());
        drop(audit);
        thread.join().unwrap();
    }

    #[test]
    fn each_refusal_is_one_line_whatever_the_peer_says_its_name_is() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = Audit::open(directory.path(), Events::unheard()).unwrap();
        let from: std::net::SocketAddr = "127.0.0.1:4711".parse().unwrap();
        let refused = Refused::new(Door::Coaps, from, "unknown_identity").who("evil\n{\"time\":0}");
        audit.record(Entry::Refused(refused));
        audit.record(Entry::Refused(Refused::new(Door::Http, from, "unauthenticated").what("/api/v1/live")));
        audit.record(Entry::Done(Done::new(Door::Command, "backup_taken").what("b.sixlock")));
        drop(audit);
        thread.join().unwrap();
        let text = std::fs::read_to_string(directory.path().join("audit.jsonl")).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            (&lines[2]["action"], &lines[2]["from"]),
            (&"backup_taken".into(), &serde_json::Value::Null)
        );
        assert_eq!(lines[0]["who"], "evil\n{\"time\":0}");
        assert_eq!(lines[0]["door"], "coaps");
        assert_eq!(lines[1]["what"], "/api/v1/live");
    }
}
