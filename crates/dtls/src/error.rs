use core::fmt;

use sixlock_dtls_msg::AlertDescription;

use crate::Refusal;

/// Why a call was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The session is not connected, or no longer.
    NotConnected,
    /// The data is longer than a record or does not fit into the buffer.
    TooLong,
    /// The key is longer than [`MAX_PSK`](crate::MAX_PSK).
    KeyTooLong,
    /// The identity is longer than [`MAX_IDENTITY`](crate::MAX_IDENTITY).
    IdentityTooLong,
    /// The session did not ask for this.
    NoWork,
    /// Every sequence number was used: the session must be replaced.
    SequenceExhausted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotConnected => "the session is not connected",
            Self::TooLong => "the data does not fit into a record or into the buffer",
            Self::KeyTooLong => "the pre-shared key is too long",
            Self::IdentityTooLong => "the identity is too long",
            Self::NoWork => "the session did not ask for this",
            Self::SequenceExhausted => "the session has used all sequence numbers: replace it",
        })
    }
}

impl core::error::Error for Error {}

/// Why a session failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer did not answer.
    TimedOut,
    /// The handshake timed out after an alert that anyone may have sent.
    Refused(AlertDescription),
    /// The handshake timed out after a message that was refused for this, and that anyone may have sent; or the peer's offer is refused.
    Negotiation(Refusal),
    /// The peer could not prove who it is, or that it knows the key.
    Authentication(Refusal),
    /// The peer ended the session for a reason.
    Alert(AlertDescription),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("the peer did not answer"),
            Self::Refused(alert) => {
                write!(f, "the handshake timed out after an alert that anyone may have sent: {alert}")
            }
            Self::Negotiation(refusal) => write!(f, "the handshake failed: {refusal}"),
            Self::Authentication(refusal) => write!(f, "the peer is not authenticated: {refusal}"),
            Self::Alert(alert) => write!(f, "the peer ended the session: {alert}"),
        }
    }
}

impl core::error::Error for Failure {}

impl Failure {
    /// Why the peer was refused, if it was.
    pub const fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Negotiation(refusal) | Self::Authentication(refusal) => Some(refusal),
            Self::TimedOut | Self::Refused(_) | Self::Alert(_) => None,
        }
    }
}
