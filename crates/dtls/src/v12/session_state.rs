//! What is left of a session when it is over, to begin the next with.

use sixlock_base::Entropy;
use sixlock_crypto::wipe;
use sixlock_dtls_msg::{CipherSuite, MAX_SESSION_ID};

use crate::Suite;

/// Length of the master secret, in bytes.
pub const MASTER_SECRET: usize = 48;

/// Length of the ids that our servers give their sessions, in bytes: short, because each goes
/// over the air three times, but the clients of Mbed TLS name no shorter one again.
pub const SESSION_ID: usize = 16;

/// The longest of what [`SessionState::to_bytes`] writes, in bytes.
pub const SESSION_STATE: usize = 2 + MASTER_SECRET + MAX_SESSION_ID;

/// The name of a session.
#[derive(Clone)]
pub(crate) struct SessionId {
    length: u8,
    bytes: [u8; MAX_SESSION_ID],
}

impl SessionId {
    /// The name of a session that has none: it cannot be resumed.
    pub(crate) const EMPTY: Self = Self { length: 0, bytes: [0; MAX_SESSION_ID] };

    /// Keeps a name that was received: it has at most [`MAX_SESSION_ID`] bytes.
    pub(crate) fn received(bytes: &[u8]) -> Self {
        let mut id = Self::EMPTY;
        let length = bytes.len().min(MAX_SESSION_ID);
        id.length = length as u8;
        id.bytes[..length].copy_from_slice(&bytes[..length]);
        id
    }

    /// A fresh name.
    pub(crate) fn random(entropy: &mut impl Entropy) -> Self {
        let mut id = Self { length: SESSION_ID as u8, ..Self::EMPTY };
        entropy.fill(&mut id.bytes[..SESSION_ID]);
        id
    }

    pub(crate) fn get(&self) -> &[u8] {
        &self.bytes[..self.length.into()]
    }
}

/// What either side keeps of a session to resume it: its id, its suite and its master secret,
/// wiped when dropped.
///
/// There is one only of sessions that use the extended master secret: others are never resumed
/// ([RFC 7627 section 5.3](https://www.rfc-editor.org/rfc/rfc7627#section-5.3)). A client keeps it
/// with the identity and the server that it belongs to, a server with the identity; both forget it
/// when the session ends by a fatal alert
/// ([RFC 5246 section 7.2.2](https://www.rfc-editor.org/rfc/rfc5246#section-7.2.2)).
#[derive(Clone)]
pub struct SessionState {
    pub(crate) id: SessionId,
    pub(crate) master_secret: [u8; MASTER_SECRET],
    pub(crate) suite: Suite,
}

impl SessionState {
    /// The session's id: 1 to 32 bytes, [`SESSION_ID`] if the server is one of ours; or none, if it can be resumed by a ticket only.
    pub fn session_id(&self) -> &[u8] {
        self.id.get()
    }

    /// Writes it for a place that outlives the program, and returns its length: the suite's number, the master secret, the
    /// id. Whoever reads it can open and forge what the session and those that resume it say: it is to be sealed there, and
    /// wiped here.
    pub fn to_bytes(&self, out: &mut [u8; SESSION_STATE]) -> usize {
        let id = self.id.get();
        let (suite, rest) = out.split_at_mut(2);
        let (secret, name) = rest.split_at_mut(MASTER_SECRET);
        suite.copy_from_slice(&self.suite.number().0.to_be_bytes());
        secret.copy_from_slice(&self.master_secret);
        name[..id.len()].copy_from_slice(id);
        2 + MASTER_SECRET + id.len()
    }

    /// Reads what [`SessionState::to_bytes`] wrote; none if it did not.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (suite, rest) = bytes.split_first_chunk()?;
        let (master_secret, id) = rest.split_first_chunk()?;
        let named = id.len() <= MAX_SESSION_ID;
        let suite = Suite::of(CipherSuite(u16::from_be_bytes(*suite))).filter(|_| named)?;
        Some(Self { id: SessionId::received(id), master_secret: *master_secret, suite })
    }
}

impl Drop for SessionState {
    fn drop(&mut self) {
        wipe(&mut self.master_secret);
    }
}
