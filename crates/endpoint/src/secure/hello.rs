//! Who gets a session: hellos, and the room for their handshakes.

use sixlock_base::{Counter, Cx, Entropy};
use sixlock_crypto::Crypto;
use sixlock_dtls::{Listen, Refusal, ServerSession, listen};

use super::{Client, Parted, Path, Peer, PendingEvents, Secure};
use crate::id::{SessionId, Stage};
use crate::prefixes::network;
use crate::table::{Slot, Table};
use crate::traffic::Traffic;
use crate::{Address, Config, Storage};

impl<C: Crypto, A: Address, S: Storage<C, A>, X: Traffic> Secure<C, A, S, X> {
    /// Answers a hello without remembering it, or makes a session for it; tells which session it is a repetition for.
    pub(super) fn listen<E: Entropy, N>(
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
            Listen::Refuse(len, refusal) => {
                self.refusal.note(from, refusal);
                self.reply.set(from, len);
                return None;
            }
            Listen::Drop(refusal) => {
                self.refusal.note(from, refusal);
                return None;
            }
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
            self.refusal.note(from, Refusal::Superseded);
            self.part(slot);
        }
        let mut prefix = 0;
        if self.prefixes.are_counted() {
            let [high, low, ..] = self.session_cache.fingerprint(cx, network(&from.to_bytes()));
            prefix = self.prefixes.find([high, low]);
        }
        if !self.prefixes.admits(cx.now, prefix, self.handshakes) || !self.make_room(cx, config) {
            cx.counters.count(Counter::DtlsSessionsFull);
            self.refusal.note(from, Refusal::SessionsFull);
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
        let session = ServerSession::server(cx, &hello, dtls, room);
        let peer = Peer {
            serial: self.serial,
            address: from,
            stage: Some(Stage::Handshake),
            prefix,
            // Whoever floods is silent from the first.
            waits: 1,
            progress: session.progress(),
            session,
            client: Client::default(),
            path: Path::PROVED,
            traffic: X::new(),
            pending: PendingEvents::default(),
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
            if let Some(len) = peer.session.poll_transmit(cx, self.reply.room())
                && peer.path.admits(len)
            {
                self.reply.set(peer.address, len);
            }
        }
        self.part(slot);
        true
    }

    /// Removes a session for another's sake.
    pub(super) fn part(&mut self, slot: Slot) {
        if let Some(Peer { serial, address, client, .. }) = self.remove(slot) {
            let id = SessionId { slot, serial };
            self.parted = Some(Parted { id, from: address, client, reported: false });
        }
    }
}
