//! Handshakes with public keys: P-256 is done on other threads than that of the doors.

use std::collections::HashMap;
use std::sync::Arc;

use sixlock_crypto::Soft;
use sixlock_dtls::{AlertDescription, Answer, Task, Trusted, certificate_alert, perform};
use sixlock_dtls_msg::Certificate as Shown;
use sixlock_endpoint::{Proof, SessionId};
use sixlock_x509::{Certificate, Clock, Error, Purpose, Trust, verify};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::SystemEntropy;
use crate::public_keys::{OwnKeys, fingerprint, time};
use crate::store::now_ms;

/// Who does the work, and what clients have shown whose handshakes are under way.
pub(super) struct PublicKeys {
    own: Arc<OwnKeys>,
    /// The certificates of other authorities that sign those of devices.
    authorities: Arc<[Vec<u8>]>,
    /// Half of the processors do this at the same time at most: the others are for records of sessions that are connected.
    slots: Arc<Semaphore>,
    /// Of each handshake under way that has asked for something, what was shown if anything was.
    clients: HashMap<SessionId, Option<Client>>,
}

/// What a client has shown.
pub(super) struct Client {
    pub(super) identity: String,
    pub(super) proof: Proof,
    key: [u8; 65],
    /// Our own authority signed its certificate.
    is_ours: bool,
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

/// What came of a task.
pub(super) enum Done {
    Answer(Answer),
    /// A certificate was judged.
    Judged(Client, Option<AlertDescription>),
}

impl PublicKeys {
    pub(super) fn new(own: Arc<OwnKeys>, authorities: Arc<[Vec<u8>]>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
        let slots = Arc::new(Semaphore::new(threads.div_ceil(2)));
        Self { own, authorities, slots, clients: HashMap::new() }
    }

    /// Does a task on another thread, when it is its turn.
    pub(super) fn perform(
        &mut self,
        session: SessionId,
        task: Task<'_>,
    ) -> impl Future<Output = (SessionId, Done)> + use<> {
        self.clients.entry(session).or_default();
        let (work, slots) = (Work::of(task), self.slots.clone());
        let (own, authorities) = (self.own.clone(), self.authorities.clone());
        async move {
            let _slot = slots.acquire().await;
            let done = tokio::task::spawn_blocking(move || work.perform(&own, &authorities)).await;
            (session, done.unwrap_or(Done::Answer(Answer::Refused(AlertDescription::INTERNAL_ERROR))))
        }
    }

    /// Keeps what a client has shown; false if its handshake is over.
    pub(super) fn judged(&mut self, session: SessionId, client: Client) -> bool {
        self.clients.get_mut(&session).map(|place| *place = Some(client)).is_some()
    }

    /// The client whose key was looked up, and which may be `known` under this key alone; none if it was not asked for. Its key is
    /// taken in either case: who is unknown is refused when it has proved to have it.
    pub(super) fn looked_up(&mut self, session: SessionId, known: Option<&[u8]>) -> Option<&Client> {
        let client = self.clients.get_mut(&session)?.as_mut()?;
        let State::LookedUp = client.state else { return None };
        let is_known = known.is_some_and(|only| match (client.proof, only) {
            (Proof::RawPublicKey, _) => true,
            // Of names under our own authority, keys are known: a certificate that was replaced is none.
            (_, []) => !client.is_ours,
            (_, only) => *only == client.key,
        });
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
            Client { identity, state: State::Refused(reason), .. } => Some((identity, reason)),
            _ => None,
        }
    }
}

impl Client {
    /// The key that it has shown.
    pub(super) fn key(&self) -> Answer {
        Answer::Peer(self.key)
    }
}

/// A task that may outlast the call that told of it.
enum Work {
    Generate,
    Sign([u8; 32]),
    Raw(Vec<u8>),
    Chain(Vec<Vec<u8>>),
    Verify([u8; 65], [u8; 32], [u8; 64]),
    Agree(Zeroizing<[u8; 32]>, [u8; 65]),
}

impl Work {
    fn of(task: Task<'_>) -> Self {
        match task {
            Task::Generate => Self::Generate,
            Task::Sign { digest } => Self::Sign(*digest),
            Task::Chain { certificate: Shown::RawPublicKey(info) } => Self::Raw(info.to_vec()),
            Task::Chain { certificate: Shown::X509(chain) } => {
                Self::Chain(chain.iter().map(<[u8]>::to_vec).collect())
            }
            Task::Verify { key, digest, signature } => Self::Verify(*key, *digest, *signature),
            Task::Agree { secret, point } => Self::Agree(Zeroizing::new(*secret), *point),
        }
    }

    fn perform(&self, own: &OwnKeys, authorities: &[Vec<u8>]) -> Done {
        let task = match self {
            Self::Generate => Task::Generate,
            Self::Sign(digest) => Task::Sign { digest },
            Self::Verify(key, digest, signature) => Task::Verify { key, digest, signature },
            Self::Agree(secret, point) => Task::Agree { secret, point },
            Self::Raw(info) => return raw(info),
            Self::Chain(chain) => return judge(chain, own, authorities),
        };
        // What judges is here.
        let nobody = Trusted { raw_public_keys: &[], certificates: None };
        Done::Answer(perform(&mut Soft, &mut SystemEntropy, own.secret(), &nobody, task))
    }
}

/// Whose a raw public key says to be.
fn raw(info: &[u8]) -> Done {
    match sixlock_x509::public_key(info) {
        Ok(key) => {
            let (identity, proof) = (fingerprint(key), Proof::RawPublicKey);
            Done::Judged(Client { identity, proof, key: *key, is_ours: false, state: State::LookedUp }, None)
        }
        Err(error) => refused(Proof::RawPublicKey, String::new(), error),
    }
}

/// Judges a chain of certificates by our own authority, and if that did not sign it by the others.
fn judge(chain: &[Vec<u8>], own: &OwnKeys, authorities: &[Vec<u8>]) -> Done {
    let chain = || chain.iter().map(Vec::as_slice);
    let clock = Clock::At(time(now_ms() / 1000));
    let judge = |authorities: &[&[u8]]| {
        verify(&mut Soft, &Trust { authorities, clock, purpose: Purpose::Client, name: None }, chain())
    };
    let (mut is_ours, mut judged) = (true, judge(&[own.authority()]));
    if matches!(judged, Err(Error::UnknownAuthority)) && !authorities.is_empty() {
        let others: Vec<&[u8]> = authorities.iter().map(Vec::as_slice).collect();
        (is_ours, judged) = (false, judge(&others));
    }
    let said =
        || chain().next().and_then(|der| identity_of(&Certificate::parse(der).ok()?)).unwrap_or_default();
    match judged {
        Ok(certificate) => match identity_of(&certificate) {
            Some(identity) => {
                let (key, proof) = (*certificate.public_key(), Proof::Certificate);
                Done::Judged(Client { identity, proof, key, is_ours, state: State::LookedUp }, None)
            }
            None => refused(Proof::Certificate, String::new(), Error::Name),
        },
        Err(error) => refused(Proof::Certificate, said(), error),
    }
}

/// The name by which a certificate's device is known, if it is text.
fn identity_of(certificate: &Certificate<'_>) -> Option<String> {
    certificate.identity().and_then(|name| str::from_utf8(name).ok()).map(str::to_owned)
}

/// A certificate or key that is not accepted.
fn refused(proof: Proof, identity: String, error: Error) -> Done {
    let reason = match error {
        Error::Expired => "expired",
        Error::NotYetValid => "not_yet_valid",
        // One of the same name may have signed it.
        Error::UnknownAuthority | Error::Signature => "unknown_authority",
        _ => "bad_certificate",
    };
    let client = Client { identity, proof, key: [0; 65], is_ours: false, state: State::Refused(reason) };
    Done::Judged(client, Some(certificate_alert(error)))
}
