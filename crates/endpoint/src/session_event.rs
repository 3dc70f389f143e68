//! What happens to the DTLS sessions of an endpoint.

use sixlock_coap::Notified;
use sixlock_dtls::{Failure, KeyLogEntry, SESSION_ID, Task};

use crate::endpoint::PeerId;
use crate::table::Slot;

/// Which DTLS session of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    pub(crate) slot: Slot,
    /// Tells this session from others that have stood in the slot.
    pub(crate) serial: u32,
}

impl SessionId {
    /// The place where the session stands, alone: the endpoint has no more places than [`Config::max_sessions`](crate::Config::max_sessions), and gives one
    /// to another session when this one is over.
    pub const fn place(self) -> u32 {
        self.slot
    }
}

/// How far a session is: a peer may have one that is connected and another that is to replace it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The handshake is under way.
    Handshake,
    /// Requests are taken.
    Connected,
}

/// What happened to a session.
#[derive(Clone, Copy)]
pub enum Event<'a, A> {
    /// The handshake waits for the key of an identity: for [`Endpoint::resume`](crate::Endpoint::resume), or for
    /// [`Endpoint::look_up_failed`](crate::Endpoint::look_up_failed). A client that wants to resume a session has not given its
    /// identity: it is the one that the session was made with, and becomes that of this session only if it is resumed.
    Work {
        /// Which session.
        session: SessionId,
        /// The identity its client gave, or that it was found to have by its public key.
        identity: &'a [u8],
        /// By what it proves to have it: by a public key only if it wants to resume a session.
        proof: Proof,
    },
    /// The client wants to resume a session of which another [shard](crate::Shard) keeps what is left: the handshake waits for
    /// what [`Endpoint::lend`](crate::Endpoint::lend) says there, for [`Endpoint::borrow`](crate::Endpoint::borrow).
    Elsewhere {
        /// Which session.
        session: SessionId,
        /// The id of the one that is to be resumed.
        id: [u8; SESSION_ID],
        /// Which shard.
        shard: u16,
    },
    /// The handshake waits for something to be done with P-256, or for its client's certificate to be judged: for
    /// [`Endpoint::go_on`](crate::Endpoint::go_on).
    Task {
        /// Which session.
        session: SessionId,
        /// What is to be done.
        task: Task<'a>,
    },
    /// The client has proved that it knows the key.
    Connected {
        /// Which session.
        session: SessionId,
        /// Who is connected.
        from: A,
        /// Its identity.
        identity: &'a [u8],
        /// What opens a record of the session, if [`Config::key_log`] asks for it.
        key_log: Option<KeyLogEntry<'a>>,
    },
    /// The session was closed by either side, or has made room: for another of the same client, or, unused for
    /// long, for another client's.
    Closed {
        /// Which session.
        session: SessionId,
        /// Who was connected.
        from: A,
        /// Its identity.
        identity: &'a [u8],
    },
    /// The session or its handshake failed.
    Failed {
        /// Which session.
        session: SessionId,
        /// Whose it was.
        from: A,
        /// The identity its client gave, if it came to that, or that of its session if that was being resumed.
        identity: &'a [u8],
        /// Why it failed.
        failure: Failure,
    },
    /// A notification has come to its end.
    Notified {
        /// Whom it was for.
        peer: PeerId,
        /// What became of it.
        notified: Notified,
    },
}

/// By what a client proves who it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// A pre-shared key.
    #[default]
    PreSharedKey,
    /// A raw public key.
    RawPublicKey,
    /// A certificate.
    Certificate,
}

impl Proof {
    pub(crate) const ALL: [Self; 3] = [Self::PreSharedKey, Self::RawPublicKey, Self::Certificate];
}
