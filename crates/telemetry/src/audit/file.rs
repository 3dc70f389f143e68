//! The files of the record, and a file that grows until another takes its place.
//!
//! A line's id is its place among all bytes that were ever recorded. The first line of a file that followed another states
//! where it begins, so that ids stay the same when the files change places.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The newest lines, of refusals and actions.
pub(super) const FILE: &str = "audit.jsonl";
/// The newest actions once more. Refusals, which anyone can cause, do not push them out of this file.
pub(super) const ACTIONS: &str = "actions.jsonl";
/// When a file is this long it takes the place of the [`older`] one.
const LONGEST_FILE: u64 = 64 << 20;
/// The longest first line that is looked for, in bytes.
const LONGEST_FIRST: u64 = 64 << 10;

/// Returns the name of a file when it is full: `audit.jsonl` becomes `audit.1.jsonl`.
pub(super) fn older(path: &Path) -> PathBuf {
    path.with_extension("1.jsonl")
}

/// Opens a file to append to, readable by its owner alone; returns its length, too.
pub(super) fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// Returns the length of a file; 0 if there is none.
pub(super) fn length(path: &Path) -> io::Result<u64> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// The first line of a file that followed another.
#[derive(Deserialize)]
struct Begins {
    begins: u64,
}

/// Returns the place among all that was recorded where the newest file begins.
pub(super) fn begins(path: &Path) -> io::Result<u64> {
    let mut first = Vec::new();
    match File::open(path) {
        Ok(file) => BufReader::new(file).take(LONGEST_FIRST).read_until(b'\n', &mut first)?,
        // The files are changing places.
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    match serde_json::from_slice(&first) {
        Ok(Begins { begins }) => Ok(begins),
        Err(_) => length(&older(path)),
    }
}

/// A file that is written, until it is full and another is begun.
pub(super) struct Growing {
    path: PathBuf,
    file: BufWriter<File>,
    length: u64,
}

impl Growing {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let (file, length) = open(&path)?;
        Ok(Self { path, file: BufWriter::new(file), length })
    }

    pub(super) fn add(&mut self, line: &[u8]) -> io::Result<()> {
        self.length += line.len() as u64;
        self.file.write_all(line)
    }

    /// Hands everything to the system, and begins another file if this one is full.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        if self.length >= LONGEST_FILE {
            (self.file, self.length) = begin_anew(&self.path)?;
        }
        Ok(())
    }
}

/// Puts the full file in the place of the older one, and begins another.
pub(super) fn begin_anew(path: &Path) -> io::Result<(BufWriter<File>, u64)> {
    let place = begins(path)? + std::fs::metadata(path)?.len();
    std::fs::rename(path, older(path))?;
    let (mut file, _) = open(path)?;
    let first = format!("{{\"begins\":{place}}}\n");
    file.write_all(first.as_bytes())?;
    Ok((BufWriter::new(file), first.len() as u64))
}
