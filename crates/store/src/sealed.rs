//! Files of sealed blocks: whoever has no master key learns from them how long they are, and can neither change a block, nor
//! move, repeat or leave one out in the middle.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files;
use crate::master_key::MasterKey;
use crate::secrets::{self, Secret};

/// How a file begins; behind it stands an id that no other has.
const MAGIC: &[u8; 16] = b"Sixlock sealed 1";
const ID: usize = 16;
/// The most bytes of a block.
pub const LONGEST_BLOCK: usize = 60_000;

/// What each block of a file is sealed for.
struct Context {
    purpose: &'static str,
    id: [u8; ID],
    /// How many blocks stand before it.
    number: u64,
}

impl Context {
    fn bytes(&self) -> Vec<u8> {
        [self.purpose.as_bytes(), &[0], &self.id, &self.number.to_be_bytes()].concat()
    }
}

/// What tells a file from all others, and from every copy of it: its id, its place in the file system, and when it was last changed, which nobody
/// but the system can say.
pub type Fingerprint = [u8; 32];

fn fingerprint(file: &File, id: &[u8; ID]) -> io::Result<Fingerprint> {
    let metadata = file.metadata()?;
    let (inode, changed) = (metadata.ino().to_be_bytes(), metadata.ctime().to_be_bytes());
    Ok(secrets::digest(&[id, &inode, &changed, &metadata.ctime_nsec().to_be_bytes()]))
}

/// A file that is written.
pub struct SealedWriter {
    path: PathBuf,
    file: File,
    context: Context,
}

impl SealedWriter {
    /// A new file for its owner's eyes only, in place of one that is there, for blocks with this purpose.
    pub fn create(path: &Path, purpose: &'static str) -> Result<Self, Error> {
        let id = secrets::random()?;
        let created = || {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = files::new_private(path)?;
            file.write_all(&[&MAGIC[..], &id].concat())?;
            files::sync_directory(path)?;
            Ok(file)
        };
        let file = created().map_err(|error| Error::file(path, error))?;
        Ok(Self { path: path.to_owned(), file, context: Context { purpose, id, number: 0 } })
    }

    /// Adds a block of at most [`LONGEST_BLOCK`] bytes.
    pub fn append(&mut self, key: &MasterKey, block: &[u8]) -> Result<(), Error> {
        let sealed = key.seal(&self.context.bytes(), block)?;
        let length = u16::try_from(sealed.len()).map_err(|_| Error::Invalid("a block is too long"))?;
        let record = [&length.to_be_bytes()[..], &sealed].concat();
        self.file.write_all(&record).map_err(|error| Error::file(&self.path, error))?;
        self.context.number += 1;
        Ok(())
    }

    /// Returns when the whole file would survive power loss, and tells what it is known by.
    pub fn finish(self) -> Result<Fingerprint, Error> {
        let finished = self.file.sync_all().and_then(|()| fingerprint(&self.file, &self.context.id));
        finished.map_err(|error| Error::file(&self.path, error))
    }

    /// Returns when all blocks would survive power loss.
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(|error| Error::file(&self.path, error))
    }
}

/// A file that is read.
pub struct SealedReader {
    path: PathBuf,
    file: BufReader<File>,
    context: Context,
    /// Where the next block begins.
    at: u64,
}

impl SealedReader {
    /// Opens the file at `path`; `None` if there is none.
    pub fn open(path: &Path, purpose: &'static str) -> Result<Option<Self>, Error> {
        let mut file = match File::open(path) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file(path, error)),
        };
        let (mut magic, mut id) = ([0; MAGIC.len()], [0; ID]);
        let whole = file.read_exact(&mut magic).and_then(|()| file.read_exact(&mut id));
        if whole.is_err() || magic != *MAGIC {
            return Err(Error::Damaged { path: path.to_owned(), at: 0 });
        }
        let (context, at) = (Context { purpose, id, number: 0 }, (MAGIC.len() + ID) as u64);
        Ok(Some(Self { path: path.to_owned(), file, context, at }))
    }

    /// What [`SealedWriter::finish`] said, if this is the very file.
    pub fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint(self.file.get_ref(), &self.context.id).map_err(|error| Error::file(&self.path, error))
    }

    /// The next block; nothing at the end of the file. [`Error::Damaged`] if it is not as it was written.
    pub fn next(&mut self, key: &MasterKey) -> Result<Option<Secret>, Error> {
        let Some(length) = self.take(2)? else { return Ok(None) };
        let length = u16::from_be_bytes([length[0], length[1]]);
        let sealed = self.take(length.into())?.ok_or_else(|| self.damaged())?;
        let block = key.open_sealed(&self.context.bytes(), &sealed).map_err(|_| self.damaged())?;
        self.context.number += 1;
        self.at += 2 + u64::from(length);
        Ok(Some(block))
    }

    /// Returns so many bytes; `None` if the file has ended.
    fn take(&mut self, length: usize) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        let read = self.file.by_ref().take(length as u64).read_to_end(&mut bytes);
        match read.map_err(|error| Error::file(&self.path, error))? {
            0 => Ok(None),
            read if read < length => Err(self.damaged()),
            _ => Ok(Some(bytes)),
        }
    }

    fn damaged(&self) -> Error {
        Error::Damaged { path: self.path.clone(), at: self.at }
    }

    /// Goes on writing where reading has ended; what was not read, or could not be, is cut off.
    pub fn into_writer(self) -> Result<SealedWriter, Error> {
        let Self { path, context, at, .. } = self;
        let opened = || {
            let file = File::options().append(true).open(&path)?;
            file.set_len(at)?;
            file.sync_data()?;
            Ok(file)
        };
        let file = opened().map_err(|error| Error::file(&path, error))?;
        Ok(SealedWriter { path, file, context })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSE: &str = "test";

    fn write(path: &Path, key: &MasterKey, blocks: &[&[u8]]) {
        let mut writer = SealedWriter::create(path, PURPOSE).unwrap();
        blocks.iter().for_each(|block| writer.append(key, block).unwrap());
        writer.sync().unwrap();
    }

    /// The blocks, and whether the file is whole.
    fn read(path: &Path, key: &MasterKey, purpose: &'static str) -> (Vec<Vec<u8>>, bool) {
        let mut blocks = Vec::new();
        let Ok(Some(mut reader)) = SealedReader::open(path, purpose) else { return (blocks, false) };
        loop {
            match reader.next(key) {
                Ok(Some(block)) => blocks.push(block.bytes().to_vec()),
                Ok(None) => return (blocks, true),
                Err(Error::Damaged { .. }) => return (blocks, false),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn what_is_read_is_what_was_written_whatever_becomes_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let key = MasterKey::create(directory.path()).unwrap();
        let path = directory.path().join("file");
        assert!(SealedReader::open(&path, PURPOSE).unwrap().is_none());
        let blocks = [b"first".to_vec(), Vec::new(), vec![3; LONGEST_BLOCK]];
        write(&path, &key, &blocks.each_ref().map(|block| &block[..]));
        assert_eq!(read(&path, &key, PURPOSE), (blocks.to_vec(), true));
        assert_eq!(read(&path, &key, "another"), (Vec::new(), false));

        let whole = std::fs::read(&path).unwrap();
        for at in (0..whole.len()).filter(|at| *at < 200 || at % 997 == 0) {
            // A byte is another: what stands before its block is read.
            let mut spoiled = whole.clone();
            spoiled[at] ^= 0x40;
            std::fs::write(&path, &spoiled).unwrap();
            let (read_back, is_whole) = read(&path, &key, PURPOSE);
            assert!(!is_whole && read_back.len() < 3 && blocks.starts_with(&read_back), "byte {at}");
            // The file ends early: no block is made up.
            std::fs::write(&path, &whole[..at]).unwrap();
            let (read_back, _) = read(&path, &key, PURPOSE);
            assert!(read_back.len() < 3 && blocks.starts_with(&read_back), "{at} bytes");
        }
    }

    #[test]
    fn a_file_that_was_torn_goes_on_behind_its_last_whole_block() {
        let directory = tempfile::tempdir().unwrap();
        let key = MasterKey::create(directory.path()).unwrap();
        let path = directory.path().join("file");
        write(&path, &key, &[b"one", b"two"]);
        let length = std::fs::metadata(&path).unwrap().len();
        File::options().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
        let mut reader = SealedReader::open(&path, PURPOSE).unwrap().unwrap();
        assert_eq!(reader.next(&key).unwrap().unwrap().bytes(), b"one");
        assert!(matches!(reader.next(&key), Err(Error::Damaged { at: 66, .. })));
        reader.into_writer().unwrap().append(&key, b"three").unwrap();
        assert_eq!(read(&path, &key, PURPOSE), (vec![b"one".to_vec(), b"three".to_vec()], true));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        SealedWriter::create(&path, PURPOSE).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
