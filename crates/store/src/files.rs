//! Files and folders for their owner's eyes only.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::Error;

/// Only the owner reads and writes.
const OWNER_ONLY: u32 = 0o600;

/// Opens `path` to be written, and makes it if it is not there. It is its owner's alone, also if it was there before.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(OWNER_ONLY).open(path)?;
    file.set_permissions(Permissions::from_mode(OWNER_ONLY))?;
    Ok(file)
}

/// Sees to it that the database at `path` is its owner's alone, before SQLite opens it: that makes its other files like it.
pub(crate) fn make_database_private(path: &Path) -> io::Result<()> {
    drop(open_private(path)?);
    for suffix in ["-wal", "-shm"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        match std::fs::set_permissions(&beside, Permissions::from_mode(OWNER_ONLY)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Makes the folder `path`, which only its owner opens, if it is not there.
pub fn make_private_directory(path: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| Error::file(path, error))
}

/// Keeps a second cloud away from the same data: it would not know what this one writes.
#[derive(Debug)]
pub struct DirectoryLock(File);

impl Drop for DirectoryLock {
    /// Unlocks the folder. Closing the file is not enough: a process that another thread is about to start shares it for a moment.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Locks the data in `directory` until the lock is dropped. Returns [`Error::InUse`] if another has locked it.
pub fn lock(directory: &Path) -> Result<DirectoryLock, Error> {
    let path = directory.join("lock");
    let file = open_private(&path).map_err(|error| Error::file(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(DirectoryLock(file)),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::InUse(directory.to_owned())),
        Err(std::fs::TryLockError::Error(error)) => Err(Error::file(&path, error)),
    }
}

/// Creates `path` for its owner's eyes only, durably. Fails if it exists.
pub fn create_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = new_private(path)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    sync_directory(path)
}

/// An empty file for its owner's eyes only. Fails if it exists.
pub(crate) fn new_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(OWNER_ONLY).open(path)
}

/// Replaces `path` by a file with `text` for its owner's eyes only, whole or not at all.
pub fn replace_private(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_added_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    create_private(&new, text)?;
    std::fs::rename(&new, path)?;
    sync_directory(path)
}

/// Makes it last that `path` is in its folder.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    match path.parent() {
        // A name alone is one in the present directory.
        Some(directory) if directory.as_os_str().is_empty() => File::open(".")?.sync_all(),
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

/// Reads a file of secrets, which must not be open to others.
pub fn read_private(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, and is to be a file"));
    }
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is open to other users; run chmod 600 on it, and replace the secret if others have read it",
        ));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => {
            io::Error::new(error.kind(), "it is not text in UTF-8, and is to be; put the file back as it was")
        }
        _ => error,
    })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_free_again_although_its_file_is_shared() {
        let folder = tempfile::tempdir().unwrap();
        let locked = lock(folder.path()).unwrap();
        assert!(matches!(lock(folder.path()), Err(Error::InUse(_))));
        // As a process has it that was forked and does not run its own program yet.
        let _shared = locked.0.try_clone().unwrap();
        drop(locked);
        lock(folder.path()).unwrap();
    }
}
