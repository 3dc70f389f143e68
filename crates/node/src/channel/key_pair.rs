use core::marker::PhantomData;

use sixlock_base::{Cx, Entropy};
use sixlock_crypto::Crypto;
use sixlock_crypto::p256::P256;
use sixlock_dtls::{Answer, Completion, Credentials, KeyFeature, Task, Trusted, perform};

use super::dtls::{Authenticator, DeviceSession, Dtls};
use crate::config::{KeyRing, TooLong};

/// Through a DTLS session with public keys, raw or in certificates, as `K` says.
pub type DtlsPublicKey<C, K> = Dtls<C, KeyPair<K>>;

/// A private key whose public one the peer knows, raw or in a certificate, as `K` says.
pub struct KeyPair<K> {
    /// None before it was told.
    keys: Option<&'static KeyRing>,
    kind: PhantomData<K>,
}

impl<C: Crypto + P256, K: KeyFeature> Authenticator<C> for KeyPair<K> {
    type Access<'a> = &'static KeyRing;
    type Keys = K;

    const NEW: Self = Self { keys: None, kind: PhantomData };

    fn start(&mut self, access: &&'static KeyRing) -> Result<(), TooLong> {
        self.keys = Some(access);
        Ok(())
    }

    fn credentials(&self) -> Option<&'static Credentials> {
        self.keys.map(|keys| &keys.credentials)
    }

    fn work<E: Entropy, N>(&self, cx: &mut Cx<'_, C, E, N>, session: &mut DeviceSession<C, K>) {
        let Some(answer) = session.task().and_then(|task| self.perform(cx, task)) else { return };
        // It has just asked.
        let _ = session.complete(cx, Completion::Task(&answer));
    }

    fn perform<E: Entropy, N>(&self, cx: &mut Cx<'_, C, E, N>, task: Task<'_>) -> Option<Answer> {
        let keys = self.keys?;
        let Trusted { raw_public_keys, certificates } = keys.trusted;
        // Without certificates, what judges them is not linked.
        let trusted = Trusted { raw_public_keys, certificates: certificates.filter(|_| K::X_509) };
        Some(perform(cx.crypto, cx.entropy, keys.secret, &trusted, task))
    }
}
