//! What is left of sessions, for their clients to resume.

use sixlock_base::{Cx, Duration, Entropy, Instant};
use sixlock_coap::ByteStore;
use sixlock_crypto::{Crypto, constant_time_eq, wipe};
use sixlock_dtls::{Resumption, SESSION_ID};

use crate::session_event::Proof;
use crate::table::Table;
use crate::{Address, Config, Storage};

/// The id of a session that is resumed.
pub(crate) type Name = [u8; SESSION_ID];

/// Tells a key from others, to those who know the secret only.
pub(crate) type KeyMark = [u8; 8];

struct Kept<I> {
    resumption: Resumption,
    /// Whose session it was, and by what they proved it.
    identity: I,
    proof: Proof,
    /// Of the key that it was made with.
    key: KeyMark,
}

/// The sessions that can be resumed, as many as [`Config::max_resumable`] and each for
/// [`Config::resumable_for`] from its full handshake on.
pub(crate) struct Resumptions<C: Crypto, A: Address, S: Storage<C, A>> {
    kept: S::Resumptions<Kept<S::Identity>>,
    lifetime: Duration,
    secret: [u8; 32],
}

impl<C: Crypto, A: Address, S: Storage<C, A>> Resumptions<C, A, S> {
    pub(crate) fn new<E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, config: &Config) -> Self {
        let mut secret = [0; 32];
        cx.entropy.fill(&mut secret);
        let kept = S::Resumptions::with_limit(config.max_resumable);
        Self { kept, lifetime: config.resumable_for, secret }
    }

    /// Whose session has this id, if it is kept, and by what they proved that.
    pub(crate) fn find(&self, id: &[u8]) -> Option<(Name, &[u8], Proof)> {
        let name = Name::try_from(id).ok()?;
        let kept = self.kept.get(self.kept.find(&name)?)?;
        Some((name, kept.identity.bytes(), kept.proof))
    }

    /// What is left of a session, if it was made with the key that its identity has by now.
    pub(crate) fn get<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        name: &Name,
        key: Option<&[u8]>,
    ) -> Option<&Resumption> {
        let mark = key.map(|key| self.mark(cx, key));
        let slot = self.kept.find(name)?;
        let same = self.kept.get(slot)?.key;
        if !mark.is_some_and(|mark| constant_time_eq(&mark, &same)) {
            self.kept.remove(slot);
            return None;
        }
        self.kept.touch(slot, cx.now);
        self.kept.get(slot).map(|kept| &kept.resumption)
    }

    /// Keeps what is left of a new session, if there is to be anything. The one used longest ago makes room.
    pub(crate) fn insert<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        resumption: Resumption,
        (identity, proof, key): (&[u8], Proof, KeyMark),
    ) -> Option<Name> {
        let name = Name::try_from(resumption.session_id()).ok()?;
        self.remove(&name);
        if self.kept.is_full() {
            let (oldest, _) = self.kept.least_recent(cx.now)?;
            self.kept.remove(oldest);
        }
        let mut kept = Kept { resumption, identity: S::Identity::default(), proof, key };
        store(&mut kept.identity, identity);
        let slot = self.kept.insert(name, kept, cx.now)?;
        self.kept.set_deadline(slot, Some(cx.now + self.lifetime), cx.now);
        Some(name)
    }

    pub(crate) fn remove(&mut self, name: &Name) {
        if let Some(slot) = self.kept.find(name) {
            self.kept.remove(slot);
        }
    }

    /// What tells `key` from others.
    pub(crate) fn mark<E, N>(&self, cx: &mut Cx<'_, C, E, N>, key: &[u8]) -> KeyMark {
        let digest = cx.crypto.hmac_sha256(&self.secret, &[key]);
        let mut mark = KeyMark::default();
        let length = mark.len();
        mark.copy_from_slice(&digest[..length]);
        mark
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.kept.next_deadline()
    }

    pub(crate) fn handle_timeout<E, N>(&mut self, cx: &mut Cx<'_, C, E, N>) {
        while let Some(slot) = self.kept.take_due(cx.now) {
            self.kept.remove(slot);
        }
    }
}

impl<C: Crypto, A: Address, S: Storage<C, A>> Drop for Resumptions<C, A, S> {
    fn drop(&mut self) {
        wipe(&mut self.secret);
    }
}

/// Fills `room` with `bytes`.
pub(crate) fn store(room: &mut impl ByteStore, bytes: &[u8]) {
    let place = room.room(bytes.len());
    let len = place.len().min(bytes.len());
    place[..len].copy_from_slice(&bytes[..len]);
    room.keep(len);
}
