//! Identities that are known, and their keys.

use sixlock_endpoint::AuthenticationMethod;

use crate::ids::{CredentialId, ResourceId};
use crate::secrets::Secret;

/// Whose an identity is, and how it is proved.
#[derive(Clone, Debug)]
pub struct Known {
    /// The credential.
    pub credential: CredentialId,
    /// The resource that the identity is bound to.
    pub resource: ResourceId,
    /// The pre-shared key. For a certificate the only public key that it may have, or nothing if it may have any and another
    /// authority than the cloud's has signed it; nothing for a raw public key.
    pub key: Secret,
    /// When it ends, in milliseconds since 1970, if it is being replaced.
    pub expires: Option<i64>,
}

/// A key or certificate by which the device of a resource is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownKey {
    /// The credential.
    pub credential: CredentialId,
    /// Its identity.
    pub identity: String,
    /// How it is proved.
    pub method: AuthenticationMethod,
    /// As in [`Known`].
    pub key: Secret,
}
