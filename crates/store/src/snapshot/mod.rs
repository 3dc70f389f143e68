//! A snapshot of the DTLS sessions that are open when the cloud stops in order: the next cloud restores them, and their devices
//! notice nothing.
//!
//! A session must be gone on with once at most, or nonces would repeat and old records be taken again. So the file is noted in the database, durably,
//! when it is whole, and noted no more before anything in it is used; a file that is not the very one that was noted is of no use, be it a copy.

mod record;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sixlock_base::Duration;
use sixlock_telemetry::{At, Event, Events};
use zeroize::Zeroizing;

use crate::clock::now_ms;
use crate::error::Error;
use crate::files;
use crate::master_key::MasterKey;
use crate::sealed::{LONGEST_BLOCK, SealedReader, SealedWriter};
use crate::snapshot_note::SnapshotNote;
use crate::store::Store;
pub use record::{Association, Record};

const PURPOSE: &str = "open sessions";
const FILE: &str = "open-sessions";
/// After a longer pause no session is gone on with. Its device resumes it.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// So many numbers of records are left out for each millisecond of the pause: far more than a session can have used. It is for disks that are set
/// back as a whole, with the database, to how they were in the pause: no file can tell of that, but a clock that goes on can.
const SKIPPED_PER_MILLISECOND: u64 = 1024;

/// Writes the snapshot when the cloud stops in order. All shards write to the one file.
pub struct SnapshotWriter {
    path: PathBuf,
    key: MasterKey,
    file: Mutex<Writing>,
}

/// How far the file is.
struct Writing {
    /// None before the first block, and when the disk has failed.
    writer: Option<SealedWriter>,
    failure: Option<Error>,
    sessions: usize,
}

impl SnapshotWriter {
    /// A file in `directory`, which is not there before there is something in it.
    pub fn new(directory: &Path) -> Result<Self, Error> {
        let key = MasterKey::open(directory)?;
        let file = Writing { writer: None, failure: None, sessions: 0 };
        Ok(Self { path: directory.join(FILE), key, file: Mutex::new(file) })
    }

    /// Writes a block of so many sessions; false if the disk has failed, so that there is no use in another.
    fn append(&self, block: &[u8], sessions: usize) -> bool {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions == 0 || file.failure.is_some() {
            return file.failure.is_none();
        }
        let written = match file.writer.take() {
            Some(writer) => Ok(writer),
            None => SealedWriter::create(&self.path, PURPOSE),
        };
        let written = written.and_then(|mut writer| writer.append(&self.key, block).map(|()| writer));
        match written {
            Ok(writer) => {
                file.writer = Some(writer);
                file.sessions += sessions;
            }
            Err(error) => file.failure = Some(error),
        }
        file.failure.is_none()
    }

    /// Notes the file when all of it is on the disk: when nobody writes to it any more, and nobody has what is in it. If that fails, the
    /// sessions are lost, and their devices resume them.
    pub async fn finish(&self, store: &Store, events: &Events) {
        let writing = {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            (file.writer.take(), file.failure.take(), file.sessions)
        };
        let (writer, failure, sessions) = writing;
        let noted = match (writer, failure) {
            (_, Some(error)) => Err(error),
            (None, None) => Ok(()),
            (Some(writer), None) => match writer.finish() {
                Ok(fingerprint) => {
                    let fingerprint = fingerprint.to_vec();
                    store.note_snapshot(SnapshotNote { fingerprint, ended: now_ms() }).await
                }
                Err(error) => Err(error),
            },
        };
        match noted {
            Ok(()) => events.tell(Event::SessionsSaved { sessions }),
            Err(error) => events.tell(Event::Fault { at: At::Sessions, error: &error }),
        }
    }
}

/// Records that gather for a block.
pub struct Block<'a> {
    to: &'a SnapshotWriter,
    bytes: Zeroizing<Vec<u8>>,
    sessions: usize,
}

impl<'a> Block<'a> {
    /// None yet.
    pub fn new(to: &'a SnapshotWriter) -> Self {
        // As long as it ever gets: it is wiped, and would not be where it stood before it grew.
        Self { to, bytes: Zeroizing::new(Vec::with_capacity(LONGEST_BLOCK)), sessions: 0 }
    }

    /// Adds a session; false if the disk has failed.
    pub fn add(&mut self, record: &Record<'_>) -> bool {
        if self.bytes.len() + record::LONGEST > LONGEST_BLOCK && !self.write() {
            return false;
        }
        record.write(&mut self.bytes);
        self.sessions += 1;
        true
    }

    /// Writes what has gathered.
    pub fn write(&mut self) -> bool {
        let written = self.to.append(&self.bytes, self.sessions);
        self.bytes.clear();
        self.sessions = 0;
        written
    }
}

/// The sessions of the cloud before this one.
pub struct Snapshot {
    file: SealedReader,
    key: MasterKey,
    /// For how long there was no cloud; nothing if that was too long to go on with any session.
    pub pause: Option<Duration>,
}

/// How many numbers a session leaves out after a pause.
pub fn skipped_sequence_numbers(pause: Duration) -> u64 {
    u64::from(pause.millis()) * SKIPPED_PER_MILLISECOND
}

impl Snapshot {
    /// Takes the sessions that were suspended in `directory`, if there are any: from now on there are none, whatever happens. What is wrong with them is
    /// told to `events`.
    pub async fn take(directory: &Path, store: &Store, events: &Events) -> Option<Self> {
        let fault = |error: Error| events.tell(Event::Fault { at: At::Sessions, error: &error });
        let path = directory.join(FILE);
        let noted = store.take_snapshot_note().await;
        // To remove it changes it. It is read all the same.
        let file = SealedReader::open(&path, PURPOSE)
            .and_then(|file| file.map(|file| Ok((file.fingerprint()?, file))).transpose());
        let removed = match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(&path, error)),
            _ => files::sync_directory(&path).map_err(|error| Error::file(&path, error)),
        };
        let taken = noted.and_then(|noted| {
            let key = MasterKey::open(directory)?;
            // Without one there is nothing to go on with.
            let Some((fingerprint, file)) = removed.and(file)? else { return Ok(None) };
            let noted = noted.filter(|noted| noted.fingerprint[..] == fingerprint[..]);
            let noted = noted.ok_or(Error::UnknownSnapshot(path))?;
            // A clock that was set back tells nothing.
            let pause = u32::try_from(now_ms().saturating_sub(noted.ended)).ok().map(Duration::from_millis);
            let pause = pause.filter(|pause| *pause <= LONGEST_PAUSE);
            Ok(Some(Self { file, key, pause }))
        });
        taken.map_err(fault).ok().flatten()
    }

    /// Tells each session, up to what is damaged.
    pub fn each(mut self, mut tell: impl FnMut(&Record<'_>)) -> Result<(), Error> {
        while let Some(block) = self.file.next(&self.key)? {
            record::read(block.bytes()).for_each(|record| tell(&record));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: i64 = 3_600_000;

    async fn put_away(directory: &Path, store: &Store) -> SnapshotNote {
        let snapshot = SnapshotWriter::new(directory).unwrap();
        assert!(snapshot.append(b"a block", 1));
        snapshot.finish(store, &Events::unheard()).await;
        store.take_snapshot_note().await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn numbers_run_ahead_with_the_clock_and_nothing_goes_on_after_an_hour_or_before_it_was_put_away() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let (store, _writer) = Store::open(directory).await.unwrap();
        for (pause, goes_on) in
            [(0, true), (2_000, true), (PAUSE - 60_000, true), (PAUSE + 1, false), (-60_000, false)]
        {
            let noted = put_away(directory, &store).await;
            store.note_snapshot(SnapshotNote { ended: now_ms() - pause, ..noted }).await.unwrap();
            let taken = Snapshot::take(directory, &store, &Events::unheard()).await.unwrap();
            assert_eq!(taken.pause.is_some(), goes_on, "after {pause} ms");
            assert!(taken.pause.is_none_or(|taken| skipped_sequence_numbers(taken) >= pause as u64 * 1_024));
            assert!(!directory.join(FILE).exists());
        }
    }

    #[tokio::test]
    async fn what_is_not_noted_or_taken_already_is_nothing_and_the_disk_may_fail() {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        let (store, _writer) = Store::open(directory).await.unwrap();
        let events = Events::unheard();
        assert!(Snapshot::take(directory, &store, &events).await.is_none());
        put_away(directory, &store).await;
        assert!(Snapshot::take(directory, &store, &events).await.is_none(), "it is not noted");
        // A session is open, and the file cannot be made.
        std::fs::create_dir(directory.join(FILE)).unwrap();
        let snapshot = SnapshotWriter::new(directory).unwrap();
        assert!(!snapshot.append(b"a block", 1) && !snapshot.append(b"another", 1));
        snapshot.finish(&store, &events).await;
        assert!(store.take_snapshot_note().await.unwrap().is_none());
        assert!(Snapshot::take(directory, &store, &events).await.is_none());
    }
}
