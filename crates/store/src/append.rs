//! Posts that are to be stored.

use sixlock_ingest::Reading;

use crate::ids::ResourceId;
use crate::receipts::Idempotency;

/// Readings of one post: all are stored, or none.
#[derive(Clone, Debug)]
pub struct Append {
    /// Whose they are.
    pub resource: ResourceId,
    /// What the post is known again by.
    pub idempotency: Idempotency,
    /// The readings, at most 256.
    pub readings: Vec<Reading>,
}
