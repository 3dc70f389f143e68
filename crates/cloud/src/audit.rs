//! The record of refusals: one JSON line each in `audit.jsonl`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use serde::Serialize;

use crate::Error;
use crate::events::{At, Event, Events, Line};
use crate::store::now_ms;

/// Where somebody was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Door {
    /// HTTP.
    Http,
    /// CoAP without security.
    Coap,
    /// CoAP over DTLS.
    Coaps,
}

/// A refusal.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Refused {
    /// Milliseconds since 1970.
    time: i64,
    door: Door,
    /// The peer's address.
    from: SocketAddr,
    /// Why, in one word of a fixed list.
    reason: &'static str,
    /// Who the peer says to be, believed or not: a user, a PSK identity, a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    /// What was asked for, without any query: keys can stand there.
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<String>,
}

impl Door {
    /// Its name in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Coap => "coap",
            Self::Coaps => "coaps",
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
    pub(crate) fn new(door: Door, from: SocketAddr, reason: &'static str) -> Self {
        Self { time: now_ms(), door, from, reason, who: None, what: None }
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

/// What becomes of a file that is full.
const OLDER: &str = "audit.1.jsonl";
/// When the file is this long it becomes [`OLDER`], in place of one that is there.
const LONGEST_FILE: u64 = 64 << 20;
/// Lines waiting to be written. Nobody is held up by them: beyond, they are counted and the count is written.
const WAITING: usize = 4096;

/// The way to the record. Clones share it.
#[derive(Clone)]
pub(crate) struct Audit {
    /// Nothing ends the record.
    lines: SyncSender<Option<Refused>>,
    lost: Arc<AtomicU64>,
    path: Arc<Path>,
}

impl Audit {
    /// Opens the record in `directory`, and tells `events` if it has to end early. The thread ends when all lines are written after [`Audit::close`], or after
    /// the last clone was dropped.
    pub(crate) fn open(directory: &Path, events: Events) -> Result<(Self, JoinHandle<()>), Error> {
        let path = directory.join("audit.jsonl");
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

    /// Records a refusal.
    pub(crate) fn record(&self, refused: Refused) {
        if self.lines.try_send(Some(refused)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the record when what waits is written. Waits itself while very much does.
    pub(crate) fn close(&self) {
        // It may have ended for a reason of its own.
        let _ = self.lines.send(None);
    }

    /// The newest `limit` lines, newest first, each a JSON object.
    pub(crate) async fn newest(&self, limit: usize) -> Result<Vec<serde_json::Value>, Error> {
        let path = self.path.clone();
        let read = move || {
            let mut lines = Vec::new();
            for path in [&*path, &path.with_file_name(OLDER)] {
                match read_newest(path, limit, &mut lines) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Error::file(path, error));
                    }
                    _ => {}
                }
            }
            Ok(lines)
        };
        tokio::task::spawn_blocking(read).await.map_err(|_| Error::Died("reader of the record"))?
    }
}

/// Adds the newest lines of the file to `lines` until there are `limit`.
fn read_newest(path: &Path, limit: usize, lines: &mut Vec<serde_json::Value>) -> io::Result<()> {
    const BLOCK: u64 = 64 << 10;
    let mut file = File::open(path)?;
    let mut at = file.seek(SeekFrom::End(0))?;
    // The bytes from `at` on that belong to a line whose beginning is not read yet.
    let mut unread = Vec::new();
    while at > 0 && lines.len() < limit {
        let length = at.min(BLOCK);
        at -= length;
        file.seek(SeekFrom::Start(at))?;
        let mut block = vec![0; length as usize];
        file.read_exact(&mut block)?;
        block.append(&mut unread);
        let mut parts = block.split(|byte| *byte == b'\n');
        if at > 0 {
            unread = parts.next().unwrap_or_default().to_vec();
        }
        // A line that is being written, or was torn by a crash, is not one.
        let whole = parts.rev().filter_map(|line| serde_json::from_slice(line).ok());
        lines.extend(whole.take(limit - lines.len()));
    }
    Ok(())
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

fn write(
    path: &PathBuf,
    (file, mut length): (File, u64),
    waiting: &Receiver<Option<Refused>>,
    lost: &AtomicU64,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    let mut next = waiting.recv().unwrap_or(None);
    while let Some(refused) = next {
        let mut line = serde_json::to_vec(&refused)?;
        line.push(b'\n');
        file.write_all(&line)?;
        length += line.len() as u64;
        next = waiting.try_recv().or_else(|_| {
            let lost = lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                writeln!(file, "{{\"time\":{},\"lost\":{lost}}}", now_ms())?;
            }
            file.flush()?;
            if length >= LONGEST_FILE {
                std::fs::rename(path, path.with_file_name(OLDER))?;
                let (new, empty) = open(path)?;
                (file, length) = (BufWriter::new(new), empty);
            }
            io::Result::Ok(waiting.recv().unwrap_or(None))
        })?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_newest_lines_are_read_backwards_through_both_files() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = Audit::open(directory.path(), Events::unheard()).unwrap();
        assert_eq!(audit.newest(10).await.unwrap().len(), 0);
        let write = |name: &str, numbers: std::ops::Range<u32>, torn: &str| {
            let lines =
                numbers.map(|n| format!("{{\"n\":{n},\"pad\":\"{}\"}}\n", "x".repeat(n as usize % 200)));
            std::fs::write(directory.path().join(name), lines.collect::<String>() + torn).unwrap();
        };
        write(OLDER, 0..2000, "");
        write("audit.jsonl", 2000..5000, "{\"n\":50");
        for limit in [1, 2, 1000, 2999, 3000, 3001, 5000, 6000] {
            let lines = audit.newest(limit).await.unwrap();
            let numbers: Vec<u64> = lines.iter().map(|line| line["n"].as_u64().unwrap()).collect();
            let expected: Vec<u64> = (0..5000).rev().take(limit).collect();
            assert_eq!(numbers, expected, "limit {limit}");
        }
        drop(audit);
        thread.join().unwrap();
    }

    #[test]
    fn each_refusal_is_one_line_whatever_the_peer_says_its_name_is() {
        let directory = tempfile::tempdir().unwrap();
        let (audit, thread) = Audit::open(directory.path(), Events::unheard()).unwrap();
        let from = "127.0.0.1:4711".parse().unwrap();
        audit.record(Refused::new(Door::Coaps, from, "unknown_identity").who("evil\n{\"time\":0}"));
        audit.record(Refused::new(Door::Http, from, "unauthenticated").what("/api/v1/live"));
        drop(audit);
        thread.join().unwrap();
        let text = std::fs::read_to_string(directory.path().join("audit.jsonl")).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["who"], "evil\n{\"time\":0}");
        assert_eq!(lines[0]["door"], "coaps");
        assert_eq!(lines[1]["what"], "/api/v1/live");
    }
}
