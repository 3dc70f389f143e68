//! What happens to the DTLS sessions of an endpoint.

use sixlock_coap::Ended;
use sixlock_dtls::{Failure, KeyLogEntry, Refusal, SESSION_ID, Task};

use crate::id::{AuthenticationMethod, PeerId, SessionId};

/// What happened to a session.
#[derive(Clone, Copy)]
pub enum Event<'a, A> {
    /// The handshake waits for the key of an identity: for [`Endpoint::provide_key`](crate::Endpoint::provide_key), or for
    /// [`Endpoint::look_up_failed`](crate::Endpoint::look_up_failed). A client that wants to resume a session has not given its
    /// identity: it is the one that the session was made with, and becomes that of this session only if it is resumed.
    Work {
        /// Which session.
        session: SessionId,
        /// The identity its client gave, or that it was found to have by its public key.
        identity: &'a [u8],
        /// By what it proves to have it: by a public key only if it wants to resume a session.
        method: AuthenticationMethod,
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
    /// [`Endpoint::complete`](crate::Endpoint::complete).
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
        /// What opens a record of the session, if [`Config::key_log`](crate::Config::key_log) asks for it.
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
    /// DTLS has refused something that came: the first since this was told last. Nothing else ends by it.
    Refused {
        /// Who sent it.
        from: A,
        /// The reason.
        refusal: Refusal,
    },
    /// A message that was sent unasked, a notification or a request, has come to its end.
    Ended {
        /// Whom it was for.
        peer: PeerId,
        /// What became of it.
        ended: Ended,
    },
}
