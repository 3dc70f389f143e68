use sixlock_base::Instant;
use sixlock_coap_msg::{Builder, Message, Type};

use crate::ended::{Answered, Ended, Notified, Outcome, Unanswered};
use crate::outgoing::OutgoingRequest;
use crate::reliability::Schedule;
use crate::respond_error::RespondError;
use crate::token::Token;
use crate::{Answer, ByteStore};

/// An exchange with a peer, or a place for one.
#[derive(Debug)]
pub(crate) struct Entry<S> {
    pub(crate) state: State,
    pub(crate) serial: u16,
    pub(crate) kind: Kind,
    /// The id of the peer's request, or of what the server sends unasked.
    pub(crate) message_id: u16,
    pub(crate) token: Token,
    pub(crate) confirmable: bool,
    pub(crate) expires: Instant,
    pub(crate) response: S,
}

/// Why there is an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The peer has asked for something.
    Incoming,
    /// What it asked for once is told again.
    Notification,
    /// The server asks for something.
    Outgoing,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    Free,
    /// With the application; acknowledged alone at the deadline, if confirmable.
    Processing {
        acknowledge: Option<Instant>,
    },
    /// With the application, acknowledged; `due` to be acknowledged (again).
    Acknowledged {
        due: bool,
    },
    /// Answered, in the acknowledgement if confirmable; `due` to be sent (again).
    Answered {
        due: bool,
    },
    /// The separate response waits for its turn.
    Queued {
        id: u16,
    },
    /// The separate response is sent and not acknowledged; `due` to be sent again.
    Unacknowledged {
        id: u16,
        schedule: Schedule,
        due: bool,
    },
    /// The server's own request is acknowledged, and its answer waited for.
    Awaiting {
        deadline: Instant,
    },
    /// The separate response is acknowledged, or given up; `due`: its request came again.
    Finished {
        due: bool,
    },
}

impl<S> Entry<S> {
    /// The id of the separate response under way.
    pub(crate) const fn response_id(&self) -> Option<u16> {
        match self.state {
            State::Unacknowledged { id, .. } => Some(id),
            _ => None,
        }
    }

    pub(crate) const fn is_unconfirmed_notification(&self, id: u16) -> bool {
        matches!((self.kind, self.state), (Kind::Notification, State::Answered { .. }))
            && self.message_id == id
    }

    /// Whether this is the server's own request with that token, and has been sent: answered or not.
    pub(crate) fn is_asked(&self, token: &[u8]) -> bool {
        let was_sent = self.is_open() || matches!(self.state, State::Finished { .. });
        self.kind == Kind::Outgoing && was_sent && self.token.bytes() == token
    }

    /// Whether an acknowledgement or an answer is waited for.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.state, State::Unacknowledged { .. } | State::Awaiting { .. })
    }

    pub(crate) const fn is_waiting(&self) -> bool {
        matches!(self.state, State::Processing { .. } | State::Acknowledged { .. })
    }

    /// Whether a new request may take this place.
    pub(crate) const fn is_replaceable(&self, now: Instant) -> bool {
        match self.state {
            State::Free | State::Finished { .. } | State::Answered { due: false } => true,
            _ => now.has_reached(self.expires),
        }
    }

    /// When its state changes by itself.
    pub(crate) const fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Processing { acknowledge } => acknowledge,
            State::Unacknowledged { schedule, .. } => Some(schedule.deadline),
            State::Awaiting { deadline } => Some(deadline),
            _ => None,
        }
    }

    /// What is to be done when the request comes again.
    pub(crate) const fn repeat(&mut self) {
        match &mut self.state {
            State::Answered { due } | State::Acknowledged { due } | State::Finished { due } => {
                *due = self.confirmable
            }
            State::Queued { .. }
            | State::Unacknowledged { .. }
            | State::Awaiting { .. }
            | State::Processing { .. }
            | State::Free => {}
        }
    }
}

impl<S: ByteStore> Entry<S> {
    /// A place.
    pub(crate) fn free() -> Self {
        Self {
            state: State::Free,
            serial: 0,
            kind: Kind::Incoming,
            message_id: 0,
            token: Token::default(),
            confirmable: false,
            expires: Instant::from_millis(0),
            response: S::default(),
        }
    }

    /// Keeps the message that `answer` makes.
    pub(crate) fn write(&mut self, kind: Type, id: u16, answer: Answer<'_>) -> Result<(), RespondError> {
        let token = self.token.bytes();
        let write = |room: &mut [u8]| answer.write(Builder::new(room, kind, answer.code, id, token)?);
        self.response.write(answer.max_len(), write).map_err(RespondError::of)
    }

    /// Keeps the message that `request` makes.
    pub(crate) fn write_request(
        &mut self,
        id: u16,
        request: OutgoingRequest<'_>,
    ) -> Result<(), RespondError> {
        let token = self.token.bytes();
        let write =
            |room: &mut [u8]| request.write(Builder::new(room, Type::Confirmable, request.code, id, token)?);
        self.response.write(request.max_len(), write).map_err(RespondError::of)
    }

    /// Ends the exchange without an answer of the peer's, and tells how if the server began it.
    pub(crate) fn end(&mut self, outcome: Outcome) -> Option<Ended> {
        self.finish();
        let token = self.token;
        match self.kind {
            Kind::Incoming => None,
            Kind::Notification => Some(Ended::Notification(Notified { token, outcome })),
            Kind::Outgoing => {
                let is_rejected = outcome == Outcome::Rejected;
                let why = if is_rejected { Unanswered::Rejected } else { Unanswered::TimedOut };
                Some(Ended::Request(Answered { token, result: Err(why) }))
            }
        }
    }

    /// Ends the server's own request with what the peer has answered.
    pub(crate) fn answered(&mut self, response: &Message<'_>) -> Option<Ended> {
        if response.unacceptable_option(&[]).is_some() {
            return self.end(Outcome::Rejected);
        }
        self.finish();
        Some(Ended::Request(Answered { token: self.token, result: Ok(response.code()) }))
    }

    /// Ends the exchange: its response is not needed again.
    pub(crate) fn finish(&mut self) {
        self.state = State::Finished { due: false };
        self.response.store(&[]);
    }
}
