//! The record of a session that can be resumed, as it outlives the endpoint.

use core::fmt;

use sixlock_base::{Duration, Instant};
use sixlock_coap::{ByteStore, Inline};
use sixlock_crypto::wipe;
use sixlock_dtls::{MAX_IDENTITY, SESSION_ID, SESSION_STATE, SessionState};

use crate::id::AuthenticationMethod;

/// The id of a session that is resumed.
pub(crate) type SessionIdentifier = [u8; SESSION_ID];

/// Tells a key from others, to those who know the secret only.
pub(crate) type KeyFingerprint = [u8; 8];

/// What is left of a session.
pub(crate) struct SessionRecord<I> {
    pub(crate) resumption: SessionState,
    /// Whose session it was, and by what they proved it.
    pub(crate) identity: I,
    pub(crate) method: AuthenticationMethod,
    /// Of the key that it was made with.
    pub(crate) key: KeyFingerprint,
    /// When it cannot be resumed any more. Nothing if that is so by now, and only has to be told.
    pub(crate) until: Option<Instant>,
}

/// The longest of what [`Endpoint::poll_session_update`](crate::Endpoint::poll_session_update) writes, in bytes.
pub const MAX_SESSION_RECORD: usize = 1 + size_of::<KeyFingerprint>() + 1 + MAX_IDENTITY + SESSION_STATE;

/// The length of the secret by which keys are told apart, in bytes.
pub const FINGERPRINT_SECRET: usize = 32;

/// What is to be kept, where it outlives the endpoint, of the sessions that can be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionUpdate {
    /// The session with this id can be resumed.
    Resumable {
        /// Its id.
        id: [u8; SESSION_ID],
        /// How many bytes were written of it.
        len: usize,
        /// For how long it can be resumed from now on.
        left: Duration,
    },
    /// The session with this id cannot be resumed any more, before its time is up.
    Forgotten {
        /// Its id.
        id: [u8; SESSION_ID],
    },
}

/// These bytes were not written by [`Endpoint::poll_session_update`](crate::Endpoint::poll_session_update).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no record of a session")
    }
}

impl core::error::Error for Malformed {}

impl SessionUpdate {
    /// The id of the session of which [`Endpoint::poll_session_update`](crate::Endpoint::poll_session_update) wrote this.
    pub fn session_id(kept: &[u8]) -> Option<[u8; SESSION_ID]> {
        let left = SessionRecord::<Inline<MAX_IDENTITY>>::from_bytes(kept)?;
        left.resumption.session_id().try_into().ok()
    }
}

impl<I: ByteStore> SessionRecord<I> {
    /// Writes how its client proves itself, what tells its key, its identity behind its length, and what dtls keeps.
    pub(crate) fn to_bytes(&self, out: &mut [u8; MAX_SESSION_RECORD]) -> usize {
        let identity = self.identity.bytes();
        let mut resumption = [0; SESSION_STATE];
        let length = self.resumption.to_bytes(&mut resumption);
        let (method, known) = (self.method as u8, identity.len() as u8);
        let mut written = 0;
        for part in [&[method][..], &self.key, &[known], identity, &resumption[..length]] {
            if let Some(place) = out.get_mut(written..written + part.len()) {
                place.copy_from_slice(part);
                written += part.len();
            }
        }
        wipe(&mut resumption);
        written
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (method, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk()?;
        let (&known, rest) = rest.split_first()?;
        let (named, resumption) = rest.split_at_checked(known.into())?;
        if named.len() > MAX_IDENTITY {
            return None;
        }
        let method = AuthenticationMethod::ALL.into_iter().find(|known| *known as u8 == *method)?;
        let resumption = SessionState::from_bytes(resumption)?;
        let mut identity = I::default();
        identity.store(named);
        Some(Self { resumption, identity, method, key: *key, until: None })
    }
}
