//! Handshakes with public keys: what clients have shown.

use std::collections::HashMap;

use sixlock_dtls::{AlertDescription, Answer, Task};
use sixlock_endpoint::SessionId;
use sixlock_x509::{Error, Purpose};

use crate::public_keys::{Done, Peer, Performer};

/// Who does the work, and what clients have shown whose handshakes are under way.
pub(super) struct PublicKeys {
    performer: Performer<SessionId>,
    /// Of each handshake under way that has asked for something, what was shown if anything was.
    clients: HashMap<SessionId, Option<Client>>,
}

/// What a client has shown.
pub(super) struct Client {
    pub(super) peer: Peer,
    state: State,
}

enum State {
    /// It is being looked up whose the key is.
    LookedUp,
    /// It is a device's that is known.
    Known,
    /// It is nobody's. Its client is to learn that as if it did not have the key.
    Unknown,
    /// The certificate is not accepted, for this reason.
    Refused(&'static str),
}

impl PublicKeys {
    pub(super) fn new(performer: Performer<SessionId>) -> Self {
        Self { performer, clients: HashMap::new() }
    }

    /// Has a task done by another thread, when it is its turn; or says what came of it.
    pub(super) fn perform(&mut self, session: SessionId, task: Task<'_>) -> Option<Done> {
        self.clients.entry(session).or_default();
        self.performer.perform(session, Purpose::Client, task).map(|(_, done)| done)
    }

    /// Keeps what a client has shown, and whether that is good; false if its handshake is over.
    pub(super) fn judged(&mut self, session: SessionId, peer: Peer, judged: Result<(), Error>) -> bool {
        let Some(place) = self.clients.get_mut(&session) else { return false };
        let state = match judged {
            Ok(()) => State::LookedUp,
            Err(error) => State::Refused(reason(error)),
        };
        *place = Some(Client { peer, state });
        true
    }

    /// The client whose key was looked up, and which may be `known` under this key alone; none if it was not asked for. Its key is
    /// taken in either case: who is unknown is refused when it has proved to have it.
    pub(super) fn looked_up(&mut self, session: SessionId, known: Option<&[u8]>) -> Option<&Client> {
        let client = self.clients.get_mut(&session)?.as_mut()?;
        let State::LookedUp = client.state else { return None };
        let is_known = known.is_some_and(|known| client.peer.has_key(known));
        client.state = if is_known { State::Known } else { State::Unknown };
        Some(client)
    }

    /// What the client of a session is told when its signature was verified.
    pub(super) fn verified(&self, session: SessionId, answer: Answer) -> Answer {
        let client = self.clients.get(&session).and_then(Option::as_ref);
        match (answer, client.map(|client| &client.state)) {
            (Answer::Verified, Some(State::Known)) => Answer::Verified,
            (Answer::Verified, _) => Answer::Refused(AlertDescription::DECRYPT_ERROR),
            (answer, _) => answer,
        }
    }

    /// Forgets a client; whose certificate was not accepted, and why.
    pub(super) fn forget(&mut self, session: SessionId) -> Option<(String, &'static str)> {
        match self.clients.remove(&session)?? {
            Client { peer, state: State::Refused(reason) } => Some((peer.identity, reason)),
            _ => None,
        }
    }
}

impl Client {
    /// The key that it has shown.
    pub(super) fn key(&self) -> Answer {
        Answer::Peer(self.peer.key)
    }
}

/// Why a certificate or key is not accepted, for the record.
fn reason(error: Error) -> &'static str {
    match error {
        Error::Expired => "expired",
        Error::NotYetValid => "not_yet_valid",
        // One of the same name may have signed it.
        Error::UnknownAuthority | Error::Signature => "unknown_authority",
        _ => "bad_certificate",
    }
}
