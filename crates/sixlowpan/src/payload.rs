//! How the ends of a link compress the payload of UDP.

use sixlock_base::New;

/// How the payload of UDP is compressed on a link: both ends use the same, and refuse another.
///
/// Either way a packet comes out bit for bit as it went in, so that the ends of security protocols do not notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadCompression {
    /// The headers of DTLS, as Lithe has it: "Lithe: Lightweight Secure CoAP for the Internet of Things" (Raza et al., 2013) and
    /// draft-raza-dice-compressed-dtls-00. A datagram that is not one record goes as it is.
    Lithe,
    /// Generic header compression of all that repeats itself or is in its dictionary, in messages of ICMPv6 and in extension
    /// headers, too ([RFC 7400](https://www.rfc-editor.org/rfc/rfc7400)).
    Ghc,
}

impl PayloadCompression {
    /// All of them with their names.
    pub const ALL: [(&str, Self); 2] = [("lithe", Self::Lithe), ("ghc", Self::Ghc)];
}

/// A choice of [`PayloadCompression`]. Of what a type never chooses, nothing is linked.
pub trait Payloads: New {
    /// How the payload of UDP is compressed. With `None` it is sent uncompressed, and a compressed one is refused.
    fn compression(&self) -> Option<PayloadCompression>;
}

/// Never.
impl Payloads for () {
    fn compression(&self) -> Option<PayloadCompression> {
        None
    }
}

/// As was chosen, and at first not at all: for hosts, which have the memory for all of them.
impl Payloads for Option<PayloadCompression> {
    fn compression(&self) -> Option<PayloadCompression> {
        *self
    }
}

/// Always [`PayloadCompression::Lithe`].
#[derive(Clone, Copy, Debug)]
pub struct Lithe;

impl New for Lithe {
    const NEW: Self = Self;
}

impl Payloads for Lithe {
    fn compression(&self) -> Option<PayloadCompression> {
        Some(PayloadCompression::Lithe)
    }
}

/// Always [`PayloadCompression::Ghc`].
#[derive(Clone, Copy, Debug)]
pub struct Ghc;

impl New for Ghc {
    const NEW: Self = Self;
}

impl Payloads for Ghc {
    fn compression(&self) -> Option<PayloadCompression> {
        Some(PayloadCompression::Ghc)
    }
}
