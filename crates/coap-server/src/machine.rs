//! The protocol machine of a shard.

use std::net::SocketAddr;

use sixlock_base::Cx;
use sixlock_crypto::SmallKeys;
use sixlock_endpoint::{Endpoint, OnHeap, SessionId};

use crate::answer::LONGEST_PAYLOAD;
use crate::host_context::{DrawnAhead, HostContext};
use crate::sessions::Sessions;

/// The longest response kept: an answer's payload and what CoAP adds to it.
pub(crate) const LONGEST_RESPONSE: usize = LONGEST_PAYLOAD + 64;
/// Requests of one peer that are remembered.
const RING: usize = 4;

/// The endpoint of a shard.
pub(crate) type CoapEndpoint = Endpoint<SmallKeys, SocketAddr, OnHeap<LONGEST_RESPONSE>, RING>;

/// The endpoint of a shard, what it is lent, and whose its sessions are.
pub(crate) struct Machine {
    pub(crate) endpoint: CoapEndpoint,
    pub(crate) lent: HostContext,
    pub(crate) sessions: Sessions,
}

impl Machine {
    /// Returns the endpoint, and the context of one call to it.
    pub(crate) fn endpoint(&mut self) -> (&mut CoapEndpoint, Cx<'_, SmallKeys, DrawnAhead, ()>) {
        (&mut self.endpoint, self.lent.cx())
    }

    /// Closes a session.
    pub(crate) fn close(&mut self, session: SessionId) {
        let (endpoint, mut cx) = self.endpoint();
        endpoint.close(&mut cx, session);
    }

    /// Does what is due by now.
    pub(crate) fn handle_timeout(&mut self) {
        let (endpoint, mut cx) = self.endpoint();
        endpoint.handle_timeout(&mut cx);
    }
}
