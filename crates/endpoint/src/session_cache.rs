//! What is left of sessions, for their clients to resume.

use sixlock_base::{Cx, Duration, Entropy, Instant};
use sixlock_coap::ByteStore;
use sixlock_crypto::{Crypto, constant_time_eq, wipe};
use sixlock_dtls::{SESSION_ID, SessionState};

use crate::id::AuthenticationMethod;
use crate::session_record::{
    FINGERPRINT_SECRET, KeyFingerprint, MAX_SESSION_RECORD, Malformed, SessionIdentifier, SessionRecord,
    SessionUpdate,
};
use crate::table::{Queue, Slot, Table};
use crate::{Address, Config, Storage};

/// The sessions that can be resumed, as many as [`Config::max_resumable`] and each for
/// [`Config::resumable_for`] from its full handshake on.
pub(crate) struct SessionCache<C: Crypto, A: Address, S: Storage<C, A>> {
    kept: S::SessionCache<SessionRecord<S::Identity>>,
    lifetime: Duration,
    secret: [u8; FINGERPRINT_SECRET],
    /// Whether what is kept and forgotten is to be told.
    reports: bool,
}

impl<C: Crypto, A: Address, S: Storage<C, A>> SessionCache<C, A, S> {
    pub(crate) fn new<E: Entropy, N>(cx: &mut Cx<'_, C, E, N>, config: &Config) -> Self {
        let mut secret = [0; FINGERPRINT_SECRET];
        cx.entropy.fill(&mut secret);
        let kept = S::SessionCache::with_limit(config.max_resumable);
        Self { kept, lifetime: config.resumable_for, secret, reports: false }
    }

    /// From now on, what is kept and forgotten is told, and keys are told apart by `secret`.
    pub(crate) fn tell(&mut self, secret: &[u8; FINGERPRINT_SECRET]) {
        self.secret = *secret;
        self.reports = true;
    }

    /// Writes what is left of a session that this was not told of, or names one that is forgotten.
    pub(crate) fn poll_session_update(
        &mut self,
        now: Instant,
        out: &mut [u8; MAX_SESSION_RECORD],
    ) -> Option<SessionUpdate> {
        loop {
            let slot = self.kept.take_marked(Queue::Event)?;
            let Some(left) = self.kept.get(slot) else { continue };
            let Ok(id) = SessionIdentifier::try_from(left.resumption.session_id()) else { continue };
            let Some(until) = left.until else {
                self.kept.remove(slot);
                return Some(SessionUpdate::Forgotten { id });
            };
            if !now.has_reached(until) {
                return Some(SessionUpdate::Resumable {
                    id,
                    len: left.to_bytes(out),
                    left: until.since(now),
                });
            }
        }
    }

    /// Writes what is left of a session, and for how long it can be resumed from now on.
    pub(crate) fn lend(
        &self,
        now: Instant,
        id: &SessionIdentifier,
        out: &mut [u8; MAX_SESSION_RECORD],
    ) -> Option<(usize, Duration)> {
        let left = self.kept.get(self.kept.find(id)?)?;
        let until = left.until.filter(|until| !now.has_reached(*until))?;
        Some((left.to_bytes(out), until.since(now)))
    }

    /// Takes back what [`SessionCache::poll_session_update`] wrote.
    pub(crate) fn restore(&mut self, now: Instant, bytes: &[u8], left: Duration) -> Result<(), Malformed> {
        // What a ticket holds has the same form, but names no session of ours.
        let is_named = |left: &SessionRecord<_>| left.resumption.session_id().len() == SESSION_ID;
        let kept = SessionRecord::from_bytes(bytes).filter(is_named).ok_or(Malformed)?;
        let left = if left > self.lifetime { self.lifetime } else { left };
        self.put(now, kept, left);
        Ok(())
    }

    /// Adds what is left of a session. The one used longest ago makes room.
    fn put(
        &mut self,
        now: Instant,
        left: SessionRecord<S::Identity>,
        lasts: Duration,
    ) -> Option<(SessionIdentifier, Slot)> {
        let name = SessionIdentifier::try_from(left.resumption.session_id()).ok()?;
        if let Some(slot) = self.kept.find(&name) {
            self.kept.remove(slot);
        }
        if self.kept.is_full() {
            let (oldest, _) = self.kept.least_recent(now)?;
            self.kept.remove(oldest);
        }
        let until = Some(now + lasts);
        let slot = self.kept.insert(name, SessionRecord { until, ..left }, now)?;
        self.kept.set_deadline(slot, until, now);
        Some((name, slot))
    }

    /// Whose session has this id, if it is kept, and by what they proved that.
    pub(crate) fn find(&self, id: &[u8]) -> Option<(SessionIdentifier, &[u8], AuthenticationMethod)> {
        let name = SessionIdentifier::try_from(id).ok()?;
        let kept = self.kept.get(self.kept.find(&name)?).filter(|kept| kept.until.is_some())?;
        Some((name, kept.identity.bytes(), kept.method))
    }

    /// For how long a session can be resumed after its full handshake.
    pub(crate) const fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Whether `fingerprint` is that of this key.
    pub(crate) fn is_key<E, N>(
        &self,
        cx: &mut Cx<'_, C, E, N>,
        key: Option<&[u8]>,
        fingerprint: &KeyFingerprint,
    ) -> bool {
        key.is_some_and(|key| constant_time_eq(&self.fingerprint(cx, key), fingerprint))
    }

    /// What is left of a session, if it was made with the key that its identity has by now.
    pub(crate) fn get<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        name: &SessionIdentifier,
        key: Option<&[u8]>,
    ) -> Option<&SessionState> {
        let slot = self.kept.find(name)?;
        let made_with = self.kept.get(slot).filter(|kept| kept.until.is_some())?.key;
        if !self.is_key(cx, key, &made_with) {
            self.forget(slot);
            return None;
        }
        self.kept.get(slot).map(|kept| &kept.resumption)
    }

    /// A session was resumed by what is left of it.
    pub(crate) fn touch(&mut self, name: &SessionIdentifier, now: Instant) {
        if let Some(slot) = self.kept.find(name) {
            self.kept.touch(slot, now);
        }
    }

    /// Keeps what is left of a new session, if there is to be anything.
    pub(crate) fn insert<E, N>(
        &mut self,
        cx: &mut Cx<'_, C, E, N>,
        resumption: SessionState,
        whose: (&[u8], AuthenticationMethod, KeyFingerprint),
    ) -> Option<SessionIdentifier> {
        let left = self.left(resumption, whose);
        let (name, slot) = self.put(cx.now, left, self.lifetime)?;
        if self.reports {
            self.kept.mark(slot, Queue::Event);
        }
        Some(name)
    }

    /// What is left of a session.
    pub(crate) fn left(
        &self,
        resumption: SessionState,
        (whose, method, key): (&[u8], AuthenticationMethod, KeyFingerprint),
    ) -> SessionRecord<S::Identity> {
        let mut identity = S::Identity::default();
        identity.store(whose);
        SessionRecord { resumption, identity, method, key, until: None }
    }

    /// Removes what is left of a session; whether there was anything.
    pub(crate) fn remove(&mut self, name: &SessionIdentifier) -> bool {
        let found = self.kept.find(name);
        if let Some(slot) = found {
            self.forget(slot);
        }
        found.is_some()
    }

    /// Removes what is left of a session, as soon as that is told.
    fn forget(&mut self, slot: Slot) {
        match self.kept.get_mut(slot) {
            Some(left) if self.reports => {
                left.until = None;
                self.kept.mark(slot, Queue::Event);
            }
            _ => {
                self.kept.remove(slot);
            }
        }
    }

    /// What tells `key` from others.
    pub(crate) fn fingerprint<E, N>(&self, cx: &mut Cx<'_, C, E, N>, key: &[u8]) -> KeyFingerprint {
        let secret = cx.crypto.hmac_key(&self.secret);
        let digest = cx.crypto.hmac_sha256(&secret, &[key]);
        let mut fingerprint = KeyFingerprint::default();
        let length = fingerprint.len();
        fingerprint.copy_from_slice(&digest[..length]);
        fingerprint
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

impl<C: Crypto, A: Address, S: Storage<C, A>> Drop for SessionCache<C, A, S> {
    fn drop(&mut self) {
        wipe(&mut self.secret);
    }
}
