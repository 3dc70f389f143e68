//! Files that programs and libraries make, for their owner's eyes only.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

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
