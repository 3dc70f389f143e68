//! A session, and what happened to it.

use sixlock_base::{Cx, Entropy, Instant};
use sixlock_coap::Notified;
use sixlock_crypto::Crypto;
use sixlock_dtls::{Failure, RECORD_FRONT, ServerSession};

use super::client::Client;
use crate::session_event::Stage;
use crate::traffic::Traffic;
use crate::{Address, Config, Storage};

/// A session, and its client.
pub(crate) struct Peer<C: Crypto, A: Address, S: Storage<C, A>, X> {
    pub(crate) serial: u32,
    pub(crate) address: A,
    /// Nothing when it is over.
    pub(crate) stage: Option<Stage>,
    /// Where its handshake is counted.
    pub(crate) prefix: u16,
    pub(crate) session: ServerSession<C, S::Handshake, S::Profile>,
    pub(crate) client: Client<S::Identity>,
    pub(crate) traffic: X,
    pub(crate) untold: Untold,
}

/// What happened to a session and was not told yet, in the order it is told.
#[derive(Default)]
pub(crate) struct Untold {
    pub(super) work: bool,
    /// Another shard is to be asked.
    pub(super) elsewhere: Option<u16>,
    pub(super) connected: bool,
    pub(super) end: Option<End>,
}

pub(super) enum End {
    Closed,
    Failed(Failure),
}

pub(super) enum Happened {
    Work,
    Elsewhere(u16),
    Connected,
    Notified(Notified),
    End(End),
}

impl Untold {
    pub(super) fn take(&mut self) -> Option<Happened> {
        if core::mem::take(&mut self.work) {
            return Some(Happened::Work);
        }
        if let Some(shard) = self.elsewhere.take() {
            return Some(Happened::Elsewhere(shard));
        }
        if core::mem::take(&mut self.connected) {
            return Some(Happened::Connected);
        }
        self.end.take().map(Happened::End)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        !self.work && self.elsewhere.is_none() && !self.connected && self.end.is_none()
    }
}

impl<C: Crypto, A: Address, S: Storage<C, A>, X: Traffic> Peer<C, A, S, X> {
    pub(super) fn deadline(&mut self) -> Option<Instant> {
        let traffic = self.stage.and_then(|_| self.traffic.poll_timeout());
        Instant::earliest(self.session.poll_timeout(), traffic)
    }

    pub(super) fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        out: &mut [u8],
    ) -> Option<usize> {
        if let Some(len) = self.session.poll_transmit(cx, out) {
            return Some(len);
        }
        if !self.session.is_connected() {
            return None;
        }
        let tail = self.session.overhead() - RECORD_FRONT;
        let end = out.len().checked_sub(tail)?;
        let len = self.traffic.poll_transmit(cx, config, out.get_mut(RECORD_FRONT..end)?)?;
        self.session.seal(cx, out, len).ok()
    }
}
