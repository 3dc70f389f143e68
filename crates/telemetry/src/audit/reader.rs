//! Reading the record, a page at a time or all of it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::file::{begins, length, older};
use crate::error::FileError;

/// Bytes read at a time.
const BLOCK: u64 = 64 << 10;
/// A page ends with the line with which it has so many bytes.
const LONGEST_PAGE: usize = 1 << 20;

/// Reads the record. Clones read the same. It reads files, and so blocks.
#[derive(Clone)]
pub struct AuditReader(pub(super) Arc<Path>);

impl AuditReader {
    /// Returns the newest `limit` lines, or of those before the line with the id `before`, newest first, each a JSON object with its
    /// `id`. Fewer if they have more than 1 MiB.
    pub fn newest(&self, limit: usize, before: Option<u64>) -> Result<Vec<Value>, FileError> {
        page(&self.0, limit, before).map_err(|error| FileError::new(&self.0, error))
    }

    /// Returns the files of the record, oldest first, and how many bytes of each are whole lines.
    pub fn files(&self) -> Result<Vec<(PathBuf, u64)>, FileError> {
        let files = [older(&self.0), self.0.to_path_buf()];
        let whole = files.into_iter().map(|file| whole_lines(&file).map(|length| (file, length)));
        whole.collect::<io::Result<_>>().map_err(|error| FileError::new(&self.0, error))
    }
}

/// How many bytes of a file are whole lines: the last one may be being written.
fn whole_lines(path: &Path) -> io::Result<u64> {
    let mut end = length(path)?;
    if end == 0 {
        return Ok(0);
    }
    let mut file = File::open(path)?;
    while end > 0 {
        let begin = end.saturating_sub(BLOCK);
        let block = read_block(&mut file, begin, end - begin)?;
        if let Some(last) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + last as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

/// Lines, newest first.
struct Page {
    lines: Vec<Value>,
    /// The most lines.
    limit: usize,
    /// Bytes of the lines in their file.
    bytes: usize,
}

impl Page {
    fn is_full(&self) -> bool {
        self.lines.len() >= self.limit || self.bytes >= LONGEST_PAGE
    }

    fn add(&mut self, line: &[u8], id: u64) {
        if let Some(value) = line_with_id(line, id) {
            self.lines.push(value);
            self.bytes += line.len();
        }
    }
}

fn page(path: &Path, limit: usize, before: Option<u64>) -> io::Result<Vec<Value>> {
    let mut page = Page { lines: Vec::new(), limit, bytes: 0 };
    let mut end = before.unwrap_or(u64::MAX);
    let first = begins(path)?;
    let older = older(path);
    for (path, first) in [(path, first), (&*older, first.saturating_sub(length(&older)?))] {
        match read_newest(path, first, end, &mut page) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => end = end.min(first),
        }
    }
    Ok(page.lines)
}

fn read_block(file: &mut File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut block = vec![0; length as usize];
    file.read_exact(&mut block)?;
    Ok(block)
}

/// Adds the newest lines of the file, whose first byte has the id `first`, to `page` until it is full: of those with ids
/// below `end`. A line longer than a page is left out.
fn read_newest(path: &Path, first: u64, end: u64, page: &mut Page) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut at = file.metadata()?.len().min(end.saturating_sub(first));
    // The bytes from `at` on that belong to a line whose beginning is not read yet.
    let mut unread = Vec::new();
    while at > 0 && !page.is_full() {
        let length = at.min(BLOCK);
        at -= length;
        let mut block = read_block(&mut file, at, length)?;
        block.append(&mut unread);
        let mut from = 0;
        if at > 0 {
            from = block.iter().position(|byte| *byte == b'\n').map_or(block.len(), |end| end + 1);
        }
        let mut end = block.len();
        while end > from && !page.is_full() {
            let line = end - 1 - block[from..end - 1].iter().rev().take_while(|byte| **byte != b'\n').count();
            page.add(&block[line..end], first + at + line as u64);
            end = line;
        }
        unread = block;
        unread.truncate(from);
        if unread.len() > LONGEST_PAGE {
            unread.clear();
        }
    }
    Ok(())
}

/// A line, without its end or with it. A line that is being written, or was torn by a crash, is none.
fn line_with_id(line: &[u8], id: u64) -> Option<Value> {
    let mut line: Value = serde_json::from_slice(line).ok()?;
    let fields = line.as_object_mut().filter(|fields| fields.contains_key("time"))?;
    fields.insert("id".into(), id.into());
    Some(line)
}
