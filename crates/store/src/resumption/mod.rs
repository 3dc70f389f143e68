//! The states of DTLS sessions on the disk, so that devices resume them with a cloud that was started anew, too, however the
//! one before it ended.
//!
//! A thread of its own writes the records in their order, a batch at a time. A record that is lost in a crash costs its device
//! a full handshake.

mod record;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use sixlock_endpoint::FINGERPRINT_SECRET;
use sixlock_telemetry::{At, Event, Events};
use tokio::sync::mpsc;

use crate::clock::now_ms;
use crate::error::Error;
use crate::master_key::MasterKey;
use crate::sealed::{LONGEST_BLOCK, SealedReader, SealedWriter};
use crate::secrets::{self, Secret};
pub use record::{LONGEST_STATE, Record};

const PURPOSE: &str = "sessions to be resumed";
/// What stands behind a file's name when another is begun, in place of one that is there.
const OLDER: &str = ".1";
/// Records that wait to be written; beyond, they wait where they come from.
const WAITING: usize = 4096;
/// So many in a block mean that many handshakes are made,
const MANY: u64 = 8;
/// and then records gather for so long: to sync each few of them would take a good part of the processor's time.
const GATHERING: Duration = Duration::from_millis(50);

/// How much is kept, and how long.
#[derive(Clone, Copy)]
pub struct Limits {
    /// After so many records another file is begun. There are two, so at least as many are kept.
    /// Records that are to be written.
    pub records: u64,
    /// After so long as well: by the time the next one is begun, nothing in this one can be resumed any more.
    pub milliseconds: i64,
}

/// The owner of the sessions: each has its own files.
#[derive(Clone, Copy)]
pub enum Owner {
    /// The CoAP server.
    Server,
    /// The pollers.
    Pollers,
}

impl Owner {
    const fn file(self) -> &'static str {
        match self {
            Self::Server => "sessions",
            Self::Pollers => "polled-sessions",
        }
    }
}

/// The files of records, to be read once and then written on.
pub struct ResumptionFiles {
    path: PathBuf,
    key: MasterKey,
    limits: Limits,
}

impl ResumptionFiles {
    /// Opens those in `directory`.
    pub fn open(directory: &Path, owner: Owner, limits: Limits) -> Result<Self, Error> {
        let key = MasterKey::open(directory)?;
        Ok(Self { path: directory.join(owner.file()), key, limits })
    }

    /// Hands each record to `tell` in the order in which they were written, and starts a thread that writes new ones, encoded by
    /// `encode`. Of a damaged file, the records before the damage are read, and `events` are told.
    pub fn resume<R: Send + 'static>(
        self,
        events: Events,
        encode: fn(R) -> Secret,
        mut tell: impl FnMut(Record<'_>),
    ) -> Result<ResumptionWriter<R>, Error> {
        let Self { path, key, limits } = self;
        let faults = events.clone();
        let fault = |error: &Error| faults.tell(Event::Fault { at: At::Sessions, error });
        let mut read = |path: &Path| match File::read(path, &key, &mut tell) {
            Ok((file, damage)) => {
                damage.iter().for_each(fault);
                file
            }
            Err(error) => {
                fault(&error);
                None
            }
        };
        let older = read(&older(&path));
        let current = read(&path);
        let secret = match current.as_ref().or(older.as_ref()) {
            Some(file) => file.secret.clone(),
            None => Secret::new(secrets::random::<FINGERPRINT_SECRET>()?.to_vec()),
        };
        let file = match current {
            Some(file) => file,
            None => File::create(&path, &key, &secret)?,
        };
        let (records, waiting) = mpsc::channel(WAITING);
        let thread = thread::Builder::new()
            .name("sessions".into())
            .spawn({
                let path = path.clone();
                move || {
                    if let Err(error) = write(&path, &key, file, (waiting, encode), limits) {
                        events.tell(Event::Fault { at: At::Sessions, error: &error });
                    }
                }
            })
            .map_err(|error| Error::file(&path, error))?;
        Ok(ResumptionWriter { secret, records, thread })
    }
}

/// The way to the disk. When it is dropped, the records that wait are written, and [`ResumptionWriter::thread`] ends.
pub struct ResumptionWriter<R> {
    /// By which keys are told apart, in all that is kept.
    pub secret: Secret,
    /// The records that are to be written.
    pub records: mpsc::Sender<R>,
    /// The thread that writes.
    pub thread: thread::JoinHandle<()>,
}

/// The file before the one at `path`.
fn older(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(OLDER);
    name.into()
}

/// A file that is gone on with.
struct File {
    writer: SealedWriter,
    secret: Secret,
    begun: i64,
    records: u64,
}

impl File {
    /// Another file, in place of one that is there.
    fn create(path: &Path, key: &MasterKey, secret: &Secret) -> Result<Self, Error> {
        let begun = now_ms();
        let mut writer = SealedWriter::create(path, PURPOSE)?;
        let head = Secret::new([&begun.to_be_bytes()[..], secret.bytes()].concat());
        writer.append(key, head.bytes())?;
        Ok(Self { writer, secret: secret.clone(), begun, records: 0 })
    }

    /// Tells the records of a file, and what is wrong with it behind them; nothing if there is no file or it has no head.
    fn read(
        path: &Path,
        key: &MasterKey,
        tell: &mut impl FnMut(Record<'_>),
    ) -> Result<(Option<Self>, Option<Error>), Error> {
        let Some(mut reader) = SealedReader::open(path, PURPOSE)? else { return Ok((None, None)) };
        let Some(head) = reader.next(key)? else { return Ok((None, None)) };
        let (begun, secret) = head.bytes().split_first_chunk().ok_or(Error::Invalid("not a head"))?;
        let (begun, secret) = (i64::from_be_bytes(*begun), Secret::new(secret.to_vec()));
        let mut records = 0;
        let damage = loop {
            match reader.next(key) {
                Ok(Some(block)) => {
                    for record in record::read(block.bytes()) {
                        tell(record);
                        records += 1;
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        Ok((Some(Self { writer: reader.into_writer()?, secret, begun, records }), damage))
    }
}

/// Whether a block has room for another record.
fn has_room(block: &[u8]) -> bool {
    block.len() + record::LONGEST <= LONGEST_BLOCK
}

/// Writes what comes until nothing comes any more.
fn write<R>(
    path: &Path,
    key: &MasterKey,
    mut file: File,
    (mut waiting, encode): (mpsc::Receiver<R>, fn(R) -> Secret),
    limits: Limits,
) -> Result<(), Error> {
    while let Some(first) = waiting.blocking_recv() {
        if file.records >= limits.records || now_ms().saturating_sub(file.begun) >= limits.milliseconds {
            std::fs::rename(path, older(path)).map_err(|error| Error::file(path, error))?;
            file = File::create(path, key, &file.secret)?;
        }
        let (mut next, before) = (Some(first), file.records);
        // As long as it ever gets: it is wiped, and would not be where it stood before it grew.
        let mut block = zeroize::Zeroizing::new(Vec::with_capacity(LONGEST_BLOCK));
        while let Some(record) = next {
            block.extend_from_slice(encode(record).bytes());
            file.records += 1;
            next = has_room(&block).then(|| waiting.try_recv().ok()).flatten();
        }
        file.writer.append(key, &block)?;
        file.writer.sync()?;
        // Of what gathered, more may wait than a block holds.
        if file.records - before >= MANY && has_room(&block) {
            thread::sleep(GATHERING);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
