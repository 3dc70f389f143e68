//! What a cloud keeps: accounts, devices and their readings.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use sqlx::{SqliteConnection, SqlitePool};
use tokio::sync::{Mutex, Notify, mpsc, watch};

use crate::changes::Changes;
use crate::command_queue::CommandQueue;
use crate::hashing::Hasher;
use crate::journal::Queue;
use crate::long_reads::LongReads;
use crate::master_key::MasterKey;
use crate::public_keys::OwnKeys;
use crate::resource_changes::ResourceChanges;
use crate::revocation::Revocation;
use crate::sent_keys::SentKeys;

/// The store. Clones share it.
#[derive(Clone)]
pub struct Store {
    pub(crate) directory: Arc<Path>,
    pub(crate) readers: SqlitePool,
    pub(crate) keys: SqlitePool,
    /// Who reads much at a time.
    pub(crate) long_reads: Arc<LongReads>,
    /// The connection that writes all but readings: SQLite has one writer at a time, so waiting is done here, fairly.
    pub(crate) writer: Arc<Mutex<SqliteConnection>>,
    pub(crate) queue: Queue,
    /// The threads that hash passwords.
    pub(crate) hasher: Arc<Hasher>,
    pub(crate) changes: Changes,
    pub(crate) master: Arc<MasterKey>,
    pub(crate) own: Arc<OwnKeys>,
    /// Where the servers that hold sessions learn which credentials end; empty if there is no such server.
    pub(crate) revocations: Arc<OnceLock<mpsc::Sender<Revocation>>>,
    /// The keys that devices have sent with requests lately.
    pub(crate) sent: Arc<std::sync::Mutex<SentKeys>>,
    /// Tells that a credential was given an end.
    pub(crate) ends: Arc<Notify>,
    /// The pollers that were changed.
    pub(crate) poller_changes: Arc<ResourceChanges>,
    /// Those whose polls were paused or resumed.
    pub(crate) poller_pauses: Arc<ResourceChanges>,
    /// The devices that are to be told something.
    pub(crate) commands: Arc<CommandQueue>,
    /// Tells that there is something in the outbox.
    pub(crate) outbox: Arc<Notify>,
    /// Tells that brokers, or who may use them, have changed: how often so far.
    pub(crate) broker_changes: watch::Sender<u64>,
    /// Whether somebody changed how long points are kept, and the writer does not know yet.
    pub(crate) keeping_changed: Arc<AtomicBool>,
    /// Tells that a token, a user or a role ended.
    pub(crate) access: watch::Sender<()>,
}

impl Store {
    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The cloud's own keys.
    pub fn own_keys(&self) -> Arc<OwnKeys> {
        self.own.clone()
    }

    /// Returns the feed of changes.
    pub fn changes(&self) -> Changes {
        self.changes.clone()
    }
}
