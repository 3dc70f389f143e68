use heapless::Vec;
use sixlock_base::{ASKED_IDENTITY, Cx, Entropy};
use sixlock_crypto::{Crypto, wipe};
use sixlock_dtls::{Completion, MAX_PSK};

use super::dtls::{Authenticator, DeviceSession, Dtls};
use crate::config::{Identity, MAX_NAME, TooLong};

/// Through a DTLS session with a pre-shared key.
pub type DtlsPsk<C> = Dtls<C, PreShared>;

/// A key that device and cloud share, or a server with its clients, and the identity that names it.
pub struct PreShared {
    identity: Vec<u8, MAX_NAME>,
    key: Vec<u8, MAX_PSK>,
}

impl Drop for PreShared {
    fn drop(&mut self) {
        wipe(&mut self.key);
    }
}

impl<C: Crypto> Authenticator<C> for PreShared {
    type Access<'a> = Identity<'a>;
    type Keys = ();

    const NEW: Self = Self { identity: Vec::new(), key: Vec::new() };

    fn start(&mut self, access: &Identity<'_>) -> Result<(), TooLong> {
        self.identity.extend_from_slice(access.name).map_err(|_| TooLong)?;
        self.key.extend_from_slice(access.key).map_err(|_| TooLong)
    }

    fn work<E: Entropy, N>(&self, cx: &mut Cx<'_, C, E, N>, session: &mut DeviceSession<C, ()>) {
        // A device has one key. Its names fit: they are bounded by less than what a handshake holds.
        let _ = session.complete(cx, Completion::Psk { identity: &self.identity, key: &self.key });
    }

    fn key(&self, identity: &[u8]) -> Option<&[u8]> {
        (identity == self.identity).then_some(&self.key)
    }
}

/// The same key, of a node that is asked, under the identity with [`ASKED_IDENTITY`] in front: what the node says to the cloud, or the cloud to it, is
/// of no use to who sends it back to its author ([RFC 9257 section 4.3](https://www.rfc-editor.org/rfc/rfc9257#section-4.3)).
pub(crate) struct AskedPreShared(PreShared);

impl<C: Crypto> Authenticator<C> for AskedPreShared {
    type Access<'a> = Identity<'a>;
    type Keys = ();

    const NEW: Self = Self(<PreShared as Authenticator<C>>::NEW);

    fn start(&mut self, access: &Identity<'_>) -> Result<(), TooLong> {
        Authenticator::<C>::start(&mut self.0, access)
    }

    fn work<E: Entropy, N>(&self, cx: &mut Cx<'_, C, E, N>, session: &mut DeviceSession<C, ()>) {
        self.0.work(cx, session);
    }

    fn key(&self, identity: &[u8]) -> Option<&[u8]> {
        Authenticator::<C>::key(&self.0, identity.strip_prefix(ASKED_IDENTITY.as_bytes())?)
    }
}
