use std::error::Error;

/// Why nothing is built or measured.
pub(crate) type Failure = Box<dyn Error>;
