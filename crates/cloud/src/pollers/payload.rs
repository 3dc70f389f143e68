//! What is fetched.

use sixlock_ingest::Format;

/// The longest body of an answer.
pub(super) const LONGEST_BODY: usize = 64 << 10;

/// What was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) format: Format,
    pub(super) bytes: Vec<u8>,
}
