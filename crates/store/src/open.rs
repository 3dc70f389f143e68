//! Opening the store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sixlock_telemetry::Events;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use tokio::sync::{Mutex, Notify, watch};

use crate::belonging::{self, DATABASE};
use crate::clock::now_ms;
use crate::command_queue::CommandQueue;
use crate::commands;
use crate::error::Error;
use crate::files::make_database_private;
use crate::journal::{Queue, Sqlite, Writer};
use crate::long_reads::LongReads;
use crate::schema::migrate;
use crate::store::Store;

const READERS: u32 = 4;
/// Connections for looking up the keys of handshakes, and for nothing else. One is opened when all others are in use, so
/// look-ups that are slow hold up others only when there are as many.
const KEY_READERS: u32 = 16;
/// What each of these keeps of the database, in KiB: the way to a key, not all keys.
const KEY_READER_CACHE: &str = "-256";

impl Store {
    /// Opens the store in `directory`, making what is missing.
    pub async fn open(directory: &Path) -> Result<(Self, Writer), Error> {
        Self::open_telling(directory, Events::unheard()).await
    }

    /// Opens the store in `directory`, making what is missing; what its writer does is told to `events`.
    pub async fn open_telling(directory: &Path, events: Events) -> Result<(Self, Writer), Error> {
        let path = directory.join(DATABASE);
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A commit returns when it would survive power loss.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(5))
            .disable_statement_logging();
        let master = belonging::master_key(directory)?;
        make_database_private(&path).map_err(|error| Error::file(&path, error))?;
        migrate(&options).await?;
        belonging::check(&path, &master)?;
        let own = belonging::own_keys(directory)?;
        let mut connection = SqliteConnection::connect_with(&options).await?;
        let commands = Arc::new(CommandQueue::new(commands::queued(&mut connection).await?));
        let options = options.create_if_missing(false).read_only(true);
        let pool = |connections| SqlitePoolOptions::new().max_connections(connections);
        let readers = pool(READERS).connect_with(options.clone()).await?;
        let keys = pool(KEY_READERS).connect_with(options.pragma("cache_size", KEY_READER_CACHE)).await?;
        let turn = Arc::new(Mutex::new(connection));
        let outbox = Arc::<Notify>::default();
        let journal = Sqlite::open(&path, turn.clone(), outbox.clone())?;
        let keeping_changed = journal.keeping_changed();
        let (queue, writer, changes) = Queue::start(journal, now_ms, events)?;
        let store = Self {
            directory: directory.into(),
            readers,
            keys,
            long_reads: Arc::new(LongReads::new(path)),
            writer: turn,
            queue,
            hasher: Arc::default(),
            changes,
            master: Arc::new(master),
            own: Arc::new(own),
            poller_changes: Arc::default(),
            poller_pauses: Arc::default(),
            commands,
            revocations: Arc::default(),
            sent: Arc::default(),
            ends: Arc::default(),
            outbox,
            broker_changes: watch::Sender::default(),
            keeping_changed,
            access: watch::Sender::new(()),
        };
        Ok((store, writer))
    }
}
