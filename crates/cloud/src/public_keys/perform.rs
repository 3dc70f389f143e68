//! What handshakes need of P-256, done on other threads than those of the network.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;

use sixlock_dtls::{AlertDescription, Answer, Task, Trusted, perform};
use sixlock_dtls_msg::Certificate as Shown;
use sixlock_endpoint::Proof;
use sixlock_x509::{Certificate, Clock, Error, Purpose, Trust, verify};
use zeroize::Zeroizing;

use super::{OwnKeys, fingerprint, time};
use crate::doors::SystemEntropy;
use crate::fast::Fast;
use crate::store::now_ms;

/// Tasks that are answered at once: to change threads for one costs as much as to do some.
const TOGETHER: usize = 16;
/// Tasks that wait for a thread; beyond, a handshake ends that needs another. They are done within a second or so.
const WAITING: usize = 16_384;
/// How much a thread that does this stands back for others, as `nice` counts: records come before handshakes.
const NICE: i32 = 10;

/// What the work is done with: own keys, and those of others who are trusted.
pub(crate) struct KeyRing {
    own: Arc<OwnKeys>,
    /// The certificates of other authorities that sign those of devices.
    authorities: Vec<Vec<u8>>,
    crypto: Fast,
}

/// A thread that does the work, and ends when nobody gives it more. `K` tells whose a task is.
pub(crate) struct Performer<K>(SyncSender<Given<K>>);

struct Given<K> {
    whose: K,
    work: Work,
    /// As what the peer shows its certificate.
    purpose: Purpose,
}

/// What came of a task.
pub(crate) enum Done {
    Answer(Answer),
    /// A raw public key was read or a certificate judged: whose it says to be, and whether it is good.
    Judged(Peer, Result<(), Error>),
}

/// What a peer has shown.
pub(crate) struct Peer {
    /// What its key or certificate is known by; empty if it says nothing that can be read.
    pub(crate) identity: String,
    pub(crate) proof: Proof,
    /// Its public key; zeros if it is not good.
    pub(crate) key: [u8; 65],
    /// Our own authority signed its certificate.
    pub(crate) is_ours: bool,
    /// Its own certificate, in DER; nothing with a raw public key.
    certificate: Vec<u8>,
}

impl Peer {
    /// Whether it may prove its identity, for which `known` is the only public key that it may have, or nothing if any other
    /// authority than the cloud's has signed for.
    pub(crate) fn has_key(&self, known: &[u8]) -> bool {
        match (self.proof, known) {
            (Proof::RawPublicKey, _) => true,
            // Of names under our own authority, keys are known: a certificate that was replaced is none.
            (_, []) => !self.is_ours,
            (_, known) => *known == self.key,
        }
    }

    /// Whether its certificate bears this name as one of several.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        Certificate::parse(&self.certificate).is_ok_and(|certificate| certificate.is_named(name.as_bytes()))
    }
}

impl<K: Send + 'static> Performer<K> {
    /// Starts one that tells by `tell` what came of some tasks, until that says that nobody wants to know.
    pub(crate) fn start(
        keys: Arc<KeyRing>,
        mut tell: impl FnMut(Vec<(K, Done)>) -> bool + Send + 'static,
    ) -> Result<Self, crate::Error> {
        let (tasks, given) = mpsc::sync_channel(WAITING);
        let work = move || {
            // Where it is not allowed, it does without.
            let _ = rustix::process::nice(NICE);
            while keys.some(&given).is_some_and(&mut tell) {}
        };
        let thread = thread::Builder::new().name("p-256".into()).spawn(work);
        thread.map(|_| Self(tasks)).map_err(|_| crate::Error::Died("thread for P-256"))
    }

    /// Has a task done when it is its turn, in a handshake in which the peer is what `purpose` says. Gives `whose` back with what came
    /// of it if that is known at once: too many wait, or it takes no longer than to hand it over.
    pub(crate) fn perform(&self, whose: K, purpose: Purpose, task: Task<'_>) -> Option<(K, Done)> {
        let work = match Work::of(task) {
            Ok(work) => work,
            Err(done) => return Some((whose, done)),
        };
        match self.0.try_send(Given { whose, work, purpose }) {
            Ok(()) => None,
            Err(TrySendError::Full(given) | TrySendError::Disconnected(given)) => {
                Some((given.whose, Done::REFUSED))
            }
        }
    }
}

impl KeyRing {
    /// Those of who proves to be `own`, and trusts its authority and these others.
    pub(crate) fn new(own: Arc<OwnKeys>, authorities: Vec<Vec<u8>>) -> Self {
        Self { crypto: Fast::prepared(own.secret()), own, authorities }
    }

    /// Whose private key they hold.
    pub(crate) fn own(&self) -> &OwnKeys {
        &self.own
    }

    /// The certificates of the other authorities, in DER.
    pub(crate) fn authorities(&self) -> &[Vec<u8>] {
        &self.authorities
    }

    /// Waits for tasks, and does some; nothing, if there will be no more.
    fn some<K>(&self, given: &Receiver<Given<K>>) -> Option<Vec<(K, Done)>> {
        let first = given.recv().ok()?;
        let some = std::iter::once(first).chain(given.try_iter()).take(TOGETHER);
        Some(some.map(|Given { whose, work, purpose }| (whose, self.perform(&work, purpose))).collect())
    }

    /// Does a task; if it panics, only its handshake ends.
    fn perform(&self, work: &Work, purpose: Purpose) -> Done {
        let Self { own, authorities, crypto } = self;
        let done = catch_unwind(AssertUnwindSafe(|| work.perform(crypto.clone(), own, authorities, purpose)));
        done.unwrap_or(Done::REFUSED)
    }
}

impl Done {
    /// That it could not be done.
    pub(crate) const REFUSED: Self = Self::Answer(Answer::Refused(AlertDescription::INTERNAL_ERROR));
}

/// A task that may outlast the call that told of it.
enum Work {
    Generate,
    Sign([u8; 32]),
    Chain(Vec<Vec<u8>>),
    Verify([u8; 65], [u8; 32], [u8; 64]),
    Agree(Zeroizing<[u8; 32]>, [u8; 65]),
}

impl Work {
    /// Or what comes of it, if it is to read a key.
    fn of(task: Task<'_>) -> Result<Self, Done> {
        Ok(match task {
            Task::Generate => Self::Generate,
            Task::Sign { digest } => Self::Sign(*digest),
            Task::Chain { certificate: Shown::RawPublicKey(info) } => return Err(raw(info)),
            Task::Chain { certificate: Shown::X509(chain) } => {
                Self::Chain(chain.iter().map(<[u8]>::to_vec).collect())
            }
            Task::Verify { key, digest, signature } => Self::Verify(*key, *digest, *signature),
            Task::Agree { secret, point } => Self::Agree(Zeroizing::new(*secret), *point),
        })
    }

    fn perform(&self, mut crypto: Fast, own: &OwnKeys, authorities: &[Vec<u8>], purpose: Purpose) -> Done {
        let task = match self {
            Self::Generate => Task::Generate,
            Self::Sign(digest) => Task::Sign { digest },
            Self::Verify(key, digest, signature) => Task::Verify { key, digest, signature },
            Self::Agree(secret, point) => Task::Agree { secret, point },
            Self::Chain(chain) => return judge(crypto, chain, own, authorities, purpose),
        };
        // What judges is here.
        let nobody = Trusted { raw_public_keys: &[], certificates: None };
        Done::Answer(perform(&mut crypto, &mut SystemEntropy, own.secret(), &nobody, task))
    }
}

/// Whose a raw public key says to be.
fn raw(info: &[u8]) -> Done {
    let read = sixlock_x509::public_key(info);
    let (identity, key) = read.map_or((String::new(), [0; 65]), |key| (fingerprint(key), *key));
    let peer = Peer { identity, proof: Proof::RawPublicKey, key, is_ours: false, certificate: Vec::new() };
    Done::Judged(peer, read.map(|_| ()))
}

/// Judges a chain of certificates by our own authority, and if that did not sign it by the others.
fn judge(
    mut crypto: Fast,
    chain: &[Vec<u8>],
    own: &OwnKeys,
    authorities: &[Vec<u8>],
    purpose: Purpose,
) -> Done {
    let clock = Clock::At(time(now_ms() / 1000));
    let mut judge = |authorities: &[&[u8]]| {
        let trust = Trust { authorities, clock, purpose, name: None };
        verify(&mut crypto, &trust, chain.iter().map(Vec::as_slice))
    };
    let (mut is_ours, mut judged) = (true, judge(&[own.authority()]));
    if matches!(judged, Err(Error::UnknownAuthority)) && !authorities.is_empty() {
        let others: Vec<&[u8]> = authorities.iter().map(Vec::as_slice).collect();
        (is_ours, judged) = (false, judge(&others));
    }
    let certificate = chain.first().cloned().unwrap_or_default();
    let said = Certificate::parse(&certificate).ok().and_then(|certificate| identity_of(&certificate));
    let judged = judged.and_then(|certificate| match said {
        Some(_) => Ok(*certificate.public_key()),
        None => Err(Error::Name),
    });
    let (proof, key) = (Proof::Certificate, judged.unwrap_or([0; 65]));
    let identity = said.unwrap_or_default();
    Done::Judged(Peer { identity, proof, key, is_ours, certificate }, judged.map(|_| ()))
}

/// The name by which a certificate's device is known, if it is text.
fn identity_of(certificate: &Certificate<'_>) -> Option<String> {
    certificate.identity().and_then(|name| str::from_utf8(name).ok()).map(str::to_owned)
}
