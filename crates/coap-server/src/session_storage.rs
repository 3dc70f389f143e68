//! What outlives a server.

use std::net::SocketAddr;

use sixlock_base::Duration;
use sixlock_dtls::SESSION_ID;
use sixlock_endpoint::FINGERPRINT_SECRET;
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use crate::ids::{CredentialId, Holder};
use crate::peer::Association;

/// Why a storage cannot be used.
pub type StorageError = Box<dyn std::error::Error + Send + Sync>;

/// Keeps what outlives a server: the states of sessions that can be resumed, and, when it ends in order, its open sessions.
///
/// All of this is as secret as the keys of the sessions.
pub trait SessionStorage: Send + Sync + 'static {
    /// Hands the records that were saved to `each`, in the order in which they were, and from now on saves what comes through
    /// [`Saving::records`].
    fn load(
        &self,
        limits: Limits,
        each: &mut dyn FnMut(SessionRecord<&[u8]>),
    ) -> Result<Saving, StorageError>;

    /// Hands the open sessions of the server before this one to `each`, with how they go on, or `None` if they may not. An open session goes
    /// on once at most, or nonces would repeat: from the first call on, whatever happens, the storage holds none.
    fn take_open(&self, each: &mut dyn FnMut(&OpenSession<'_>, Option<Continuation>));

    /// Saves the open sessions of a shard that ends. `give` hands them to its argument, one by one, until that returns false because no more
    /// can be saved.
    fn save_open(&self, give: &mut dyn FnMut(&mut SaveSession<'_>));
}

/// How much is to be kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The number of sessions that can be resumed.
    pub records: u64,
    /// For how long each can be resumed, in milliseconds.
    pub milliseconds: i64,
}

/// Where records are saved.
pub struct Saving {
    /// By this secret keys are told apart, in all records.
    pub secret: [u8; FINGERPRINT_SECRET],
    /// Takes records. A storage that takes no more closes it.
    pub records: mpsc::Sender<SessionRecord<Zeroizing<Vec<u8>>>>,
}

/// What became of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionRecord<S> {
    /// It can be resumed.
    Resumable {
        /// Until when, in milliseconds since 1970.
        until: i64,
        /// Its state.
        state: S,
    },
    /// It can no longer be resumed.
    Forgotten {
        /// Its id.
        id: [u8; SESSION_ID],
    },
}

/// An open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSession<'a> {
    /// The credential that its client has proved to have.
    pub credential: CredentialId,
    /// Its association.
    pub association: Association,
    /// Where its device was heard last.
    pub from: SocketAddr,
    /// How long it had not been used when it was saved.
    pub idle: Duration,
    /// Its state.
    pub state: &'a [u8],
}

/// Saves an open session, and returns whether more can be saved.
pub type SaveSession<'a> = dyn FnMut(&OpenSession<'_>) -> bool + 'a;

/// How an open session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Continuation {
    /// Whose credential it is.
    pub holder: Holder,
    /// For how long there was no server.
    pub pause: Duration,
    /// How many sequence numbers are left out: at least as many as have been used if the storage was set back to an earlier state.
    pub skipped: u64,
}

/// Keeps nothing: after a restart, devices begin anew.
pub struct NoStorage;

impl SessionStorage for NoStorage {
    fn load(&self, _: Limits, _: &mut dyn FnMut(SessionRecord<&[u8]>)) -> Result<Saving, StorageError> {
        let mut secret = [0; FINGERPRINT_SECRET];
        getrandom::fill(&mut secret).map_err(std::io::Error::other)?;
        // The receiver is dropped: nothing is waited for.
        Ok(Saving { secret, records: mpsc::channel(1).0 })
    }

    fn take_open(&self, _: &mut dyn FnMut(&OpenSession<'_>, Option<Continuation>)) {}

    fn save_open(&self, _: &mut dyn FnMut(&mut SaveSession<'_>)) {}
}
