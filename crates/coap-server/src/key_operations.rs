//! Operations with public keys that handshakes wait for, and what their clients have shown.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sixlock_dtls::{AlertDescription, Answer, Task};
use sixlock_endpoint::SessionId;
use sixlock_x509::Error;

use crate::directory::Directory;
use crate::key_operation::{KeyOperation, PeerKey, Performed};

/// Tasks that wait; beyond, a handshake ends that needs another. They are done within a second or so.
const WAITING: usize = 16_384;

/// The operations to be performed, and what the clients of handshakes under way have shown.
pub(crate) struct KeyOperations<D: Directory> {
    directory: Arc<D>,
    waiting: VecDeque<(SessionId, KeyOperation)>,
    /// The handshakes under way that have asked for something.
    handshakes: HashMap<SessionId, Handshake<D::KeyPair>>,
}

/// What is kept of a handshake.
struct Handshake<K> {
    /// The key pair that was made for it and waits for the client's.
    made: Option<K>,
    client: Option<Client>,
}

/// What a client has shown.
pub(crate) struct Client {
    pub(crate) peer: PeerKey,
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

impl<D: Directory> KeyOperations<D> {
    pub(crate) fn new(directory: Arc<D>) -> Self {
        Self { directory, waiting: VecDeque::new(), handshakes: HashMap::new() }
    }

    /// Has a task performed when it is its turn; returns the result if too many wait.
    pub(crate) fn begin(&mut self, session: SessionId, task: Task<'_>) -> Option<Performed> {
        self.handshakes.entry(session).or_insert(Handshake { made: None, client: None });
        if self.waiting.len() == WAITING {
            return Some(Performed::REFUSED);
        }
        self.waiting.push_back((session, task.into()));
        None
    }

    /// Whether a task waits.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Does the task that has waited longest of those whose handshake is not over.
    pub(crate) fn perform(&mut self) -> Option<(SessionId, Performed)> {
        let Self { directory, waiting, handshakes } = self;
        let mut waiting = std::iter::from_fn(|| waiting.pop_front());
        waiting.find_map(|(session, task)| {
            let Handshake { made, .. } = handshakes.get_mut(&session)?;
            Some((session, directory.perform(&task, made)))
        })
    }

    /// Keeps what a client has shown, and whether that is good; false if its handshake is over.
    pub(crate) fn judged(&mut self, session: SessionId, peer: PeerKey, judged: Result<(), Error>) -> bool {
        let Some(handshake) = self.handshakes.get_mut(&session) else { return false };
        let state = match judged {
            Ok(()) => State::LookedUp,
            Err(error) => State::Refused(reason(error)),
        };
        handshake.client = Some(Client { peer, state });
        true
    }

    /// The client whose key was looked up, and which may be `known` under this key alone; none if it was not asked for. Its key is
    /// taken in either case: who is unknown is refused when it has proved to have it.
    pub(crate) fn on_lookup_done(&mut self, session: SessionId, known: Option<&[u8]>) -> Option<&Client> {
        let client = self.handshakes.get_mut(&session)?.client.as_mut()?;
        let State::LookedUp = client.state else { return None };
        let is_known = known.is_some_and(|known| client.peer.is_admitted(known));
        client.state = if is_known { State::Known } else { State::Unknown };
        Some(client)
    }

    /// What the client of a session is told when its signature was verified.
    pub(crate) fn verified(&self, session: SessionId, answer: Answer) -> Answer {
        let client = self.handshakes.get(&session).and_then(|handshake| handshake.client.as_ref());
        match (answer, client.map(|client| &client.state)) {
            (Answer::Verified, Some(State::Known)) => Answer::Verified,
            (Answer::Verified, _) => Answer::Refused(AlertDescription::DECRYPT_ERROR),
            (answer, _) => answer,
        }
    }

    /// Returns the certificate of a client that is known, in DER.
    pub(crate) fn certificate(&self, session: SessionId) -> Option<&[u8]> {
        let client = self.handshakes.get(&session)?.client.as_ref()?;
        let is_known = matches!(client.state, State::Known) && !client.peer.certificate.is_empty();
        is_known.then_some(&client.peer.certificate)
    }

    /// Forgets a client; whose certificate was not accepted, and why.
    pub(crate) fn forget(&mut self, session: SessionId) -> Option<(String, &'static str)> {
        match self.handshakes.remove(&session)?.client? {
            Client { peer, state: State::Refused(reason) } => Some((peer.identity, reason)),
            _ => None,
        }
    }
}

impl Client {
    /// The key that it has shown.
    pub(crate) fn key(&self) -> Answer {
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
