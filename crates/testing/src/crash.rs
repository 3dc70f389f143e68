//! What a crash leaves of a folder of files.

use std::io::{ErrorKind, Result};
use std::path::Path;

/// Copies the files in a folder to another as a crash would leave them: nothing was closed, no checkpoint was made, and what the processes
/// shared is gone. A file that goes meanwhile, as the journal does a moment after the cloud, has them all copied again.
pub fn copy(from: &Path, to: &Path) {
    let try_copy = || -> Result<()> {
        for copied in std::fs::read_dir(to)? {
            std::fs::remove_file(copied?.path())?;
        }
        for file in std::fs::read_dir(from)? {
            let file = file?;
            if !file.file_name().to_string_lossy().ends_with("-shm") {
                std::fs::copy(file.path(), to.join(file.file_name()))?;
            }
        }
        Ok(())
    };
    while let Err(error) = try_copy() {
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
