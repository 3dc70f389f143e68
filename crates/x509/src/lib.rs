//! X.509 certificates ([RFC 5280](https://www.rfc-editor.org/rfc/rfc5280)) in the profile of
//! [RFC 7925 section 4.4](https://www.rfc-editor.org/rfc/rfc7925#section-4.4): keys of P-256, signed with ECDSA and SHA-256.
//!
//! A [`Certificate`] borrows its DER. [`verify`] goes from a peer's certificate to an authority that is trusted, which signs by
//! a [`Template`]. What
//! stands alone where there are no certificates is here too: a public key ([`public_key`]) and a signature
//! ([`signature_from_der`]) in DER.
#![no_std]

mod certificate;
mod chain;
mod der;
mod issue;
mod key;
mod name;
mod purpose;
mod signature;
mod time;

use core::fmt;

pub use certificate::{BasicConstraints, Certificate, KeyUsage, MAX_EXTENSIONS};
pub use chain::{MAX_CHAIN, Trust, verified_key, verify};
pub use issue::Template;
pub use key::{PUBLIC_KEY_INFO, public_key, public_key_info};
pub use purpose::Purpose;
pub use signature::{DerSignature, MAX_DER_SIGNATURE, signature_from_der};
pub use time::{Clock, Time};

/// Why a certificate, or a chain of them, is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is not DER, or not that of a certificate, or it has more than [`MAX_EXTENSIONS`] extensions.
    Encoding,
    /// Its version is not 3.
    Version,
    /// It is signed by another algorithm than ECDSA with SHA-256.
    Algorithm,
    /// Its key is none of P-256, uncompressed.
    Key,
    /// An extension that is not known says that it must be, or constrains the names of those below, which is not known either.
    CriticalExtension,
    /// An extension comes twice.
    RepeatedExtension,
    /// It is not valid any more.
    Expired,
    /// It is not valid yet.
    NotYetValid,
    /// Its key may not be used for signatures in a handshake, or it may not sign certificates.
    KeyUsage,
    /// It is none for this role, client or server, or who signed it may sign none for this role.
    Purpose,
    /// It does not bear the name that was asked for.
    Name,
    /// It signs another certificate without being an authority's.
    NotAuthority,
    /// More authorities follow than one of them allows, or more certificates than [`MAX_CHAIN`].
    PathLength,
    /// Its signature is wrong.
    Signature,
    /// Nobody who is trusted signed it, or the chain has no certificate.
    UnknownAuthority,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encoding => "the certificate is not DER, or has too many extensions",
            Self::Version => "the certificate's version is not 3",
            Self::Algorithm => "the certificate is signed by another algorithm than ECDSA with SHA-256",
            Self::Key => "the certificate's key is none of P-256, uncompressed",
            Self::CriticalExtension => "an extension of the certificate must be known, and is not",
            Self::RepeatedExtension => "an extension of the certificate comes twice",
            Self::Expired => "the certificate has expired",
            Self::NotYetValid => "the certificate is not valid yet",
            Self::KeyUsage => "the certificate's key may not be used for this",
            Self::Purpose => "the certificate, or one above it, is not for this role",
            Self::Name => "the certificate does not bear the name that was asked for",
            Self::NotAuthority => "a certificate that is no authority's signs another",
            Self::PathLength => {
                "the chain of certificates is longer than an authority in it, or this library, allows"
            }
            Self::Signature => "the certificate's signature is wrong",
            Self::UnknownAuthority => "no authority that is trusted signed the certificate",
        })
    }
}

impl core::error::Error for Error {}
