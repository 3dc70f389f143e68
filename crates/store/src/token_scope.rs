//! What a token may be used for.

use crate::ids::{ResourceId, StreamId};

/// What a token may be used for, of all that its user may do. The default is all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenScope {
    /// Whether it may only read.
    pub read_only: bool,
    /// The only resource that it may be used for.
    pub resource: Option<ResourceId>,
    /// The only stream of that resource that it may be used for, which is to read it.
    pub stream: Option<StreamId>,
}

impl TokenScope {
    /// What the database says of it.
    pub(crate) fn read((read_only, resource, stream): (bool, Option<i64>, Option<i64>)) -> Self {
        Self { read_only, resource: resource.map(ResourceId), stream: stream.map(StreamId) }
    }
}
