use core::fmt;

use sixlock_coap_msg::BuildError;

/// Why a response was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RespondError {
    /// The request was answered before, or it is so old that it has been forgotten.
    NotWaiting,
    /// The response is larger than the store; the request still waits for one.
    TooLarge,
    /// All that a peer may have under way is.
    Full,
    /// An option's value is of a length that its definition does not allow; the request still waits.
    Option,
}

impl fmt::Display for RespondError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotWaiting => "the request was answered before, or is so old that it has been forgotten",
            Self::TooLarge => "the response is larger than the store",
            Self::Full => "the peer has as much under way as it may have",
            Self::Option => "an option's value is of a length that the option does not allow",
        })
    }
}

impl core::error::Error for RespondError {}

impl RespondError {
    pub(crate) fn of(error: BuildError) -> Self {
        match error {
            BuildError::NoRoom => Self::TooLarge,
            _ => Self::Option,
        }
    }
}
