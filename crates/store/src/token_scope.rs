//! What a token may be used for.

use crate::ids::ResourceId;

/// What a token may be used for, of all that its user may do. The default is all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenScope {
    /// Whether it may only read.
    pub read_only: bool,
    /// The only resource that it may be used for.
    pub resource: Option<ResourceId>,
}
