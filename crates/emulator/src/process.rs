//! An emulator's process: it ends when its handle is dropped.

use core::time::Duration;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How many lines that an emulator prints are kept.
const LINES: usize = 4;

/// An emulator's process.
pub(crate) struct Process {
    child: Child,
    /// The last lines that it printed.
    said: Arc<Mutex<VecDeque<String>>>,
    lines: Receiver<String>,
    /// The thread that reads them.
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts `command`, whose output is `printed`: the reading end of a pipe that the command writes to.
    pub(crate) fn start(mut command: Command, printed: io::PipeReader) -> io::Result<Self> {
        let child = command.spawn()?;
        // The command holds writing ends of the pipe: with them open here, reading would never end.
        drop(command);
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let kept = said.clone();
        let (sender, lines) = channel();
        // The thread ends with the process, whose end of the pipe closes.
        let reader = std::thread::spawn(move || {
            let mut printed = BufReader::new(printed);
            let mut line = Vec::new();
            while printed.read_until(b'\n', &mut line).is_ok_and(|len| len > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == LINES {
                    kept.pop_front();
                }
                kept.push_back(text.clone());
                drop(kept);
                // Nobody listens any more once the emulator is ready.
                let _ = sender.send(text);
                line.clear();
            }
        });
        Ok(Self { child, said, lines, reader: Some(reader) })
    }

    /// Waits until the process prints a line that begins with `ready`; whether it did, before it ended.
    pub(crate) fn wait_for(&mut self, ready: &str, limit: Duration) -> io::Result<bool> {
        loop {
            match self.lines.recv_timeout(limit) {
                Ok(line) if line.starts_with(ready) => {
                    // What it prints from now on is kept, but not queued.
                    self.lines = channel().1;
                    return Ok(true);
                }
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Ends the process; the last lines that it printed.
    pub(crate) fn end(&mut self) -> String {
        // It may have ended by itself; either way it is waited for, so that nothing is left of it.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Nobody holds its end of the pipe any more: what it printed is read to the end.
        let _ = self.reader.take().map(JoinHandle::join);
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.iter().filter(|line| !line.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" / ")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A file for an emulator to load, which only this user may read (a device's keys are in it) and which is removed when
/// this is dropped.
pub(crate) struct TemporaryFile(PathBuf);

impl TemporaryFile {
    pub(crate) fn new(contents: &[u8]) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path =
                std::env::temp_dir().join(format!("sixlock-image-{}-{number}.elf", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(mut file) => {
                    let made = Self(path);
                    File::write_all(&mut file, contents)?;
                    return Ok(made);
                }
                // Left over by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // A file that is left over holds nobody up.
        let _ = std::fs::remove_file(&self.0);
    }
}
