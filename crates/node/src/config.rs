use core::fmt;
use core::net::Ipv6Addr;

use sixlock_base::Duration;
use sixlock_crypto::p256::{P_256_POINT, P_256_SECRET};
use sixlock_dtls::{CertificateType, Credentials, Trusted};
use sixlock_interface::Config as InterfaceConfig;

/// The UDP port at which a node sends back what it gets
/// ([RFC 862](https://www.rfc-editor.org/rfc/rfc862)).
pub const ECHO_PORT: u16 = 7;

/// The UDP port at which a node sends back what it gets over DTLS. None is registered: it is that of OpenSSL's test server.
pub const DTLS_ECHO_PORT: u16 = 4433;

/// The UDP port at which a node tells its latest reading by CoAP
/// ([RFC 7252 section 12.6](https://www.rfc-editor.org/rfc/rfc7252#section-12.6)).
pub const COAP_PORT: u16 = 5683;

/// The UDP port at which a server takes CoAP over DTLS
/// ([RFC 7252 section 12.7](https://www.rfc-editor.org/rfc/rfc7252#section-12.7)).
pub const COAPS_PORT: u16 = 5684;

/// The longest identity, resource id or resource key of a device, in bytes.
pub const MAX_NAME: usize = 64;

/// What a node is told at its start.
#[derive(Clone)]
pub struct Config<A> {
    /// Addresses, MAC and link security.
    pub interface: InterfaceConfig,
    /// Where readings go, if the node makes any.
    pub cloud: Option<Cloud<A>>,
    /// Whether everybody may ask for the latest reading at [`COAP_PORT`], protected by no more than link security and IPsec. A
    /// node whose application speaks DTLS does not start with it, unless it has IPsec.
    pub serves: bool,
    /// Whether it sends back, in the clear, what comes to [`ECHO_PORT`]. A node whose application speaks DTLS does not start
    /// with it: [`EchoServer`](crate::EchoServer) echoes over DTLS.
    pub echoes: bool,
}

/// Where readings go, and when.
#[derive(Clone, Copy)]
pub struct Cloud<A> {
    /// The cloud's address.
    pub address: Ipv6Addr,
    /// The cloud's port.
    pub port: u16,
    /// How the node proves whose readings they are.
    pub access: A,
    /// From one reading to the next.
    pub period: Duration,
    /// From the start to the first reading.
    pub first: Duration,
}

/// How a node proves whose readings they are.
#[derive(Clone, Copy)]
pub enum Access<'a> {
    /// By a resource id and key in each request, in the clear.
    Plain(Resource<'a>),
    /// By a DTLS session with a pre-shared key.
    DtlsPsk(Identity<'a>),
    /// By a DTLS session with public keys.
    DtlsPublicKey(&'static KeyRing),
}

/// What a request in the clear says, each at most [`MAX_NAME`] bytes. Without an id it says nothing of this.
#[derive(Clone, Copy)]
pub struct Resource<'a> {
    /// The resource's id.
    pub id: &'a [u8],
    /// The resource's key.
    pub key: &'a [u8],
}

/// What a DTLS handshake with a pre-shared key proves.
#[derive(Clone, Copy)]
pub struct Identity<'a> {
    /// The identity that names the key, at most [`MAX_NAME`] bytes.
    pub name: &'a [u8],
    /// The key, at most [`MAX_PSK`](sixlock_dtls::MAX_PSK) bytes.
    pub key: &'a [u8],
}

/// What a DTLS handshake with public keys proves, and whom it trusts. It lies where it always lay: the keys and certificates of a
/// device in its flash.
pub struct KeyRing {
    /// The private key.
    pub secret: &'static [u8; P_256_SECRET],
    /// Its public one, raw or in a certificate, and which of these the cloud may have.
    pub credentials: Credentials,
    /// How the cloud is known.
    pub trusted: Trusted<'static>,
}

impl KeyRing {
    /// That of a device which shows this chain of certificates, or its public key raw if there is none, and takes the same
    /// of the other end.
    pub const fn new(
        secret: &'static [u8; P_256_SECRET],
        public_key: [u8; P_256_POINT],
        certificates: &'static [&'static [u8]],
        trusted: Trusted<'static>,
    ) -> Self {
        let (raw_public_key, accepts): (_, &[_]) = match certificates {
            [] => (Some(public_key), &[CertificateType::RawPublicKey]),
            _ => (None, &[CertificateType::X509]),
        };
        let credentials =
            Credentials { raw_public_key, certificates, accepts, mutual: true, authorities: &[] };
        Self { secret, credentials, trusted }
    }
}

/// Why a node does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// A key or name is longer than a device has room for.
    TooLong,
    /// It would serve in the clear beside DTLS: [`Config::serves`] or [`Config::echoes`].
    InTheClear,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => TooLong.fmt(f),
            Self::InTheClear => f.write_str(
                "the node would serve in the clear beside DTLS: turn off what it serves and echoes",
            ),
        }
    }
}

impl core::error::Error for StartError {}

impl From<TooLong> for StartError {
    fn from(_: TooLong) -> Self {
        Self::TooLong
    }
}

/// A key or name is longer than a device has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key or name is longer than a device has room for")
    }
}

impl core::error::Error for TooLong {}
