//! What the cloud keeps: accounts, devices and their readings, in SQLite.
//!
//! The SQL is the common subset of SQLite and PostgreSQL: `$n`, `ON CONFLICT`, `RETURNING`, integer milliseconds.

mod accounts;
mod points;
mod resources;
mod writer;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, Notify, mpsc, watch};
use tokio::task::JoinHandle;
use utoipa::ToSchema;

use crate::Error;
use crate::secrets::MasterKey;

pub(crate) use accounts::TokenLife;
pub use accounts::{ADMINISTRATOR, User};
pub use points::{LONGEST_PAGE, Page, Point, StoredPoint};
pub use resources::{Device, Psk, Resource, Stream};
pub use writer::{
    Append, Idempotency, RETRANSMISSION_WINDOW_MS, Reading, STREAMS_PER_RESOURCE, Transmission,
};

macro_rules! ids {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema)]
        #[serde(transparent)]
        pub struct $name(pub i64);
    )*};
}

ids! {
    /// The row of a user.
    UserId,
    /// The row of a resource.
    ResourceId,
    /// The row of a stream.
    StreamId,
    /// The row of a point; the live feed counts in them.
    PointId,
}

/// Readings waiting for the writer. Beyond them, posts are refused as busy.
const WAITING: usize = 4096;
const READERS: u32 = 4;

/// The store. Clones share it.
#[derive(Clone)]
pub struct Store {
    readers: SqlitePool,
    /// The one connection that writes: SQLite has one writer, so waiting for it is done here, fairly.
    writer: Arc<Mutex<SqliteConnection>>,
    appends: mpsc::Sender<writer::Waiting>,
    closing: Arc<Notify>,
    /// The newest committed point.
    newest: watch::Receiver<PointId>,
    master: Arc<MasterKey>,
}

impl Store {
    /// Opens the store in `directory`, making what is missing. The task ends, with everything that was handed
    /// to [`Store::append`] committed, after [`Store::close`] or when the last clone of the store is dropped.
    pub async fn open(directory: &Path) -> Result<(Self, JoinHandle<()>), Error> {
        let path = directory.join("sixlock.db");
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A commit returns when it would survive power loss.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(5))
            .disable_statement_logging();
        let master = MasterKey::open(&directory.join("master.key"))?;
        let mut connection = SqliteConnection::connect_with(&options).await?;
        migrations().run(&mut connection).await.map_err(Error::Schema)?;
        let newest = points::newest(&mut connection).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_with(options.create_if_missing(false).read_only(true))
            .await?;
        let (appends, waiting) = mpsc::channel(WAITING);
        let (announce, newest) = watch::channel(newest);
        let writer = Arc::new(Mutex::new(connection));
        let closing = Arc::new(Notify::new());
        let task = tokio::spawn(writer::run(writer.clone(), waiting, closing.clone(), announce));
        Ok((Self { readers, writer, appends, closing, newest, master: Arc::new(master) }, task))
    }

    /// Lets nothing more be appended. Clones of the store can be read from still.
    pub fn close(&self) {
        self.closing.notify_one();
    }

    /// The newest committed point, and word of newer ones.
    pub fn newest(&self) -> watch::Receiver<PointId> {
        self.newest.clone()
    }
}

fn migrations() -> Migrator {
    let sql = include_str!("../../migrations/0001_accounts_devices_points.sql");
    let first = Migration::new(
        1,
        Cow::Borrowed("accounts, devices, points"),
        MigrationType::Simple,
        sql.into_sql_str(),
        false,
    );
    Migrator::with_migrations(vec![first])
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
