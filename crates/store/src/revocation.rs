//! Word that credentials have ended.

use std::collections::HashSet;

use tokio::sync::oneshot;

use crate::ids::CredentialId;

/// Credentials that have ended. Whoever has sessions that rest on them closes these, and then sends `closed`.
#[derive(Debug)]
pub struct Revocation {
    /// Those that have ended.
    pub credentials: HashSet<CredentialId>,
    /// A credential that was given an end: what was known of it is out of date.
    pub replaced: Option<CredentialId>,
    /// To be told when the sessions are closed.
    pub closed: oneshot::Sender<()>,
}

impl Revocation {
    /// Whether what was known of a credential is to be forgotten.
    pub fn is_of(&self, known: CredentialId) -> bool {
        self.credentials.contains(&known) || self.replaced == Some(known)
    }
}
