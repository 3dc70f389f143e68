//! The protocol machine of a shard.

use std::net::SocketAddr;

use sixlock_base::Cx;
use sixlock_crypto::SmallKeys;
use sixlock_endpoint::{Endpoint, OnHeap, SessionId};

use super::LONGEST_RESPONSE;
use super::lent::{DrawnAhead, Lent};
use super::sessions::Sessions;

/// Requests of one peer that are remembered.
const RING: usize = 4;

/// The endpoint of a shard.
pub(super) type CoapEndpoint = Endpoint<SmallKeys, SocketAddr, OnHeap<LONGEST_RESPONSE>, RING>;

/// The endpoint of a shard, what it is lent, and whose its sessions are.
pub(super) struct Machine {
    pub(super) endpoint: CoapEndpoint,
    pub(super) lent: Lent,
    pub(super) sessions: Sessions,
}

impl Machine {
    /// Returns the endpoint, and the context of one call to it.
    pub(super) fn endpoint(&mut self) -> (&mut CoapEndpoint, Cx<'_, SmallKeys, DrawnAhead, ()>) {
        (&mut self.endpoint, self.lent.cx())
    }

    /// Closes a session.
    pub(super) fn close(&mut self, session: SessionId) {
        let (endpoint, mut cx) = self.endpoint();
        endpoint.close(&mut cx, session);
    }

    /// Does what is due by now.
    pub(super) fn handle_timeout(&mut self) {
        let (endpoint, mut cx) = self.endpoint();
        endpoint.handle_timeout(&mut cx);
    }
}
