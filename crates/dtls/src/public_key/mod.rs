//! Public keys, raw or in certificates: what is shown and accepted, and the work that they take.

mod perform;

pub use perform::{Trusted, certificate_alert, perform};

use sixlock_crypto::SHA_256_DIGEST;
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET, P_256_SIGNATURE};
use sixlock_dtls_msg::{AlertDescription, Certificate, CertificateType, Names};
use zeroize::Zeroizing;

/// What a side shows of itself, and what it takes from its peer. The private key is not among it: who performs
/// [`Task::Sign`] has it.
#[derive(Clone, Copy, Debug)]
pub struct Credentials {
    /// Our public key, to be shown as it is; none if it is shown in a certificate only.
    pub raw_public_key: Option<[u8; P_256_POINT]>,
    /// Our certificate in DER, and those of the authorities between it and one that the peer trusts; empty without one. Its
    /// key is the same as the raw one.
    pub certificates: &'static [&'static [u8]],
    /// How the peer's certificate may be written, the most wanted first.
    pub accepts: &'static [CertificateType],
    /// Whether a server asks its clients for a certificate, and refuses those without.
    pub mutual: bool,
    /// The names, in DER, of the authorities that a server trusts, for clients that have several certificates; may be empty.
    pub authorities: &'static [&'static [u8]],
}

impl Credentials {
    /// How our certificate can be written, the shortest first.
    pub(crate) fn shows(&self) -> impl Iterator<Item = CertificateType> + Clone + use<> {
        let raw = self.raw_public_key.map(|_| CertificateType::RawPublicKey);
        let chain = (!self.certificates.is_empty()).then_some(CertificateType::X509);
        [raw, chain].into_iter().flatten()
    }

    /// Whether one of our certificates was signed by one of those named, or none is named
    /// ([RFC 5246 section 7.4.6](https://www.rfc-editor.org/rfc/rfc5246#section-7.4.6)).
    pub(crate) fn suits(&self, authorities: Names<'_>) -> bool {
        let parsed = self.certificates.iter().filter_map(|der| sixlock_x509::Certificate::parse(der).ok());
        let mut issuers = parsed.map(|certificate| certificate.issuer());
        authorities.is_empty() || issuers.any(|issuer| authorities.iter().any(|name| name == issuer))
    }
}

/// Work that P-256 is needed for, or a judgement about the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task<'a> {
    /// Make a key pair for this handshake alone: [`Answer::KeyPair`].
    Generate,
    /// Sign this digest with the key of our certificate: [`Answer::Signature`].
    Sign {
        /// What is to be signed.
        digest: &'a [u8; SHA_256_DIGEST],
    },
    /// Judge the peer's certificate, and tell its key: [`Answer::Peer`].
    Chain {
        /// The certificate, or the raw public key.
        certificate: Certificate<'a>,
    },
    /// Verify a signature of the peer: [`Answer::Verified`].
    Verify {
        /// The key of its certificate.
        key: &'a [u8; P_256_POINT],
        /// What was signed.
        digest: &'a [u8; SHA_256_DIGEST],
        /// The signature.
        signature: &'a [u8; P_256_SIGNATURE],
    },
    /// Make the secret that is shared with the peer: [`Answer::Shared`].
    Agree {
        /// Our private key for this handshake.
        secret: &'a [u8; P_256_SECRET],
        /// The peer's public key, which may lie beside the curve.
        point: &'a [u8; P_256_POINT],
    },
}

/// What came of a [`Task`].
pub enum Answer {
    /// A new private key, and its public one.
    KeyPair(Zeroizing<[u8; P_256_SECRET]>, [u8; P_256_POINT]),
    /// The signature.
    Signature([u8; P_256_SIGNATURE]),
    /// The key of the peer's certificate, which is accepted.
    Peer([u8; P_256_POINT]),
    /// The signature is right.
    Verified,
    /// The shared secret.
    Shared(Zeroizing<[u8; P_256_SECRET]>),
    /// It is not: the certificate is not accepted, the signature is wrong, the point is none. The handshake fails with this
    /// alert, though not at once, for anyone may have sent what was refused.
    Refused(AlertDescription),
}
