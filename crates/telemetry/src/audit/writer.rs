//! Writing the record: a thread of its own does it.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde::Serialize;

use super::budget::Budget;
use super::file::{ACTIONS, FILE, Growing, open};
use super::reader::AuditReader;
use crate::clock::Clock;
use crate::error::FileError;
use crate::record::{Done, Entry};

/// Lines waiting to be written. Nobody is held up by them: beyond, they are counted and the count is written.
const WAITING: usize = 4096;
/// Refusals among them. The rest is for actions.
const REFUSALS_WAITING: usize = WAITING / 2;

/// A line of the record: an entry, and when it was made, in milliseconds since 1970.
#[derive(Serialize)]
struct Dated<T> {
    time: i64,
    #[serde(flatten)]
    entry: T,
}

/// The way to the record. Clones share it.
#[derive(Clone)]
pub struct Audit {
    /// `None` ends the record.
    lines: SyncSender<Option<Dated<Entry>>>,
    counts: Arc<Counts>,
    path: Arc<Path>,
    clock: Clock,
}

#[derive(Default)]
struct Counts {
    /// Lines that are not written.
    lost: AtomicU64,
    /// Refusals that wait to be written.
    refusals: AtomicUsize,
}

impl Audit {
    /// Opens the record in `directory`, and calls `fault` if it has to end early. The thread ends when all lines are written
    /// after [`Audit::close`], or after the last clone was dropped.
    pub fn open(
        directory: &Path,
        clock: Clock,
        fault: impl FnOnce(FileError) + Send + 'static,
    ) -> Result<(Self, JoinHandle<()>), FileError> {
        let path = directory.join(FILE);
        let open = |path: &Path| Growing::open(path.to_owned()).map_err(|error| FileError::new(path, error));
        let files = (open(&path)?, open(&directory.join(ACTIONS))?);
        let (lines, waiting) = sync_channel(WAITING);
        let counts = Arc::new(Counts::default());
        let (counted, kept): (_, Arc<Path>) = (counts.clone(), path.as_path().into());
        let thread = std::thread::Builder::new()
            .name("audit".into())
            .spawn(move || {
                if let Err(error) = write(files, &waiting, &counted, clock) {
                    fault(FileError::new(&path, error));
                }
            })
            .map_err(|error| FileError::new(directory, error))?;
        Ok((Self { lines, counts, path: kept, clock }, thread))
    }

    /// Records a refusal or an action of this moment.
    pub fn record(&self, entry: Entry) {
        let refusals = &self.counts.refusals;
        let is_refusal = matches!(entry, Entry::Refused(_));
        let has_place = !is_refusal || refusals.fetch_add(1, Ordering::Relaxed) < REFUSALS_WAITING;
        let line = Dated { time: (self.clock)(), entry };
        if !has_place || self.lines.try_send(Some(line)).is_err() {
            refusals.fetch_sub(usize::from(is_refusal), Ordering::Relaxed);
            self.counts.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the record after the lines that wait. Waits itself while very many do.
    pub fn close(&self) {
        // It may have ended for a reason of its own.
        let _ = self.lines.send(None);
    }

    /// Returns a reader of the record.
    pub fn reader(&self) -> AuditReader {
        AuditReader(self.path.clone())
    }

    /// Returns a reader of the actions alone.
    pub fn actions(&self) -> AuditReader {
        AuditReader(self.path.with_file_name(ACTIONS).into())
    }
}

/// Adds a line to the record in `directory`, for a command beside the server; `now` is in milliseconds since 1970.
pub fn append(directory: &Path, now: i64, done: &Done) -> Result<(), FileError> {
    let write = |path: &Path| {
        let (mut file, _) = open(path)?;
        // In one piece, so that no line of the server stands in it.
        file.write_all(&line(&Dated { time: now, entry: done })?)
    };
    [FILE, ACTIONS].into_iter().try_for_each(|name| {
        let path = directory.join(name);
        write(&path).map_err(|error| FileError::new(&path, error))
    })
}

fn line(entry: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    Ok(line)
}

/// Writes until the record is closed.
fn write(
    (mut all, mut actions): (Growing, Growing),
    waiting: &Receiver<Option<Dated<Entry>>>,
    counts: &Counts,
    clock: Clock,
) -> io::Result<()> {
    let mut budget = Budget::new(clock());
    let mut next = waiting.recv().unwrap_or(None);
    while let Some(dated) = next {
        let is_refusal = matches!(dated.entry, Entry::Refused(_));
        if is_refusal {
            counts.refusals.fetch_sub(1, Ordering::Relaxed);
        }
        if is_refusal && !budget.takes(dated.time) {
            counts.lost.fetch_add(1, Ordering::Relaxed);
        } else {
            let line = line(&dated)?;
            all.add(&line)?;
            if !is_refusal {
                actions.add(&line)?;
            }
        }
        next = waiting.try_recv().or_else(|_| {
            if budget.has_some() {
                let lost = counts.lost.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    all.add(format!("{{\"time\":{},\"lost\":{lost}}}\n", clock()).as_bytes())?;
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

#[cfg(test)]
mod tests {
    use super::super::file::begin_anew;
    use super::*;
    use crate::record::{Refused, Scheme};

    /// The record in `directory`, at one moment.
    fn record(directory: &Path) -> (Audit, JoinHandle<()>) {
        Audit::open(directory, || 0, |fault| panic!("{fault}")).unwrap()
    }

    #[test]
    fn one_who_is_refused_again_and_again_does_not_fill_the_record() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = record(directory.path());
        let from: std::net::SocketAddr = "127.0.0.1:4711".parse().unwrap();
        let (refusals, mut sent) = (3000, 0);
        while sent < refusals {
            audit.record(Entry::Refused(Refused::new(Scheme::Http, from, "forbidden")));
            sent += 1;
        }
        audit.close();
        thread.join().unwrap();
        let text = std::fs::read_to_string(directory.path().join(FILE)).unwrap();
        assert!((text.lines().count() as u64) < refusals, "all were written");
    }

    #[test]
    fn the_newest_lines_are_read_backwards_through_both_files() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = record(directory.path());
        assert_eq!(audit.reader().newest(10, None).unwrap().len(), 0);
        let write = |name: &str, numbers: std::ops::Range<u32>, torn: &str| {
            let lines = numbers
                .map(|n| format!("{{\"time\":0,\"n\":{n},\"pad\":\"{}\"}}\n", "x".repeat(n as usize % 200)));
            std::fs::write(directory.path().join(name), lines.collect::<String>() + torn).unwrap();
        };
        write("audit.1.jsonl", 0..2000, "");
        write("audit.jsonl", 2000..5000, "{\"n\":50");
        for limit in [1, 2, 1000, 2999, 3000, 3001, 5000, 6000] {
            let lines = audit.reader().newest(limit, None).unwrap();
            let numbers: Vec<u64> = lines.iter().map(|line| line["n"].as_u64().unwrap()).collect();
            let expected: Vec<u64> = (0..5000).rev().take(limit).collect();
            assert_eq!(numbers, expected, "limit {limit}");
        }
        // Page by page it is the same, also after the files have changed their places.
        let mut before = None;
        let mut numbers = Vec::new();
        loop {
            let lines = audit.reader().newest(700, before).unwrap();
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
        let (audit, thread) = record(directory.path());
        let from: std::net::SocketAddr = "127.0.0.1:4711".parse().unwrap();
        let refused = Refused::new(Scheme::Coaps, from, "unknown_identity").who("evil\n{\"time\":0}");
        audit.record(Entry::Refused(refused));
        audit
            .record(Entry::Refused(Refused::new(Scheme::Http, from, "unauthenticated").what("/api/v1/live")));
        audit.record(Entry::Done(Done::new(Scheme::Command, "backup_taken").what("b.sixlock")));
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
        assert_eq!(lines[0]["scheme"], "coaps");
        assert_eq!(lines[1]["what"], "/api/v1/live");
    }

    #[test]
    fn refusals_push_no_action_out_and_leave_actions_room_to_wait() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = record(directory.path());
        let from: std::net::SocketAddr = "127.0.0.1:4711".parse().unwrap();
        audit.record(Entry::Done(Done::new(Scheme::Http, "user_added").what("ann")));
        for _ in 0..100 {
            audit.record(Entry::Refused(Refused::new(Scheme::Http, from, "forbidden")));
        }
        audit.close();
        thread.join().unwrap();
        append(directory.path(), 0, &Done::new(Scheme::Command, "user_deleted")).unwrap();
        // Two files full of refusals later.
        begin_anew(&directory.path().join(FILE)).unwrap();
        begin_anew(&directory.path().join(FILE)).unwrap();
        let text = std::fs::read_to_string(directory.path().join(ACTIONS)).unwrap();
        let actions: Vec<_> = text.lines().map(|line| line.contains("\"action\"")).collect();
        assert_eq!(actions, [true, true]);
        // Nothing is taken from this queue.
        let (lines, _waiting) = sync_channel(WAITING);
        let audit = Audit { lines, counts: Arc::default(), path: directory.path().into(), clock: || 0 };
        for _ in 0..2 * WAITING {
            audit.record(Entry::Refused(Refused::new(Scheme::Http, from, "forbidden")));
        }
        let lost = audit.counts.lost.load(Ordering::Relaxed);
        assert_eq!(lost, (2 * WAITING - REFUSALS_WAITING) as u64);
        for _ in 0..WAITING - REFUSALS_WAITING {
            audit.record(Entry::Done(Done::new(Scheme::Http, "signed_in")));
        }
        assert_eq!(audit.counts.lost.load(Ordering::Relaxed), lost);
    }

    #[test]
    fn a_page_is_short_when_lines_are_long() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = record(directory.path());
        let long = "x".repeat(31_000);
        let lines = (0..200).map(|n| format!("{{\"time\":0,\"n\":{n},\"pad\":\"{long}\"}}\n"));
        std::fs::write(directory.path().join(FILE), lines.collect::<String>()).unwrap();
        let (mut before, mut numbers) = (None, Vec::new());
        loop {
            let lines = audit.reader().newest(1000, before).unwrap();
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
