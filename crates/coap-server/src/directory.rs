//! The directory of identities.

use std::collections::HashSet;

use sixlock_dtls::Credentials;
use sixlock_endpoint::AuthenticationMethod;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use crate::ids::{CredentialId, Holder};
use crate::key_operation::{KeyOperation, Performed};

/// Knows identities, by what clients prove them, and the server's own keys.
pub trait Directory: Send + Sync + 'static {
    /// A key pair that is made for one handshake.
    type KeyPair: Send + 'static;

    /// Looks an identity up that is to be proved so; `None` if it is not known.
    fn look_up(
        &self,
        method: AuthenticationMethod,
        identity: &[u8],
    ) -> impl Future<Output = Result<Option<Known>, LookUpFailed>> + Send;

    /// Waits for the next revocation; `None` if there will be none. A credential that has ended is found by no look-up that begins
    /// then.
    fn next_revocation(&self) -> impl Future<Output = Option<Revocation>> + Send;

    /// Returns the server's public key, raw or in a certificate; `None` if clients have pre-shared keys only.
    fn credentials(&self) -> Option<&'static Credentials>;

    /// Performs an operation of a handshake. A key pair that is made for it stays in `made` until the client's key has come.
    fn perform(&self, operation: &KeyOperation, made: &mut Option<Self::KeyPair>) -> Performed;

    /// A device has proved its identity by this certificate, in DER.
    fn on_certificate(&self, identity: &[u8], certificate: &[u8]);
}

/// What is known of an identity.
#[derive(Clone)]
pub struct Known {
    /// The credential.
    pub credential: CredentialId,
    /// What the identity is bound to.
    pub holder: Holder,
    /// The pre-shared key. With a certificate, the only public key that it may have, or nothing if it may have any, but is not
    /// signed by the server's own authority; nothing with a raw public key.
    pub key: Zeroizing<Vec<u8>>,
    /// When the credential ends, in milliseconds since 1970.
    pub expires: Option<i64>,
}

/// The directory could not tell, and its operator was told why.
#[derive(Clone, Copy, Debug)]
pub struct LookUpFailed;

/// Credentials that have ended. The server closes the sessions that rest on them, and then sends `closed`.
#[derive(Debug)]
pub struct Revocation {
    /// Those that have ended.
    pub credentials: HashSet<CredentialId>,
    /// A credential that was given an end: what was known of it is out of date.
    pub replaced: Option<CredentialId>,
    /// Is told when the sessions are closed.
    pub closed: oneshot::Sender<()>,
}

impl Revocation {
    /// Returns whether what was known of a credential is to be forgotten.
    pub(crate) fn is_of(&self, known: CredentialId) -> bool {
        self.credentials.contains(&known) || self.replaced == Some(known)
    }
}
