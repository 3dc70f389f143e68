//! The record of refusals and of actions that matter to security: one JSON line each in `audit.jsonl`.

mod reader;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
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
        Self { who: Some(cut(who.into(), LONGEST_DONE)), ..self }
    }

    /// To what it was done.
    pub(crate) fn what(self, what: impl Into<String>) -> Self {
        Self { what: Some(cut(what.into(), LONGEST_DONE)), ..self }
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
        Self { who: Some(cut(who.into(), LONGEST_REFUSED)), ..self }
    }

    /// What was asked for.
    pub(crate) fn what(self, what: impl Into<String>) -> Self {
        Self { what: Some(cut(what.into(), LONGEST_REFUSED)), ..self }
    }
}

/// The longest field of a refusal, in bytes as JSON writes it: a peer that nobody knows chooses its length.
const LONGEST_REFUSED: usize = 192;
/// The longest field of an action, in bytes as JSON writes it.
const LONGEST_DONE: usize = 1024;

/// `text`, cut to `longest` bytes as JSON writes them; "…" stands for what is missing.
fn cut(mut text: String, longest: usize) -> String {
    const MISSING: char = '…';
    let (mut length, mut fits) = (0, 0);
    for (at, char) in text.char_indices() {
        length += length_in_json(char);
        if length > longest {
            text.truncate(fits);
            text.push(MISSING);
            return text;
        }
        if length + MISSING.len_utf8() <= longest {
            fits = at + char.len_utf8();
        }
    }
    text
}

const fn length_in_json(char: char) -> usize {
    match char {
        '"' | '\\' => 2,
        '\0'..='\u{1f}' => 6,
        _ => char.len_utf8(),
    }
}

/// The newest lines, of refusals and actions.
const FILE: &str = "audit.jsonl";
/// The newest actions once more. Refusals, which anyone can cause, do not push them out of this file.
const ACTIONS: &str = "actions.jsonl";
/// When a file is this long it takes the place of the [`older`] one.
const LONGEST_FILE: u64 = 64 << 20;
/// Lines waiting to be written. Nobody is held up by them: beyond, they are counted and the count is written.
const WAITING: usize = 4096;
/// Refusals among them. What is left is for actions.
const REFUSALS_WAITING: usize = WAITING / 2;
/// Refusals written within a moment, and how many more each second. Beyond, they are counted and the count is written.
const REFUSALS: i64 = 1000;
const REFUSALS_A_SECOND: i64 = 50;

/// What a file becomes when it is full: `audit.jsonl` becomes `audit.1.jsonl`.
fn older(path: &Path) -> PathBuf {
    path.with_extension("1.jsonl")
}

/// The way to the record. Clones share it.
#[derive(Clone)]
pub(crate) struct Audit {
    /// Nothing ends the record.
    lines: SyncSender<Option<Entry>>,
    counts: Arc<Counts>,
    path: Arc<Path>,
}

#[derive(Default)]
struct Counts {
    /// Lines that are not written.
    lost: AtomicU64,
    /// Refusals that wait to be written.
    refusals: AtomicUsize,
}

impl Audit {
    /// Opens the record in `directory`, and tells `events` if it has to end early. The thread ends when all lines are written after [`Audit::close`], or after
    /// the last clone was dropped.
    pub(crate) fn open(directory: &Path, events: Events) -> Result<(Self, JoinHandle<()>), Error> {
        let path = directory.join(FILE);
        let open = |path: &Path| Growing::open(path.to_owned()).map_err(|error| Error::file(path, error));
        let files = (open(&path)?, open(&directory.join(ACTIONS))?);
        let (lines, waiting) = sync_channel(WAITING);
        let counts = Arc::new(Counts::default());
        let (counted, kept): (_, Arc<Path>) = (counts.clone(), path.as_path().into());
        let thread = std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || {
                if let Err(error) = write(files, &waiting, &counted) {
                    events.tell(Event::Fault { at: At::Audit, error: &Error::file(&path, error) });
                }
            })
            .map_err(|error| Error::file(directory, error))?;
        Ok((Self { lines, counts, path: kept }, thread))
    }

    /// Records a refusal or an action.
    pub(crate) fn record(&self, entry: Entry) {
        let refusals = &self.counts.refusals;
        let is_refusal = matches!(entry, Entry::Refused(_));
        let has_place = !is_refusal || refusals.fetch_add(1, Ordering::Relaxed) < REFUSALS_WAITING;
        if !has_place || self.lines.try_send(Some(entry)).is_err() {
            refusals.fetch_sub(usize::from(is_refusal), Ordering::Relaxed);
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
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

    /// Where the actions alone are read.
    pub(crate) fn actions(&self) -> AuditReader {
        AuditReader(self.path.with_file_name(ACTIONS).into())
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
    let write = |path: &Path| {
        let (mut file, _) = open(path)?;
        // In one piece, so that no line of the cloud stands in it.
        file.write_all(&line(done)?)
    };
    [FILE, ACTIONS].into_iter().try_for_each(|name| {
        let path = directory.join(name);
        write(&path).map_err(|error| Error::file(&path, error))
    })
}

fn line(entry: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
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

/// A file that is written, until it is full and another is begun.
struct Growing {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl Growing {
    fn open(path: PathBuf) -> io::Result<Self> {
        let (file, length) = open(&path)?;
        Ok(Self { path, file: BufWriter::new(file), length })
    }

    fn add(&mut self, line: &[u8]) -> io::Result<()> {
        self.length += line.len() as u64;
        self.file.write_all(line)
    }

    /// Hands everything to the system, and begins another file if this one is full.
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        if self.length >= LONGEST_FILE {
            (self.file, self.length) = begin_anew(&self.path)?;
        }
        Ok(())
    }
}

fn write(
    (mut all, mut actions): (Growing, Growing),
    waiting: &Receiver<Option<Entry>>,
    counts: &Counts,
) -> io::Result<()> {
    let mut budget = Budget::new(now_ms());
    let mut next = waiting.recv().unwrap_or(None);
    while let Some(entry) = next {
        if matches!(entry, Entry::Refused(_)) {
            counts.refusals.fetch_sub(1, Ordering::Relaxed);
        }
        if matches!(&entry, Entry::Refused(refused) if !budget.takes(refused.time)) {
            counts.lost.fetch_add(1, Ordering::Relaxed);
        } else {
            let line = line(&entry)?;
            all.add(&line)?;
            if matches!(entry, Entry::Done(_)) {
                actions.add(&line)?;
            }
        }
        next = waiting.try_recv().or_else(|_| {
            if budget.left > 0 {
                let lost = counts.lost.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    all.add(format!("{{\"time\":{},\"lost\":{lost}}}\n", now_ms()).as_bytes())?;
                }
            }
            all.flush()?;
            actions.flush()?;
            io::Result::Ok(waiting.recv().unwrap_or(None))
        })?;
    }
    all.flush()?;
    actions.flush()
}

/// Puts the full file in the place of the older one, and begins another.
fn begin_anew(path: &Path) -> io::Result<(BufWriter<File>, u64)> {
    let place = begins(path)? + std::fs::metadata(path)?.len();
    std::fs::rename(path, older(path))?;
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
        write("audit.1.jsonl", 0..2000, "");
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

    #[test]
    fn a_peer_that_nobody_knows_chooses_no_length_of_a_line() {
        let from: std::net::SocketAddr = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535".parse().unwrap();
        for long in ["A", "\0", "\"", "é", "😀"].map(|char| char.repeat(31_000)) {
            let refused = Refused::new(Door::Http, from, "too_many_passwords").who(&*long).what(&*long);
            let line = serde_json::to_string(&refused).unwrap();
            assert!(line.len() <= 600 && line.contains('…'), "{} {line}", line.len());
            let done = Done::new(Door::Http, "signed_in").who(&*long).what(&*long);
            assert!(serde_json::to_string(&done).unwrap().len() < 3000);
        }
        for whole in ["", "/api/v1/users/ann", &"é".repeat(96)] {
            assert_eq!(cut(whole.into(), LONGEST_REFUSED), whole);
        }
        assert_eq!(cut("é".repeat(97), LONGEST_REFUSED), format!("{}…", "é".repeat(94)));
    }

    #[test]
    fn refusals_push_no_action_out_and_leave_actions_room_to_wait() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = Audit::open(directory.path(), Events::unheard()).unwrap();
        let from: std::net::SocketAddr = "127.0.0.1:4711".parse().unwrap();
        audit.record(Entry::Done(Done::new(Door::Http, "user_added").what("ann")));
        for _ in 0..100 {
            audit.record(Entry::Refused(Refused::new(Door::Http, from, "forbidden")));
        }
        audit.close();
        thread.join().unwrap();
        append(directory.path(), &Done::new(Door::Command, "user_deleted")).unwrap();
        // Two files full of refusals later.
        begin_anew(&directory.path().join(FILE)).unwrap();
        begin_anew(&directory.path().join(FILE)).unwrap();
        let text = std::fs::read_to_string(directory.path().join(ACTIONS)).unwrap();
        let actions: Vec<_> = text.lines().map(|line| line.contains("\"action\"")).collect();
        assert_eq!(actions, [true, true]);
        // Nothing is taken from this queue.
        let (lines, _waiting) = sync_channel(WAITING);
        let audit = Audit { lines, counts: Arc::default(), path: directory.path().into() };
        for _ in 0..2 * WAITING {
            audit.record(Entry::Refused(Refused::new(Door::Http, from, "forbidden")));
        }
        let lost = audit.counts.lost.load(Ordering::Relaxed);
        assert_eq!(lost, (2 * WAITING - REFUSALS_WAITING) as u64);
        for _ in 0..WAITING - REFUSALS_WAITING {
            audit.record(Entry::Done(Done::new(Door::Http, "signed_in")));
        }
        assert_eq!(audit.counts.lost.load(Ordering::Relaxed), lost);
    }

    #[tokio::test]
    async fn a_page_is_short_when_lines_are_long() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = Audit::open(directory.path(), Events::unheard()).unwrap();
        let long = "x".repeat(31_000);
        let lines = (0..200).map(|n| format!("{{\"time\":0,\"n\":{n},\"pad\":\"{long}\"}}\n"));
        std::fs::write(directory.path().join(FILE), lines.collect::<String>()).unwrap();
        let (mut before, mut numbers) = (None, Vec::new());
        loop {
            let lines = audit.reader().newest(1000, before).await.unwrap();
            let Some(last) = lines.last() else { break };
            assert!(lines.len() < 50, "{}", lines.len());
            before = last["id"].as_u64();
            numbers.extend(lines.iter().map(|line| line["n"].as_u64().unwrap()));
        }
        assert_eq!(numbers, (0..200).rev().collect::<Vec<_>>());
        drop(audit);
        thread.join().unwrap();
    }
}
