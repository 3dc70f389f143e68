use sixlock_dtls_msg::AlertDescription;

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

/// Why a session failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer did not answer.
    TimedOut,
    /// The handshake timed out after something that anyone may have sent refused it.
    Refused(AlertDescription),
    /// The handshake timed out after a hello that chose what was not offered.
    Negotiation,
    /// The peer could not prove that it knows the key.
    Authentication,
    /// The peer ended the session for a reason.
    Alert(AlertDescription),
}
