//! All devices of a user, as the database has them.
//!
//! They are read by connections of their own, in threads in which nothing else waits: that many rows take several times as long on
//! their way through an asynchronous connection, and to sort them takes a while, too.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, Row};
use tokio::sync::Semaphore;

use super::device::FleetDevice;
use crate::error::Error;
use crate::ids::UserId;
use crate::latest_sql::candidates;
use crate::resources::{COLUMNS, TABLES, resource};

/// How many look at devices at the same time; others wait for their turn.
const READERS: usize = 2;
/// How many statements each connection remembers.
const STATEMENTS: usize = 8;

/// Who looks at the devices of users.
pub(crate) struct FleetReaders {
    database: PathBuf,
    turns: Arc<Semaphore>,
    /// Connections that nobody uses just now, at most one for each who looks.
    idle: Mutex<Vec<Connection>>,
}

impl FleetReaders {
    /// Of this database.
    pub(crate) fn new(database: PathBuf) -> Self {
        Self { database, turns: Arc::new(Semaphore::new(READERS)), idle: Mutex::default() }
    }

    /// What `make` makes of all devices of `owner`, in the order of their ids, as they are at the time `now`.
    pub(crate) async fn look<T: Send + 'static>(
        self: Arc<Self>,
        owner: UserId,
        now: i64,
        make: impl FnOnce(Vec<FleetDevice>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let turn = self.turns.clone().acquire_owned().await.map_err(|_| Error::Busy)?;
        // Who asked may be gone meanwhile; the turn ends when the work does.
        let looked = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            self.devices(owner, now).map(make)
        });
        looked.await.map_err(|_| Error::Died("reader of devices"))?
    }

    fn devices(&self, owner: UserId, now: i64) -> Result<Vec<FleetDevice>, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = idle.map_or_else(|| self.connect(), Ok).map_err(read)?;
        let devices = devices(&mut connection, owner, now).map_err(read)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        Ok(devices)
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.database, flags)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    }
}

/// The database failed to be read.
fn read(error: rusqlite::Error) -> Error {
    match Error::from(error) {
        Error::Append(source) => Error::Read(source),
        error => error,
    }
}

/// What a row says besides what stands in it: its poller's period and whether that is paused, and when its points were deleted last.
type Found = (crate::resources::ResourceRow, Option<(i64, bool)>, (Option<i64>, i64));

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    let resource = (
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
        row.get(8)?,
        row.get(9)?,
    );
    let (period, paused): (Option<i64>, Option<bool>) = (row.get(10)?, row.get(11)?);
    Ok((resource, period.zip(paused), (row.get(12)?, row.get(13)?)))
}

fn devices(connection: &mut Connection, owner: UserId, now: i64) -> rusqlite::Result<Vec<FleetDevice>> {
    // One look: all of it is as it was at one time.
    let transaction = connection.transaction()?;
    let sql = format!(
        "SELECT {COLUMNS}, pollers.period, paused, heard, heard_point FROM {TABLES}
         LEFT JOIN pollers ON pollers.resource = resources.id WHERE owner = $1 ORDER BY resources.id"
    );
    let all: Vec<Found> =
        transaction.prepare_cached(&sql)?.query_map([owner.0], found)?.collect::<rusqlite::Result<_>>()?;
    let mut heard = HashMap::<i64, (i64, i64)>::with_capacity(all.len());
    {
        let mut latest = transaction.prepare_cached(&candidates("owner = $1"))?;
        let mut rows = latest.query([owner.0])?;
        while let Some(row) = rows.next()? {
            let (resource, point, arrived): (i64, i64, i64) = (row.get(0)?, row.get(2)?, row.get(5)?);
            let known = heard.entry(resource).or_insert((point, arrived));
            // Of its points, the one of the greatest number arrived last.
            *known = (*known).max((point, arrived));
        }
    }
    let alerts: HashMap<i64, i64> = transaction
        .prepare_cached(
            "SELECT rules.resource, count(*) FROM alerts JOIN rules ON rules.id = alerts.rule
             WHERE alerts.owner = $1 AND state IN ('open', 'acknowledged') GROUP BY rules.resource",
        )?
        .query_map([owner.0], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let device = |(row, poller, (deleted, deleted_point)): Found| {
        let resource = resource(row);
        let latest = heard.get(&resource.id.0).copied();
        let heard = match (latest, deleted) {
            (Some((point, arrived)), Some(_)) if point > deleted_point => Some(arrived),
            (Some((_, arrived)), None) => Some(arrived),
            (_, deleted) => deleted,
        };
        let alerts = alerts.get(&resource.id.0).copied().unwrap_or_default();
        FleetDevice::new(resource, heard, poller, alerts, now)
    };
    Ok(all.into_iter().map(device).collect())
}
