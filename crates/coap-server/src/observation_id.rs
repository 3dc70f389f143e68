//! Ids of observations.

use sixlock_endpoint::{PeerId, Token};

/// Which observation: no other has the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObservationId {
    pub(crate) peer: PeerId,
    pub(crate) token: Token,
    /// Tells it from earlier ones of the same peer with the same token.
    pub(crate) serial: u64,
}
