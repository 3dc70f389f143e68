//! The counters of a node or border router that is a program: in a file beside each file of its keys.

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
    /// Files of devices that did not speak RPL yet do not have it.
    #[serde(default)]
    rpl_sequence: u32,
}

/// Counters that files keep: what is reserved is durable, and each file replaced whole. One program has them at a time.
#[derive(Debug)]
pub(crate) struct FileCounters {
    files: Vec<CounterFile>,
    counters: Counters,
}

#[derive(Debug)]
struct CounterFile {
    path: PathBuf,
    /// Locked for as long as this lives.
    _lock: File,
}

impl FileCounters {
    /// The counters in all of these files, one of each set of keys that goes by them: they go on where the last of these does. A file
    /// that is not there begins at zero.
    pub(crate) fn open<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<Self, Box<dyn Error>> {
        let (mut files, mut counters) = (Vec::new(), Counters::default());
        for path in paths {
            let (file, read) = CounterFile::open(path)?;
            counters.link_frame_counter = counters.link_frame_counter.max(read.link_frame_counter);
            counters.ipsec_sequence = counters.ipsec_sequence.max(read.ipsec_sequence);
            counters.rpl_sequence = counters.rpl_sequence.max(read.rpl_sequence);
            files.push(file);
        }
        Ok(Self { files, counters })
    }
}

impl CounterFile {
    /// It and what is in it.
    fn open(path: &Path) -> Result<(Self, Counters), Box<dyn Error>> {
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
        Ok((Self { path: path.to_owned(), _lock: lock }, counters))
    }
}

impl Nv for FileCounters {
    fn reserve(&mut self, slot: NvSlot, count: u32) -> Result<u32, NvError> {
        let mut counters = self.counters;
        let counter = match slot {
            NvSlot::LinkFrameCounter => &mut counters.link_frame_counter,
            NvSlot::IpsecSequence => &mut counters.ipsec_sequence,
            NvSlot::RplSequence => &mut counters.rpl_sequence,
        };
        let first = *counter;
        *counter = first.checked_add(count).ok_or(NvError::Exhausted)?;
        let text = toml::to_string(&counters).map_err(|_| NvError::Storage)?;
        for file in &self.files {
            replace_private(&file.path, text.trim_end()).map_err(|_| NvError::Storage)?;
        }
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
            let mut counters = FileCounters::open([&path]).unwrap();
            let error = FileCounters::open([&path]).unwrap_err().to_string();
            assert!(error.ends_with("another process is this device already"), "{error}");
            assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 1024), Ok(next));
            assert_eq!(counters.reserve(NvSlot::LinkFrameCounter, 1), Ok(next + 1024));
            assert_eq!(counters.reserve(NvSlot::IpsecSequence, 7), Ok(next / 1025 * 7));
            next += 1025;
        }
        let mut counters = FileCounters::open([&path]).unwrap();
        assert_eq!(counters.reserve(NvSlot::IpsecSequence, u32::MAX), Err(NvError::Exhausted));
        std::fs::remove_dir_all(directory.path()).unwrap();
        assert_eq!(counters.reserve(NvSlot::IpsecSequence, 1), Err(NvError::Storage));
        assert_eq!(counters.counters.ipsec_sequence, 21, "nothing was reserved");
    }

    #[test]
    fn keys_of_two_files_go_by_the_same_counters_and_no_value_comes_again_in_either() {
        let directory = tempfile::tempdir().unwrap();
        let [network, gateway] =
            ["network.counters", "gateway.counters"].map(|name| directory.path().join(name));
        let reserve = |paths: &[&PathBuf]| {
            let mut counters = FileCounters::open(paths.iter().copied()).unwrap();
            counters.reserve(NvSlot::IpsecSequence, 10).unwrap()
        };
        assert_eq!(reserve(&[&network]), 0);
        assert_eq!(reserve(&[&gateway]), 0);
        assert_eq!(reserve(&[&gateway]), 10);
        assert_eq!(reserve(&[&network, &gateway]), 20);
        assert_eq!(reserve(&[&network]), 30);
        assert_eq!(reserve(&[&network, &gateway]), 40);
        assert_eq!(reserve(&[&gateway]), 50);
    }

    #[test]
    fn a_file_that_is_none_of_counters_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("node.counters");
        sixlock_cloud::create_private(&path, "link_frame_counter = -1").unwrap();
        assert!(FileCounters::open([&path]).unwrap_err().to_string().contains("node.counters: "));
    }
}
