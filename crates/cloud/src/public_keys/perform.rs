//! What handshakes need of P-256.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sixlock_coap_server::{KeyOperation, PeerKey, Performed};
use sixlock_crypto::p256::P256;
use sixlock_dtls::{AlertDescription, Answer};
use sixlock_endpoint::AuthenticationMethod;
use sixlock_store::now_ms;
use sixlock_x509::{Certificate, Clock, Error, Purpose, Trust, verify};

use super::{OwnKeys, fingerprint, time};
use crate::fast::{AwsLc, Ephemeral, Fast};

/// What the work is done with: own keys, and those of others who are trusted.
pub(crate) struct KeyRing {
    own: Arc<OwnKeys>,
    /// The certificates of other authorities that sign those of devices.
    authorities: Vec<Vec<u8>>,
    crypto: Fast,
}

impl KeyRing {
    /// Those of who proves to be `own`, and trusts its authority and these others.
    pub(crate) fn new(own: Arc<OwnKeys>, authorities: Vec<Vec<u8>>) -> Self {
        let crypto = Fast { p256: AwsLc::prepared(own.secret()), ..Fast::default() };
        Self { crypto, own, authorities }
    }

    /// Whose private key they hold.
    pub(crate) fn own(&self) -> &OwnKeys {
        &self.own
    }

    /// The certificates of the other authorities, in DER.
    pub(crate) fn authorities(&self) -> &[Vec<u8>] {
        &self.authorities
    }

    /// Performs an operation of a handshake in which the peer is what `purpose` says; the key pair that is made for it stays with `made`
    /// until it is used. If the operation panics, only its handshake ends.
    pub(crate) fn perform(
        &self,
        operation: &KeyOperation,
        purpose: Purpose,
        made: &mut Option<Ephemeral>,
    ) -> Performed {
        let performed = catch_unwind(AssertUnwindSafe(|| self.try_perform(operation, purpose, made)));
        performed.unwrap_or(Performed::REFUSED)
    }

    fn try_perform(
        &self,
        operation: &KeyOperation,
        purpose: Purpose,
        made: &mut Option<Ephemeral>,
    ) -> Performed {
        let mut crypto = self.crypto.clone();
        let answer = match operation {
            KeyOperation::Generate => {
                *made = Ephemeral::generate();
                made.as_ref().map(|pair| Answer::KeyPair(pair.secret().clone(), *pair.point()))
            }
            KeyOperation::Sign(digest) => crypto.p256_sign(self.own.secret(), digest).map(Answer::Signature),
            KeyOperation::Read(info) => return raw(info),
            KeyOperation::Chain(chain) => return judge(crypto, chain, self, purpose),
            KeyOperation::Verify(key, digest, signature) => {
                Some(match crypto.p256_verify(key, digest, signature) {
                    Ok(()) => Answer::Verified,
                    Err(_) => Answer::Refused(AlertDescription::DECRYPT_ERROR),
                })
            }
            KeyOperation::Agree(point) => made.take().map(|pair| match pair.agree(point) {
                Some(shared) => Answer::Shared(shared),
                None => Answer::Refused(AlertDescription::ILLEGAL_PARAMETER),
            }),
        };
        answer.map_or(Performed::REFUSED, Performed::Answer)
    }
}

/// Whose a raw public key says to be.
fn raw(info: &[u8]) -> Performed {
    let read = sixlock_x509::public_key(info);
    let (identity, key) = read.map_or((String::new(), [0; 65]), |key| (fingerprint(key), *key));
    let peer = PeerKey {
        identity,
        method: AuthenticationMethod::RawPublicKey,
        key,
        is_ours: false,
        certificate: Vec::new(),
    };
    Performed::Judged(peer, read.map(|_| ()))
}

/// Judges a chain of certificates by our own authority, and if that did not sign it by the others.
fn judge(mut crypto: Fast, chain: &[Vec<u8>], keys: &KeyRing, purpose: Purpose) -> Performed {
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
    let (method, key) = (AuthenticationMethod::Certificate, judged.unwrap_or([0; 65]));
    let identity = said.unwrap_or_default();
    Performed::Judged(PeerKey { identity, method, key, is_ours, certificate }, judged.map(|_| ()))
}

/// The name by which a certificate's device is known, if it is text.
fn identity_of(certificate: &Certificate<'_>) -> Option<String> {
    certificate.identity().and_then(|name| str::from_utf8(name).ok()).map(str::to_owned)
}
