//! What a session tells, and what it is told in answer.

use crate::{Answer, Failure, SessionState, Task};

/// What a session needs from outside before it goes on: [`Session::complete`](crate::Session::complete) takes what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work<'a> {
    /// A key: at a server, that of the identity the client gave; at a client, whose identity
    /// is empty here, any identity it has a key for. [`Completion::Psk`] or [`Completion::NoPsk`].
    Psk {
        /// The client's identity.
        identity: &'a [u8],
    },
    /// An operation with P-256: [`Completion::Task`].
    Task(Task<'a>),
    /// At a server with [`Config::resumable`](crate::Config::resumable): the state of the session that a client
    /// wants to resume, if it is still stored: [`Completion::Session`].
    Session {
        /// The session's id; empty if its client wants a new one, or presents a ticket
        /// ([`Session::presented_ticket`](crate::Session::presented_ticket)).
        id: &'a [u8],
    },
    /// At a server that has promised one ([`TicketOffer::Promise`]): a ticket, [`Completion::Ticket`].
    Ticket,
}

/// What came of [`Work`].
#[derive(Clone, Copy)]
pub enum Completion<'a> {
    /// A pre-shared key.
    Psk {
        /// The client's identity. A server ignores it: the client has given its own.
        identity: &'a [u8],
        /// The key, of at most [`MAX_PSK`](crate::MAX_PSK) bytes.
        key: &'a [u8],
    },
    /// The server knows no such identity: the handshake goes on with a random key, so that an unknown identity and a wrong key
    /// look alike ([RFC 4279 section 2](https://www.rfc-editor.org/rfc/rfc4279#section-2)).
    NoPsk,
    /// The result of an operation with P-256.
    Task(&'a Answer),
    /// The session to be resumed.
    Session {
        /// The state of the session; `None` begins a new one. So does a state with another suite than the hello allows:
        /// [`Session::is_resuming`](crate::Session::is_resuming) tells.
        state: Option<&'a SessionState>,
        /// The id of a new session; `None` for a random one.
        id: Option<&'a [u8; crate::SESSION_ID]>,
        /// The ticket that the client may get.
        ticket: TicketOffer<'a>,
    },
    /// The promised ticket: the [`Session::session_state`](crate::Session::session_state) of now, sealed.
    Ticket {
        /// For how many seconds it can be presented.
        lifetime: u32,
        /// At most [`MAX_TICKET`](crate::MAX_TICKET) bytes; empty for no ticket.
        ticket: &'a [u8],
    },
}

impl<'a> Completion<'a> {
    /// What a server knows of an identity: its key, or that there is none.
    pub fn psk(key: Option<&'a [u8]>) -> Self {
        key.map_or(Self::NoPsk, |key| Self::Psk { identity: &[], key })
    }
}

/// Whether a server gives its client a ticket, if that takes any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TicketOffer<'a> {
    /// It gives none.
    #[default]
    None,
    /// A new session's client gets one once it has proved itself ([`Work::Ticket`]). The session then gets no id.
    Promise,
    /// A session that is resumed gets this one, so that the old one is not presented again. A new session is promised one.
    Renew {
        /// For how many seconds it can be presented.
        lifetime: u32,
        /// At most [`MAX_TICKET`](crate::MAX_TICKET) bytes.
        ticket: &'a [u8],
    },
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The session waits for [`Session::complete`](crate::Session::complete) with the result of this.
    Work(Work<'a>),
    /// Data can be sent and received.
    Connected,
    /// The session was closed by either side.
    Closed,
    /// The session or its handshake failed.
    Failed(Failure),
}
