//! Connections by which much is read at a time, in threads in which nothing else waits: many rows take several times as long on their
//! way through an asynchronous connection, and to sort them takes a while, too.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::Error;
use crate::ids::UserId;

/// How many read at the same time, each of another user's devices; others wait for their turn.
const READERS: usize = 2;
/// The most who read, or wait for it, and those among them who read of one user's devices: further ones are refused.
const MOST: usize = 128;
const MOST_OF_USER: usize = 16;
/// How long one waits before it is refused.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many statements each connection remembers.
const STATEMENTS: usize = 8;

/// Those who read or wait for it, by whose devices they read: how many they are, and the one turn that they have at a time.
type Lines = HashMap<UserId, (usize, Arc<Semaphore>)>;

/// One among those who read of one user's devices, or wait for it, until it is dropped.
struct Waiter {
    reads: Arc<LongReads>,
    user: UserId,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut lines = self.reads.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((number, _)) = lines.get_mut(&self.user) {
            *number -= 1;
            if *number == 0 {
                lines.remove(&self.user);
            }
        }
    }
}

/// What whoever reads holds meanwhile.
struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_user: OwnedSemaphorePermit,
    _waiter: Waiter,
}

/// Who reads much at a time.
pub(crate) struct LongReads {
    database: PathBuf,
    turns: Arc<Semaphore>,
    lines: Mutex<Lines>,
    /// Connections that nobody uses just now, at most one for each reader.
    idle: Mutex<Vec<Connection>>,
}

impl LongReads {
    /// From this database.
    pub(crate) fn new(database: PathBuf) -> Self {
        Self {
            database,
            turns: Arc::new(Semaphore::new(READERS)),
            lines: Mutex::default(),
            idle: Mutex::default(),
        }
    }

    /// What `read` makes of the devices of `user` in the database, as it is at one time.
    pub(crate) async fn read<T: Send + 'static>(
        self: Arc<Self>,
        user: UserId,
        read: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let turn = self.clone().turn(user, PATIENCE).await?;
        // Who asked may be gone meanwhile; the turn ends when the work does.
        let reading = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            self.read_now(read).map_err(failed)
        });
        reading.await.map_err(|_| Error::Died("reader of devices"))?
    }

    /// Waits for a turn for so long, unless too many wait already.
    async fn turn(self: Arc<Self>, user: UserId, patience: Duration) -> Result<Turn, Error> {
        let (waiter, own) = self.clone().enter(user)?;
        let both = async {
            // One that waits for its user's others does not keep other users waiting.
            let of_user = own.acquire_owned().await.ok()?;
            Some((self.turns.clone().acquire_owned().await.ok()?, of_user))
        };
        let (of_all, of_user) = timeout(patience, both).await.ok().flatten().ok_or(Error::Busy)?;
        Ok(Turn { _of_all: of_all, _of_user: of_user, _waiter: waiter })
    }

    fn enter(self: Arc<Self>, user: UserId) -> Result<(Waiter, Arc<Semaphore>), Error> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = lines.values().map(|(number, _)| number).sum();
        let of_user = lines.get(&user).map_or(0, |(number, _)| *number);
        if all >= MOST || of_user >= MOST_OF_USER {
            return Err(Error::Busy);
        }
        let (number, own) = lines.entry(user).or_insert_with(|| (0, Arc::new(Semaphore::new(1))));
        *number += 1;
        let own = own.clone();
        drop(lines);
        Ok((Waiter { reads: self, user }, own))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_user_has_one_turn_at_a_time_and_so_many_wait_for_so_long() {
        let reads = Arc::new(LongReads::new(PathBuf::new()));
        // Without patience, what cannot be had at once is refused.
        let at_once = |user| reads.clone().turn(UserId(user), Duration::ZERO);
        let first = at_once(1).await.unwrap();
        assert!(matches!(at_once(1).await, Err(Error::Busy)), "its user has the turn");
        let wait = |_| tokio::spawn(reads.clone().turn(UserId(1), Duration::from_secs(60)));
        let waiting: Vec<_> = (1..MOST_OF_USER).map(wait).collect();
        tokio::task::yield_now().await;
        assert!(matches!(reads.clone().enter(UserId(1)), Err(Error::Busy)), "as many wait as may");
        let other = at_once(2).await.expect("those of one user keep no other waiting");
        assert!(matches!(at_once(3).await, Err(Error::Busy)), "two read already");
        drop(first);
        for waiting in waiting {
            assert!(waiting.await.unwrap().is_ok(), "one after the other has its turn");
        }
        drop(other);
        assert!(reads.lines.lock().unwrap().is_empty());
    }
}
