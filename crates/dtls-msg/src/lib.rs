//! Wire formats of DTLS 1.2 ([RFC 6347](https://www.rfc-editor.org/rfc/rfc6347)) as far as
//! pre-shared keys and public keys of P-256 need them: records, handshake messages and alerts.
//!
//! A message is one struct that borrows its variable parts. It is parsed from bytes and
//! emitted into a [`Window`], which may keep any range of it, hash it or only measure it: so a
//! message can be sent in fragments, and again, without ever being stored as a whole.
#![no_std]

mod alert;
mod certificate;
mod handshake;
mod hello;
mod key_exchange;
mod reader;
mod record;
mod sequence;
mod ticket;
mod window;

use core::fmt;

pub use alert::{Alert, AlertDescription, AlertLevel};
pub use certificate::{
    Certificate, CertificateRequest, CertificateType, Chain, ECDSA_SIGN, EphemeralKeyExchange,
    EphemeralParameters, NamedGroup, Names, Numbers, POINT, SignatureAlgorithm, Signed, SignedKeyExchange,
    UNCOMPRESSED, bytes_from_extension,
};
pub use handshake::{HANDSHAKE_HEADER, HandshakeHeader, HandshakeType};
pub use hello::{
    CipherSuite, CipherSuites, ClientHello, Extension, ExtensionType, Extensions, HelloVerifyRequest,
    MAX_SESSION_ID, NULL_COMPRESSION, RANDOM, ServerHello,
};
pub use key_exchange::{
    ClientKeyExchange, EphemeralPskClient, EphemeralPskServer, Finished, ServerKeyExchange, VERIFY_DATA,
};
pub use record::{CHANGE_CIPHER_SPEC, ContentType, RECORD_HEADER, RecordHeader, Version};
pub use sequence::SequenceNumber;
pub use ticket::NewSessionTicket;
pub use window::Window;

/// Why bytes are not the message they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes end inside a field.
    Truncated,
    /// Bytes follow the end of the message.
    TrailingBytes,
    /// A length field has a value its field may not have.
    Length,
    /// A type or level is not one that is known.
    UnknownType,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the bytes end inside a field",
            Self::TrailingBytes => "bytes follow the end of the message",
            Self::Length => "a length field has a value that it may not have",
            Self::UnknownType => "a type or level is none that is known",
        })
    }
}

impl core::error::Error for Error {}
