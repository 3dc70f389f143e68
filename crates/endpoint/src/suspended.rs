//! Sessions as they outlive the endpoint: suspended when it ends in order, and gone on with by the next.

use alloc::sync::Arc;
use alloc::vec::Vec;

use sixlock_base::{Cx, Duration, Entropy, Instant};
use sixlock_coap::ByteStore;
use sixlock_crypto::SmallKeys;
use sixlock_dtls::{MAX_IDENTITY, SESSION_ID, SUSPENDED, ServerSession, Suspended};

use crate::id::{AuthenticationMethod, SessionId, Stage};
use crate::secure::{Client, Path, Peer, PendingEvents, Secure};
use crate::table::{Slot, Table};
use crate::traffic::Traffic;
use crate::{Address, Endpoint, OnHeap, Shard};

/// The longest of what [`Endpoint::suspend`] writes, in bytes.
pub const LONGEST_SUSPENDED: usize = size_of::<u32>() + 1 + 1 + SUSPENDED + 1 + SESSION_ID + 1 + MAX_IDENTITY;

/// A session that was suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspension<A> {
    /// Where its client was heard last.
    pub from: A,
    /// How long ago it was used.
    pub idle: Duration,
    /// How many bytes were written of it.
    pub len: usize,
}

impl Shard {
    /// Which shard is to go on with a session of which [`Endpoint::suspend`] wrote this: one of those that there are by now, however many
    /// there were then.
    pub fn of_suspended(&self, bytes: &[u8]) -> Option<u16> {
        let place = bytes.first_chunk().copied().map(u32::from_be_bytes)?;
        Some(self.find(place).0)
    }
}

impl<A: Address, const RESPONSE: usize, const RING: usize> Endpoint<SmallKeys, A, OnHeap<RESPONSE>, RING> {
    /// The sessions that are connected and were used `within` this time, the one put in or used longest ago first.
    pub fn connected<E, N>(&self, cx: &mut Cx<'_, SmallKeys, E, N>, within: Duration) -> Vec<SessionId> {
        self.secure.connected(cx.now, within)
    }

    /// Ends a session here without a word to its client, for [`Endpoint::wake`] to go on with it, in this program or the next. What it
    /// writes is as secret as the session's keys, and must be used once at most ([`Suspended`]).
    ///
    /// Nothing if it is not connected, or something is to be sent in it or told of it first. Requests that were not answered are
    /// forgotten with those that were, and observations end.
    pub fn suspend<E, N>(
        &mut self,
        cx: &mut Cx<'_, SmallKeys, E, N>,
        session: SessionId,
        out: &mut [u8; LONGEST_SUSPENDED],
    ) -> Option<Suspension<A>> {
        self.secure.suspend(cx.now, session, out)
    }

    /// Goes on with a session, of which [`Endpoint::suspend`] wrote these bytes. Its client was heard last from `from`, and it was used so
    /// long ago as it is `idle`. Its next record leaves out as many numbers as are `skipped`.
    ///
    /// If its client may be at another address than it was heard from, it is sent no more than three times as many bytes as come from there,
    /// until it shows that it receives there.
    ///
    /// It takes the place that it had among all sessions of all [shards](Shard), by which its client names it. Nothing if that is
    /// another shard's by now, or behind the last, or taken; or if the bytes are no session.
    pub fn wake<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, SmallKeys, E, N>,
        (from, idle): (A, Duration),
        bytes: &[u8],
        skipped: u64,
    ) -> Option<SessionId> {
        self.secure.wake(cx, (from, idle), bytes, skipped)
    }

    /// Whether the client of a session names it in its records, from wherever they come.
    pub fn is_named(&self, session: SessionId) -> bool {
        self.secure.is_named(session)
    }

    /// Tells which shards have gone on with sessions of these addresses, in their order, so that each gets what another hears from there:
    /// the system spreads what comes as it likes.
    pub fn know_neighbours(&mut self, neighbours: Arc<[(A, u16)]>) {
        self.secure.neighbours = neighbours;
    }
}

impl<A: Address, const RESPONSE: usize, X: Traffic> Secure<SmallKeys, A, OnHeap<RESPONSE>, X> {
    fn connected(&self, now: Instant, within: Duration) -> Vec<SessionId> {
        let is_used = |slot: &Slot| self.sessions.idle(*slot, now).is_some_and(|idle| idle <= within);
        let peers =
            self.sessions.by_use().filter(is_used).filter_map(|slot| Some((slot, self.sessions.get(slot)?)));
        let connected = peers.filter(|(_, peer)| peer.stage == Some(Stage::Connected));
        connected.map(|(slot, peer)| SessionId { slot, serial: peer.serial }).collect()
    }

    fn suspend(
        &mut self,
        now: Instant,
        SessionId { slot, serial }: SessionId,
        out: &mut [u8; LONGEST_SUSPENDED],
    ) -> Option<Suspension<A>> {
        let place = self.shard?.place(slot);
        let is_meant = |peer: &&Peer<_, _, _, X>| {
            peer.serial == serial && peer.stage == Some(Stage::Connected) && peer.pending.is_empty()
        };
        self.sessions.get(slot).filter(is_meant)?;
        let idle = self.sessions.idle(slot, now)?;
        let peer = self.remove(slot)?;
        let session = peer.session.suspend()?;
        let ((identity, method, _), kept) = (peer.client.owner(), peer.client.kept());
        let kept: &[u8] = kept.as_ref().map_or(&[], |name| name);
        let mut written = 0;
        for part in [
            &place.to_be_bytes()[..],
            &[serial as u8, method as u8],
            session.bytes(),
            &[kept.len() as u8],
            kept,
            &[identity.len() as u8],
            identity,
        ] {
            out.get_mut(written..written + part.len())?.copy_from_slice(part);
            written += part.len();
        }
        Some(Suspension { from: peer.address, idle, len: written })
    }

    fn wake<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, SmallKeys, E, N>,
        (from, idle): (A, Duration),
        bytes: &[u8],
        skipped: u64,
    ) -> Option<SessionId> {
        let (place, rest) = bytes.split_first_chunk()?;
        let (&[serial, method], rest) = rest.split_first_chunk()?;
        let (suspended, rest) = rest.split_at_checked(SUSPENDED)?;
        let (kept, rest) = counted(rest)?;
        let (named, rest) = counted(rest)?;
        let method = AuthenticationMethod::ALL.into_iter().find(|known| *known as u8 == method)?;
        let kept = if kept.is_empty() { None } else { Some(kept.try_into().ok()?) };
        if !rest.is_empty() || named.len() > MAX_IDENTITY {
            return None;
        }
        let session: ServerSession<_, _, _> =
            ServerSession::wake(&Suspended::from_bytes(suspended)?, skipped, None)?;

        let own = self.shard?;
        let (shard, slot) = own.find(u32::from_be_bytes(*place));
        let serial = self.next_serial(serial);
        if shard != own.number() || !self.leads_here(session.connection_id(), slot, serial) {
            return None;
        }
        let key = Some((from, Stage::Connected)).filter(|key| self.sessions.find(key).is_none());
        if key.is_none() && session.connection_id().is_empty() {
            return None;
        }
        let mut identity = <OnHeap<RESPONSE> as crate::Storage<SmallKeys, A>>::Identity::default();
        identity.store(named);
        let roams = !session.connection_id().is_empty();
        let mut peer = Peer {
            serial,
            address: from,
            stage: Some(Stage::Connected),
            prefix: 0,
            waits: 0,
            progress: 0,
            session,
            client: Client::of_session(identity, method, kept),
            path: Path::PROVED,
            traffic: X::new(),
            pending: PendingEvents::default(),
        };
        // What it has answered is not written down.
        if roams {
            peer.may_have_moved(cx);
        }
        // Time wraps.
        let used = Instant::from_millis(cx.now.millis().wrapping_sub(idle.millis()));
        self.sessions.insert_at(slot, key, peer, used)?;
        self.serial = serial;
        Some(SessionId { slot, serial })
    }

    /// The next serial number that ends so: a name of the session says the end.
    fn next_serial(&self, end: u8) -> u32 {
        let ahead = end.wrapping_sub(self.serial as u8).wrapping_sub(1);
        self.serial.wrapping_add(1).wrapping_add(ahead.into())
    }

    /// Whether who names a session so, if anybody does, means what is at `slot`.
    fn leads_here(&self, id: &[u8], slot: Slot, serial: u32) -> bool {
        let given = self.names.give(self.shard, slot, serial);
        id.is_empty() || given.is_some_and(|given| given.bytes() == id)
    }

    fn is_named(&self, SessionId { slot, serial }: SessionId) -> bool {
        let peer = self.sessions.get(slot).filter(|peer| peer.serial == serial);
        peer.is_some_and(|peer| !peer.session.connection_id().is_empty())
    }
}

/// Bytes behind their length, and what follows.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    rest.split_at_checked(length.into())
}
