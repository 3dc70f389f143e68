//! Posts that are to be stored.

use sixlock_ingest::{MOST_READINGS, Reading};

use super::idempotency::Idempotency;
use crate::ids::ResourceId;

/// The most points of one post.
pub const POINTS_PER_POST: usize = MOST_READINGS;

/// Readings of one post: all are stored, or none.
#[derive(Clone, Debug)]
pub struct Append {
    /// The resource that they are of.
    pub resource: ResourceId,
    /// What tells a retransmission of the post from a new one.
    pub idempotency: Idempotency,
    /// The readings, at most 256.
    pub readings: Vec<Reading>,
}
