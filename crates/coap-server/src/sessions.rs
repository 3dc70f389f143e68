//! Whose sessions are.

use std::collections::HashSet;

use sixlock_endpoint::SessionId;

use crate::ids::{CredentialId, Holder};
use crate::peer::Association;

/// Whose each session is, as its key said when it began; nobody's, if its identity is unknown.
///
/// Each is where it stands in the endpoint, which does not always tell of a session that gives way to another.
pub(crate) struct Sessions {
    /// What tells sessions of this run, the first, and of those before it from those of others.
    runs: Vec<[u8; 16]>,
    known: Vec<Option<Known>>,
    begun: u64,
    /// How many are connected.
    open: usize,
}

/// What is known of a session.
struct Known {
    session: SessionId,
    /// Which number it had in its run.
    begun: u64,
    run: u32,
    whose: Option<(Holder, CredentialId)>,
    connected: bool,
}

impl Sessions {
    /// None yet. `run` is another one each time.
    pub(crate) fn new(run: [u8; 16]) -> Self {
        Self { runs: vec![run], known: Vec::new(), begun: 0, open: 0 }
    }

    /// Adds a session.
    pub(crate) fn insert(&mut self, session: SessionId, whose: Option<(Holder, CredentialId)>) {
        self.begun += 1;
        self.put(Known { session, begun: self.begun, run: 0, whose, connected: false });
    }

    /// Puts a session where it stands, in the place of any that has stood there.
    fn put(&mut self, known: Known) {
        let place = known.session.place() as usize;
        if place >= self.known.len() {
            self.known.resize_with(place + 1, || None);
        }
        let Some(place) = self.known.get_mut(place) else { return };
        self.open += usize::from(known.connected);
        let before = place.replace(known);
        self.open -= usize::from(before.is_some_and(|before| before.connected));
    }

    fn get(&self, session: SessionId) -> Option<&Known> {
        self.known.get(session.place() as usize)?.as_ref().filter(|known| known.session == session)
    }

    fn get_mut(&mut self, session: SessionId) -> Option<&mut Known> {
        self.known.get_mut(session.place() as usize)?.as_mut().filter(|known| known.session == session)
    }

    /// Takes note that `session` is connected, unless it is nobody's any more.
    pub(crate) fn connected(&mut self, session: SessionId) -> bool {
        let Some(known) = self.get_mut(session).filter(|known| known.whose.is_some()) else { return false };
        let was_connected = std::mem::replace(&mut known.connected, true);
        self.open += usize::from(!was_connected);
        true
    }

    /// Makes the sessions that rest on `credentials` nobody's and returns those that are connected.
    pub(crate) fn revoke(&mut self, credentials: &HashSet<CredentialId>) -> Vec<SessionId> {
        let mut connected = Vec::new();
        for known in self.known.iter_mut().flatten() {
            if known.whose.take_if(|(_, credential)| credentials.contains(credential)).is_some()
                && known.connected
            {
                connected.push(known.session);
            }
        }
        connected
    }

    /// Whose `session` is, if it is known, and a name that no session had or will have.
    pub(crate) fn of(&self, session: SessionId) -> Option<(Option<(Holder, CredentialId)>, Association)> {
        let known = self.get(session)?;
        Some((known.whose, self.association(known)?))
    }

    /// Whose `session` is, if anybody's; `None` if it is not known.
    pub(crate) fn holder(&self, session: SessionId) -> Option<Option<Holder>> {
        self.get(session).map(|known| known.whose.map(|(holder, _)| holder))
    }

    fn association(&self, known: &Known) -> Option<Association> {
        let run = self.runs.get(known.run as usize)?;
        let mut association = Association::default();
        association[..16].copy_from_slice(run);
        association[16..].copy_from_slice(&known.begun.to_be_bytes());
        Some(association)
    }

    /// What a connected session rests on, and its name: for [`Sessions::restore`].
    pub(crate) fn connected_by(&self, session: SessionId) -> Option<(CredentialId, Association)> {
        let known = self.get(session).filter(|known| known.connected)?;
        Some((known.whose?.1, self.association(known)?))
    }

    /// Adds a session of another run, which is connected and goes on under its name.
    pub(crate) fn restore(
        &mut self,
        session: SessionId,
        whose: (Holder, CredentialId),
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
        self.put(Known { session, begun, run: run as u32, whose: Some(whose), connected: true });
    }

    /// Forgets a session that is over.
    pub(crate) fn remove(&mut self, session: SessionId) {
        let place = self.known.get_mut(session.place() as usize);
        let known = place.and_then(|place| place.take_if(|known| known.session == session));
        self.open -= usize::from(known.is_some_and(|known| known.connected));
    }

    /// How many are connected.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    pub(crate) fn ids(&self) -> Vec<SessionId> {
        self.known.iter().flatten().map(|known| known.session).collect()
    }
}
