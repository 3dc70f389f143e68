//! Whose sessions are.

use std::collections::{HashMap, HashSet};

use sixlock_endpoint::SessionId;

use crate::coap::Association;
use crate::store::{CredentialId, ResourceId};

/// Whose each session is, as its key said when it began; nobody's, if its identity is unknown.
///
/// The endpoint does not always tell of a session that gives way to another of its client, so at twice the sessions there
/// can be, the older half is forgotten.
pub(super) struct Sessions {
    /// How many there can be.
    limit: usize,
    /// Tells sessions of this run from those of others.
    run: [u8; 16],
    known: HashMap<SessionId, Known>,
    begun: u64,
    /// How many are connected.
    open: usize,
}

/// What is known of a session.
struct Known {
    begun: u64,
    whose: Option<(ResourceId, CredentialId)>,
    connected: bool,
}

impl Sessions {
    /// None yet, and at most `limit`. `run` is another one each time.
    pub(super) fn new(limit: usize, run: [u8; 16]) -> Self {
        Self { limit, run, known: HashMap::new(), begun: 0, open: 0 }
    }

    /// Adds a session and returns those that are forgotten for it.
    pub(super) fn insert(
        &mut self,
        session: SessionId,
        whose: Option<(ResourceId, CredentialId)>,
    ) -> Vec<SessionId> {
        self.begun += 1;
        self.known.insert(session, Known { begun: self.begun, whose, connected: false });
        if self.known.len() <= 2 * self.limit {
            return Vec::new();
        }
        let young = self.begun - self.limit as u64;
        let old = self.known.extract_if(|_, known| known.begun <= young);
        let forgotten: Vec<(SessionId, bool)> =
            old.map(|(session, known)| (session, known.connected)).collect();
        self.open -= forgotten.iter().filter(|(_, connected)| *connected).count();
        forgotten.into_iter().map(|(session, _)| session).collect()
    }

    /// Takes note that `session` is connected, unless it is nobody's any more.
    pub(super) fn connected(&mut self, session: SessionId) -> bool {
        let Some(known) = self.known.get_mut(&session).filter(|known| known.whose.is_some()) else {
            return false;
        };
        self.open += usize::from(!std::mem::replace(&mut known.connected, true));
        true
    }

    /// Makes the sessions that rest on `credentials` nobody's and returns those that are connected.
    pub(super) fn revoke(&mut self, credentials: &HashSet<CredentialId>) -> Vec<SessionId> {
        let mut connected = Vec::new();
        for (session, known) in &mut self.known {
            if known.whose.take_if(|(_, credential)| credentials.contains(credential)).is_some()
                && known.connected
            {
                connected.push(*session);
            }
        }
        connected
    }

    /// Whose `session` is, if it is known, and a name that no session had or will have.
    pub(super) fn of(&self, session: SessionId) -> Option<(Option<ResourceId>, Association)> {
        let Known { begun, whose, .. } = self.known.get(&session)?;
        let mut association = Association::default();
        association[..16].copy_from_slice(&self.run);
        association[16..].copy_from_slice(&begun.to_be_bytes());
        Some((whose.map(|(resource, _)| resource), association))
    }

    /// Forgets a session that is over.
    pub(super) fn remove(&mut self, session: SessionId) {
        let known = self.known.remove(&session);
        self.open -= usize::from(known.is_some_and(|known| known.connected));
    }

    /// How many are connected.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    pub(super) fn ids(&self) -> Vec<SessionId> {
        self.known.keys().copied().collect()
    }
}
