//! What a token may be used for.

use crate::ids::{ResourceId, StreamId};

/// What a token may be used for, of all that its user may do. The default is all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenScope {
    /// Whether it may only read.
    pub read_only: bool,
    /// The only resource that it may be used for.
    pub resource: Option<ResourceId>,
    /// The only stream of that resource that it may be used for: to read it if this may only read, and else to post points to it and
    /// nothing else.
    pub stream: Option<StreamId>,
}

impl TokenScope {
    /// Whether it posts points to one stream, and reads nothing.
    pub const fn is_write_only(self) -> bool {
        self.stream.is_some() && !self.read_only
    }

    /// What the database says of it.
    pub(crate) fn read((read_only, resource, stream): (bool, Option<i64>, Option<i64>)) -> Self {
        Self { read_only, resource: resource.map(ResourceId), stream: stream.map(StreamId) }
    }
}
