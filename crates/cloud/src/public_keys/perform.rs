//! What handshakes need of P-256.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sixlock_crypto::p256::P256;
use sixlock_dtls::{AlertDescription, Answer, Task};
use sixlock_dtls_msg::Certificate as Shown;
use sixlock_endpoint::Proof;
use sixlock_store::now_ms;
use sixlock_x509::{Certificate, Clock, Error, Purpose, Trust, verify};

use super::{OwnKeys, fingerprint, time};
use crate::fast::{Ephemeral, Fast};

/// What the work is done with: own keys, and those of others who are trusted.
pub(crate) struct KeyRing {
    own: Arc<OwnKeys>,
    /// The certificates of other authorities that sign those of devices.
    authorities: Vec<Vec<u8>>,
    crypto: Fast,
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

    /// When its certificate ends, in milliseconds since 1970; nothing with a raw public key.
    pub(crate) fn certificate_expires(&self) -> Option<i64> {
        super::expires(&self.certificate)
    }

    /// Whether its certificate bears this name as one of several.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        Certificate::parse(&self.certificate).is_ok_and(|certificate| certificate.is_named(name.as_bytes()))
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

    /// Does a task of a handshake in which the peer is what `purpose` says; the key pair that is made for it stays with `made` until
    /// it is used. If the task panics, only its handshake ends.
    pub(crate) fn perform(&self, task: &OwnedTask, purpose: Purpose, made: &mut Option<Ephemeral>) -> Done {
        let done = catch_unwind(AssertUnwindSafe(|| task.perform(self, purpose, made)));
        done.unwrap_or(Done::REFUSED)
    }
}

impl Done {
    /// That it could not be done.
    pub(crate) const REFUSED: Self = Self::Answer(Answer::Refused(AlertDescription::INTERNAL_ERROR));
}

/// A task that outlasts the call that told of it.
pub(crate) enum OwnedTask {
    Generate,
    Sign([u8; 32]),
    Read(Vec<u8>),
    Chain(Vec<Vec<u8>>),
    Verify([u8; 65], [u8; 32], [u8; 64]),
    /// By the key pair that was made for the handshake.
    Agree([u8; 65]),
}

impl From<Task<'_>> for OwnedTask {
    fn from(task: Task<'_>) -> Self {
        match task {
            Task::Generate => Self::Generate,
            Task::Sign { digest } => Self::Sign(*digest),
            Task::Chain { certificate: Shown::RawPublicKey(info) } => Self::Read(info.to_vec()),
            Task::Chain { certificate: Shown::X509(chain) } => {
                Self::Chain(chain.iter().map(<[u8]>::to_vec).collect())
            }
            Task::Verify { key, digest, signature } => Self::Verify(*key, *digest, *signature),
            Task::Agree { point, .. } => Self::Agree(*point),
        }
    }
}

impl OwnedTask {
    fn perform(&self, keys: &KeyRing, purpose: Purpose, made: &mut Option<Ephemeral>) -> Done {
        let mut crypto = keys.crypto.clone();
        let answer = match self {
            Self::Generate => {
                *made = Ephemeral::generate();
                made.as_ref().map(|pair| Answer::KeyPair(pair.secret().clone(), *pair.point()))
            }
            Self::Sign(digest) => crypto.p256_sign(keys.own.secret(), digest).map(Answer::Signature),
            Self::Read(info) => return raw(info),
            Self::Chain(chain) => return judge(crypto, chain, keys, purpose),
            Self::Verify(key, digest, signature) => Some(match crypto.p256_verify(key, digest, signature) {
                Ok(()) => Answer::Verified,
                Err(_) => Answer::Refused(AlertDescription::DECRYPT_ERROR),
            }),
            Self::Agree(point) => made.take().map(|pair| match pair.agree(point) {
                Some(shared) => Answer::Shared(shared),
                None => Answer::Refused(AlertDescription::ILLEGAL_PARAMETER),
            }),
        };
        answer.map_or(Done::REFUSED, Done::Answer)
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
fn judge(mut crypto: Fast, chain: &[Vec<u8>], keys: &KeyRing, purpose: Purpose) -> Done {
    let KeyRing { own, authorities, .. } = keys;
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
