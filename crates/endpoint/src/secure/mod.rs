//! CoAP over DTLS.

mod client;
mod hello;
mod path;
mod peer;
mod requests;
mod resume;

use sixlock_base::{Counter, Cx, Entropy, Instant};
use sixlock_crypto::Crypto;
use sixlock_dtls::{
    Completion, CookieSecrets, Error, Failure, KeptRefusal, OptionalPart, Refusal, Work, is_client_hello,
};
use sixlock_dtls_msg::{ContentType, RecordHeader};

use crate::id::{AuthenticationMethod, SessionId, Stage};
use crate::names::{Names, SessionLocation};
use crate::prefixes::Prefixes;
use crate::reply::Reply;
use crate::session_cache::SessionCache;
use crate::session_event::Event;
use crate::session_record::SessionIdentifier;
use crate::table::{Queue, Slot, Table};
use crate::traffic::Traffic;
use crate::{Address, Config, Shard, Storage};
pub(crate) use client::Client;
pub(crate) use path::{AMPLIFICATION, Path};
use peer::{End, Happened};
pub(crate) use peer::{Peer, PendingEvents};

/// So many times the server waits for a client in vain, where places are scarce, and sends its flight again; the next time it gives
/// the place to another: some half a minute after the handshake made progress last.
const CROWDED_WAITS: u8 = 2;

/// What a datagram held.
pub(crate) struct Taken<'d, I> {
    /// What is handed out, and whose it is.
    pub(crate) incoming: Option<(SessionId, I)>,
    /// Whose the rest is, if it is another shard's.
    pub(crate) elsewhere: Option<u16>,
    /// What was not looked at.
    pub(crate) rest: &'d mut [u8],
}

/// Whose a record is.
enum Owner {
    Here(Slot),
    /// Another shard's.
    There(u16),
    Nobody,
}

/// A session that has made room, until that is told.
struct Parted<A, I> {
    id: SessionId,
    from: A,
    client: Client<I>,
    reported: bool,
}

/// The sessions, and who may get one.
pub(crate) struct Secure<C: Crypto, A: Address, S: Storage<C, A>, X> {
    pub(crate) sessions: S::Sessions<Peer<C, A, S, X>>,
    handshakes: u32,
    prefixes: Prefixes<S::Prefixes>,
    pub(crate) serial: u32,
    secrets: CookieSecrets,
    secrets_since: Instant,
    reply: Reply<A>,
    pub(crate) names: Names,
    pub(crate) shard: Option<&'static Shard>,
    /// The addresses of sessions that shards have gone on with, in order: what comes from there may come to another.
    pub(crate) neighbours: S::Neighbours,
    pub(crate) session_cache: SessionCache<C, A, S>,
    pub(crate) tickets: S::Tickets,
    /// Why something was refused, and whose it was.
    refusal: KeptRefusal<A>,
    /// A call makes one session part at most.
    parted: Option<Parted<A, S::Identity>>,
}

impl<C: Crypto, A: Address, S: Storage<C, A>, X: Traffic> Secure<C, A, S, X> {
    pub(crate) fn new<E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, config: &Config) -> Self {
        Self {
            sessions: S::Sessions::with_limit(config.max_sessions),
            handshakes: 0,
            prefixes: Prefixes::new(S::prefixes(), config.max_handshakes),
            serial: 0,
            secrets: CookieSecrets::new(cx.entropy),
            secrets_since: cx.now,
            reply: Reply::none(),
            names: Names::new(config.max_sessions, config.shard.filter(|_| S::SHARDS)),
            shard: config.shard,
            neighbours: S::Neighbours::default(),
            session_cache: SessionCache::new(cx, config),
            tickets: S::Tickets::EMPTY,
            refusal: KeptRefusal::NONE,
            parted: None,
        }
    }

    /// Takes a datagram up to the first in it that is handed out; lends that and what was not looked at.
    pub(crate) fn handle<'d, E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        from: A,
        datagram: &'d mut [u8],
    ) -> Taken<'d, X::Incoming<'d>> {
        let mut rest = datagram;
        loop {
            let slot = if is_client_hello(rest) {
                self.listen(cx, config, from, rest)
            } else {
                match self.owner(cx, from, rest) {
                    Owner::Here(slot) => Some(slot),
                    Owner::There(shard) => return Taken { incoming: None, elsewhere: Some(shard), rest },
                    Owner::Nobody => None,
                }
            };
            let Some((slot, peer)) = slot.and_then(|slot| Some((slot, self.sessions.get_mut(slot)?))) else {
                return Taken { incoming: None, elsewhere: None, rest: Default::default() };
            };
            let length = rest.len();
            let received = peer.session.handle(cx, rest);
            rest = received.rest;
            if received.data.is_none() && peer.stage == Some(Stage::Handshake) {
                peer.note_progress();
            }
            let id = SessionId { slot, serial: peer.serial };
            let (incoming, moved) = match received.data {
                Some(data) => {
                    let incoming = peer.traffic.handle(cx, config, data);
                    let moved = peer.heard(cx, from, received.newest, length - rest.len());
                    self.sessions.touch(slot, cx.now);
                    (incoming, moved)
                }
                None => (None, false),
            };
            if moved {
                cx.counters.count(Counter::DtlsAddressChanges);
                self.relocate(slot, from);
            }
            self.settle(cx, slot);
            if incoming.is_some() || rest.is_empty() {
                return Taken { incoming: incoming.map(|incoming| (id, incoming)), elsewhere: None, rest };
            }
        }
    }

    /// The session that the first record of `datagram` is for. While one is to replace another, the old one gets what
    /// only a connected session gets.
    fn owner<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>, from: A, datagram: &[u8]) -> Owner {
        let Ok(header) = RecordHeader::parse(datagram) else {
            cx.counters.count(Counter::DtlsMalformed);
            self.refusal.note(from, Refusal::RecordHeader);
            return Owner::Nobody;
        };
        if header.content_type == ContentType::ConnectionId {
            let own = self.shard();
            let named = self.names.read(own, datagram);
            if let (Some(SessionLocation { shard, .. }), Some(own)) = (named, own)
                && shard != own.number()
            {
                return Owner::There(shard);
            }
            let owner = named.filter(|named| {
                self.sessions.get(named.slot).is_some_and(|peer| peer.serial as u8 == named.serial)
            });
            if owner.is_none() {
                cx.counters.count(Counter::DtlsNoSession);
                self.refusal.note(from, Refusal::NoSession);
            }
            return owner.map_or(Owner::Nobody, |named| Owner::Here(named.slot));
        }
        let protected = header.epoch != 0
            && matches!(header.content_type, ContentType::ApplicationData | ContentType::Alert);
        let [first, second] = if protected {
            [Stage::Connected, Stage::Handshake]
        } else {
            [Stage::Handshake, Stage::Connected]
        };
        let find = |stage| self.sessions.find(&(from, stage));
        let owner = find(first).or_else(|| find(second)).map(Owner::Here);
        owner.or_else(|| self.neighbour(from).map(Owner::There)).unwrap_or_else(|| {
            cx.counters.count(Counter::DtlsNoSession);
            self.refusal.note(from, Refusal::NoSession);
            Owner::Nobody
        })
    }

    /// Which other shard has gone on with a session whose client was heard from there.
    fn neighbour(&self, from: A) -> Option<u16> {
        let (own, neighbours) = (self.shard()?.number(), self.neighbours.as_ref());
        let found = neighbours.binary_search_by_key(&from, |(address, _)| *address).ok()?;
        neighbours.get(found).map(|(_, shard)| *shard).filter(|shard| *shard != own)
    }

    /// Which shard this is, where there are any.
    fn shard(&self) -> Option<&'static Shard> {
        if S::SHARDS { self.shard } else { None }
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Option<Peer<C, A, S, X>> {
        let peer = self.sessions.remove(slot)?;
        if peer.stage == Some(Stage::Handshake) {
            self.handshakes -= 1;
            self.prefixes.end(peer.prefix);
        }
        Some(peer)
    }

    /// Takes note of what a call has done to a session.
    fn settle<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, slot: Slot) {
        if let Some(peer) = self.sessions.get_mut(slot)
            && let Some(refusal) = peer.session.poll_refusal()
        {
            self.refusal.note(peer.address, refusal);
        }
        while let Some(peer) = self.sessions.get_mut(slot) {
            match peer.session.poll_event() {
                Some(sixlock_dtls::Event::Work(Work::Psk { identity })) => {
                    peer.client.identify(identity, AuthenticationMethod::PreSharedKey);
                    peer.pending.work = true;
                }
                Some(sixlock_dtls::Event::Work(Work::Task(_))) => peer.pending.work = true,
                Some(sixlock_dtls::Event::Work(Work::Session { id })) => {
                    let name = SessionIdentifier::try_from(id).ok();
                    self.look_for(cx, slot, name);
                }
                Some(sixlock_dtls::Event::Work(Work::Ticket)) => self.give_ticket(cx, slot),
                Some(sixlock_dtls::Event::Connected) => {
                    peer.pending.connected = true;
                    if let Some(name) = peer.client.kept() {
                        self.session_cache.touch(&name, cx.now);
                    } else if let Some(resumption) = peer.session.session_state() {
                        let kept = self.session_cache.insert(cx, resumption, peer.client.owner());
                        peer.client.set_kept(kept);
                    }
                    self.enter(slot, Some(Stage::Connected));
                    self.sessions.touch(slot, cx.now);
                }
                Some(sixlock_dtls::Event::Closed) => {
                    peer.pending.end = Some(End::Closed);
                    self.enter(slot, None);
                }
                Some(sixlock_dtls::Event::Failed(failure)) => {
                    // Such an alert is authentic, and the session is the one it was sent in.
                    // https://www.rfc-editor.org/rfc/rfc5246#section-7.2.2
                    if let (Failure::Alert(_), Some(name)) = (failure, peer.client.kept()) {
                        self.session_cache.remove(&name);
                    }
                    peer.pending.end = Some(End::Failed(failure));
                    self.enter(slot, None);
                }
                None => {
                    let told = peer.pending.is_empty() && !peer.traffic.has_ended();
                    let deadline = peer.deadline();
                    self.sessions.set_deadline(slot, deadline, cx.now);
                    self.sessions.mark(slot, Queue::Transmit);
                    if !told {
                        self.sessions.mark(slot, Queue::Event);
                    }
                    return;
                }
            }
        }
    }

    /// Moves a session to another stage, where it takes the place of any before it.
    fn enter(&mut self, slot: Slot, stage: Option<Stage>) {
        let Some(peer) = self.sessions.get_mut(slot) else { return };
        if peer.stage == Some(Stage::Handshake) {
            self.handshakes -= 1;
            self.prefixes.end(peer.prefix);
        }
        peer.stage = stage;
        let key = stage.map(|stage| (peer.address, stage));
        if let Some(old) = key.and_then(|key| self.sessions.find(&key)) {
            self.part(old);
        }
        self.sessions.rename(slot, key);
    }

    /// A session's client is at another address now. If a session of another client is there, that one is the one found
    /// by the address: this one is found by its connection id.
    fn relocate(&mut self, slot: Slot, to: A) {
        let Some(peer) = self.sessions.get_mut(slot) else { return };
        peer.address = to;
        let key = peer.stage.map(|stage| (to, stage));
        let free = key.filter(|key| self.sessions.find(key).is_none());
        self.sessions.rename(slot, free);
    }

    pub(crate) fn poll_transmit<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        out: &mut [u8],
    ) -> Option<(A, usize)> {
        if let Some(reply) = self.reply.take(out) {
            return Some(reply);
        }
        while let Some(slot) = self.sessions.take_marked(Queue::Transmit) {
            let Some(peer) = self.sessions.get_mut(slot) else { continue };
            if let Some(len) = peer.poll_transmit(cx, config, out) {
                let (address, deadline) = (peer.address, peer.deadline());
                self.sessions.set_deadline(slot, deadline, cx.now);
                self.sessions.mark(slot, Queue::Transmit);
                return Some((address, len));
            }
            if peer.stage.is_none() && peer.pending.is_empty() {
                self.remove(slot);
            }
        }
        None
    }

    pub(crate) fn poll_event(&mut self, config: &Config) -> Option<Event<'_, A>> {
        if let Some((from, refusal)) = self.refusal.take() {
            return Some(Event::Refused { from, refusal });
        }
        self.parted.take_if(|parted| parted.reported);
        if let Some(parted) = &mut self.parted {
            parted.reported = true;
            let Parted { id, from, ref client, .. } = *parted;
            return Some(Event::Closed { session: id, from, identity: client.identity() });
        }
        let (slot, happened) = loop {
            let slot = self.sessions.take_marked(Queue::Event)?;
            let Some(peer) = self.sessions.get_mut(slot) else { continue };
            let ended = peer.traffic.poll_ended().map(Happened::Ended);
            if let Some(happened) = ended.or_else(|| peer.pending.take()) {
                break (slot, happened);
            }
        };
        // There may be more to tell; and a session that is over goes when it has sent its last.
        self.sessions.mark(slot, Queue::Event);
        self.sessions.mark(slot, Queue::Transmit);
        let Peer { serial, address, session, client, .. } = self.sessions.get_mut(slot)?;
        let (id, from, identity) = (SessionId { slot, serial: *serial }, *address, client.identity());
        Some(match happened {
            Happened::Work => match session.task() {
                Some(task) => Event::Task { session: id, task },
                None => {
                    let (identity, method) = client.claim();
                    Event::Work { session: id, identity, method }
                }
            },
            Happened::Elsewhere(shard) => {
                Event::Elsewhere { session: id, id: client.named().unwrap_or_default(), shard }
            }
            Happened::Connected => {
                let key_log = if config.key_log { session.key_log() } else { None };
                Event::Connected { session: id, from, identity, key_log }
            }
            Happened::Ended(ended) => Event::Ended { peer: id.into(), ended },
            Happened::End(End::Closed) => Event::Closed { session: id, from, identity },
            Happened::End(End::Failed(failure)) => Event::Failed { session: id, from, identity, failure },
        })
    }

    pub(crate) fn complete<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        answer: &sixlock_dtls::Answer,
    ) -> Result<(), Error> {
        let gone_on = self.get_mut(id).ok_or(Error::NoWork)?.session.complete(cx, Completion::Task(answer));
        self.settle(cx, id.slot);
        gone_on
    }

    /// Protects data for the peer at `to`, as [`Datagrams::seal`](crate::Datagrams::seal) says.
    pub(crate) fn seal<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        to: A,
        buffer: &mut [u8],
        length: usize,
    ) -> Result<usize, Error> {
        let slot = self.sessions.find(&(to, Stage::Connected)).ok_or(Error::NotConnected)?;
        let peer = self.sessions.get_mut(slot).ok_or(Error::NotConnected)?;
        let sealed = peer.session.seal(cx, buffer, length);
        self.sessions.touch(slot, cx.now);
        sealed
    }

    pub(crate) fn close<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, id: SessionId) {
        if let Some(peer) = self.get_mut(id) {
            peer.session.close();
            self.settle(cx, id.slot);
        }
    }

    pub(crate) fn identity(&self, id: SessionId) -> Option<&[u8]> {
        let peer = self.sessions.get(id.slot).filter(|peer| peer.serial == id.serial)?;
        Some(peer.client.identity())
    }

    pub(crate) fn has_identity(&self, id: SessionId) -> bool {
        self.sessions.get(id.slot).is_some_and(|peer| peer.serial == id.serial && peer.client.is_known())
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.sessions.next_deadline(), self.session_cache.poll_timeout())
    }

    pub(crate) fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        self.session_cache.handle_timeout(cx);
        while let Some(slot) = self.sessions.take_due(cx.now) {
            let Some(peer) = self.sessions.get_mut(slot) else { continue };
            if peer.stage == Some(Stage::Handshake) {
                peer.note_wait();
                if peer.waits > CROWDED_WAITS
                    && self.prefixes.are_scarce(cx.now, peer.prefix, self.handshakes)
                {
                    peer.session.give_up(cx);
                }
            }
            peer.session.handle_timeout(cx);
            peer.traffic.handle_timeout(cx);
            self.settle(cx, slot);
        }
    }

    fn get_mut(&mut self, id: SessionId) -> Option<&mut Peer<C, A, S, X>> {
        self.sessions.get_mut(id.slot).filter(|peer| peer.serial == id.serial)
    }
}
