//! The door behind DTLS.

use sixlock_base::{Counter, Cx, Duration, Entropy, Instant};
use sixlock_coap::{Answer, ByteStore, ExchangeId, Exchanges, Notified, RespondError, Token};
use sixlock_coap_msg::Code;
use sixlock_crypto::Crypto;
use sixlock_dtls::{
    CookieSecrets, Error, Failure, HandshakeRoom, Listen, Place, Profile, RECORD_FRONT, Resumption,
    ServerSession, Work, is_client_hello, listen,
};
use sixlock_dtls_msg::{ContentType, RecordHeader};

use crate::named::{Named, Names};
use crate::prefixes::{Prefixes, network};
use crate::reply::Reply;
use crate::resumptions::{KeyMark, Name, Resumptions, store};
use crate::session_event::{Event, Proof, SessionId, Stage};
use crate::table::{Queue, Slot, Table};
use crate::tickets::{LONGEST_TICKET, OpenedTicket, Tickets};
use crate::traffic::Traffic;
use crate::{Address, Config, Shard, Storage};

/// How often at most a flight is sent again while more than half of the places for handshakes are taken: a client that is
/// silent meanwhile leaves its place after some ten seconds. One that is heard sends its own flight again, and is answered.
const CROWDED_RETRANSMISSIONS: u8 = 1;

pub(crate) struct Peer<C: Crypto, A: Address, S: Storage<C, A>, X> {
    pub(crate) serial: u32,
    pub(crate) address: A,
    /// Nothing when it is over.
    pub(crate) stage: Option<Stage>,
    /// Where its handshake is counted.
    pub(crate) prefix: u16,
    pub(crate) session: ServerSession<C, S::Handshake, S::Profile>,
    pub(crate) identity: S::Identity,
    pub(crate) proof: Proof,
    /// Of the key that it was given, or that stands for a public one, for a handshake that is not over.
    pub(crate) key: KeyMark,
    /// Under which name the session is kept, or the one that its client wants to resume.
    pub(crate) kept: Option<Name>,
    pub(crate) traffic: X,
    pub(crate) untold: Untold,
}

/// What happened to a session and was not told yet, in the order it is told.
#[derive(Default)]
pub(crate) struct Untold {
    work: bool,
    /// Another shard is to be asked.
    elsewhere: Option<u16>,
    connected: bool,
    end: Option<End>,
}

enum End {
    Closed,
    Failed(Failure),
}

enum Happened {
    Work,
    Elsewhere(u16),
    Connected,
    Notified(Notified),
    End(End),
}

impl Untold {
    fn take(&mut self) -> Option<Happened> {
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
    fn deadline(&mut self) -> Option<Instant> {
        let traffic = self.stage.and_then(|_| self.traffic.poll_timeout());
        Instant::earliest(self.session.poll_timeout(), traffic)
    }

    fn poll_transmit<E: Entropy, N>(
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
    identity: I,
    told: bool,
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
    pub(crate) resumptions: Resumptions<C, A, S>,
    pub(crate) tickets: S::Tickets,
    /// A call makes one session part at most.
    parted: Option<Parted<A, S::Identity>>,
}

impl<C: Crypto, A: Address, S: Storage<C, A>, X: Traffic> Secure<C, A, S, X> {
    pub(crate) fn new<E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, config: &Config) -> Self {
        Self {
            sessions: S::Sessions::with_limit(config.max_sessions),
            handshakes: 0,
            prefixes: Prefixes::new(S::prefixes()),
            serial: 0,
            secrets: CookieSecrets::new(cx.entropy),
            secrets_since: cx.now,
            reply: Reply::none(),
            names: Names::new(config.max_sessions, config.shard.filter(|_| S::SHARDS)),
            shard: config.shard,
            neighbours: S::Neighbours::default(),
            resumptions: Resumptions::new(cx, config),
            tickets: S::Tickets::EMPTY,
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
            let received = peer.session.handle(cx, rest);
            rest = received.rest;
            let id = SessionId { slot, serial: peer.serial };
            let moved = received.newest && peer.address != from;
            let incoming = match received.data {
                Some(data) => {
                    let incoming = peer.traffic.handle(cx, config, data);
                    self.sessions.touch(slot, cx.now);
                    incoming
                }
                None => None,
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
            return Owner::Nobody;
        };
        if header.content_type == ContentType::ConnectionId {
            let own = self.shard();
            let named = self.names.read(own, datagram);
            if let (Some(Named { shard, .. }), Some(own)) = (named, own)
                && shard != own.number()
            {
                return Owner::There(shard);
            }
            let owner = named.filter(|named| {
                self.sessions.get(named.slot).is_some_and(|peer| peer.serial as u8 == named.serial)
            });
            if owner.is_none() {
                cx.counters.count(Counter::DtlsNoSession);
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

    /// Answers a hello without remembering it, or makes a session for it; tells which session it is a repetition for.
    fn listen<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        from: A,
        datagram: &[u8],
    ) -> Option<Slot> {
        if cx.now.since(self.secrets_since) >= config.cookie_rotation {
            self.secrets.rotate(cx.entropy);
            self.secrets_since = cx.now;
        }
        let hello = match listen(cx, &self.secrets, &from.to_bytes(), datagram, self.reply.room()) {
            Listen::Accept(hello) => hello,
            Listen::Reply(len) => {
                self.reply.set(from, len);
                return None;
            }
            Listen::Drop => return None,
        };
        let stages = [Stage::Handshake, Stage::Connected];
        let [handshake, connected] = stages.map(|stage| self.sessions.find(&(from, stage)));
        let repeated = [handshake, connected]
            .into_iter()
            .flatten()
            .find(|&slot| self.sessions.get(slot).is_some_and(|peer| peer.session.began_with(&hello)));
        if repeated.is_some() {
            return repeated;
        }
        // The client has begun anew. Its connected session stays until the new one is connected as well:
        // https://www.rfc-editor.org/rfc/rfc6347#section-4.2.8
        if let Some(slot) = handshake {
            cx.counters.count(Counter::DtlsHandshakesFailed);
            self.part(slot);
        }
        let mut prefix = 0;
        if self.prefixes.are_counted() {
            let [high, low, ..] = self.resumptions.mark(cx, network(&from.to_bytes()));
            prefix = self.prefixes.find([high, low]);
        }
        let may_begin = self.handshakes < config.max_handshakes
            && self.prefixes.admits(prefix, self.handshakes, config.max_handshakes);
        if !may_begin || !self.make_room(cx, config) {
            cx.counters.count(Counter::DtlsSessionsFull);
            return None;
        }
        let room = S::handshake(config.credentials);
        self.serial = self.serial.wrapping_add(1);
        let slot = self.sessions.vacant();
        let name = slot.and_then(|slot| self.names.give(self.shard(), slot, self.serial));
        let dtls = sixlock_dtls::Config {
            resumable: config.max_resumable > 0,
            connection_id: name.filter(|_| config.connection_ids),
            ..config.dtls
        };
        let peer = Peer {
            serial: self.serial,
            address: from,
            stage: Some(Stage::Handshake),
            prefix,
            session: ServerSession::server(cx, &hello, dtls, room),
            identity: S::Identity::default(),
            proof: Proof::PreSharedKey,
            key: KeyMark::default(),
            kept: None,
            traffic: X::new(),
            untold: Untold::default(),
        };
        let slot = self.sessions.insert((from, Stage::Handshake), peer, cx.now)?;
        self.handshakes += 1;
        self.prefixes.begin(prefix);
        self.settle(cx, slot);
        None
    }

    /// Whether there is room for another session, perhaps after closing one that nobody used for long.
    fn make_room<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) -> bool {
        if !self.sessions.is_full() {
            return true;
        }
        let Some((slot, idle)) = self.sessions.least_recent(cx.now) else { return false };
        if idle <= config.idle {
            return false;
        }
        if let Some(peer) = self.sessions.get_mut(slot) {
            cx.counters.count(Counter::DtlsSessionsEvicted);
            peer.session.close();
            if let Some(len) = peer.session.poll_transmit(cx, self.reply.room()) {
                self.reply.set(peer.address, len);
            }
        }
        self.part(slot);
        true
    }

    /// Removes a session for another's sake.
    fn part(&mut self, slot: Slot) {
        if let Some(Peer { serial, address, identity, .. }) = self.remove(slot) {
            let id = SessionId { slot, serial };
            self.parted = Some(Parted { id, from: address, identity, told: false });
        }
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
        while let Some(peer) = self.sessions.get_mut(slot) {
            match peer.session.poll_event() {
                Some(sixlock_dtls::Event::Work(Work::Psk { identity })) => {
                    store(&mut peer.identity, identity);
                    peer.proof = Proof::PreSharedKey;
                    peer.untold.work = true;
                }
                Some(sixlock_dtls::Event::Work(Work::Task(_))) => peer.untold.work = true,
                Some(sixlock_dtls::Event::Work(Work::Session { id })) => {
                    let own = if S::SHARDS { self.shard } else { None };
                    if let Some((name, identity, proof)) = self.resumptions.find(id) {
                        store(&mut peer.identity, identity);
                        (peer.proof, peer.kept) = (proof, Some(name));
                        peer.untold.work = true;
                    } else if let (Some(own), Ok(name)) = (own, Name::try_from(id))
                        && let shard = own.of_session(&name)
                        && shard != own.number()
                    {
                        (peer.untold.elsewhere, peer.kept) = (Some(shard), Some(name));
                    } else if let Some(opened) =
                        presented(cx, &self.tickets, &self.resumptions, &peer.session)
                    {
                        let opened: OpenedTicket<S::Identity> = opened;
                        store(&mut peer.identity, opened.left.identity.bytes());
                        peer.proof = opened.left.proof;
                        peer.untold.work = true;
                    } else {
                        // It has just asked.
                        let _ = answer_hello(cx, own, &self.tickets, &mut peer.session, None);
                    }
                }
                Some(sixlock_dtls::Event::Work(Work::Ticket)) => {
                    if let (Some(tickets), Some(resumption)) = (self.tickets.get(), peer.session.resumption())
                    {
                        let left =
                            self.resumptions.left(resumption, (peer.identity.bytes(), peer.proof, peer.key));
                        let mut ticket = [0; LONGEST_TICKET];
                        let length = tickets.seal(cx, &left, None, &mut ticket);
                        let lifetime = self.resumptions.lifetime().millis() / 1000;
                        let ticket = ticket.get(..length).unwrap_or_default();
                        // It has just asked.
                        let _ = peer.session.give_ticket(cx, lifetime, ticket);
                    }
                }
                Some(sixlock_dtls::Event::Connected) => {
                    peer.untold.connected = true;
                    if let (None, Some(resumption)) = (peer.kept, peer.session.resumption()) {
                        let whose = (peer.identity.bytes(), peer.proof, peer.key);
                        peer.kept = self.resumptions.insert(cx, resumption, whose);
                    }
                    self.enter(slot, Some(Stage::Connected));
                    self.sessions.touch(slot, cx.now);
                }
                Some(sixlock_dtls::Event::Closed) => {
                    peer.untold.end = Some(End::Closed);
                    self.enter(slot, None);
                }
                Some(sixlock_dtls::Event::Failed(failure)) => {
                    // Such an alert is authentic: whoever merely names a session does not make it forgotten.
                    // https://www.rfc-editor.org/rfc/rfc5246#section-7.2.2
                    if let (Failure::Alert(_), Some(name)) = (failure, &peer.kept) {
                        self.resumptions.remove(name);
                    }
                    peer.untold.end = Some(End::Failed(failure));
                    self.enter(slot, None);
                }
                None => {
                    let told = peer.untold.is_empty() && !peer.traffic.has_notified();
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
            if peer.stage.is_none() && peer.untold.is_empty() {
                self.remove(slot);
            }
        }
        None
    }

    pub(crate) fn poll_event(&mut self, config: &Config) -> Option<Event<'_, A>> {
        self.parted.take_if(|parted| parted.told);
        if let Some(parted) = &mut self.parted {
            parted.told = true;
            let Parted { id, from, ref identity, .. } = *parted;
            return Some(Event::Closed { session: id, from, identity: identity.bytes() });
        }
        let (slot, happened) = loop {
            let slot = self.sessions.take_marked(Queue::Event)?;
            let Some(peer) = self.sessions.get_mut(slot) else { continue };
            let notified = peer.traffic.poll_notified().map(Happened::Notified);
            if let Some(happened) = notified.or_else(|| peer.untold.take()) {
                break (slot, happened);
            }
        };
        // There may be more to tell; and a session that is over goes when it has sent its last.
        self.sessions.mark(slot, Queue::Event);
        self.sessions.mark(slot, Queue::Transmit);
        let Peer { serial, address, session, identity, proof, kept, .. } = self.sessions.get_mut(slot)?;
        let (id, from, identity) = (SessionId { slot, serial: *serial }, *address, identity.bytes());
        Some(match happened {
            Happened::Work => match session.task() {
                Some(task) => Event::Task { session: id, task },
                None => Event::Work { session: id, identity, proof: *proof },
            },
            Happened::Elsewhere(shard) => {
                Event::Elsewhere { session: id, id: kept.unwrap_or_default(), shard }
            }
            Happened::Connected => {
                let key_log = if config.key_log { session.key_log() } else { None };
                Event::Connected { session: id, from, identity, key_log }
            }
            Happened::Notified(notified) => Event::Notified { peer: id.into(), notified },
            Happened::End(End::Closed) => Event::Closed { session: id, from, identity },
            Happened::End(End::Failed(failure)) => Event::Failed { session: id, from, identity, failure },
        })
    }

    pub(crate) fn resume<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        key: Option<&[u8]>,
    ) -> Result<(), Error> {
        let peer = self.sessions.get_mut(id.slot).filter(|peer| peer.serial == id.serial);
        let peer = peer.ok_or(Error::NoWork)?;
        let resumed = if peer.session.awaits_session() {
            let own = if S::SHARDS { self.shard } else { None };
            let opened: Option<OpenedTicket<S::Identity>> = match peer.kept {
                None => presented(cx, &self.tickets, &self.resumptions, &peer.session),
                Some(_) => None,
            };
            let opened = opened.filter(|opened| self.resumptions.is_key(cx, key, &opened.left.key));
            if let (Some(tickets), Some(opened)) = (self.tickets.get(), &opened) {
                if opened.is_old {
                    let mut ticket = [0; LONGEST_TICKET];
                    let length = tickets.seal(cx, &opened.left, Some(opened), &mut ticket);
                    peer.session.renew_ticket(opened.lifetime, ticket.get(..length).unwrap_or_default());
                }
                answer_hello(cx, own, &self.tickets, &mut peer.session, Some(&opened.left.resumption))
            } else {
                let left = peer.kept.as_ref().and_then(|name| self.resumptions.get(cx, name, key));
                if left.is_none() {
                    peer.kept = None;
                }
                answer_hello(cx, own, &self.tickets, &mut peer.session, left)
            }
        } else {
            if let Some(key) = key {
                peer.key = self.resumptions.mark(cx, key);
            }
            peer.session.resume(cx, key)
        };
        self.settle(cx, id.slot);
        resumed
    }

    pub(crate) fn borrow<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        lent: Option<(&[u8], Duration)>,
    ) -> Result<(), Error> {
        let own = self.shard();
        let peer = self.sessions.get_mut(id.slot).filter(|peer| peer.serial == id.serial);
        let peer = peer.filter(|peer| peer.session.awaits_session()).ok_or(Error::NoWork)?;
        if let Some((kept, left)) = lent {
            // What is malformed is not found.
            let _ = self.resumptions.restore(cx.now, kept, left);
        }
        if let Some((_, identity, proof)) = peer.kept.and_then(|name| self.resumptions.find(&name)) {
            store(&mut peer.identity, identity);
            peer.proof = proof;
            peer.untold.work = true;
        } else {
            peer.kept = None;
            let _ = answer_hello(cx, own, &self.tickets, &mut peer.session, None);
        }
        self.settle(cx, id.slot);
        Ok(())
    }

    pub(crate) fn identify<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        (identity, proof): (&[u8], Proof),
        key: &[u8],
    ) {
        let key = self.resumptions.mark(cx, key);
        if let Some(peer) = self.get_mut(id).filter(|peer| peer.stage == Some(Stage::Handshake)) {
            store(&mut peer.identity, identity);
            (peer.proof, peer.key) = (proof, key);
        }
    }

    pub(crate) fn go_on<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        answer: &sixlock_dtls::Answer,
    ) -> Result<(), Error> {
        let gone_on = self.get_mut(id).ok_or(Error::NoWork)?.session.go_on(cx, answer);
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
        Some(peer.identity.bytes())
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest(self.sessions.next_deadline(), self.resumptions.poll_timeout())
    }

    pub(crate) fn handle_timeout<E: Entropy, N>(&mut self, cx: &mut Cx<'_, C, E, N>, config: &Config) {
        self.resumptions.handle_timeout(cx);
        while let Some(slot) = self.sessions.take_due(cx.now) {
            let is_crowded = self.handshakes > config.max_handshakes / 2;
            if let Some(peer) = self.sessions.get_mut(slot) {
                if is_crowded && peer.stage == Some(Stage::Handshake) {
                    peer.session.retransmit_at_most(CROWDED_RETRANSMISSIONS);
                }
                peer.session.handle_timeout(cx);
                peer.traffic.handle_timeout(cx);
                self.settle(cx, slot);
            }
        }
    }

    fn get_mut(&mut self, id: SessionId) -> Option<&mut Peer<C, A, S, X>> {
        self.sessions.get_mut(id.slot).filter(|peer| peer.serial == id.serial)
    }
}

/// What the ticket says that a client presents, if it does and the ticket is good.
fn presented<C, A, S, E, N>(
    cx: &mut Cx<'_, C, E, N>,
    tickets: &S::Tickets,
    resumptions: &Resumptions<C, A, S>,
    session: &ServerSession<C, S::Handshake, S::Profile>,
) -> Option<OpenedTicket<S::Identity>>
where
    C: Crypto,
    A: Address,
    S: Storage<C, A>,
{
    tickets.get()?.open(cx, session.presented_ticket()?, resumptions.lifetime())
}

/// Answers a hello by what is left of the session that it names, or by a new session.
fn answer_hello<C: Crypto, P: Profile, H: HandshakeRoom<C, P::PublicKeys>, E: Entropy, N>(
    cx: &mut Cx<'_, C, E, N>,
    shard: Option<&Shard>,
    tickets: &impl Place<Tickets<C>>,
    session: &mut ServerSession<C, H, P>,
    left: Option<&Resumption>,
) -> Result<(), Error> {
    if tickets.get().is_some_and(Tickets::are_given) {
        session.promise_ticket();
    }
    let id = shard.map(|shard| shard.session_id(cx.entropy));
    session.resume_session(cx, left, id.as_ref())
}

impl<C: Crypto, A: Address, S: Storage<C, A>, const RING: usize>
    Secure<C, A, S, Exchanges<S::Response, RING>>
{
    pub(crate) fn respond<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        id: SessionId,
        exchange: ExchangeId,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let peer = self.get_mut(id).filter(|peer| peer.stage.is_some()).ok_or(RespondError::NotWaiting)?;
        // A client that takes short records only gets a short answer.
        let fits = answer.max_len() <= peer.session.max_data();
        let answer = if fits { answer } else { Code::INTERNAL_SERVER_ERROR.into() };
        let responded = peer.traffic.respond(cx, exchange, answer);
        self.settle(cx, id.slot);
        responded
    }

    pub(crate) fn notify<E: Entropy, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        config: &Config,
        id: SessionId,
        token: Token,
        confirmable: bool,
        answer: Answer<'_>,
    ) -> Result<(), RespondError> {
        let peer = self.get_mut(id).filter(|peer| peer.stage == Some(Stage::Connected));
        let peer = peer.ok_or(RespondError::NotWaiting)?;
        if answer.max_len() > peer.session.max_data() {
            return Err(RespondError::TooLarge);
        }
        let notified = peer.traffic.notify(cx, &config.coap, token, confirmable, answer);
        self.settle(cx, id.slot);
        notified
    }

    /// How long a message the client of a session takes.
    pub(crate) fn longest_answer(&self, id: SessionId) -> usize {
        let peer = self.sessions.get(id.slot).filter(|peer| peer.serial == id.serial);
        peer.map_or(0, |peer| peer.session.max_data())
    }
}
