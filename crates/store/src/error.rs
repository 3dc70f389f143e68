//! Why the cloud cannot do something, in words that say what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sixlock_telemetry::FileError;

use serde::Serialize;
use utoipa::ToSchema;

use crate::left_out::LeftOut;

/// A device that cannot be enrolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BadDevice {
    /// Which one of those that came together, the first being 0.
    pub device: usize,
    /// What is wrong with it.
    pub why: String,
}

/// A rule or channel that cannot be as it is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BadDefinition {
    /// Which of the two: `rule` or `channel`.
    pub kind: &'static str,
    /// What it is called.
    pub label: String,
    /// What is wrong with it.
    pub why: String,
}

/// Why the store cannot do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// A file cannot be read or written.
    File {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another cloud uses the data folder.
    InUse(PathBuf),
    /// The database failed.
    Database(sqlx::Error),
    /// The database failed to take readings.
    Append(rusqlite::Error),
    /// The database failed to be read.
    Read(rusqlite::Error),
    /// The database was made by a newer version, or its schema was changed by hand.
    Schema(sqlx::migrate::MigrateError),
    /// The system gives no random bytes.
    Entropy,
    /// The database is damaged, or is none.
    DamagedDatabase(String),
    /// There is no room left on the disk.
    DiskFull(String),
    /// The master key's file does not hold a key.
    MasterKey(PathBuf),
    /// There is a database, but not the master key that its keys are sealed under.
    MasterKeyMissing(PathBuf),
    /// The master key is not the one that the keys in the database are sealed under.
    WrongMasterKey(PathBuf),
    /// There is no database, or an empty one, though a cloud has run with the folder.
    DatabaseMissing(PathBuf),
    /// A device key does not open under the master key.
    SealedKey,
    /// The file of the cloud's own keys does not hold a private key and its certificate.
    OwnKey(PathBuf),
    /// A file of the cloud's own keys is missing, though the cloud had it.
    OwnKeyMissing(PathBuf),
    /// The file of the cloud's own keys holds another key than the cloud had.
    WrongOwnKey(PathBuf),
    /// A password could not be hashed.
    Password,
    /// The name, label or identity is in use.
    Taken(&'static str),
    /// The public key, or the certificate, is that of another resource.
    KeyTaken,
    /// There are as many already as are kept.
    Full(&'static str),
    /// A user may not have more of these.
    Quota {
        /// Resources or streams.
        what: &'static str,
        /// How many the user may have.
        most: i64,
    },
    /// A user may not store more points today.
    PointsOfDay {
        /// How many points a day the user may store.
        most: i64,
        /// In how many milliseconds the next day begins.
        again_ms: i64,
    },
    /// A field does not have the form it needs.
    Invalid(&'static str),
    /// Of devices that came together, these cannot be enrolled, so none of them is.
    Devices(Vec<BadDevice>),
    /// Of rules and channels that came together, these cannot be, so all stays as it was.
    Definitions(Vec<BadDefinition>),
    /// No cloud has ever run with this data folder.
    NeverStarted(PathBuf),
    /// A payload does not give readings.
    Payload(sixlock_ingest::Refused),
    /// A parser cannot be made of what it is to be.
    Parser(sixlock_ingest::ParserError),
    /// How a parser is to read times is no format of times.
    TimeFormat(String),
    /// What is to compute a stream is no expression.
    Expression(sixlock_expression::ExpressionError),
    /// What is to be computed has an input of texts.
    TextInput {
        /// What the expression calls it.
        name: String,
    },
    /// An input of a computed stream is not there.
    UnknownInput {
        /// What the expression calls it.
        name: String,
        /// What is not there: its resource or its stream.
        what: &'static str,
    },
    /// A stream would be computed from itself.
    Cycle,
    /// None of the points of a post is taken by its stream.
    LeftOut(Vec<LeftOut>),
    /// What is there would be discarded, and that was not said to be meant.
    Discards {
        /// How many points.
        points: i64,
        /// How many rollups.
        rollups: i64,
    },
    /// The same, of so many streams.
    DiscardsOfStreams(i64),
    /// There are more or fewer devices than whoever wants to change them says.
    Count {
        /// How many were said.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Devices were being deleted in parts, and one part failed: those before it are gone.
    PartlyDeleted {
        /// How many are gone.
        deleted: usize,
        /// How many were to go.
        of: usize,
        /// Why the part failed.
        source: Box<Error>,
    },
    /// A stream is computed, so its points are what its inputs make them.
    Computed,
    /// The file is there already.
    Exists(PathBuf),
    /// The folder is not empty.
    NotEmpty(PathBuf),
    /// The file is not a backup, or not a whole one.
    NotABackup(PathBuf),
    /// The backup is not as it was written.
    DamagedBackup(PathBuf),
    /// A file that the cloud has sealed is not as it was written.
    Damaged {
        /// Its path.
        path: PathBuf,
        /// How many of its bytes are.
        at: u64,
    },
    /// The file is not the one in which the cloud before this one has put its open sessions away.
    UnknownSnapshot(PathBuf),
    /// There is no such thing.
    Unknown(&'static str),
    /// It is not in the state any more in which it was to be changed.
    Changed,
    /// A part of the cloud ended before it was told to.
    Died(&'static str),
    /// More work is waiting than is taken on, or the cloud is stopping.
    Busy,
}

impl Error {
    /// The error `source` of the file at `path`.
    pub fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    /// What is wrong with one of several things that came together, for whoever sent it.
    ///
    /// # Errors
    /// The error itself, if it is not about that thing but about the cloud.
    pub(crate) fn why_refused(self) -> Result<String, Self> {
        match self {
            Self::Invalid(_) | Self::Full(_) | Self::Taken(_) | Self::KeyTaken | Self::Unknown(_) => {
                Ok(self.to_string())
            }
            error => Err(error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::InUse(path) => write!(
                f,
                "another cloud uses {}; stop it, or pass another folder with --data",
                path.display()
            ),
            Self::Database(source) => write!(f, "the database failed: {source}"),
            Self::Append(source) => write!(f, "readings cannot be stored: {source}"),
            Self::Read(source) => write!(f, "the database cannot be read: {source}"),
            Self::DamagedDatabase(source) => write!(
                f,
                "the database is damaged: {source}; restore a backup into a new folder: sixlock cloud restore FILE --data DIR"
            ),
            Self::DiskFull(source) => {
                write!(f, "nothing can be stored: {source}; make room on the disk of the data folder")
            }
            Self::MasterKeyMissing(path) => write!(
                f,
                "{} is missing, and no other key opens what is sealed in this folder; copy the file back, or restore a backup into a new \
                 folder: sixlock cloud restore FILE --data DIR",
                path.display()
            ),
            Self::WrongMasterKey(path) => write!(
                f,
                "{} is not the key that the device keys in the database are sealed under; put back the one that is, or restore a backup \
                 into a new folder: sixlock cloud restore FILE --data DIR",
                path.display()
            ),
            Self::DatabaseMissing(path) => write!(
                f,
                "{} is missing or empty, though a cloud has run with this folder; put it back, or restore a backup into a new folder: \
                 sixlock cloud restore FILE --data DIR; to begin anew, choose another folder with --data",
                path.display()
            ),
            Self::Schema(source) => {
                write!(
                    f,
                    "the database does not fit this version: {source}; use the version that made it, or newer"
                )
            }
            Self::Entropy => f.write_str("the system gives no random bytes"),
            Self::MasterKey(path) => write!(
                f,
                "{} does not hold 32 hexadecimal digits, and without the key no device key can be read; copy the file back, or restore a \
                 backup into a new folder: sixlock cloud restore FILE --data DIR",
                path.display()
            ),
            Self::SealedKey => f.write_str(
                "a device key does not open under the master key; restore the master.key that sealed it",
            ),
            Self::OwnKey(path) => write!(
                f,
                "{} does not hold a private key of P-256 and its certificate, and devices know the cloud by no other; copy the file back, or \
                 restore a backup into a new folder: sixlock cloud restore FILE --data DIR",
                path.display()
            ),
            Self::OwnKeyMissing(path) => write!(
                f,
                "{} is missing, and devices know the cloud by no other key; copy the file back, or restore a backup into a new folder: \
                 sixlock cloud restore FILE --data DIR; to begin anew, choose another folder with --data",
                path.display()
            ),
            Self::WrongOwnKey(path) => write!(
                f,
                "{} holds another key than the one by which devices know the cloud; put back the one that was there, or restore a backup \
                 into a new folder: sixlock cloud restore FILE --data DIR",
                path.display()
            ),
            Self::Password => f.write_str("the password could not be hashed; is there memory left?"),
            Self::Taken(what) => write!(f, "this {what} is in use; choose another"),
            Self::KeyTaken => f.write_str(
                "this identity is in use: another resource has the public key or certificate; if the device is yours and that resource is not, \
                 ask an administrator to end the credential there: sixlock keys remove RESOURCE --user NAME --identity IDENTITY",
            ),
            Self::Full(rule) | Self::Invalid(rule) => f.write_str(rule),
            Self::Quota { what, most } => {
                write!(f, "the quota of {most} {what} is used up; delete some, or ask an administrator for more")
            }
            Self::PointsOfDay { most, again_ms } => write!(
                f,
                "these points are more than the quota of {most} a day has left; send them in {} s, when the next day begins in UTC, or ask an \
                 administrator for more",
                again_ms.div_euclid(1000) + 1
            ),
            Self::Devices(bad) => {
                f.write_str("none of the devices is enrolled")?;
                bad.iter().try_for_each(|bad| write!(f, "; device {}: {}", bad.device, bad.why))
            }
            Self::Definitions(bad) => {
                f.write_str("rules and channels stay as they were")?;
                bad.iter().try_for_each(|bad| write!(f, "; {} {}: {}", bad.kind, bad.label, bad.why))
            }
            Self::NeverStarted(path) => write!(
                f,
                "no cloud has run with {} yet; start it once: sixlock cloud --data {0}",
                path.display()
            ),
            Self::Payload(refused) => write!(f, "{refused}"),
            Self::Parser(error) => write!(f, "{error}"),
            Self::TimeFormat(why) => write!(f, "time_format: {why}"),
            Self::Expression(error) => write!(f, "expression: {error}"),
            Self::Exists(path) => write!(f, "{} exists; choose another name", path.display()),
            Self::NotEmpty(path) => write!(
                f,
                "{} is not empty; stop the cloud there, if one runs, and choose another folder",
                path.display()
            ),
            Self::Damaged { path, at } => write!(
                f,
                "{} is not as it was written from byte {at} on; what was kept there of DTLS sessions is lost, and costs \
                 their devices a full handshake",
                path.display()
            ),
            Self::UnknownSnapshot(path) => write!(
                f,
                "{} is not what the cloud wrote when it last ended in order, or a copy of that, and was removed; the sessions in it are not gone on \
                 with, as none may be twice: their devices resume them",
                path.display()
            ),
            Self::NotABackup(path) => write!(
                f,
                "{} is not a whole backup; choose another, made by: sixlock cloud backup",
                path.display()
            ),
            Self::DamagedBackup(path) => write!(
                f,
                "the backup is damaged: {} does not hold what was written to it (its SHA-256 differs), and nothing was restored; take another \
                 copy of it, or an older backup",
                path.display()
            ),
            Self::Unknown(what) => write!(f, "there is no such {what}"),
            Self::TextInput { name } => {
                write!(f, "inputs: {name} is a stream of texts, and nothing is computed from texts")
            }
            Self::UnknownInput { name, what } => write!(f, "inputs: for {name} there is no such {what}"),
            Self::Cycle => f.write_str("the stream would be computed from itself, at once or by way of others"),
            Self::LeftOut(left_out) => {
                f.write_str("nothing of it is stored")?;
                left_out.iter().try_for_each(|left_out| write!(f, "; {left_out}"))
            }
            Self::DiscardsOfStreams(streams) => {
                write!(f, "{streams} streams have points that would be discarded")
            }
            Self::Count { expected, found } => {
                write!(f, "{found} devices are chosen now, not {expected}: nothing was changed")
            }
            Self::PartlyDeleted { deleted, of, source } => {
                write!(f, "{deleted} of {of} devices are deleted, and the others are there still: {source}")
            }
            Self::Discards { points, rollups } => {
                write!(f, "this discards {points} points that are stored, and {rollups} rollups of hours")
            }
            Self::Computed => f.write_str("the stream is computed: its points are what those of its inputs make them"),
            Self::Changed => f.write_str("it was changed by another meanwhile"),
            Self::Died(what) => {
                write!(f, "the {what} ended too early; what was acknowledged is stored, please report this")
            }
            Self::Busy => f.write_str("more is waiting than is taken on; try again"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            Self::Database(source) => Some(source),
            Self::Append(source) | Self::Read(source) => Some(source),
            Self::Schema(source) => Some(source),
            Self::Payload(refused) => Some(refused),
            Self::Parser(error) => Some(error),
            Self::Expression(error) => Some(error),
            Self::PartlyDeleted { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// What SQLite's result code says that an operator can do something about; nothing if it says no such thing.
/// The [codes](https://www.sqlite.org/rescode.html) are FULL, CORRUPT and NOTADB.
fn known(code: i32, said: &impl fmt::Display) -> Option<Error> {
    match code & 0xff {
        13 => Some(Error::DiskFull(said.to_string())),
        11 | 26 => Some(Error::DamagedDatabase(said.to_string())),
        _ => None,
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let code = error.as_database_error().and_then(|error| error.code()?.parse().ok());
        code.and_then(|code| known(code, &error)).unwrap_or(Self::Database(error))
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_error().map(|error| error.extended_code);
        code.and_then(|code| known(code, &error)).unwrap_or(Self::Append(error))
    }
}

impl From<sqlx::migrate::MigrateError> for Error {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        use sqlx::migrate::MigrateError::{Execute, ExecuteMigration};
        match error {
            Execute(source) => source.into(),
            ExecuteMigration(source, version) => match source.into() {
                Self::Database(source) => Self::Schema(ExecuteMigration(source, version)),
                known => known,
            },
            error => Self::Schema(error),
        }
    }
}

impl From<FileError> for Error {
    fn from(FileError { path, source }: FileError) -> Self {
        Self::File { path, source }
    }
}

impl From<sixlock_ingest::Refused> for Error {
    fn from(refused: sixlock_ingest::Refused) -> Self {
        Self::Payload(refused)
    }
}

impl From<sixlock_expression::ExpressionError> for Error {
    fn from(error: sixlock_expression::ExpressionError) -> Self {
        Self::Expression(error)
    }
}

impl From<sixlock_ingest::ParserError> for Error {
    fn from(error: sixlock_ingest::ParserError) -> Self {
        Self::Parser(error)
    }
}
