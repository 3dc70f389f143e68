//! Identities that are known, and their keys.

use sixlock_endpoint::AuthenticationMethod;

use crate::ids::{CredentialId, ResourceId, UserId};
use crate::secrets::Secret;

/// What or who has an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// The device of this resource.
    Device(ResourceId),
    /// This user.
    User(UserId),
}

impl Holder {
    /// The one of whom a row of the database says these: it has one of them.
    pub(crate) fn read(resource: Option<i64>, user: Option<i64>) -> Option<Self> {
        let device = resource.map(|resource| Self::Device(ResourceId(resource)));
        device.or(user.map(|user| Self::User(UserId(user))))
    }
}

/// Whose an identity is, and how it is proved.
#[derive(Clone, Debug)]
pub struct Known {
    /// The credential.
    pub credential: CredentialId,
    /// What the identity is bound to.
    pub holder: Holder,
    /// The pre-shared key. For a certificate the only public key that it may have, or nothing if it may have any and another
    /// authority than the cloud's has signed it; nothing for a raw public key.
    pub key: Secret,
    /// When it ends, in milliseconds since 1970: that of a device if it is being replaced, that of a user if that was said.
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
