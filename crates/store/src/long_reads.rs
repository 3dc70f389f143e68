//! Connections by which much is read at a time, in threads in which nothing else waits: many rows take several times as long on their
//! way through an asynchronous connection, and to sort them takes a while, too.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction};
use tokio::sync::Semaphore;

use crate::error::Error;

/// How many read at the same time; others wait for their turn.
const READERS: usize = 2;
/// How many statements each connection remembers.
const STATEMENTS: usize = 8;

/// Who reads much at a time.
pub(crate) struct LongReads {
    database: PathBuf,
    turns: Arc<Semaphore>,
    /// Connections that nobody uses just now, at most one for each reader.
    idle: Mutex<Vec<Connection>>,
}

impl LongReads {
    /// From this database.
    pub(crate) fn new(database: PathBuf) -> Self {
        Self { database, turns: Arc::new(Semaphore::new(READERS)), idle: Mutex::default() }
    }

    /// What `read` makes of the database as it is at one time.
    pub(crate) async fn read<T: Send + 'static>(
        self: Arc<Self>,
        read: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| Error::Busy)?;
        // Who asked may be gone meanwhile; the turn ends when the work does.
        let reading = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            self.read_now(read).map_err(failed)
        });
        reading.await.map_err(|_| Error::Died("reader of devices"))?
    }

    fn read_now<T>(&self, read: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = idle.map_or_else(|| self.connect(), Ok)?;
        let made = read(&connection.transaction()?)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(made)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.database, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    }
}

/// The database failed to be read.
fn failed(error: rusqlite::Error) -> Error {
    match Error::from(error) {
        Error::Append(source) => Error::Read(source),
        error => error,
    }
}
