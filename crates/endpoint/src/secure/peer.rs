//! A session, and what happened to it.

use sixlock_base::{Counter, Cx, Entropy, Instant};
use sixlock_coap::Ended;
use sixlock_coap_msg::HEADER;
use sixlock_crypto::Crypto;
use sixlock_dtls::{Failure, RECORD_FRONT, ServerSession};

use super::client::Client;
use super::path::Path;
use crate::id::Stage;
use crate::traffic::Traffic;
use crate::{Address, Config, Storage};

/// For how many pings there is to be room after what is sent to a client that has moved: so many that an answer as long as its
/// request goes at once.
const PINGS: usize = 2;

/// A session, and its client.
pub(crate) struct Peer<C: Crypto, A: Address, S: Storage<C, A>, X> {
    pub(crate) serial: u32,
    pub(crate) address: A,
    /// Nothing when it is over.
    pub(crate) stage: Option<Stage>,
    /// Where its handshake is counted.
    pub(crate) prefix: u16,
    /// How often its handshake has waited in vain since it last made progress, and once before it made any.
    pub(crate) waits: u8,
    /// The most of the client's part of the handshake that was ever taken.
    pub(crate) progress: u8,
    pub(crate) session: ServerSession<C, S::Handshake, S::Profile>,
    pub(crate) client: Client<S::Identity>,
    pub(crate) path: Path,
    pub(crate) traffic: X,
    pub(crate) pending: PendingEvents,
}

/// What happened to a session and was not told yet, in the order it is told.
#[derive(Default)]
pub(crate) struct PendingEvents {
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
    Ended(Ended),
    End(End),
}

impl PendingEvents {
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

    /// Takes note of how far the handshake is. It waits anew only if it is further than ever before: anyone may send what it does not
    /// take, or has taken already.
    pub(super) fn note_progress(&mut self) {
        let progress = self.session.progress();
        if progress > self.progress {
            (self.progress, self.waits) = (progress, 0);
        }
    }

    /// Takes note that the handshake's time to wait is over. What is still to be done here is no fault of the client.
    pub(super) fn note_wait(&mut self) {
        if !self.session.awaits_work() {
            self.waits = self.waits.saturating_add(1);
        }
    }

    /// Nobody knows whether the client receives where it was heard from last.
    pub(crate) fn may_have_moved<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.path = Path::UNPROVED;
        self.traffic.moved(cx, PINGS * (self.session.overhead() + HEADER));
    }

    /// Takes note of data that came from `from` in so many bytes, in the newest record of all or an older one. Whether the client
    /// is at another address since.
    pub(super) fn heard<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        from: A,
        newest: bool,
        bytes: usize,
    ) -> bool {
        let is_elsewhere = self.address != from;
        let moved = newest && is_elsewhere;
        if moved {
            self.may_have_moved(cx);
        } else if !self.path.is_proved() && self.traffic.is_reached() {
            self.path = Path::PROVED;
        }
        if moved || !is_elsewhere {
            self.path.received(bytes);
        }
        moved
    }

    pub(super) fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        out: &mut [u8],
    ) -> Option<usize> {
        while let Some(len) = self.session.poll_transmit(cx, out) {
            if self.path.admits(len) {
                return Some(len);
            }
            cx.counters.count(Counter::DtlsHeldBack);
        }
        if !self.session.is_connected() {
            return None;
        }
        let tail = self.session.overhead() - RECORD_FRONT;
        let len = if self.path.is_proved() {
            let end = out.len().checked_sub(tail)?;
            self.traffic.poll_transmit(cx, config, out.get_mut(RECORD_FRONT..end)?)?
        } else {
            let end = self.path.room(out.len()).saturating_sub(tail);
            self.poll_held_back(cx, config, out.get_mut(RECORD_FRONT..end).unwrap_or_default())?
        };
        let sealed = self.session.seal(cx, out, len).ok()?;
        self.path.admits(sealed).then_some(sealed)
    }

    /// Fills `out`, which is all that may be sent where the client is now.
    fn poll_held_back<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        out: &mut [u8],
    ) -> Option<usize> {
        let waited = self.traffic.is_held_back();
        let len = self.traffic.poll_transmit(cx, config, out);
        if !waited && self.traffic.is_held_back() {
            cx.counters.count(Counter::DtlsHeldBack);
        }
        len
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use core::net::SocketAddr;

    use sixlock_coap::{Exchanges, Heap};
    use sixlock_crypto::SmallKeys;

    use super::*;
    use crate::OnHeap;

    #[test]
    fn a_million_sessions_of_the_cloud_take_less_than_half_a_gigabyte_in_place() {
        type Cloud = Peer<SmallKeys, SocketAddr, OnHeap<1088>, Exchanges<Heap<1088>, 4>>;
        assert!(size_of::<Cloud>() <= 480, "{}", size_of::<Cloud>());
    }
}
