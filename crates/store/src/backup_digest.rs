//! The digest at the end of a backup, by which any change of the file is seen: SQLite's own check looks at how pages hang together, not at
//! what stands in them.
//!
//! A database is a whole number of pages, and [a page](https://www.sqlite.org/fileformat.html#pages) of 512 bytes or a multiple of that.
//! So the length of a file tells whether it ends with a digest. Backups of earlier versions do not.

use std::fs::File;
use std::io::{self, Read, Write};

use sixlock_crypto::{Hashes, SHA_256_DIGEST, Soft};

/// A database's length is a multiple of this.
const SMALLEST_PAGE: u64 = 512;

/// What was copied, by the digest at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    /// It is what was written.
    Whole,
    /// It was made by an earlier version, which wrote no digest.
    WithoutDigest,
    /// It is not what was written.
    Damaged,
    /// It has not the length of a backup.
    NoBackup,
}

/// Writes the digest of all that is in `file` to its end.
pub(crate) fn append(file: &mut File) -> io::Result<()> {
    let digest = pass(file, u64::MAX, &mut io::sink())?;
    file.write_all(&digest)
}

/// Copies the database in the backup `file` to `copy`, and says whether it is what was written.
pub(crate) fn copy(file: &mut File, copy: &mut File) -> io::Result<Copied> {
    let length = file.metadata()?.len();
    match length % SMALLEST_PAGE {
        0 => {
            pass(file, length, copy)?;
            Ok(Copied::WithoutDigest)
        }
        rest if rest == SHA_256_DIGEST as u64 => {
            let found = pass(file, length - rest, copy)?;
            let mut written = [0; SHA_256_DIGEST];
            file.read_exact(&mut written)?;
            Ok(if found == written { Copied::Whole } else { Copied::Damaged })
        }
        _ => Ok(Copied::NoBackup),
    }
}

/// Copies at most `length` bytes of `from` to `to`, and returns their digest.
fn pass(from: &mut File, length: u64, to: &mut impl Write) -> io::Result<[u8; SHA_256_DIGEST]> {
    let mut crypto = Soft;
    let mut hash = crypto.sha256();
    let mut from = from.take(length);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(crypto.sha256_finish(hash)),
            read => {
                crypto.sha256_update(&mut hash, &buffer[..read]);
                to.write_all(&buffer[..read])?;
            }
        }
    }
}
