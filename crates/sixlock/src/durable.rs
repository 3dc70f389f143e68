//! The counters of a node or border router that is a program: in a file.

use std::error::Error;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sixlock_base::{Nv, NvError, NvSlot};
use sixlock_cloud::{read_private, replace_private};

/// The first value of each counter that is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Counters {
    link_frame_counter: u32,
    ipsec_sequence: u32,
}

/// Counters that a file keeps: what is reserved is durable, and the file replaced whole. One program has it at a time.
#[derive(Debug)]
pub(crate) struct FileCounters {
    path: PathBuf,
    counters: Counters,
    /// Locked for as long as this lives.
    _lock: File,
}

impl FileCounters {
    /// The counters in `path`; from zero if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let lock = path.with_added_extension("lock");
        let lock = File::create(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(told(&"another process is this device already").into());
            }
            Err(TryLockError::Error(error)) => return Err(told(&error).into()),
        }
        let counters = match read_private(path) {
            Ok(text) => toml::from_str(&text).map_err(|error| told(&error.message()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Counters::default(),
            Err(error) => return Err(told(&error).into()),
        };
        Ok(Self { path: path.to_owned(), counters, _lock: lock })
    }
}

impl Nv for FileCounters {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        let mut counters = self.counters;
        let counter = match slot {
            NvSlot::LinkFrameCounter => &mut counters.link_frame_counter,
            NvSlot::IpsecSequence => &mut counters.ipsec_sequence,
        };
        let first = *counter;
        *counter = first.checked_add(count).ok_or(NvError::Exhausted)?;
        let text = toml::to_string(&counters).map_err(|_| NvError::Storage)?;
        replace_private(&self.path, text.trim_end()).map_err(|_| NvError::Storage)?;
        self.counters = counters;
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reserved_is_never_reserved_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("node.counters");
        let mut next = 0;
        for _ in 0..3 {
            let mut counters = FileCounters::open(&path).unwrap();
            let error = FileCounters::open(&path).unwrap_err().to_string();
            assert!(error.ends_with("another process is this device already"), "{error}");
            assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 1024), Ok(next));
            assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 1), Ok(next + 1024));
            assert_eq!(counters.reserve(NvSlot::IpsecSequence, 7), Ok(next / 1025 * 7));
            next += 1025;
        }
        let mut counters = FileCounters::open(&path).unwrap();
        assert_eq!(counters.reserve(NvSlot::IpsecSequence, u32::MAX), Err(NvError::Exhausted));
        std::fs::remove_dir_all(directory.path()).unwrap();
        assert_eq!(counters.reserve(NvSlot::IpsecSequence, 1), Err(NvError::Storage));
        assert_eq!(counters.counters.ipsec_sequence, 21, "nothing was reserved");
    }

    #[test]
    fn a_file_that_is_none_of_counters_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("node.counters");
        sixlock_cloud::create_private(&path, "link_frame_counter = -1").unwrap();
        assert!(FileCounters::open(&path).unwrap_err().to_string().contains("node.counters: "));
    }
}
