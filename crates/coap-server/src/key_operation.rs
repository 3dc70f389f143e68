//! Operations with P-256 that handshakes wait for.

use sixlock_dtls::{AlertDescription, Answer, Task};
use sixlock_dtls_msg::Certificate;
use sixlock_endpoint::AuthenticationMethod;
use sixlock_x509::Error;

/// An operation that outlasts the call that asked for it.
pub enum KeyOperation {
    /// A key pair is to be made for the handshake.
    Generate,
    /// This SHA-256 digest is to be signed by the own private key.
    Sign([u8; 32]),
    /// This SubjectPublicKeyInfo is to be read.
    Read(Vec<u8>),
    /// This chain of certificates is to be judged, the peer's own first.
    Chain(Vec<Vec<u8>>),
    /// By this key, for this digest, this signature is to be verified.
    Verify([u8; 65], [u8; 32], [u8; 64]),
    /// The key pair that was made for the handshake is to agree with this point.
    Agree([u8; 65]),
}

impl From<Task<'_>> for KeyOperation {
    fn from(task: Task<'_>) -> Self {
        match task {
            Task::Generate => Self::Generate,
            Task::Sign { digest } => Self::Sign(*digest),
            Task::Chain { certificate: Certificate::RawPublicKey(info) } => Self::Read(info.to_vec()),
            Task::Chain { certificate: Certificate::X509(chain) } => {
                Self::Chain(chain.iter().map(<[u8]>::to_vec).collect())
            }
            Task::Verify { key, digest, signature } => Self::Verify(*key, *digest, *signature),
            Task::Agree { point, .. } => Self::Agree(*point),
        }
    }
}

/// The result of an operation.
pub enum Performed {
    /// What the handshake goes on with.
    Answer(Answer),
    /// A raw public key was read, or a certificate judged: what it says, and whether it is good.
    Judged(PeerKey, Result<(), Error>),
}

impl Performed {
    /// The operation could not be performed.
    pub const REFUSED: Self = Self::Answer(Answer::Refused(AlertDescription::INTERNAL_ERROR));
}

/// A public key that a peer has shown.
pub struct PeerKey {
    /// The identity of its key or certificate; empty if it cannot be read.
    pub identity: String,
    /// How it is proved.
    pub method: AuthenticationMethod,
    /// The key, an uncompressed point; zeros if it is not good.
    pub key: [u8; 65],
    /// Whether our own authority signed its certificate.
    pub is_ours: bool,
    /// Its certificate, in DER; nothing with a raw public key.
    pub certificate: Vec<u8>,
}

impl PeerKey {
    /// Returns whether it may prove its identity, for which `known` is the only public key that it may have, or nothing if any may that
    /// another authority than our own has signed for.
    pub fn is_admitted(&self, known: &[u8]) -> bool {
        match (self.method, known) {
            (AuthenticationMethod::RawPublicKey, _) => true,
            // Of names under our own authority, keys are known: a certificate that was replaced is not good.
            (_, []) => !self.is_ours,
            (_, known) => *known == self.key,
        }
    }
}
