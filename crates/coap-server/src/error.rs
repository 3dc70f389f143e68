//! Errors of the server.

use std::fmt;
use std::io;

use crate::session_storage::StorageError;

/// Why a server did not start, or did not end in order.
#[derive(Debug)]
pub enum Error {
    /// The system gives no thread, or no event queue.
    System(io::Error),
    /// The system gives no random bytes.
    Entropy,
    /// The states of sessions cannot be loaded.
    Storage(StorageError),
    /// A thread of a shard has panicked.
    Died,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => write!(f, "the CoAP server cannot start: {error}"),
            Self::Entropy => f.write_str("the system gives no random bytes"),
            Self::Storage(error) => error.fmt(f),
            Self::Died => f.write_str("the CoAP server has died; please report this"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System(error) => Some(error),
            Self::Storage(error) => Some(&**error),
            Self::Entropy | Self::Died => None,
        }
    }
}
