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
    /// What tells sessions of this run, the first, and of those before it from those of others.
    runs: Vec<[u8; 16]>,
    known: HashMap<SessionId, Known>,
    begun: u64,
    /// How many are connected.
    open: usize,
}

/// What is known of a session.
struct Known {
    /// Which number it had in its run.
    begun: u64,
    run: u32,
    whose: Option<(ResourceId, CredentialId)>,
    connected: bool,
}

impl Sessions {
    /// None yet, and at most `limit`. `run` is another one each time.
    pub(super) fn new(limit: usize, run: [u8; 16]) -> Self {
        Self { limit, runs: vec![run], known: HashMap::new(), begun: 0, open: 0 }
    }

    /// Adds a session and returns those that are forgotten for it.
    pub(super) fn insert(
        &mut self,
        session: SessionId,
        whose: Option<(ResourceId, CredentialId)>,
    ) -> Vec<SessionId> {
        self.begun += 1;
        self.known.insert(session, Known { begun: self.begun, run: 0, whose, connected: false });
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
        let known = self.known.get(&session)?;
        Some((known.whose.map(|(resource, _)| resource), self.association(known)?))
    }

    fn association(&self, known: &Known) -> Option<Association> {
        let run = self.runs.get(known.run as usize)?;
        let mut association = Association::default();
        association[..16].copy_from_slice(run);
        association[16..].copy_from_slice(&known.begun.to_be_bytes());
        Some(association)
    }

    /// What a connected session rests on, and its name: for [`Sessions::wake`].
    pub(super) fn connected_by(&self, session: SessionId) -> Option<(CredentialId, Association)> {
        let known = self.known.get(&session).filter(|known| known.connected)?;
        Some((known.whose?.1, self.association(known)?))
    }

    /// Adds a session of another run, that is connected and goes on by its name.
    pub(super) fn wake(
        &mut self,
        session: SessionId,
        whose: (ResourceId, CredentialId),
        association: &Association,
    ) {
        let Some((run, begun)) = association.split_first_chunk() else { return };
        let begun = begun.try_into().map_or(0, u64::from_be_bytes);
        let run = self.runs.iter().position(|known| known == run).unwrap_or_else(|| {
            self.runs.push(*run);
            self.runs.len() - 1
        });
        // Those that begin now are younger.
        self.begun = self.begun.max(begun);
        self.known.insert(session, Known { begun, run: run as u32, whose: Some(whose), connected: true });
        self.open += 1;
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
