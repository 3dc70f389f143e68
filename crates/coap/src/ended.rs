//! What becomes of messages that a server sends without being asked.

use sixlock_coap_msg::Code;

use crate::token::Token;

/// What a client made of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has it.
    Acknowledged,
    /// It does not observe any more, or never did.
    Rejected,
    /// It did not acknowledge it.
    TimedOut,
}

/// A notification that has come to its end. One that is not confirmable comes to none but by being rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notified {
    /// The token of the observation.
    pub token: Token,
    /// What became of it.
    pub outcome: Outcome,
}

/// Why a request of the server's own got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The peer takes no requests, or its answer has an option that must not be ignored.
    Rejected,
    /// No answer came in time. The peer may have done what it was asked for.
    TimedOut,
}

/// A request of the server's own that has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The token of the request.
    pub token: Token,
    /// The code of the response.
    pub result: Result<Code, Unanswered>,
}

/// A message that the server sent without being asked, and that has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A notification.
    Notification(Notified),
    /// A request.
    Request(Answered),
}
