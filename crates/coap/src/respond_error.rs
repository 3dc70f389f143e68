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

impl RespondError {
    pub(crate) fn of(error: BuildError) -> Self {
        match error {
            BuildError::NoRoom => Self::TooLarge,
            _ => Self::Option,
        }
    }
}
