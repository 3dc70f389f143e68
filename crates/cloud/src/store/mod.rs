//! What the cloud keeps: accounts, devices and their readings, in SQLite.
//!
//! The SQL is the common subset of SQLite and PostgreSQL: `$n`, `ON CONFLICT`, `RETURNING`, integer milliseconds.

mod access;
mod accounts;
mod belonging;
mod credentials;
mod enrolment;
mod expiry;
mod feed;
mod import;
mod known_keys;
mod latest;
mod parsers;
mod points;
mod pollers;
mod receipts;
mod resources;
mod rotation;
mod stream_rows;
mod streams;
mod suspended;
mod tokens;
mod writer;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use sixlock_telemetry::Events;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqlSafeStr, SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, Notify, mpsc, watch};
use utoipa::ToSchema;

use crate::Error;
use crate::private_files::make_database_private;
use crate::public_keys::OwnKeys;
use crate::secrets::MasterKey;

pub(crate) use access::{Access, SignedIn, TokenDigest};
pub use accounts::{ADMINISTRATOR, User};
pub(crate) use belonging::{DATABASE, belongs, is_new};
pub(crate) use credentials::KnownKey;
pub use credentials::{Credential, HeldCredential, Known};
pub use enrolment::CertificateTerms;
pub(crate) use expiry::SOON_MS;
pub(crate) use feed::{FeedPoint, LONGEST_REPLAY, Next, Scope};
pub use import::BadDevice;
pub(crate) use known_keys::KnownKeys;
pub use latest::Latest;
pub use parsers::Parser;
pub use points::{LONGEST_PAGE, Page, Point};
pub(crate) use pollers::{NewPoller, PollCredential, Polled, Poller, Turn};
pub use receipts::{Idempotency, RETRANSMISSION_WINDOW_MS, Transmission};
pub use resources::{Device, Enrolled, Resource};
pub(crate) use rotation::Revocation;
pub use rotation::{Rotated, Rotation};
pub use stream_rows::STREAMS_PER_RESOURCE;
pub use streams::Stream;
pub(crate) use suspended::Noted;
pub(crate) use tokens::{ADMINISTRATORS_FILE, SESSION_MS, Token};
pub use writer::{Append, Reading, Writer};

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
    /// The row of a parser.
    ParserId,
    /// The row of a point; the live feed counts in them.
    PointId,
    /// The row of a credential.
    CredentialId,
}

/// A page of a list in the order of ids.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// At most so many.
    pub limit: i64,
    /// Only those with greater ids.
    pub after: i64,
}

const READERS: u32 = 4;
/// Connections for looking up the keys of handshakes, and for nothing else. One is opened when all others are in use, so
/// look-ups that are slow hold up others only when there are as many.
const KEY_READERS: u32 = 16;
/// What each of these keeps of the database, in KiB: the way to a key, not all keys.
const KEY_READER_CACHE: &str = "-256";

/// The store. Clones share it.
#[derive(Clone)]
pub struct Store {
    directory: Arc<Path>,
    readers: SqlitePool,
    keys: SqlitePool,
    /// The connection that writes all but readings: SQLite has one writer at a time, so waiting is done here, fairly.
    writer: Arc<Mutex<SqliteConnection>>,
    appends: writer::Appends,
    /// The newest committed point.
    newest: watch::Receiver<PointId>,
    master: Arc<MasterKey>,
    own: Arc<OwnKeys>,
    /// Who closes the sessions of credentials that end; nobody where no sessions are.
    doors: Arc<OnceLock<mpsc::Sender<Revocation>>>,
    /// The keys that devices have sent with requests lately.
    sent: Arc<std::sync::Mutex<KnownKeys<ResourceId>>>,
    /// Tells that a credential was given an end.
    ends: Arc<Notify>,
    /// The pollers that were changed.
    poller_changes: Arc<pollers::Changes>,
    /// Tells that a token, a user or a role ended.
    access: watch::Sender<()>,
}

impl Store {
    /// Opens the store in `directory`, making what is missing.
    pub async fn open(directory: &Path) -> Result<(Self, Writer), Error> {
        Self::open_telling(directory, Events::unheard()).await
    }

    /// Opens the store in `directory`, making what is missing; what its writer does is told to `events`.
    pub(crate) async fn open_telling(directory: &Path, events: Events) -> Result<(Self, Writer), Error> {
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
        let own = OwnKeys::open(directory)?;
        let mut connection = SqliteConnection::connect_with(&options).await?;
        let newest = points::newest(&mut connection).await?;
        let options = options.create_if_missing(false).read_only(true);
        let pool = |connections| SqlitePoolOptions::new().max_connections(connections);
        let readers = pool(READERS).connect_with(options.clone()).await?;
        let keys = pool(KEY_READERS).connect_with(options.pragma("cache_size", KEY_READER_CACHE)).await?;
        let (announce, newest) = watch::channel(newest);
        let turn = Arc::new(Mutex::new(connection));
        let (appends, writer) = writer::start(&path, turn.clone(), announce, events)?;
        let store = Self {
            directory: directory.into(),
            readers,
            keys,
            writer: turn,
            appends,
            newest,
            master: Arc::new(master),
            own: Arc::new(own),
            poller_changes: Arc::default(),
            doors: Arc::default(),
            sent: Arc::default(),
            ends: Arc::default(),
            access: watch::Sender::new(()),
        };
        Ok((store, writer))
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The cloud's own keys.
    pub fn own_keys(&self) -> Arc<OwnKeys> {
        self.own.clone()
    }

    /// The newest committed point, and word of newer ones.
    pub fn newest(&self) -> watch::Receiver<PointId> {
        self.newest.clone()
    }
}

/// Brings the schema up to date.
async fn migrate(options: &SqliteConnectOptions) -> Result<(), Error> {
    // A table that is made anew must not take with it what refers to it.
    let mut connection = SqliteConnection::connect_with(&options.clone().foreign_keys(false)).await?;
    migrations().run(&mut connection).await?;
    Ok(connection.close().await?)
}

fn migrations() -> Migrator {
    let migrations = [
        (1, "accounts, devices, points", include_str!("../../migrations/0001_accounts_devices_points.sql")),
        (2, "accounts and streams", include_str!("../../migrations/0002_accounts_and_streams.sql")),
        (3, "credentials", include_str!("../../migrations/0003_credentials.sql")),
        (4, "parsers", include_str!("../../migrations/0004_parsers.sql")),
        (5, "pollers", include_str!("../../migrations/0005_pollers.sql")),
        (6, "append only", include_str!("../../migrations/0006_append_only.sql")),
        (7, "descriptions", include_str!("../../migrations/0007_descriptions.sql")),
        (8, "sorted in parts", include_str!("../../migrations/0008_sorted_in_parts.sql")),
        (9, "kinds of credentials", include_str!("../../migrations/0009_kinds_of_credentials.sql")),
        (10, "suspended sessions", include_str!("../../migrations/0010_suspended_sessions.sql")),
        (11, "latest points", include_str!("../../migrations/0011_latest_points.sql")),
        (12, "master key check", include_str!("../../migrations/0012_master_key_check.sql")),
        (13, "certificate expiry", include_str!("../../migrations/0013_certificate_expiry.sql")),
    ];
    let migration = |(version, description, sql): (i64, &'static str, &'static str)| {
        let description = Cow::Borrowed(description);
        Migration::new(version, description, MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(migrations.map(migration).into())
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use sixlock_endpoint::Proof;

    use super::*;

    #[tokio::test]
    async fn what_the_first_version_kept_is_there_after_the_schema_changed() {
        let directory = tempfile::tempdir().unwrap();
        let options =
            SqliteConnectOptions::new().filename(directory.path().join("sixlock.db")).create_if_missing(true);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let first = migrations().iter().take(1).cloned().collect::<Vec<_>>();
        Migrator::with_migrations(first).run(&mut connection).await.unwrap();
        let master = MasterKey::create(directory.path()).unwrap();
        let sealed = master.seal(b"sensor", b"0123456789abcdef").unwrap();
        sqlx::query("INSERT INTO users VALUES (1, 'ann', '', '', 0, 0)")
            .execute(&mut connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO resources VALUES (7, 1, 'node-1', 'dtls-psk', 'sensor', $1)")
            .bind(sealed)
            .execute(&mut connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO streams VALUES (3, 7, 'temperature', 'Cel')")
            .execute(&mut connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO points VALUES (5, 3, 1000, 21.5)").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();

        let (store, _writer) = Store::open(directory.path()).await.unwrap();
        let psk = store.known(Proof::PreSharedKey, "sensor", 0).await.unwrap().unwrap();
        assert_eq!((psk.resource, psk.key.bytes()), (ResourceId(7), &b"0123456789abcdef"[..]));
        let resource = store.resource(UserId(1), "node-1").await.unwrap().unwrap();
        assert_eq!((resource.id, resource.identity.as_deref()), (ResourceId(7), Some("sensor")));
        let page = Page { limit: 10, from: None, until: None };
        assert_eq!(store.points(StreamId(3), page).await.unwrap().len(), 1);
        // What refers to a resource still goes with it.
        sqlx::query("DELETE FROM users").execute(&mut *store.writer.lock().await).await.unwrap();
        assert!(store.stream(ResourceId(7), "3").await.unwrap().is_none());
        assert!(store.known(Proof::PreSharedKey, "sensor", 0).await.unwrap().is_none());
    }
}
