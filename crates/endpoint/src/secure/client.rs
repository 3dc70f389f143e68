//! Who the client of a session is.

use sixlock_coap::ByteStore;

use crate::id::AuthenticationMethod;
use crate::session_record::{KeyFingerprint, SessionIdentifier};

/// Who the client of a handshake or of a session is, as far as that is known. What its hello names is kept apart from what it
/// has given itself.
#[derive(Default)]
pub(crate) struct Client<I> {
    known: Known,
    identity: I,
    method: AuthenticationMethod,
    /// Of the key that it was given, or that stands for a public one, for a handshake that is not over.
    key: KeyFingerprint,
    /// Under which name its session is kept, or the name in its hello.
    name: Option<SessionIdentifier>,
}

/// Where the rest is from.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Known {
    /// Nothing is known.
    #[default]
    Nothing,
    /// The client's hello offers a session. Anybody can offer it who has seen its id or ticket, so nothing of that session is this
    /// client's before DTLS resumes it.
    Offered,
    /// The client has given its identity or public key, or its session is resumed.
    Given,
}

impl<I: ByteStore> Client<I> {
    /// The client of a session that goes on from the endpoint before.
    #[cfg(all(feature = "alloc", not(target_os = "none")))]
    pub(crate) fn of_session(
        identity: I,
        method: AuthenticationMethod,
        kept: Option<SessionIdentifier>,
    ) -> Self {
        Self { known: Known::Given, identity, method, key: KeyFingerprint::default(), name: kept }
    }

    /// Its hello names a session of this identity: by its id, or by a ticket.
    pub(super) fn name(
        &mut self,
        identity: &[u8],
        method: AuthenticationMethod,
        name: Option<SessionIdentifier>,
    ) {
        self.identity.store(identity);
        (self.known, self.method, self.name) = (Known::Offered, method, name);
    }

    /// Its hello names a session of which another shard may know whose it is.
    pub(super) fn name_elsewhere(&mut self, name: SessionIdentifier) {
        (self.known, self.name) = (Known::Offered, Some(name));
    }

    /// Its hello is answered. Unless the session that it names is resumed, a full handshake follows, which begins with nothing:
    /// <https://www.rfc-editor.org/rfc/rfc5246#section-7.3>
    pub(super) fn answered(&mut self, is_resumed: bool) {
        if is_resumed {
            self.known = Known::Given;
        } else {
            *self = Self::default();
        }
    }

    /// It gives this identity, in a full handshake.
    pub(super) fn identify(&mut self, identity: &[u8], method: AuthenticationMethod) {
        self.identity.store(identity);
        (self.known, self.method, self.key) = (Known::Given, method, KeyFingerprint::default());
    }

    /// It is to have this key.
    pub(super) const fn set_key(&mut self, key: KeyFingerprint) {
        self.key = key;
    }

    /// What is left of its session is kept under this name.
    pub(super) const fn set_kept(&mut self, kept: Option<SessionIdentifier>) {
        self.name = kept;
    }

    /// The id in its hello of a session that may be resumed.
    pub(super) fn named(&self) -> Option<SessionIdentifier> {
        self.name.filter(|_| self.known == Known::Offered)
    }

    /// Under which name what is left of its session is kept.
    pub(crate) fn kept(&self) -> Option<SessionIdentifier> {
        self.name.filter(|_| self.known != Known::Offered)
    }

    /// Whether it has given an identity, or its session is resumed.
    pub(super) fn is_known(&self) -> bool {
        self.known == Known::Given
    }

    /// The identity that it has given, or that of its session if that is resumed; else none.
    pub(crate) fn identity(&self) -> &[u8] {
        if self.is_known() { self.identity.bytes() } else { &[] }
    }

    /// Whose key is to be looked up: that of the identity that it has given, or that its hello leads to.
    pub(super) fn claim(&self) -> (&[u8], AuthenticationMethod) {
        (self.identity.bytes(), self.method)
    }

    /// Whose a session is that is made now.
    pub(crate) fn owner(&self) -> (&[u8], AuthenticationMethod, KeyFingerprint) {
        (self.identity(), self.method, self.key)
    }
}
